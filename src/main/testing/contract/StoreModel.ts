/**
 * The reference model: plain maps, and random work on which a store must agree with them.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Address from "../../../cell/Address.ts"
import type { Batch, JournalRow, Persistence, QueueRow, ReceiptRow, SpaceStore } from "../../../persistence/Persistence.ts"
import type { PersistenceError } from "../../../persistence/PersistenceError.ts"
import { same } from "./Check.ts"
import { beat, cell, inbox, using } from "./Batches.ts"
import * as Random from "./Random.ts"

interface State {
  readonly cells: Map<string, string>
  readonly journal: Array<JournalRow>
  readonly receipts: Map<string, ReceiptRow>
  readonly queue: Map<number, QueueRow>
}

const copy = (state: State): State => ({
  cells: new Map(state.cells),
  journal: [...state.journal],
  receipts: new Map(state.receipts),
  queue: new Map(state.queue)
})

const ids = ["/a", "/a/b", "/a/b/c", "/a/b-c", "/a/\uff21", "/a/\u{1f600}", "/a0", "/b/x", "/b/x/y/z"]
const scopes = ["", "?scope=user:1", "?scope=session:s"]
const keys = ids.flatMap((id) => scopes.map((scope) => id + scope))

const randomBatch = (draw: Random.Random, state: State, seq: () => number): Batch => {
  const last = state.journal.at(-1)?.beat ?? -1
  const number = last + 1 + (draw(4) === 0 ? draw(5) : 0)
  const queued = Array.from({ length: draw(3) }, (): QueueRow => {
    const row = { seq: seq(), text: `q${draw(1000)}` }
    return draw(2) === 0 ? { ...row, id: `id${draw(5)}` } : row
  })
  const waiting = [...state.queue.keys(), ...queued.map((row) => row.seq)]
  const parts = {
    cells: Array.from({ length: draw(4) }, () => cell(Random.pick(draw, keys), draw(3) === 0 ? undefined : `v${draw(1000)}`)),
    receipts: Array.from({ length: draw(2) }, () => randomReceipt(draw, number)),
    queued,
    dequeued: waiting.filter(() => draw(3) === 0)
  }
  return draw(5) === 0 ? inbox({ ...parts, receipts: [] }) : beat(number, parts)
}

/** Of an even id the row without an enzyme has a digest, most have an own id, and some a label; an odd one has no such row. */
const randomReceipt = (draw: Random.Random, beat: number): ReceiptRow => {
  const n = draw(20)
  const id = `id${n}`
  if (n % 2 === 1 || draw(2) === 1) return { id, enzyme: `e${draw(3)}`, beat }
  const label = n % 4 === 0 ? { label: [`a${n}`, "\u0000"] } : {}
  return { id, enzyme: "", beat, digest: `d${draw(1000)}`, ...n % 3 === 0 ? {} : { own: `own${n % 5}` }, ...label }
}

const apply = (state: State, batch: Batch): void => {
  if (batch.entry !== undefined) state.journal.push(batch.entry)
  for (const { address, text } of batch.cells) {
    if (text === undefined) state.cells.delete(address.key)
    else state.cells.set(address.key, text)
  }
  for (const row of batch.receipts) state.receipts.set(`${row.id} ${row.enzyme}`, row)
  for (const row of batch.queued) state.queue.set(row.seq, row)
  for (const number of batch.dequeued) state.queue.delete(number)
}

const expectEqual = (store: SpaceStore, state: State): void => {
  for (const key of keys) same(store.read(key), state.cells.get(key), key)
  same(store.below("/a", { limit: 100 }), [...state.cells.keys()].filter((key) => key.startsWith("/a/")).sort())
  for (const scope of ["space", "user:1"]) {
    const all = [...state.cells.keys()].map(Address.ofKey)
    const below = all.filter((address) => address.scope === scope && Address.parent(address.id) === "/a")
    same(store.children(scope, "/a"), below.map((address) => Address.name(address.id)).sort())
  }
  same([...store.scanJournal(0, Infinity)], state.journal)
  same(store.head().beat, state.journal.at(-1)?.beat ?? -1)
  const receipts = Array.from({ length: 20 }, (_, n) => store.receipts(`id${n}`)).flat()
  same(new Map(receipts.map((row) => [`${row.id} ${row.enzyme}`, row])), new Map([...state.receipts].sort(byNumber)))
  for (let n = 0; n < 5; n++) {
    const events = [...state.receipts.values()].flatMap(({ id, own }) => own === `own${n}` ? [id] : [])
    same([...store.named(`own${n}`, 1000)].sort(), events.sort())
  }
  const queue = [...state.queue.values()].sort((a, b) => a.seq - b.seq)
  const plain = (rows: Iterable<QueueRow>) => Array.from(rows, ({ seq, text }) => [seq, text])
  same(plain(store.queue()), plain(queue))
  for (let n = 0; n < 5; n++) same(plain(store.waiting(`id${n}`)), plain(queue.filter(({ id }) => id === `id${n}`)))
  const newest = queue.at(-1)?.seq ?? 0
  for (let seq = Math.max(0, newest - 20); seq <= newest + 1; seq++) {
    const rows = store.queued(seq, 3)
    same(plain(rows), plain(queue.filter((row) => state.queue.has(seq) && row.seq >= seq)).slice(0, rows.length))
    same(rows.length > 0, state.queue.has(seq))
  }
}

/** Receipts as they are asked for: by the number of the id, then by enzyme. */
const byNumber = ([a]: readonly [string, ReceiptRow], [b]: readonly [string, ReceiptRow]): number =>
  Number.parseInt(a.slice(2), 10) - Number.parseInt(b.slice(2), 10) || (a < b ? -1 : 1)

/**
 * Appends, flushes, abandons and reopens a store at random, and compares it with the model all along.
 */
export const check = (seed: number, steps: number): Effect.Effect<void, PersistenceError, Persistence> =>
  Effect.gen(function*() {
    const draw = Random.make(seed)
    let next = 0
    let durable = copy({ cells: new Map(), journal: [], receipts: new Map(), queue: new Map() })
    let left = steps
    while (left > 0) {
      yield* using("shop", (store) =>
        Effect.gen(function*() {
          const state = copy(durable)
          expectEqual(store, state)
          for (let length = 1 + draw(30); length > 0 && left > 0; length--, left--) {
            const batch = randomBatch(draw, state, () => next++)
            store.append(batch)
            apply(state, batch)
            if (draw(3) === 0) expectEqual(store, state)
            if (draw(4) !== 0) continue
            yield* store.flush
            durable = copy(state)
            expectEqual(store, state)
          }
        }))
    }
  })
