/**
 * The set-up of all tests. It bundles the command, which tests run as a process. Tests on Deno and Bun run Node's bundle.
 *
 * @module
 */
import { refresh } from "./Command.ts"
import { current } from "./Host.ts"

export const setup = (): Promise<void> => current() === "node" ? refresh() : Promise.resolve()
