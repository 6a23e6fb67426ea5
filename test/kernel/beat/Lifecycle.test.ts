import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { Computation, Document, type Enzyme, Flow, Kernel, Retry, type Space, type SpaceStore, verify } from "systole"
import type { Documents } from "../../../src/kernel/model/Documents.ts"
import { RollbackPlan } from "../../../src/kernel/beat/RollbackPlan.ts"
import { history, isReplayedEqual } from "../../conformance/ReplayCheck.ts"
import * as RendezvousSpace from "../../rendezvous/RendezvousSpace.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import { controlled, ended, enzyme, steps } from "../TestSpace.ts"
import * as TestMachine from "../TestMachine.ts"

const count = enzyme("count", (tx) => tx.increment("/data/n"))
const put = enzyme("put", (tx, { payload }) => tx.set((payload as { readonly at: string }).at, (payload as { readonly value: unknown }).value))

const failure = <A, E extends { readonly code: string; readonly message: string }>(space: Space, ask: Effect.Effect<A, E>) =>
  Effect.map(controlled(space, ask), (result) => result._tag === "Failure" ? result.failure : undefined)

const begun = <A, E>(space: Space, ask: Effect.Effect<A, E>) => Effect.flatMap(controlled(space, ask), (result) => result._tag === "Failure" ? Effect.die(result.failure) : Effect.succeed(result.success))

/** Asks for a control operation, and steps until it is over. */
const through = Effect.fnUntraced(function*<E>(space: Space, ask: Effect.Effect<{ readonly oid: string }, E>) {
  const { oid } = yield* begun(space, ask)
  for (let i = 0; i < 20 && (yield* space.control.state).control !== null; i++) yield* space.step
  return oid
})

const sendAll = (space: Space, ...signals: ReadonlyArray<Parameters<Space["signal"]>[0]>) => Effect.forEach(signals, (signal) => Effect.map(space.signal(signal), ({ id }) => id))

describe("signals of a paused space", () => {
  it.effect("keep their order, whatever they are: attempts, losers, lanes, delays and new ones", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const say = (name: string, options: Partial<Enzyme.Definition> = {}) => enzyme(name, (tx, { attempt, payload }) => {
        log.push(`${name}${String(payload)}`)
        if (name === "try" && attempt === 1) return new Retry({ reason: "later" })
        return name === "hot" ? tx.set("/data/hot", payload) : undefined
      }, { query: `/signals/${name}`, ...options })
      const space = yield* TestKernel.space([say("try"), say("lane", { lane: "space" }), say("hot", { query: "/signals/hot/*" }), say("delay"), say("new")])
      yield* sendAll(space, { signal: "/signals/try", payload: 1 }, { signal: "/signals/hot/a", payload: 2 }, { signal: "/signals/hot/b", payload: 3 }, { signal: "/signals/delay", payload: 4, at: { beats: 3 } })
      yield* begun(space, space.control.pause())
      // The pause begins in this beat, and closes the gate in the next.
      assert.deepStrictEqual(log.splice(0), ["try1", "hot2", "hot3"])
      yield* sendAll(space, { signal: "/signals/lane", payload: 5 }, { signal: "/signals/lane", payload: 6 }, { signal: "/signals/new", payload: 7 })
      yield* steps(space, 5)
      assert.deepStrictEqual(log, [])
      assert.strictEqual((yield* space.control.state).parked, 6)
      yield* through(space, space.control.resume())
      yield* steps(space, 2)
      assert.deepStrictEqual(log, ["hot3", "try1", "delay4", "lane5", "new7", "lane6"])
      assert.strictEqual((yield* space.control.state).parked, 0)
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("with qos discard are dropped by a rollback, in whatever queue, and their receipts say so; others are kept", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("drop", (tx) => tx.increment("/data/dropped"), { query: "/signals/drop", lane: "space" }), count])
      yield* space.step
      yield* through(space, space.control.pause())
      const drop = { signal: "/signals/drop", qos: "discard" } as const
      const dropped = yield* sendAll(space, drop, drop, { ...drop, at: { beats: 2 } }, { ...drop, id: "callers" })
      const [kept, plain] = yield* sendAll(space, { signal: "/signals/drop", qos: "retain" }, { signal: "/signals/count" })
      yield* space.step
      const oid = yield* through(space, space.control.rollback(0))
      assert.deepInclude(yield* space.ops.get(oid), { status: "sts:ok" })
      for (const id of dropped) assert.strictEqual((yield* space.receipt(id))?.status, "discarded")
      assert.isTrue((yield* space.signal({ ...drop, id: "callers" })).duplicate)
      assert.strictEqual((yield* space.control.state).parked, 2)
      yield* through(space, space.control.resume())
      yield* steps(space, 2)
      assert.deepStrictEqual([yield* space.get("/data/dropped"), yield* space.get("/data/n")], [1, 1])
      for (const id of [kept!, plain!]) assert.strictEqual((yield* space.receipt(id))?.status, "handled")
      const lines = (yield* Effect.forEach(Array.from({ length: 12 }, (_, beat) => beat), (beat) => TestKernel.ledger(space, beat, "agenda"))).flatMap((agenda) => agenda ?? [])
      assert.lengthOf(lines.filter((line) => line.startsWith("discarded ")), 4)
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("outlive the process, gate and all", () =>
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

  it.effect("are refused another qos than there is", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      assert.strictEqual((yield* Effect.flip(space.signal({ signal: "/signals/x", qos: "loud" as never }))).code, "signal/invalid")
    }).pipe(Effect.provide(TestKernel.layer())))
})

