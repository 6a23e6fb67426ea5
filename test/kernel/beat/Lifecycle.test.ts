import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { type Enzyme, explain, Flow, Retry, type Space } from "systole"
import { history, isReplayedEqual } from "../../conformance/ReplayCheck.ts"
import * as RendezvousSpace from "../../rendezvous/RendezvousSpace.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import { begun, ended, enzyme, refusal, replays, steps, through } from "../TestSpace.ts"
import * as TestMachine from "../TestMachine.ts"
import { present } from "../../support/Present.ts"

const count = enzyme("count", (tx) => tx.increment("/data/n"))
const put = enzyme(
  "put",
  (tx, { payload }) => tx.set((payload as { readonly at: string }).at, (payload as { readonly value: unknown }).value)
)

const sendAll = (space: Space, ...signals: ReadonlyArray<Parameters<Space["signal"]>[0]>) =>
  Effect.forEach(signals, (signal) => Effect.map(space.signal(signal), ({ id }) => id))

describe("signals of a paused space", () => {
  it.effect("of every kind keep their order: attempts, conflict losers, lanes, delayed and new ones", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const say = (name: string, options: Partial<Enzyme.Definition> = {}) => enzyme(name, (tx, { attempt, payload }) => {
        log.push(`${name}${String(payload)}`)
        if (name === "try" && attempt === 1) return new Retry({ reason: "later" })
        return name === "hot" ? tx.set("/data/hot", payload) : undefined
      }, { query: `/signals/${name}`, ...options })
      const space = yield* TestKernel.space([
        say("try"), say("lane", { lane: "space" }), say("hot", { query: "/signals/hot/*" }), say("delay"), say("new")
      ])
      yield* sendAll(
        space,
        { signal: "/signals/try", payload: 1 },
        { signal: "/signals/hot/a", payload: 2 },
        { signal: "/signals/hot/b", payload: 3 },
        { signal: "/signals/delay", payload: 4, at: { beats: 3 } }
      )
      yield* begun(space, space.control.pause())
      // The pause begins in this beat, and closes the gate in the next.
      assert.deepStrictEqual(log.splice(0), ["try1", "hot2", "hot3"])
      yield* sendAll(
        space,
        { signal: "/signals/lane", payload: 5 },
        { signal: "/signals/lane", payload: 6 },
        { signal: "/signals/new", payload: 7 }
      )
      yield* steps(space, 5)
      assert.deepStrictEqual(log, [])
      assert.strictEqual((yield* space.control.state).parked, 6)
      yield* through(space, space.control.resume())
      yield* steps(space, 2)
      assert.deepStrictEqual(log, ["hot3", "try1", "delay4", "lane5", "new7", "lane6"])
      assert.strictEqual((yield* space.control.state).parked, 0)
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("with qos discard are dropped by a rollback from every queue, with a receipt; others are kept", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("drop", (tx) => tx.increment("/data/dropped"), { query: "/signals/drop", lane: "space" }),
        count
      ])
      yield* space.step
      yield* through(space, space.control.pause())
      const drop = { signal: "/signals/drop", qos: "discard" } as const
      const dropped = yield* sendAll(space, drop, drop, { ...drop, at: { beats: 2 } }, { ...drop, id: "callers" })
      const [kept = assert.fail(), plain = assert.fail()] = yield* sendAll(
        space,
        { signal: "/signals/drop", qos: "retain" },
        { signal: "/signals/count" }
      )
      yield* space.step
      const oid = yield* through(space, space.control.rollback(0))
      assert.deepInclude(yield* space.ops.get(oid), { status: "sts:ok" })
      for (const id of dropped) assert.strictEqual((yield* space.receipt(id))?.status, "discarded")
      assert.isTrue((yield* space.signal({ ...drop, id: "callers" })).duplicate)
      assert.strictEqual((yield* space.control.state).parked, 2)
      yield* through(space, space.control.resume())
      yield* steps(space, 2)
      assert.deepStrictEqual([yield* space.get("/data/dropped"), yield* space.get("/data/n")], [1, 1])
      for (const id of [kept, plain]) assert.strictEqual((yield* space.receipt(id))?.status, "handled")
      const lines = (yield* Effect.forEach(
        Array.from({ length: 12 }, (_, beat) => beat),
        (beat) => TestKernel.ledger(space, beat, "agenda")
      )).flatMap((agenda) => agenda ?? [])
      assert.lengthOf(lines.filter((line) => line.startsWith("discarded ")), 4)
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("survive the process, and so does the gate", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const space = yield* machine.boot([count])
      yield* begun(space, space.control.pause())
      yield* space.step
      const { id } = yield* space.signal({ signal: "/signals/count" })
      const again = yield* machine.boot([count], { pace: "demand" })
      yield* again.idle
      assert.deepInclude(yield* again.control.state, { state: "paused", parked: 1 })
      const head = yield* again.head
      const third = yield* machine.boot([count], { pace: "demand" })
      yield* third.idle
      assert.strictEqual(yield* third.head, head)
      yield* third.control.resume()
      yield* third.idle
      assert.strictEqual((yield* third.receipt(id))?.status, "handled")
      assert.deepInclude(yield* third.control.state, { state: "running", locks: [] })
    }))

  it.effect("are refused an unknown qos", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      assert.strictEqual((yield* Effect.flip(space.signal({ signal: "/signals/x", qos: "loud" as never }))).code, "signal/invalid")
    }).pipe(Effect.provide(TestKernel.layer())))
})

