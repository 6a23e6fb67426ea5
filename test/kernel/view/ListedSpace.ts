/**
 * A space in which each list is long, over a store that counts the rows of each turn.
 *
 * @module
 */
import { Effect, Layer } from "effect"
import { Computation, Enzyme, Kernel, MemoryStore, Pacemaker, Persistence, Reaction, type PlacedStore } from "systole"
import { TestReactor } from "systole/testing"
import rvInit from "../../../enzymes/rv_init.ts"
import * as TestPacemaker from "../../../src/main/testing/TestPacemaker.ts"
import * as RendezvousSpace from "../../rendezvous/RendezvousSpace.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import { controlled, enzyme, steps } from "../TestSpace.ts"

/** The most rows between two yields. */
export const BAR = 500

/** The records of each list. */
export const COUNT = 1100

/** The rows that a store gave out in a turn, and the most of them. */
export class Rows {
  turn = 0
  most = 0
  /** The number of turns. */
  turns = 0
  /** The number of reads of lists. */
  looks = 0

  add(count: number): void {
    this.turn += count
    this.most = Math.max(this.most, this.turn)
  }
}

/** A store that counts its rows, however they are read. */
const counting = (store: PlacedStore, rows: Rows): PlacedStore => {
  const listed = <A>(list: ReadonlyArray<A>): ReadonlyArray<A> => {
    rows.looks++
    rows.add(list.length)
    return list
  }
  const one = <A>(row: A): A => {
    rows.add(1)
    return row
  }
  function* each<A>(list: Iterable<A>): Iterable<A> {
    for (const row of list) yield one(row)
  }
  return Object.assign(Object.create(store) as PlacedStore, {
    below: (id, page) => listed(store.below(id, page)),
    children: (scope, id) => listed(store.children(scope, id)),
    entry: (beat) => one(store.entry(beat)),
    queue: (after) => each(store.queue(after)),
    queued: (seq, limit) => listed(store.queued(seq, limit)),
    read: (key) => one(store.read(key)),
    receipts: (id) => listed(store.receipts(id)),
    scanJournal: (from, to) => each(store.scanJournal(from, to)),
    waiting: (id) => listed(store.waiting(id))
  } satisfies Partial<PlacedStore>)
}

/** The atoms of the cells that readers do not see. */
export const labels = { cells: { "/data/secret/**": ["secret"], "/data/secret": ["secret"] }, declassify: {} }

/** The names of spaces without a store, beside those that have one. */
const others = Array.from({ length: COUNT }, (_, i) => `other-${i}`)

/** A kernel whose rows are counted by turns of its pacemaker. */
export const counted = (rows: Rows) => {
  function* names(own: Iterable<string>): Iterable<string> {
    for (const list of [others, own]) {
      for (const name of list) {
        rows.add(1)
        yield name
      }
    }
  }
  const persistence = Layer.effect(Persistence, Effect.map(Persistence, (inner) => ({
    ...inner,
    open: (space, options) => Effect.map(inner.open(space, options), (store) => counting(store, rows)),
    spaces: Effect.map(inner.spaces, names)
  }))).pipe(Layer.provide(MemoryStore.layer))
  const pacemaker = Layer.effect(Pacemaker, Effect.map(Pacemaker, (inner) => ({
    ...inner,
    turn: (run, again) =>
      inner.turn(() => {
        rows.turn = 0
        rows.turns++
        run()
      }, again)
  }))).pipe(Layer.provide(TestPacemaker.layer))
  const reactor = new TestReactor({ bank: { opcodes: { pay: { repeatable: true } } } }).layer
  return TestKernel.layer({ labels }, persistence, { pacemaker, reactor })
}

const pay = { channel: "bank", opcode: "pay" } as const
const numbers = Array.from({ length: 100 }, (_, i) => i)

const writer = (name: string) =>
  enzyme(name, (tx, { payload }) => numbers.forEach((i) => tx.set(`/data/${name}/${payload}-${i}`, i)), { query: "/signals/fill" })

const enzymes = [
  writer("open"),
  writer("secret"),
  // Cells below cells that are not there, and links from one to the next.
  enzyme("deep", (tx, { payload }) => numbers.forEach((i) => {
    tx.set(`/data/deep/${payload}-${i}/cell`, i)
    tx.set(`/data/links/${payload}-${i}`, { $link: `/data/links/${payload}-${i + 1}` })
  }), { query: "/signals/fill" }),
  enzyme("fill", (tx, { payload }) => {
    for (const i of numbers) {
      tx.op.start({ verb: "op/work", target: "/data/open", mode: "opm:direct" })
      tx.rv.spawn({ key: `k${payload}-${i}`, due_off: 1_000_000 })
      tx.io.request({ ...pay, signal: "/signals/fill/paid" })
    }
  }, { match: "prefix" }),
  enzyme("die", () => {
    throw new Error("dead")
  }),
  enzyme("later", () => {}),
  Enzyme.make({ name: "wait", query: "/signals/wait", durable: true, run: (tx) => tx.sleep(1_000_000) }),
  Enzyme.make({
    name: "long",
    query: "/signals/long",
    durable: true,
    run: async (tx) => {
      for (let i = 0; i < COUNT; i++) {
        tx.set("/data/one", i)
        await tx.sleep(0)
      }
    }
  }),
  ...Array.from({ length: COUNT }, (_, i) => enzyme(`module-${i}`, () => {}))
]

const seen = Reaction.make({ name: "seen", read: (tx) => tx.get("/data/derived/0"), deliver: () => {} })

const nodes = Array.from({ length: COUNT }, (_, i) => Computation.make({
  name: `node-${i}`,
  output: `/data/derived/${i}`,
  run: (tx) => tx.get("/data/one")
}))

/** A space in which each list has {@link COUNT} records. */
export const filled = Effect.gen(function*() {
  const kernel = yield* Kernel
  for (const each of [rvInit, ...enzymes, ...nodes, seen]) yield* kernel.register(each)
  const space = yield* RendezvousSpace.begin(yield* kernel.space("test"))
  yield* space.graph.trace(["run", "pass"])
  yield* space.signal({ signal: "/signals/long" })
  for (let i = 0; i < COUNT / numbers.length; i++) {
    yield* space.signal({ signal: "/signals/fill", payload: i })
    yield* space.step
  }
  for (let i = 0; i < COUNT; i++) {
    yield* space.signal({ signal: "/signals/die", target: `/data/t${i}`, payload: i }).pipe(Effect.ignore)
    yield* space.signal({ signal: "/signals/die", payload: i })
    yield* space.signal({ signal: "/signals/wait", payload: i })
    yield* space.signal({ signal: "/signals/later", payload: i, at: { beat: 1_000_000 }, ...i % 2 === 0 ? { label: ["secret"] } : {} })
    yield* space.reader({ name: "web", atoms: [] }).get("/data/secret/0-0").pipe(Effect.ignore)
  }
  const locks = Array.from({ length: COUNT }, (_, i) => space.control.lock(`/data/locked/${i}`))
  yield* controlled(space, Effect.all(locks, { concurrency: "unbounded" }))
  yield* steps(space, COUNT + 10)
  return space
})