describe("a lock", () => {
  it.effect("that goes and comes back while the space is paused lets nothing go", () =>
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

  it.effect("parks the runs that write below it, whole, and lets them go when it goes", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const space = yield* TestKernel.space([enzyme("both", (tx, { payload }) => {
        log.push(`${String(payload)} @${tx.beat}`)
        tx.set(`/data/open/${String(payload)}`, 1)
        tx.set("/data/shut/deep", payload)
      }), put])
      yield* begun(space, space.control.lock("/data/shut"))
      const ids = yield* sendAll(space, { signal: "/signals/both", payload: 1 }, { signal: "/signals/put", payload: { at: "/data/shutter", value: 2 } })
      yield* steps(space, 4)
      assert.deepStrictEqual(log, ["1 @1"])
      assert.isUndefined(yield* space.get("/data/open/1"))
      assert.strictEqual(yield* space.get("/data/shutter"), 2)
      assert.deepInclude(yield* space.get("/sys/locks/data/shut"), { by: "(outside)", beat: 0 })
      const refused = yield* failure(space, space.set("/data/shut/x", 1))
      assert.strictEqual(refused?.code, "cell/locked")
      assert.include(refused?.message, "/data/shut")
      assert.strictEqual((yield* failure(space, space.integrate({ kind: "integrate", changes: [{ address: "/data/shut", value: 1 }] })))?.code, "cell/locked")
      yield* begun(space, space.control.unlock("/data/shut"))
      yield* steps(space, 2)
      assert.deepStrictEqual(yield* ended(space, ids[0]!), ["both ok @7 #1"])
      assert.strictEqual(yield* space.get("/data/shut/deep"), 1)
      assert.deepStrictEqual(yield* TestKernel.diagnostics(space), [])
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("costs no beat while it is held, and outlives the process with what waits for it", () =>
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

  it.effect("is one of a thousand at most, beside that of a pause, and all are there when the process has ended", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const space = yield* machine.boot([])
      const asked = []
      for (let i = 0; i < 1000; i++) asked.push(yield* Effect.forkChild(space.control.lock(`/data/${i}`), { startImmediately: true }))
      while ((yield* space.control.state).locks.length < 1000) yield* space.step
      assert.strictEqual((yield* failure(space, space.control.lock("/data/x")))?.code, "control/refused")
      yield* through(space, space.control.pause())
      const { locks } = yield* space.control.state
      assert.lengthOf(locks, 1001)
      const again = yield* machine.boot([])
      assert.sameDeepMembers([...(yield* again.control.state).locks], [...locks])
      yield* through(again, again.control.resume())
      assert.lengthOf((yield* again.control.state).locks, 1000)
    }))

  it.effect("has one holder, belongs to user data, and is named by a cell", () =>
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
      ] as const) assert.strictEqual((yield* failure(space, ask))?.code, code)
      assert.deepStrictEqual((yield* space.control.state).locks, [{ cell: "/data/x", by: "(outside)" }])
      for (let beat = before + 1; beat <= (yield* space.head); beat++) assert.include((yield* space.journal(beat))?.text, `"cells":[]`)
      yield* through(space, space.control.pause())
      assert.strictEqual((yield* failure(space, space.control.unlock("/data")))?.code, "control/refused")
    }).pipe(Effect.provide(TestKernel.layer())))
})