describe("a lock", () => {
  it.effect("is named with its owner where a run waits for it", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("shut", (tx) => tx.set("/data/shut/deep", 1))])
      yield* begun(space, space.control.lock("/data/shut"))
      yield* sendAll(space, { signal: "/signals/shut", payload: 1 })
      const beat = yield* space.step
      const lock = "lock=/data/shut owner=(outside)"
      assert.deepStrictEqual(yield* TestKernel.ledger(space, beat, "agenda"), [
        `enzyme=shut rc=parked signal=/signals/shut target=- ${lock}`
      ])
      const { waiting: [row] } = yield* space.waiting({ limit: 10 })
      assert.deepInclude(row, { why: "parked", on: "/sys/locks/data/shut", owner: "(outside)" })
      const explained = yield* space.examine((history) => explain(history, beat, "shut"))
      assert.deepInclude(explained?.signals[0], {
        verdict: "parked",
        detail: "It waits for the lock on /data/shut, which (outside) holds."
      })
      yield* replays(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("that is released and taken again while the space is paused releases no run", () =>
    Effect.gen(function*() {
      const log: Array<number> = []
      const space = yield* TestKernel.space([enzyme("shut", (tx) => {
        log.push(tx.beat)
        tx.set("/data/shut/deep", 1)
      })])
      yield* begun(space, space.control.lock("/data/shut"))
      yield* sendAll(space, { signal: "/signals/shut", payload: 1 })
      yield* steps(space, 2)
      yield* through(space, space.control.pause())
      yield* begun(space, space.control.unlock("/data/shut"))
      yield* begun(space, space.control.lock("/data/shut"))
      yield* through(space, space.control.resume())
      yield* steps(space, 2)
      assert.deepStrictEqual(log, [1])
      yield* begun(space, space.control.unlock("/data/shut"))
      assert.deepStrictEqual(log, [1, yield* space.head])
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("parks the runs that write below it, whole, until it is released", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const space = yield* TestKernel.space([enzyme("both", (tx, { payload }) => {
        log.push(`${String(payload)} @${tx.beat}`)
        tx.set(`/data/open/${String(payload)}`, 1)
        tx.set("/data/shut/deep", payload)
      }), put])
      yield* begun(space, space.control.lock("/data/shut"))
      const ids = yield* sendAll(
        space,
        { signal: "/signals/both", payload: 1 },
        { signal: "/signals/put", payload: { at: "/data/shutter", value: 2 } }
      )
      yield* steps(space, 4)
      assert.deepStrictEqual(log, ["1 @1"])
      assert.isUndefined(yield* space.get("/data/open/1"))
      assert.strictEqual(yield* space.get("/data/shutter"), 2)
      assert.deepInclude(yield* space.get("/sys/locks/data/shut"), { by: "(outside)", beat: 0 })
      const refused = yield* refusal(space, space.set("/data/shut/x", 1))
      assert.strictEqual(refused?.code, "cell/locked")
      assert.include(refused?.message, "/data/shut")
      assert.strictEqual(
        (yield* refusal(space, space.integrate({ kind: "integrate", changes: [{ address: "/data/shut", value: 1 }] })))?.code,
        "cell/locked"
      )
      yield* begun(space, space.control.unlock("/data/shut"))
      yield* steps(space, 2)
      assert.deepStrictEqual(yield* ended(space, present(ids[0])), ["both ok @7 #1"])
      assert.strictEqual(yield* space.get("/data/shut/deep"), 1)
      assert.deepStrictEqual(yield* TestKernel.diagnostics(space), [])
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("costs no beat while held, and survives the process with its parked runs", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const space = yield* machine.boot([count], { pace: "demand" })
      yield* space.control.lock("/data")
      yield* space.signal({ signal: "/signals/count" })
      yield* space.idle
      const head = yield* space.head
      const again = yield* machine.boot([count], { pace: "demand" })
      yield* again.idle
      assert.strictEqual(yield* again.head, head)
      yield* again.control.unlock("/data")
      yield* again.idle
      assert.strictEqual(yield* again.get("/data/n"), 1)
    }))

  it.effect("is one of at most a thousand, beside that of a pause, and all survive the process", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const space = yield* machine.boot([])
      const asked = []
      for (let i = 0; i < 1000; i++) asked.push(yield* Effect.forkChild(space.control.lock(`/data/${i}`), { startImmediately: true }))
      while ((yield* space.control.state).locks.length < 1000) yield* space.step
      assert.strictEqual((yield* refusal(space, space.control.lock("/data/x")))?.code, "control/refused")
      yield* through(space, space.control.pause())
      const { locks } = yield* space.control.state
      assert.lengthOf(locks, 1001)
      const again = yield* machine.boot([])
      assert.sameDeepMembers([...(yield* again.control.state).locks], [...locks])
      yield* through(again, again.control.resume())
      assert.lengthOf((yield* again.control.state).locks, 1000)
    }))

  it.effect("has one holder, covers user data only, and has the address of a cell", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      yield* begun(space, space.control.lock("/data/x"))
      const before = yield* space.head
      for (const [ask, code] of [
        [space.control.lock("/data/x"), "control/refused"],
        [space.control.unlock("/data/y"), "control/refused"],
        [space.control.lock("/rt/x"), "cell/refused"],
        [space.control.lock("/data/x#/y"), "cell/refused"],
        [space.control.lock("/data/x?scope=user:1"), "cell/refused"],
        [space.control.lock("data"), "address/invalid"]
      ] as const) assert.strictEqual((yield* refusal(space, ask))?.code, code)
      assert.deepStrictEqual((yield* space.control.state).locks, [{ cell: "/data/x", by: "(outside)" }])
      for (let beat = before + 1; beat <= (yield* space.head); beat++) assert.include((yield* space.journal(beat))?.text, `"cells":[]`)
      yield* through(space, space.control.pause())
      assert.strictEqual((yield* refusal(space, space.control.unlock("/data")))?.code, "control/refused")
    }).pipe(Effect.provide(TestKernel.layer())))
})

