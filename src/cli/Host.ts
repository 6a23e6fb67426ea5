/**
 * The host services of the command line. `main/` provides them.
 *
 * @module
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { Config } from "../loader/Config.ts"
import type { Found } from "../loader/Loader.ts"
import type { CliFailure } from "./CliFailure.ts"

/** The request handler of the ingress. */
export type Fetch = (request: Request) => Response | Promise<Response>

/**
 * An open project: its modules are loaded and its kernel is ready.
 *
 * @category models
 * @since 0.1.0
 */
export interface Project {
  readonly found: Found
  /** The modules after each change of a file. Modules are reloaded while this stream runs. */
  readonly reloads: Stream.Stream<Found>
  readonly fetch: Fetch
  /** Opens every space, so that its pending signals run. Reports each space that cannot be opened. */
  readonly resume: Effect.Effect<void>
  /** Ends all streams, so that the server can close. */
  readonly closeStreams: () => void
}

/**
 * Opens projects and serves them on a host.
 *
 * @category services
 * @since 0.1.0
 */
export class Host extends Context.Service<Host, {
  /** The folder of the project. */
  readonly root: string
  /** The dependency specifier of this package in a new project. */
  readonly installation: string
  readonly pid: number
  readonly isAlive: (pid: number) => boolean
  /** The configuration of the project, with defaults for absent settings. */
  readonly config: Effect.Effect<Config, CliFailure>
  /** Opens the project until the scope closes. All accepted signals are durable by then. */
  readonly open: (config: Config) => Effect.Effect<Project, CliFailure, Scope.Scope>
  /** Restarts this process without access to files outside the project, unless it is confined already. */
  readonly confine: (config: Config) => Effect.Effect<void, CliFailure>
  /** Serves until the scope closes and returns the port. */
  readonly listen: (fetch: Fetch, config: Config) => Effect.Effect<number, CliFailure, Scope.Scope>
}>()("systole/cli/Host") {}
