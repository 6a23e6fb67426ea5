/**
 * A process that writes groups of three beats to a store and reports each durable beat, until it is killed.
 *
 * @module
 */
import { writeSync } from "node:fs"
import process from "node:process"
import { Effect } from "effect"
import { beat, cell, using, write } from "../../src/main/testing/contract/Batches.ts"
import * as SqliteFolder from "./SqliteFolder.ts"

const batch = (n: number) =>
  beat(n, {
    cells: ["/a", "/b", "/c"].map((key) => cell(key, String(n))),
    receipts: [{ id: `id${n}`, enzyme: "e", beat: n }],
    queued: n % 3 === 2 ? [{ seq: n, text: "waits" }] : []
  })

const program = using("shop", (store) =>
  Effect.gen(function*() {
    for (let n = 0; ; n += 3) {
      yield* write(store, batch(n), batch(n + 1), batch(n + 2))
      writeSync(1, `${n + 2}\n`)
    }
  })).pipe(Effect.provide(SqliteFolder.layerIn(process.argv[2]!)))

await Effect.runPromise(program)