describe("control operations", () => {
  it.effect("run one at a time, and are refused in the wrong mode with a diagnostic and no dossier", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      yield* steps(space, 5)
      const refused: Array<string | undefined> = []
      for (const ask of [space.control.resume(), space.control.rollback(0), space.control.restart()]) {
        refused.push((yield* refusal(space, ask))?.code)
      }
      yield* begun(space, space.control.pause())
      for (const ask of [space.control.pause(), space.control.resume()]) refused.push((yield* refusal(space, ask))?.code)
      assert.deepStrictEqual(refused, Array(5).fill("control/refused"))
      assert.deepStrictEqual(
        (yield* TestKernel.diagnostics(space)).map(({ sev, topic }) => `${String(sev)} ${String(topic)}`),
        Array(5).fill("sev:usage control/refused")
      )
      assert.lengthOf((yield* space.ops.list({ limit: 10 })).operations, 2)
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer({ boot: true }))))

  it.effect("are abandoned when closed from outside, and are undone", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([count])
      const { oid } = yield* begun(space, space.control.pause())
      yield* space.step
      assert.deepInclude(yield* space.control.state, { state: "gated", locks: [{ cell: "/data", by: oid }] })
      yield* begun(space, space.ops.cancel(oid))
      yield* space.signal({ signal: "/signals/count" })
      yield* space.step
      assert.deepInclude(yield* space.control.state, { state: "running", control: null, locks: [] })
      assert.strictEqual(yield* space.get("/data/n"), 1)
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("give way to a shutdown, and a space paused before is paused after its restart", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      yield* through(space, space.control.pause())
      const { oid } = yield* begun(space, space.control.resume())
      const shutdown = yield* through(space, space.control.shutdown())
      assert.deepInclude(yield* space.ops.get(oid), { status: "sts:cnl" })
      assert.deepStrictEqual((yield* history(space, shutdown))?.map((line) => line.split(" ")[0]), [
        "ist:run", "ist:stop", "ist:flush", "ist:halt", "ist:ok"
      ])
      const { head } = space
      for (const ask of [space.control.pause(), space.control.resume(), space.control.rollback(yield* head)]) {
        assert.match((yield* refusal(space, ask))?.message ?? "", /it was shut down$/)
        assert.deepInclude(yield* space.control.state, { state: "halted", control: null })
      }
      assert.strictEqual((yield* begun(space, space.control.shutdown())).oid, shutdown)
      yield* through(space, space.control.restart())
      assert.deepInclude(yield* space.control.state, { state: "paused" })
      yield* through(space, space.control.resume())
      assert.deepInclude(yield* space.control.state, { state: "running", locks: [] })
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))
})

