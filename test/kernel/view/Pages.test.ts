import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { Enzyme, Kernel, MemoryStore, Pacemaker, Persistence, type Space, type SpaceStore } from "systole"
import { TestReactor } from "systole/testing"
import * as TestPacemaker from "../../../src/main/testing/TestPacemaker.ts"
import rvInit from "../../../enzymes/rv_init.ts"
import * as RendezvousSpace from "../../rendezvous/RendezvousSpace.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import { enzyme, steps, turns } from "../TestSpace.ts"

/** The most rows between two yields. */
const BAR = 500

/** The records of each list. */
const COUNT = 1100

/** The rows that a store gave out in a turn, and the most of them. */
interface Rows {
  turn: number
  most: number
  /** The number of lists that were taken from it. */
  looks: number
}

/** A store that counts the rows of its lists. */
const counting = (store: SpaceStore, rows: Rows): SpaceStore => {
  const add = (count: number): void => {
    rows.turn += count
    rows.most = Math.max(rows.most, rows.turn)
  }
  const listed = <A>(list: ReadonlyArray<A>): ReadonlyArray<A> => {
    rows.looks++
    add(list.length)
    return list
  }
  function* each<A>(list: Iterable<A>): Iterable<A> {
    for (const row of list) {
      add(1)
      yield row
    }
  }
  return Object.assign(Object.create(store) as SpaceStore, {
    below: (id, page) => listed(store.below(id, page)),
    queue: (after) => each(store.queue(after)),
    scanJournal: (from, to) => each(store.scanJournal(from, to)),
    entry: (beat) => listed([store.entry(beat)])[0]
  } satisfies Partial<SpaceStore>)
}

/** A kernel whose rows are counted by turns of its pacemaker. */
const counted = (rows: Rows) => {
  const persistence = Layer.effect(Persistence, Effect.map(Persistence, (inner) => ({
    ...inner,
    open: (space, options) => Effect.map(inner.open(space, options), (store) => counting(store, rows))
  }))).pipe(Layer.provide(MemoryStore.layer))
  const pacemaker = Layer.effect(Pacemaker, Effect.map(Pacemaker, (inner) => ({
    ...inner,
    turn: (run, again) =>
      inner.turn(() => {
        rows.turn = 0
        run()
      }, again)
  }))).pipe(Layer.provide(TestPacemaker.layer))
  const reactor = new TestReactor({ bank: { opcodes: { pay: { repeatable: true } } } }).layer
  const labels = { cells: { "/data/secret/**": ["secret"], "/data/secret": ["secret"] }, declassify: {} }
  return TestKernel.layer({ labels }, persistence, { pacemaker, reactor })
}

const pay = { channel: "bank", opcode: "pay" } as const
const numbers = Array.from({ length: 100 }, (_, i) => i)

const writer = (name: string) =>
  enzyme(name, (tx, { payload }) => numbers.forEach((i) => tx.set(`/data/${name}/${payload}-${i}`, i)), { query: "/signals/fill" })

const enzymes = [
  writer("open"),
  writer("secret"),
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
  Enzyme.make({ name: "wait", query: "/signals/wait", durable: true, run: (tx) => tx.sleep(1_000_000) })
]

/** A space in which each list has {@link COUNT} records. */
const filled = Effect.gen(function*() {
  const kernel = yield* Kernel
  for (const each of [rvInit, ...enzymes]) yield* kernel.register(each)
  const space = yield* RendezvousSpace.begin(yield* kernel.space("test"))
  for (let i = 0; i < COUNT / numbers.length; i++) {
    yield* space.signal({ signal: "/signals/fill", payload: i })
    yield* space.step
  }
  for (let i = 0; i < COUNT; i++) {
    yield* space.signal({ signal: "/signals/die", target: `/data/t${i}`, payload: i }).pipe(Effect.ignore)
    yield* space.signal({ signal: "/signals/die", payload: i })
    yield* space.signal({ signal: "/signals/wait", payload: i })
    yield* space.signal({ signal: "/signals/later", payload: i, at: { beat: 1_000_000 }, ...i % 2 === 0 ? { label: ["secret"] } : {} })
  }
  yield* steps(space, COUNT + 10)
  return space
})

/** A page of any list. */
interface AnyPage {
  readonly rows: ReadonlyArray<unknown>
  readonly next: string | number | undefined
}

type List = (space: Space, after: string | number | undefined) => Effect.Effect<AnyPage, unknown>