describe("a rollback", () => {
  it.effect("takes back user data alone: journal, receipts, histories, ids and what went out stay, and its dossier lists that", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      const out = enzyme("out", (tx) => {
        tx.set("/data/out", 1)
        tx.signal({ space: "other", signal: "/signals/count" })
        tx.op.start({ verb: "op/x", target: "x", mode: "opm:direct" })
        tx.bind("/data/bound", "out")
      })
      const space = yield* TestKernel.space([out, count])
      yield* space.step
      const { id } = yield* space.signal({ signal: "/signals/out" })
      yield* space.step
      yield* through(space, space.control.pause())
      const oid = yield* through(space, space.control.rollback(0))
      assert.isUndefined(yield* space.get("/data/out"))
      assert.strictEqual((yield* space.receipt(id))?.status, "handled")
      assert.isDefined(yield* space.ops.get("OPS:1.0.1"))
      assert.isDefined(yield* space.get("/sys/bind/data/bound"))
      const sent = { count: 1, requests: [{ beat: 1, id: "1.0.0", signal: "/signals/count", space: "other" }] }
      assert.deepStrictEqual(yield* space.get(`/rt/ops/${oid}/sent`), sent)
      assert.deepStrictEqual((yield* space.ops.get(oid))?.sent, sent)
      assert.deepStrictEqual(yield* space.get(`/rt/ops/${oid}/envelope#/payload_id`), { view_hzn: 0 })
      yield* through(space, space.control.resume())
      yield* space.signal({ signal: "/signals/out" })
      const next = yield* space.step
      assert.isDefined(yield* space.ops.get(`OPS:${next}.0.1`))
      const other = yield* kernel.space("other")
      yield* steps(other, 2)
      assert.strictEqual(yield* other.get("/data/n"), 2)
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("lists the first of what went out where that is more than a dossier holds, and tells how much it was", () =>
    Effect.gen(function*() {
      const long = `/${"x".repeat(250)}`.repeat(8)
      const space = yield* TestKernel.space([enzyme("out", (tx) => {
        for (let i = 0; i < 600; i++) tx.signal({ space: "other", signal: `${long}/${i}`, target: long })
      })])
      yield* space.step
      yield* space.signal({ signal: "/signals/out" })
      yield* space.step
      yield* through(space, space.control.pause())
      const { sent, status } = (yield* space.ops.get(yield* through(space, space.control.rollback(0))))!
      assert.deepStrictEqual([status, sent?.count], ["sts:ok", 600])
      assert.deepStrictEqual(sent?.requests[0], { id: "1.0.0", beat: 1, space: "other", signal: `${long}/0`, target: long })
      assert.isTrue(sent!.requests.length > 50 && sent!.requests.length < 600)
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("is a change like any other to who watches, and to what is derived", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      yield* kernel.register(Computation.make({ name: "double", output: "/data/double", run: (tx) => Number(tx.get("/data/n") ?? 0) * 2 }))
      const space = yield* TestKernel.space([count])
      yield* space.signal({ signal: "/signals/count" })
      yield* space.step
      assert.strictEqual(yield* pulled(space), 2)
      yield* space.signal({ signal: "/signals/count" })
      yield* space.step
      assert.strictEqual(yield* pulled(space), 4)
      yield* through(space, space.control.pause())
      yield* through(space, space.control.rollback(0))
      assert.strictEqual(yield* space.get("/data/n"), 1)
      assert.strictEqual(yield* pulled(space), 2)
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("is refused for what is no beat, is still to come, or is older than the journal, and nothing changes", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([put])
      for (let i = 0; i < 60; i++) {
        yield* space.signal({ signal: "/signals/put", payload: { at: "/data/x", value: "x".repeat(1000) + i } })
        yield* space.step
      }
      // The store lets go of rows once in a few hundred beats.
      yield* steps(space, 700)
      yield* through(space, space.control.pause())
      const head = yield* space.head
      for (const beat of [-1, 0.5, Number.NaN, "3", 2 ** 60, head + 100, 0]) {
        assert.strictEqual((yield* failure(space, space.control.rollback(beat as number)))?.code, "control/refused", String(beat))
      }
      for (let beat = head + 1; beat <= (yield* space.head); beat++) assert.include((yield* space.journal(beat))?.text, `"cells":[]`)
      // The first row that is kept can be taken back, so the beat before it can be gone back to, and none before that.
      const first = (yield* space.examine(verify)).first!
      assert.isAbove(first, 1)
      assert.strictEqual((yield* failure(space, space.control.rollback(first - 2)))?.code, "control/refused")
      assert.deepInclude(yield* space.ops.get(yield* through(space, space.control.rollback(first - 1))), { status: "sts:ok" })
    }).pipe(Effect.provide(TestKernel.layer({ retention: { journalBytes: 30_000 } }))))

  it("reads the journal a piece in each beat, and says where it is pruned or too much changed meanwhile", () => {
    const rows = Array.from({ length: 5 }, (_, beat) => ({ beat, clock: 0, hash: "", text: `{"in":[],"runs":[],"cells":[["/data/x",0,[${beat - 1}],[${beat}]],["/data/long${beat}",0,[],["${"x".repeat(600_000)}"]],["/rt/x",0,[1],[2]]]}` }))
    const store = (anchor: number) => ({
      head: () => ({ beat: 4, clock: 0, hash: "" }),
      anchor: () => ({ beat: anchor, hash: "" }),
      scanJournal: (from: number) => rows.filter(({ beat }) => beat >= from)
    }) as unknown as SpaceStore
    const documents = { read: () => Document.encode("as it is") } as unknown as Documents
    const plan = new RollbackPlan("OPS:1.x.0", 0, { configured: [], rolledBack: [] })
    assert.deepStrictEqual([plan.advance(store(0), documents), plan.advance(store(0), documents)?.writes.length], [undefined, 5])
    assert.deepStrictEqual(plan.advance(store(0), documents)?.writes.map(([key, document]) => [key, document?.text]), [["/data/long1", undefined], ["/data/long2", undefined], ["/data/long3", undefined], ["/data/long4", undefined], ["/data/x", "0"]])
    assert.include(plan.advance(store(1), documents)?.lost, "pruned up to beat 1")
  })
})

describe("control operations", () => {
  it.effect("are one at a time, and each is refused where the space cannot do it, with a fact and no dossier", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      yield* steps(space, 5)
      const refused: Array<string | undefined> = []
      for (const ask of [space.control.resume(), space.control.rollback(0), space.control.restart()]) refused.push((yield* failure(space, ask))?.code)
      yield* begun(space, space.control.pause())
      for (const ask of [space.control.pause(), space.control.resume()]) refused.push((yield* failure(space, ask))?.code)
      assert.deepStrictEqual(refused, Array(5).fill("control/refused"))
      assert.deepStrictEqual((yield* TestKernel.diagnostics(space)).map(({ sev, topic }) => `${String(sev)} ${String(topic)}`), Array(5).fill("sev:usage control/refused"))
      assert.lengthOf((yield* space.ops.list({ limit: 10 })).operations, 2)
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer({ boot: true }))))

  it.effect("that somebody closes are abandoned, and take back what they did", () =>
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

  it.effect("give way to a shutdown, and a space that was paused then is paused when it is started again", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      yield* through(space, space.control.pause())
      const { oid } = yield* begun(space, space.control.resume())
      const shutdown = yield* through(space, space.control.shutdown())
      assert.deepInclude(yield* space.ops.get(oid), { status: "sts:cnl" })
      assert.deepStrictEqual((yield* history(space, shutdown))?.map((line) => line.split(" ")[0]), ["ist:run", "ist:stop", "ist:flush", "ist:halt", "ist:ok"])
      const { head } = space
      for (const ask of [space.control.pause(), space.control.resume(), space.control.rollback(yield* head)]) {
        assert.match((yield* failure(space, ask))?.message ?? "", /it was shut down$/)
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
  it.effect("refuses what goes on with beats, asked for before or after it halted, and leaves the ledger as it was", () =>
    Effect.gen(function*() {
      const slow = Flow.make({ name: "slow", steps: { ask: { transform: () => ({ key: "asked" }) }, answer: { wait: "ask" } } })
      const broken = enzyme("broken", () => { throw new Error("no") })
      const space = yield* RendezvousSpace.space({}, [slow, broken])
      const { id } = yield* space.signal({ signal: "/signals/broken", payload: 0 })
      yield* begun(space, space.flow.start({ flow: "slow", inst: "one" }))
      yield* begun(space, space.flow.pause("one"))
      yield* begun(space, space.rv.spawn({ key: "open" }))
      const asked = [
        space.rv.spawn({ key: "late" }),
        space.rv.resched("open", 3),
        space.rv.kill("open", { mode: "cancel" }),
        space.flow.start({ flow: "slow", inst: "two" }),
        space.flow.resume("one"),
        space.redeliver(id, "broken")
      ] as ReadonlyArray<Effect.Effect<unknown, { readonly code: string; readonly message: string }>>
      yield* begun(space, space.control.shutdown())
      yield* steps(space, 2)
      assert.deepInclude(yield* space.control.state, { state: "gated" })
      const digest = yield* RendezvousSpace.digest(space)
      // They come while it is not halted yet, to the very beat that halts it.
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

const pulled = (space: Space) => Effect.map(controlled(space, space.pull("/data/double")), (result) => result._tag === "Success" ? result.success : undefined)