describe("a space that is shut down", () => {
  it.effect("refuses all input that needs beats, before or after the halt, and leaves the ledger unchanged", () =>
    Effect.gen(function*() {
      const slow = Flow.make({ name: "slow", steps: { ask: { transform: () => ({ key: "asked" }) }, answer: { wait: "ask" } } })
      const broken = enzyme("broken", () => { throw new Error("no") })
      const space = yield* RendezvousSpace.space({}, [slow, broken])
      const { id } = yield* space.signal({ signal: "/signals/broken", payload: 0 })
      yield* begun(space, space.flows.start({ flow: "slow", inst: "one" }))
      yield* begun(space, space.flows.pause("one"))
      yield* begun(space, space.rv.spawn({ key: "open" }))
      const asked = [
        space.rv.spawn({ key: "late" }),
        space.rv.resched("open", { delta: 3 }),
        space.rv.kill("open", { mode: "cancel" }),
        space.flows.start({ flow: "slow", inst: "two" }),
        space.flows.resume("one"),
        space.redeliver(id, "broken")
      ] as ReadonlyArray<Effect.Effect<unknown, { readonly code: string; readonly message: string }>>
      yield* begun(space, space.control.shutdown())
      yield* steps(space, 2)
      assert.deepInclude(yield* space.control.state, { state: "gated" })
      const digest = yield* RendezvousSpace.digest(space)
      // They arrive before the halt, and the beat that halts takes them.
      const early = yield* Effect.forEach(asked, (ask) => Effect.forkChild(Effect.flip(ask), { startImmediately: true }))
      yield* space.step
      assert.deepInclude(yield* space.control.state, { state: "halted" })
      const refused = [...yield* Effect.forEach(early, Fiber.join), ...yield* Effect.forEach(asked, Effect.flip)]
      assert.deepStrictEqual(refused.map(({ code }) => code), Array(12).fill("control/refused"))
      for (const { message } of refused) assert.match(message, /it was shut down/)
      assert.strictEqual(yield* RendezvousSpace.digest(space), digest)
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer()), RendezvousSpace.granted))
})