const limit = 1000
const reader = (space: Space) => space.reader({ name: "web", atoms: [] })
const text = (after: string | number | undefined): string | undefined => after === undefined ? undefined : String(after)

/** Each list, with the fewest records that it shows. */
const lists: Readonly<Record<string, readonly [List, number]>> = {
  cells: [(space, after) =>
    Effect.map(space.cells("/data", { after: text(after), limit }), ({ cells, next }) => ({ rows: cells, next })), 2 * COUNT],
  values: [(space, after) =>
    Effect.map(space.cells("/data", { after: text(after), limit, size: 1e6 }), ({ cells, next }) => ({ rows: cells, next })), 2 * COUNT],
  "cells of a reader": [(space, after) =>
    Effect.map(reader(space).below("/data", { after: text(after), limit }), ({ keys, next }) => ({ rows: keys, next })), COUNT],
  waiting: [(space, after) =>
    Effect.map(space.waiting({ after: after as number, limit }), ({ next, waiting }) => ({ rows: waiting, next })), 2 * COUNT],
  "waiting of a reader": [(space, after) =>
    Effect.map(reader(space).waiting({ after: text(after), limit }), ({ next, waiting }) => ({ rows: waiting, next })), COUNT],
  beats: [(space, after) =>
    Effect.map(space.beatsBefore(after as number ?? 1e9, limit), ({ next, rows }) => ({ rows, next })), COUNT],
  dead: [(space, after) => Effect.map(space.dead({ after: text(after), limit }), ({ letters, next }) => ({ rows: letters, next })), COUNT],
  operations: [(space, after) =>
    Effect.map(space.ops.list({ after: text(after), limit }), ({ next, operations }) => ({ rows: operations, next })), COUNT],
  rendezvous: [(space, after) =>
    Effect.map(space.rv.list({ after: text(after), limit }), ({ next, rendezvous }) => ({ rows: rendezvous, next })), COUNT],
  requests: [(space, after) =>
    Effect.map(space.io.list({ after: text(after), limit }), ({ next, requests }) => ({ rows: requests, next })), COUNT],
  "open requests": [(space, after) =>
    Effect.map(space.io.list({ after: text(after), limit, open: true }), ({ next, requests }) => ({ rows: requests, next })), COUNT],
  drains: [(space, after) =>
    Effect.map(space.io.drains({ before: after as number, limit }), ({ drains, next }) => ({ rows: drains, next })), 0],
  runs: [(space, after) => Effect.map(space.runs.list({ after: text(after), limit }), ({ next, runs }) => ({ rows: runs, next })), COUNT],
  "all runs": [(space, after) =>
    Effect.map(space.runs.list({ after: text(after), limit, all: true }), ({ next, runs }) => ({ rows: runs, next })), COUNT]
}

describe("A page of any list", () => {
  const rows: Rows = { turn: 0, most: 0, looks: 0 }
  it.effect(`looks at no more than ${BAR} rows between two yields, and the pages have all`, () =>
    Effect.gen(function*() {
      const space = yield* filled
      for (const [name, [list, fewest]] of Object.entries(lists)) {
        rows.most = 0
        const all: Array<string> = []
        for (let after: string | number | undefined; ;) {
          const page = yield* list(space, after)
          all.push(...page.rows.map((row) => JSON.stringify(row)))
          if (page.next === undefined) break
          assert.notStrictEqual(page.next, after, name)
          after = page.next
        }
        assert.isAtMost(rows.most, BAR, name)
        assert.isAtLeast(all.length, fewest, name)
        // A reader sees no id of a signal that another sent.
        if (name !== "waiting of a reader") assert.strictEqual(new Set(all).size, all.length, `${name} shows each once`)
      }
    }).pipe(Effect.provide(counted(rows)), RendezvousSpace.granted))

  it.effect("takes a turn of its own, unless its client is gone by then", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      const space = yield* kernel.space("test")
      const ask = Effect.forkChild(space.cells("/data", { limit }), { startImmediately: true })
      const asked = yield* Effect.all(Array.from({ length: 10 }, () => ask))
      yield* Effect.forEach(asked.slice(1, 9), (fiber) => Fiber.interrupt(fiber))
      rows.looks = 0
      yield* Fiber.joinAll([asked[0]!, asked[9]!])
      yield* turns(8)
      assert.strictEqual(rows.looks, 2)
    }).pipe(Effect.provide(counted(rows))))
})
