/**
 * A reference model of a store, and random work on which a real store must agree with it.
 *
 * @module
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Address, type Batch, type JournalRow, type Persistence, type PersistenceError, type QueueRow, type ReceiptRow, type SpaceStore } from "systole"
import * as Dice from "../support/Dice.ts"
import { beat, cell, inbox, using } from "./Batches.ts"

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

const randomBatch = (roll: Dice.Dice, state: State, seq: () => number): Batch => {
  const last = state.journal.at(-1)?.beat ?? -1
  const number = last + 1 + (roll(4) === 0 ? roll(5) : 0)
  const queued = Array.from({ length: roll(3) }, () => ({ seq: seq(), text: `q${roll(1000)}`, ...roll(2) === 0 ? { id: `id${roll(5)}` } : {} }))
  const waiting = [...state.queue.keys(), ...queued.map((row) => row.seq)]
  const parts = {
    cells: Array.from({ length: roll(4) }, () => cell(Dice.pick(roll, keys), roll(3) === 0 ? undefined : `v${roll(1000)}`)),
    receipts: Array.from({ length: roll(2) }, () => randomReceipt(roll, number)),
    queued,
    dequeued: waiting.filter(() => roll(3) === 0)
  }
  return roll(5) === 0 ? inbox({ ...parts, receipts: [] }) : beat(number, parts)
}

/** An even id has a row with a digest and without an enzyme; an odd id has none. */
const randomReceipt = (roll: Dice.Dice, beat: number): ReceiptRow => {
  const n = roll(20)
  return n % 2 === 0 && roll(2) === 0 ? { id: `id${n}`, enzyme: "", beat, digest: `d${roll(1000)}` } : { id: `id${n}`, enzyme: `e${roll(3)}`, beat }
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
  for (const key of keys) assert.strictEqual(store.read(key), state.cells.get(key), key)
  assert.deepStrictEqual(store.below("/a", { limit: 100 }), [...state.cells.keys()].filter((key) => key.startsWith("/a/")).sort())
  for (const scope of ["space", "user:1"]) {
    const below = [...state.cells.keys()].map(Address.ofKey).filter((address) => address.scope === scope && Address.parent(address.id) === "/a")
    assert.deepStrictEqual(store.children(scope, "/a"), below.map((address) => Address.name(address.id)).sort())
  }
  assert.deepStrictEqual([...store.scanJournal(0, Infinity)], state.journal)
  assert.strictEqual(store.head().beat, state.journal.at(-1)?.beat ?? -1)
  const receipts = Array.from({ length: 20 }, (_, n) => store.receipts(`id${n}`)).flat()
  assert.deepStrictEqual(new Map(receipts.map((row) => [`${row.id} ${row.enzyme}`, row])), new Map([...state.receipts].sort(byNumber)))
  const queue = [...state.queue.values()].sort((a, b) => a.seq - b.seq)
  const plain = (rows: Iterable<QueueRow>) => Array.from(rows, ({ seq, text }) => [seq, text])
  assert.deepStrictEqual(plain(store.queue()), plain(queue))
  for (let n = 0; n < 5; n++) assert.deepStrictEqual(plain(store.waiting(`id${n}`)), plain(queue.filter(({ id }) => id === `id${n}`)))
  const newest = queue.at(-1)?.seq ?? 0
  for (let seq = Math.max(0, newest - 20); seq <= newest + 1; seq++) {
    const rows = store.queued(seq, 3)
    assert.deepStrictEqual(plain(rows), plain(queue.filter((row) => state.queue.has(seq) && row.seq >= seq)).slice(0, rows.length))
    assert.strictEqual(rows.length > 0, state.queue.has(seq))
  }
}

/** Returns receipts by the number of the id, then by enzyme. */
const byNumber = ([a]: readonly [string, ReceiptRow], [b]: readonly [string, ReceiptRow]): number =>
  Number(a.split(" ")[0]!.slice(2)) - Number(b.split(" ")[0]!.slice(2)) || (a < b ? -1 : 1)

/** Appends, flushes, abandons and reopens a store at random, and compares it with the model after each step. */
export const check = (seed: number, steps: number): Effect.Effect<void, PersistenceError, Persistence> =>
  Effect.gen(function*() {
    const roll = Dice.make(seed)
    let next = 0
    let durable = copy({ cells: new Map(), journal: [], receipts: new Map(), queue: new Map() })
    let left = steps
    while (left > 0) {
      yield* using("model", (store) =>
        Effect.gen(function*() {
          const state = copy(durable)
          expectEqual(store, state)
          for (let length = 1 + roll(30); length > 0 && left > 0; length--, left--) {
            const batch = randomBatch(roll, state, () => next++)
            store.append(batch)
            apply(state, batch)
            if (roll(3) === 0) expectEqual(store, state)
            if (roll(4) !== 0) continue
            yield* store.flush
            durable = copy(state)
            expectEqual(store, state)
          }
        }))
    }
  })
