import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Inbox } from "../../../src/kernel/inbox/Inbox.ts"
import * as SpaceMode from "../../../src/kernel/model/SpaceMode.ts"
import * as Signal from "../../../src/kernel/model/Signal.ts"
import { PendingSignal } from "../../../src/kernel/model/Signal.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import { ended, enzyme, steps } from "../TestSpace.ts"
import * as TestMachine from "../TestMachine.ts"
import { present } from "../../support/Present.ts"

const posts = 12

describe("runs that contend for one document", () => {
  it.effect("are all applied, one per beat in the order of their queue, at a cost of two runs each", () =>
    Effect.gen(function*() {
      let runs = 0
      const space = yield* TestKernel.space([enzyme("buy", (tx, { params }) => {
        runs++
        const sold = (tx.get("/data/sold") ?? []) as ReadonlyArray<string>
        tx.set("/data/sold", [...sold, `${params["who"]}@${tx.beat}`])
      }, { query: "/signals/buy/:who" })])
      for (let i = 0; i < posts; i++) yield* space.signal({ signal: `/signals/buy/${i}` })
      yield* steps(space, posts)
      assert.deepStrictEqual(yield* space.get("/data/sold"), Array.from({ length: posts }, (_, i) => `${i}@${i}`))
      assert.strictEqual(runs, 2 * posts - 1)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("that lose keep their id and attempt, and have their receipt once applied", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("set", (tx, { id }) => tx.set("/data/x", id), { query: "/signals/:n" })])
      yield* space.signal({ signal: "/signals/1" })
      const { id } = yield* space.signal({ signal: "/signals/2" })
      yield* space.step
      assert.strictEqual((yield* space.receipt(id))?.status, "pending")
      assert.deepStrictEqual(yield* TestKernel.ledger(space, 0, "agenda"), [
        "enzyme=set rc=0 signal=/signals/1 target=-",
        "enzyme=set rc=conflict signal=/signals/2 target=-"
      ])
      yield* space.step
      assert.deepStrictEqual(yield* ended(space, id), ["set ok @1 #1"])
      assert.strictEqual(yield* space.get("/data/x"), id)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("that lose leave no write, signal, binding or content", () =>
    Effect.gen(function*() {
      let sent = 0
      const space = yield* TestKernel.space([
        enzyme("first", (tx) => tx.set("/data/x", 1), { query: "/signals/s" }),
        enzyme("second", (tx) => {
          if (tx.beat > 0) return
          tx.set("/data/x", 2)
          tx.set("/data/y", 2)
          tx.set("/data/blob", tx.blob(new Uint8Array([7])))
          tx.signal({ signal: "/signals/sent" })
          tx.bind("/data/x", "second")
        }, { query: "/signals/s" }),
        enzyme("sent", () => void sent++)
      ])
      yield* space.signal({ signal: "/signals/s" })
      yield* steps(space, 3)
      assert.deepStrictEqual(yield* space.list("/data"), ["x"])
      assert.strictEqual(yield* space.get("/sys/bind/data/x"), undefined)
      assert.strictEqual(yield* space.get("/data/x"), 1)
      assert.strictEqual(sent, 0)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("precede later signals, so that none of them starves", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("set", (tx, { params }) => {
        tx.set("/data/x", params["n"])
        tx.append("/data/log", params["n"], tx.beat)
      }, { query: "/signals/:n" })])
      for (const n of ["a", "b", "c"]) yield* space.signal({ signal: `/signals/${n}` })
      yield* space.step
      yield* space.signal({ signal: "/signals/d" })
      yield* steps(space, 4)
      assert.deepStrictEqual(yield* space.get("/data/log"), ["a", 0, "b", 1, "c", 2, "d", 3])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("are reported once after three losses", () =>
    Effect.gen(function*() {
      const reads = ["/data/a", "/data/c", "/data/b"]
      const space = yield* TestKernel.space([
        enzyme("write", (tx, { id, params }) => tx.set(`/data/${params["at"]}`, id), { query: "/signals/write/:at/:n" }),
        enzyme("read", (tx) => {
          if (tx.beat < reads.length) tx.get(present(reads[tx.beat]))
          return tx.beat
        }, { isolation: "serializable" })
      ])
      for (const path of ["a/1", "b/1", "b/2", "b/3", "c/1", "c/2"]) yield* space.signal({ signal: `/signals/write/${path}` })
      const { id } = yield* space.signal({ signal: "/signals/read" })
      yield* steps(space, 5)
      assert.deepStrictEqual(yield* ended(space, id), ["read ok @3 #1"])
      const told = yield* TestKernel.diagnostics(space)
      assert.deepStrictEqual(told.map(({ code, issued_beat, origin, sev }) => [sev, code, origin, issued_beat]), [
        ["sev:warn", "run/conflict", { kind: "enzyme", name: "read" }, 2]
      ])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("that only increment, append or write equal values do not contend", () =>
    Effect.gen(function*() {
      let runs = 0
      const space = yield* TestKernel.space([enzyme("count", (tx, { params }) => {
        runs++
        tx.increment("/data/n")
        tx.append("/data/l", Number(params["n"]))
        tx.set("/data/same", { seen: true })
        tx.set(`/data/map#/k${params["n"]}`, 1)
      }, { query: "/signals/count/:n" })])
      for (let i = 0; i < posts; i++) yield* space.signal({ signal: `/signals/count/${i}` })
      yield* space.step
      assert.strictEqual(runs, posts)
      assert.strictEqual(yield* space.get("/data/n"), posts)
      assert.deepStrictEqual(yield* space.get("/data/l"), Array.from({ length: posts }, (_, i) => i))
      assert.lengthOf(Object.keys((yield* space.get("/data/map")) as object), posts)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("on different documents have separate queues", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("set", (tx, { params }) => tx.set(`/data/${params["at"]}`, params["n"]), { query: "/signals/:at/:n" })
      ])
      for (const at of ["a", "b"]) for (const n of [1, 2, 3]) yield* space.signal({ signal: `/signals/${at}/${n}` })
      yield* space.step
      yield* space.step
      assert.lengthOf(present(yield* TestKernel.ledger(space, 1, "agenda")), 2)
      yield* space.step
      assert.deepStrictEqual([yield* space.get("/data/a"), yield* space.get("/data/b")], ["3", "3"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("count against the capture limit of a beat, and each document has its turn", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const space = yield* TestKernel.space([enzyme("set", (tx, { params }) => {
        log.push(`${params["at"]}${params["n"]}@${tx.beat}`)
        tx.set(`/data/${params["at"]}`, params["n"])
      }, { query: "/signals/:at/:n" })])
      for (const n of [1, 2, 3]) {
        for (const at of ["a", "b", "c"]) yield* space.signal({ signal: `/signals/${at}/${n}`, at: { beat: n < 3 ? 0 : 1 } })
      }
      yield* steps(space, 6)
      assert.deepStrictEqual(log.slice(0, 6), ["a1@0", "b1@0", "c1@0", "a2@0", "b2@0", "c2@0"])
      assert.isTrue((yield* Effect.forEach([1, 2, 3], (beat) => TestKernel.ledger(space, beat, "inbox"))).every(
        (lines) => present(lines).length <= 6
      ))
      assert.deepStrictEqual(yield* Effect.forEach(["a", "b", "c"], (at) => space.get(`/data/${at}`)), ["3", "3", "3"])
    }).pipe(Effect.provide(TestKernel.layer({ limits: { ...TestKernel.settings.limits, captureSignals: 6 } }))))

  it("return to the front of a document's queue only if they were at its front", () => {
    let number = 0
    const lost = (n: string, document: string, previous?: string): PendingSignal => {
      const signal = Signal.make(
        { id: n, signal: `/signals/${n}`, target: undefined, payload: undefined, at: undefined },
        { origin: "run", depth: 0, expected: undefined }
      )
      const again = {
        enzyme: "e", attempt: 1, why: "conflict", document, previous, losses: 2, captured: 0, lane: undefined, loose: false
      } as const
      return new PendingSignal(++number, signal, { again })
    }
    const inbox = new Inbox()
    for (const pending of [lost("waits", "/y"), lost("comes", "/y", "/x"), lost("head", "/y", "/y")]) inbox.restore(pending)
    const nobody = () => ({ status: "no-match", entries: [], lane: "pair", cycle: [] } as const)
    const rules = { mode: SpaceMode.open, resolve: nobody }
    const order = [0, 1, 2].flatMap((beat) =>
      inbox.capture.take({ beat, clock: 0 }, TestKernel.settings.limits, rules).map(({ pending }) => pending.signal.id))
    assert.deepStrictEqual(order, ["head", "waits", "comes"])
  })

  it.effect("keep their place in it over another loss, and over a restart", () =>
    Effect.gen(function*() {
      const enzymes = [
        enzyme("x", (tx, { params }) => tx.set("/data/x", present(params["n"])), { query: "/signals/x/:n" }),
        enzyme("y", (tx, { params }) => {
          tx.set("/data/y", present(params["n"]))
          tx.append("/data/order", present(params["n"]))
        }, { query: "/signals/y/:n" }),
        enzyme("both", (tx) => {
          tx.set("/data/x", "both")
          tx.set("/data/y", "both")
          tx.append("/data/order", "both")
        })
      ]
      for (const restart of [false, true]) {
        const machine = yield* TestMachine.make
        let space = yield* machine.boot(enzymes)
        for (const path of ["x/1", "y/1", "y/2", "x/2", "y/3"]) yield* space.signal({ signal: `/signals/${path}` })
        yield* space.step
        yield* space.signal({ signal: "/signals/both" })
        for (let i = 0; i < 5; i++) {
          yield* space.step
          if (restart) space = yield* machine.boot(enzymes)
        }
        assert.deepStrictEqual(yield* space.get("/data/order"), ["1", "2", "3", "both"], `restart: ${restart}`)
      }
    }))
})
