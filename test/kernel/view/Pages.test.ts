import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { Kernel, type Space } from "systole"
import * as RendezvousSpace from "../../rendezvous/RendezvousSpace.ts"
import { turns } from "../TestSpace.ts"
import { BAR, COUNT, counted, filled, Rows } from "./ListedSpace.ts"

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
  const rows = new Rows()
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
