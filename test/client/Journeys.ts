/**
 * A server of its own process for the journey of a stream, and the check of what the stream gave.
 *
 * @module
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { connect } from "../../src/client/index.ts"
import { terminal } from "../cli/Terminal.ts"
import type { Journey, Place } from "./Journey.ts"

const config = `export default { persistence: "sqlite", spaces: { create: "on-demand" } }\n`

/** A server in a process, until the scope closes. */
export const place = Effect.flatMap(terminal({ "systole.config.ts": config }), ({ root, serve }) => Effect.promise(async () => {
  let server = await serve("start")
  const again = async () => {
    await server.stop("SIGKILL")
    server = await serve("start")
  }
  const replace = async () => {
    await server.stop("SIGTERM")
    rmSync(join(root, ".data"), { recursive: true })
    const other = await serve("start")
    // Before the stream sees it, whose place is not in the new store.
    await connect({ url: other.url }).space("home").set("/data/n", 9)
    server = other
  }
  return { url: () => server.url, again, replace } satisfies Place
}))

/** Asserts that a stream gave each value once, and told of the store that is another one. */
export const assertWhole = ({ cursors, isDone, told }: Journey): void => {
  const [, , , [, reset] = [undefined, null]] = told
  assert.match(reset ?? "", /^beat \d+ is not in this space, whose newest is \d+$/)
  assert.deepStrictEqual(told, [[1, null], [2, null], [3, null], [9, reset], [10, null]])
  assert.isTrue(isDone)
  assert.strictEqual(new Set(cursors.slice(0, 3)).size, 3, "the places of the values in the first store")
}
