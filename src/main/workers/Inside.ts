/**
 * The runtime of a Worker's isolate, which is evaluated when an object or a page needs it.
 *
 * @module
 */
import * as UnexpectedFailure from "../../diagnostic/UnexpectedFailure.ts"
import type { Bearer } from "../../ingress/access/Access.ts"
import type { BuiltProject } from "../composition/Built.ts"
import * as Front from "./Front.ts"
import type { Gate } from "./Gate.ts"
import type { Env, ObjectState } from "./Platform.ts"
import * as SettingsOf from "./Settings.ts"
import { SpaceHost } from "./SpaceHost.ts"

/** The runtime, opened with the settings of a Worker. */
export interface Inside {
  /** The host of the space of an object. */
  readonly host: (space: string, state: ObjectState) => SpaceHost
  /** Answers a request that concerns no space. */
  readonly answer: (asked: Front.FrontRequest) => Promise<Response>
  readonly report: (failure: unknown, space?: string) => void
  /** Decides on JSON Web Tokens, if the project accepts them. */
  readonly bearer: Bearer | undefined
}

/**
 * Opens the runtime.
 */
export const open = (settings: SettingsOf.Settings, env: Env): Inside => ({
  bearer: settings.jwts,
  host: (space, state) => new SpaceHost({ space, storage: state.storage, state, env, settings }),
  answer: Front.make({ env, settings }),
  report: (failure, space) =>
    settings.reporter.report({ ...UnexpectedFailure.of(failure), ...space === undefined ? {} : { space } })
})

/**
 * Opens the runtime of a build.
 *
 * @throws InvalidConfig
 */
export const ofBuild = (built: BuiltProject, env: Env, gate: Gate): Inside => open(SettingsOf.ofBuild(built, env, gate), env)
