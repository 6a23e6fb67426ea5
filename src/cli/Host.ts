/**
 * The host services of the command line. `main/` provides them.
 *
 * @module
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type * as Redacted from "../cell/Redacted.ts"
import type { Config } from "../loader/Config.ts"
import type { Signer } from "../frame/Signature.ts"
import type { LoadedModules } from "../loader/Loader.ts"
import type { ReloadResult } from "../loader/ReloadResult.ts"
import type { CliFailure } from "./CliFailure.ts"

/** The request handler of the ingress. */
export type Fetch = (request: Request, address?: () => string | undefined) => Response | Promise<Response>

/**
 * An open project: its modules are loaded and its kernel is ready.
 */
export interface Project {
  readonly found: LoadedModules
  /** The reloads after changes of files. Modules are reloaded while the stream runs. */
  readonly reloads: Effect.Effect<Stream.Stream<ReloadResult>>
  readonly fetch: Fetch
  /** Opens every space, so that its pending signals run. Reports each space that cannot be opened. */
  readonly resume: Effect.Effect<void>
  /** Makes the scheduled backups from now on, until the scope of the project closes. */
  readonly backUp: Effect.Effect<void>
  /** Ends all streams, so that the server can close. */
  readonly closeStreams: () => void
  /** A token of the operator for the commands of the project. It ends with the process, and no configuration has it. */
  readonly localToken: Redacted.Redacted
}

/** The places to which an open project writes. */
export type Writes = "all" | "memory" | "none"

/** The platforms for which a project can be built. */
export const TARGETS = ["node", "deno", "bun", "workers"] as const

/** A platform for which a project can be built. */
export type Target = typeof TARGETS[number]

/**
 * A request for a build.
 */
export interface BuildRequest {
  readonly target: Target
  /** The folder of the build, relative to the project. */
  readonly out: string
  /** The environment of the configuration. */
  readonly environment: string | undefined
  /** The digests of earlier modules that the build contains, too. */
  readonly keep: ReadonlyArray<string>
}

/**
 * A finished build.
 */
export interface Build {
  readonly target: Target
  readonly out: string
  /** The digest of each module, by its file. */
  readonly modules: Readonly<Record<string, string>>
  /** The digests of the modules that are kept beside them. */
  readonly kept: ReadonlyArray<string>
  /** The slices of the runtime in it, each with the bytes that it adds to the bundle with those before it. */
  readonly slices: ReadonlyArray<{ readonly slice: string; readonly bytes: number }>
  /** The files of the bundle, with their sizes in bytes, plain and compressed. */
  readonly files: ReadonlyArray<{ readonly file: string; readonly bytes: number; readonly gzip: number }>
  /** The size of each part of the bundle in bytes: folders of the runtime, packages, and the project. */
  readonly parts: ReadonlyArray<{ readonly part: string; readonly bytes: number }>
  /** The remaining steps, one a line. */
  readonly notes: ReadonlyArray<string>
}

/**
 * Opens projects and serves them on a host.
 */
export class Host extends Context.Service<Host, {
  /** The folder of the project. */
  readonly root: string
  /** The dependency specifier of this package in a new project. */
  readonly installation: string
  readonly pid: number
  readonly isAlive: (pid: number) => boolean
  /**
   * The configuration of the project in one of its environments, with defaults for absent settings. One that is served has all its
   * tokens and secrets; another one those that are set.
   */
  readonly config: (environment: string | undefined, isServed: boolean) => Effect.Effect<Config, CliFailure>
  /** Random bytes for a secret. */
  readonly draw: (bytes: number) => Uint8Array
  /** The key of this node; `undefined` where the configuration names none. */
  readonly signer: (config: Config) => Effect.Effect<Signer | undefined, CliFailure>
  /**
   * Opens the project until the scope closes. All accepted signals are durable by then. A project that writes `none` runs no
   * beat, and one that writes to `memory` leaves no file either. A `server` writes all, in a process prepared for it.
   */
  readonly open: (config: Config, use: "server" | Writes) => Effect.Effect<Project, CliFailure, Scope.Scope>
  /** Has a supervisor start another process after the end of this one. Returns whether there is a supervisor. */
  readonly renew: (reason: string) => boolean
  /** Restarts this process without access to files outside the project, unless it is confined already. */
  readonly confine: (config: Config) => Effect.Effect<void, CliFailure>
  /** Writes a folder that runs without the project. */
  readonly build: (request: BuildRequest) => Effect.Effect<Build, CliFailure>
  /** Serves until the scope closes and returns the port. */
  readonly listen: (fetch: Fetch, config: Config) => Effect.Effect<number, CliFailure, Scope.Scope>
}>()("systole/cli/Host") {}
