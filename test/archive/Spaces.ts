/**
 * Spaces for tests of frames: one script of beats over any store, and frames of them.
 *
 * @module
 */
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { Kernel, Space } from "systole"
import * as Export from "../../src/archive/Export.ts"
import { Import } from "../../src/archive/Import.ts"
import { concat } from "../../src/cell/Bytes.ts"
import * as Chunk from "../../src/frame/Chunk.ts"
import type * as Header from "../../src/frame/Header.ts"
import type { Parts } from "../../src/frame/Parts.ts"
import type * as Record from "../../src/frame/Record.ts"
import { hash, read } from "../frame/Frames.ts"
import { enzyme } from "../kernel/TestSpace.ts"
import { present } from "../support/Present.ts"

const all = Array.from({ length: 40 }, (_, i) => i)
const text = (n: number, size: number): string => `${n} ${"x".repeat(size)}`

/** Enzymes that write, change and delete documents, wait, and send to another space. */
export const enzymes = [
  enzyme("fill", (tx) => {
    for (const n of all) tx.set(`/data/n/${n}`, text(n, 50))
    tx.set("/data/long", text(0, 300_000))
  }),
  enzyme("change", (tx) => {
    for (const n of all) if (n % 3 > 0) tx.set(`/data/n/${n}`, n % 3 === 1 ? text(-n, 9) : undefined)
    for (const n of all) tx.set(`/data/later/${n}`, text(n, 20))
    tx.set("/data/long", text(1, 10))
  }),
  enzyme("later", (tx) => {
    tx.signal({ signal: "/signals/change", at: { ms: 1_000_000_000 } })
    tx.signal({ signal: "/signals/fill", space: "elsewhere" })
  })
]

/** The beats before a frame is begun: documents, receipts with and without ids, delayed signals, and one that waits. */
export const before = Effect.fnUntraced(function*(space: Space) {
  for (const [at, signal] of ["fill", "later", "change", "fill", "later"].entries()) {
    yield* space.signal({ signal: `/signals/${signal}`, ...at % 2 === 0 ? { id: `own-${at}` } : {} })
    yield* TestClock.adjust(1000)
    yield* space.step
  }
  yield* space.signal({ signal: "/signals/change", id: "waits" })
})

/** Beats that change all that a frame holds. */
export const meanwhile = Effect.fnUntraced(function*(space: Space) {
  for (const signal of ["change", "later", "fill", "change"]) {
    yield* space.signal({ signal: `/signals/${signal}` })
    yield* TestClock.adjust(1000)
    yield* space.step
  }
})

/** The frame of a space now. `between` is called after each piece. */
export const frameOf = (space: Space, { between = Effect.void, parts = {} }: {
  readonly between?: Effect.Effect<unknown, unknown>
  readonly parts?: Parts
} = {}) =>
  Effect.scoped(Effect.gen(function*() {
    const pieces: Array<Uint8Array> = []
    const frame = Export.frame(yield* space.pin, { hash }, parts)
    for (;;) {
      const { done, value } = yield* Effect.promise(() => frame.next())
      if (done === true) return concat(pieces)
      pieces.push(value)
      yield* Effect.orDie(between)
    }
  }))

/** The header of a frame. */
export const headerOf = (frame: Uint8Array): Header.Header =>
  JSON.parse(new TextDecoder().decode(frame.subarray(Chunk.OPENING, Chunk.OPENING + Chunk.lengthOf(frame)))) as Header.Header

/** The whole records of a frame, in their order. */
export const recordsOf = async (frame: Uint8Array): Promise<ReadonlyArray<Record.Record>> => {
  const { end, found } = await read(frame)
  if ("code" in end) throw end
  const records: Array<Record.Record> = []
  for (const each of found) {
    if (each.type !== "part") records.push({ type: each.type, key: each.key, bytes: each.here })
    else {
      const owner = present(records.pop())
      records.push({ ...owner, bytes: concat([owner.bytes, each.here]) })
    }
  }
  return records
}

/** Takes a frame into a new space, in pieces of a size. */
export const take = (kernel: Kernel["Service"], frame: Uint8Array, { size = 50_000, space = "copy" } = {}) =>
  Effect.scoped(Effect.gen(function*() {
    const importer = new Import(yield* kernel.importing(space), { hash }, { id: "import", why: "copy" })
    for (let at = 0; at < frame.length; at += size) yield* importer.take(frame.subarray(at, at + size), 0)
    return yield* importer.end()
  }))

/** The state of a space as its frame has it, without the beat that made it a copy. */
export const stateOf = (space: Space) => Effect.flatMap(frameOf(space, { parts: { history: "none" } }), (frame) =>
  Effect.map(Effect.promise(() => recordsOf(frame)), (records) =>
    records.filter(({ type }) => type !== "journal").map(({ bytes, key, type }) => `${type} ${key} ${new TextDecoder().decode(bytes)}`)))

/** The place of a chunk in a frame; 0 for the header. The seal ends with the frame. */
export const atChunk = (bytes: Uint8Array, seq: number): number => {
  if (seq === 0) return 0
  let at = Chunk.OPENING + Chunk.lengthOf(bytes)
  for (let i = 1; i < seq && at < bytes.length; i++) at += Chunk.HEAD + Chunk.numbers(bytes.subarray(at)).stored + Chunk.DIGEST
  return at
}
