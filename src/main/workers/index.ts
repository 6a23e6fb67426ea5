/**
 * The runtime on Cloudflare Workers, exported as `systole/workers`: each space is a Durable Object.
 *
 * The entry of a Worker gives `make` its modules and its configuration, and exports the classes and the handler. Its
 * bindings are `SPACES` for the class `Space` and `DIRECTORY` for the class `Directory`, both with SQLite storage.
 *
 * @module
 */
import * as Inside from "./Inside.ts"
import * as Objects from "./Objects.ts"
import type { Env } from "./Platform.ts"
import * as SettingsOf from "./Settings.ts"

export type { Env } from "./Platform.ts"
export type { Parts } from "./Settings.ts"
export type { ObjectClass, SpaceObject, Worker } from "./Objects.ts"

/**
 * Creates the classes and the handler of a Worker.
 *
 * The configuration is decoded with the first request. If it is invalid, each request is answered as a problem (RFC 9457),
 * and the log says why.
 *
 * @example An entry, which needs a Worker to run
 * ```ts ignore
 * import { Enzyme } from "systole"
 * import { make } from "systole/workers"
 *
 * const greet = Enzyme.make({
 *   name: "greet",
 *   query: "/signals/greet",
 *   writes: ["/data/greeted"],
 *   run: (tx) => tx.increment("/data/greeted")
 * })
 *
 * export const { Directory, Space, handler } = make({
 *   manifest: { "enzymes/greet.ts": { module: greet, hash: "1" } },
 *   config: { spaces: { create: "on-demand" } }
 * })
 * export default handler
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (parts: SettingsOf.Parts): Objects.Worker => {
  let made: SettingsOf.Settings | undefined
  const settings = (env: Env): SettingsOf.Settings => made ??= SettingsOf.make(parts, env)
  return Objects.make({ gate: settings, inside: async (env) => Inside.open(settings(env), env) })
}
