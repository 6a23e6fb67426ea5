/**
 * What the command line needs of its host; `main/` provides it.
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

/** Answers requests: the ingress as it is served. */
export type Fetch = (request: Request) => Response | Promise<Response>

/**
 * A project whose modules are loaded and whose kernel stands ready.
 *
 * @category models
 * @since 0.1.0
 */
export interface Project {
  readonly found: Found
  /** What there is each time that files changed; modules are swapped for as long as this runs. */
  readonly reloads: Stream.Stream<Found>
  readonly fetch: Fetch
  /** Opens every space, so that what waits there goes on; reports each that cannot be opened. */
  readonly wake: Effect.Effect<void>
  /** Ends all streams, so that a server can close. */
  readonly hush: () => void
}

/**
 * Opens projects and listens, as the host does it.
 *
 * @category services
 * @since 0.1.0
 */
export class Host extends Context.Service<Host, {
  /** The project's folder. */
  readonly root: string
  /** The dependency by which a new project gets this package. */
  readonly installation: string
  readonly pid: number
  readonly isAlive: (pid: number) => boolean
  /** The project's configuration; all defaults where it has none. */
  readonly config: Effect.Effect<Config, CliFailure>
  /** Opens the project until the scope closes; then what was accepted is durable. */
  readonly open: (config: Config) => Effect.Effect<Project, CliFailure, Scope.Scope>
  /** Replaces this process by one whose modules reach no file outside the project; one that is so already goes on. */
  readonly confine: (config: Config) => Effect.Effect<void, CliFailure>
  /** Serves until the scope closes; answers the port. */
  readonly listen: (fetch: Fetch, config: Config) => Effect.Effect<number, CliFailure, Scope.Scope>
}>()("systole/cli/Host") {}
