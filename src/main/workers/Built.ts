/**
 * The Worker of a build.
 *
 * @module
 */
import type { Settings } from "../../access/Rates.ts"
import { InvalidConfig } from "../../loader/InvalidConfig.ts"
import type { Built } from "../composition/Built.ts"
import * as Gate from "./Gate.ts"
import type * as Inside from "./Inside.ts"
import * as Objects from "./Objects.ts"
import type { Env } from "./Platform.ts"

/** The part of a build that the Worker in front needs. */
export interface Outside {
  /** The readers, without their tokens. */
  readonly readers: Built["settings"]["readers"]
  /** The paths of its webhooks. */
  readonly hooks: ReadonlyArray<string>
  /** The origins of the pages of other sites. */
  readonly origins: ReadonlyArray<string>
  /** Whether the project accepts JSON Web Tokens. */
  readonly hasJwt?: boolean
  /** The reads that need no credential. */
  readonly public?: ReadonlyArray<string>
  /** The rates of requests. */
  readonly rates?: Settings
}

/** The part of a build that objects and pages need: its modules, and the runtime. */
export interface Loaded {
  readonly built: Built
  readonly ofBuild: typeof Inside.ofBuild
}

/** Explains the failure of a Worker without the flag that the guards of runs need. */
const unflagged = (failure: unknown): never => {
  if (!String(failure).includes("node:async_hooks")) throw failure
  const flag = "\"compatibility_flags\": [\"nodejs_als\"]"
  throw new InvalidConfig({ reason: `the Worker has no module node:async_hooks. Add ${flag} to wrangler.jsonc, and deploy it again` })
}

/**
 * The classes and the handler of a build, from its generated modules. `load` imports the second one, with the modules of the
 * project and the runtime, when an object or a page needs it.
 */
export const ofBuild = (outside: Outside, load: () => Promise<Loaded>): Objects.Worker => {
  let made: Gate.Gate | undefined
  const gate = (env: Env): Gate.Gate => made ??= Gate.make(Gate.secured(outside, env), Gate.isPublic(env), env)
  return Objects.make({
    gate,
    inside: async (env) => {
      const { built, ofBuild } = await load().catch(unflagged)
      return ofBuild(built, env, gate(env))
    }
  })
}
