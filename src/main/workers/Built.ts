/**
 * The Worker of a build.
 *
 * @module
 */
import { InvalidConfig } from "../../loader/InvalidConfig.ts"
import type { BuiltProject } from "../composition/Built.ts"
import type { Outside } from "../../loader/Outside.ts"
import * as Gate from "./Gate.ts"
import type * as Inside from "./Inside.ts"
import * as Objects from "./Objects.ts"
import type { Env } from "./Platform.ts"

/** The part of a build that objects and pages need: its modules, and the runtime. */
export interface LoadedBuild {
  readonly built: BuiltProject
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
export const ofBuild = (outside: Outside, load: () => Promise<LoadedBuild>): Objects.Worker => {
  let made: Gate.Gate | undefined
  const gate = (env: Env): Gate.Gate => made ??= Gate.make(Gate.withSecrets(outside, env), Gate.isPublic(env), env)
  return Objects.make({
    gate,
    inside: async (env) => {
      const { built, ofBuild } = await load().catch(unflagged)
      return ofBuild(built, env, gate(env))
    }
  })
}
