import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Computation, type Kernel, Retry, type Space } from "systole"
import * as TestKernel from "../../support/TestKernel.ts"
import { controlled, enzyme, register, replays, steps } from "../TestSpace.ts"
import * as TestMachine from "../TestMachine.ts"

const failing = enzyme("fail", () => new Retry({ reason: "later" }))
const noting = enzyme("note", (tx, { payload }) => void tx.set("/data/noted", payload), { query: "/signals/note/*" })

/** The pending signals, by signal and reason. */
const listed = (space: Space, limit = 100) =>
  Effect.map(
    space.waiting({ limit }), ({ waiting }) => waiting.map(({ on, signal, why }) => [signal, on === undefined ? why : `${why} ${on}`])
  )

const send = (space: Space, name: string, more: object = {}) => space.signal({ signal: `/signals/${name}`, payload: 1, ...more })

/** A space with these enzymes, stepped by hand. */
const inSpace = (run: (space: Space) => Effect.Effect<void, unknown, Kernel>, settings: Parameters<typeof TestKernel.layer>[0] = {}) =>
  Effect.flatMap(TestKernel.space([failing, noting]), run).pipe(Effect.provide(TestKernel.layer(settings)))

describe("the waiting list of a space", () => {
  it.effect("gives the reason: delayed, retrying, behind its lane, or next", () =>
    inSpace((space) => Effect.gen(function*() {
      yield* send(space, "fail")
      yield* send(space, "note/late", { at: { beat: 9 } })
      yield* steps(space, 1)
      yield* send(space, "fail")
      yield* send(space, "note/a")
      assert.deepStrictEqual(yield* listed(space), [
        ["/signals/note/late", "delayed"], ["/signals/fail", "retrying"], ["/signals/fail", "lane pair"], ["/signals/note/a", "next"]
      ])
      const [late, retried] = (yield* space.waiting({ limit: 2 })).waiting
      assert.deepStrictEqual(late!.due, { beat: 9 })
      assert.deepInclude(retried!, { enzymes: ["fail"], attempt: 2 })
      yield* steps(space, 12)
      assert.notInclude((yield* listed(space)).map(([signal]) => signal), "/signals/note/late")
    })))

  it.effect("gives parked while the space is paused, and the lock or the conflict of an attempt", () =>
    inSpace((space) => Effect.gen(function*() {
      for (const name of ["note/a", "note/b"]) yield* space.signal({ signal: `/signals/${name}`, payload: name })
      yield* steps(space, 1)
      assert.deepStrictEqual(yield* listed(space), [["/signals/note/b", "conflict /data/noted"]])
      yield* steps(space, 1)
      yield* controlled(space, space.control.lock("/data/noted"))
      yield* send(space, "note/c")
      yield* steps(space, 1)
      const [[, why]] = yield* listed(space) as Effect.Effect<[[string, string]], never>
      assert.match(why, /^parked \//)
      yield* controlled(space, space.control.unlock("/data/noted"))
      yield* steps(space, 1)
      yield* controlled(space, space.control.pause())
      yield* steps(space, 5)
      yield* send(space, "note/d")
      assert.deepStrictEqual(yield* listed(space), [["/signals/note/d", "parked pause"]])
    })))

  it.effect("gives parked while a gate delays a read place", () =>
    inSpace((space) => Effect.gen(function*() {
      yield* register(Computation.make({ name: "slow", output: "/data/slow", throttle: 60_000, run: (tx) => tx.get("/data/noted") ?? 0 }))
      const reading = enzyme("read", (tx) => void tx.get("/data/slow"))
      yield* TestKernel.space([reading])
      yield* send(space, "read")
      yield* steps(space, 1)
      yield* send(space, "note/a")
      yield* steps(space, 1)
      yield* send(space, "read")
      yield* steps(space, 1)
      assert.deepStrictEqual(yield* listed(space), [["/signals/read", "parked gate"]])
    })))

  it.effect("comes in pages that miss nothing and repeat nothing, across starts", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const before = yield* machine.boot([noting])
      for (let i = 0; i < 7; i++) yield* send(before, `note/${i}`, { at: { beat: 100 + i } })
      const space = yield* machine.boot([{ module: noting, hash: "n", leftOut: true }])
      const pages: Array<ReadonlyArray<string | undefined>> = []
      for (let after: number | undefined = undefined; ;) {
        const page: Effect.Success<ReturnType<Space["waiting"]>> = yield* space.waiting({ after, limit: 3 })
        pages.push(page.waiting.map(({ signal }) => signal))
        if (page.next === undefined) break
        after = page.next
      }
      assert.deepStrictEqual(pages, [[0, 1, 2], [3, 4, 5], [6]].map((page) => page.map((i) => `/signals/note/${i}`)))
      yield* send(space, "note/held")
      yield* steps(space, 1)
      const { waiting } = yield* space.waiting({ limit: 100 })
      assert.deepInclude(waiting.at(-1)!, { signal: "/signals/note/held", why: "held", code: "enzyme/held", enzymes: ["note"] })
    }))

  it.effect("is shown to a reader as far as it may know", () =>
    inSpace((space) => Effect.gen(function*() {
      const at = { beat: 100 }
      yield* send(space, "note/open", { at, id: "mine" })
      yield* send(space, "note/minted", { at })
      yield* send(space, "note/secret", { at, label: ["secret"] })
      yield* send(space, "note/last", { at })
      const reader = (atoms: ReadonlyArray<string>) => space.reader({ name: "web", atoms: atoms as never })
      const open = (yield* reader([]).waiting({ limit: 100 })).waiting
      assert.deepStrictEqual(open.map(({ signal }) => signal), ["/signals/note/open", "/signals/note/minted", "/signals/note/last"])
      assert.deepStrictEqual(open.map(({ id }) => id === undefined), [false, true, true])
      assert.lengthOf((yield* reader(["secret"]).waiting({ limit: 100 })).waiting, 4)
      const first = yield* reader([]).waiting({ limit: 2 })
      const rest = yield* reader([]).waiting({ limit: 2, after: first.next })
      assert.deepStrictEqual(rest, { waiting: [{ signal: "/signals/note/last", why: "delayed" }], next: undefined })
    }), { labels: { cells: { "/data/secret/**": ["secret"] }, declassify: {} } }))

  it.effect("is told once in the stage of the next beat while the gate is closed, and replays", () =>
    inSpace((space) => Effect.gen(function*() {
      yield* controlled(space, space.control.pause())
      yield* send(space, "note/a", { qos: "discard" })
      yield* steps(space, 4)
      yield* send(space, "note/b", { target: "/data/x" })
      yield* controlled(space, space.control.resume())
      yield* steps(space, 4)
      const stages = yield* Effect.forEach(
        Array.from({ length: 1 + (yield* space.head) }, (_, beat) => beat), (beat) => TestKernel.ledger(space, beat, "stage")
      )
      const told = stages.flatMap((lines) => lines ?? []).filter((line) => line.startsWith("pause:"))
      assert.deepStrictEqual(told, [
        "pause: parked signal=/signals/note/a target=- qos=discard", "pause: parked signal=/signals/note/b target=/data/x qos=retain"
      ])
      yield* replays(space)
    })))
})
