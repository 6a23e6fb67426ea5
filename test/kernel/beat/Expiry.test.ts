import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Fatal, Flow, Kernel, replay, type Space, type Transaction } from "systole"
import * as RendezvousSpace from "../../rendezvous/RendezvousSpace.ts"
import * as Random from "../../support/Random.ts"
import * as ExpiryCheck from "../../support/ExpiryCheck.ts"
import * as Tamper from "../../support/Tamper.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import * as Trials from "../../support/Trials.ts"
import { controlled, enzyme, handlingOf } from "../TestSpace.ts"
import * as TestMachine from "../TestMachine.ts"
import { present } from "../../support/Present.ts"
import { type Kind, ReferenceModel } from "./ExpiryModel.ts"

/** The work of one beat: spawned and reported rendezvous, and the numbers of flows, operations and failures. */
interface Work {
  readonly spawn: ReadonlyArray<string>
  readonly report: ReadonlyArray<string>
  readonly flows: ReadonlyArray<string>
  readonly ops: number
  readonly isFailing: boolean
}

const work = enzyme("work", (tx, { payload }) => {
  const { flows, ops, report, spawn } = payload as unknown as Work
  for (const key of spawn) tx.rv.spawn({ key })
  for (const key of report) tx.rv.report(key, {})
  for (const inst of flows) tx.flow.start("quick", null, { inst })
  return Array.from({ length: ops }, () => {
    const oid = tx.op.start({ verb: "op/x", target: "/data/x", mode: "opm:states" })
    tx.op.setState(oid, "ist:exec")
    tx.op.close(oid, "sts:ok")
    return oid
  })
})
const fails = enzyme("fails", () => { throw new Error("x") })
const die = enzyme("die", () => new Fatal({ reason: "x" }), { onFatal: "continue" })
const quick = Flow.make({ name: "quick", steps: { only: { guard: () => true } } })

/** The number of records of each kind that end in each beat. */
type Load = Readonly<Record<Kind, number>>

/** Loads at the limit of one beat: of one kind alone, and beside the others. */
const loads: ReadonlyArray<Load> = [
  { rv: 800, flow: 20, op: 40, fact: 30 },
  { rv: 30, flow: 300, op: 200, fact: 5 },
  { rv: 5, flow: 5, op: 5, fact: 100 }
]

const busy = enzyme("busy", (tx, { payload }) => {
  const { beat, fact, flow, op, rv } = payload as unknown as Load & { readonly beat: number }
  for (let i = 0; i < rv; i++) {
    tx.rv.spawn({ key: `k${beat}.${i}` })
    tx.rv.report(`k${beat}.${i}`, {})
  }
  for (let i = 0; i < flow; i++) tx.flow.start("quick", null, { inst: `i${beat}.${i}` })
  for (let i = 0; i < op; i++) {
    const oid = tx.op.start({ verb: "op/x", target: "/data/x", mode: "opm:states", payload: i })
    for (let n = 0; n < 3; n++) tx.op.setState(oid, `ist:s${n}`)
    tx.op.close(oid, "sts:ok")
  }
  for (let i = 0; i < fact; i++) tx.report({ severity: "sev:warn", topic: "load/heavy", note: "", payload: i })
})

const folders: Readonly<Record<Kind, string>> = { rv: "/data/rv", flow: "/data/flow/inst", op: "/rt/ops", fact: "/data/mailbox/diag/msgs" }

const namesIn = Effect.fnUntraced(function*(space: Space, folder: string) {
  const keys = yield* space.below(folder, { limit: 1000 })
  return [...new Set(keys.map((key) => present(key.slice(folder.length + 1).split("/")[0])))].sort()
})

/** A random history: records open and close, time passes, beats abort, flushes fail and the process ends. */
const live = Effect.fnUntraced(function*(seed: number) {
  const draw = Random.make(seed)
  const limits = { ...TestKernel.settings.limits, finishedCount: 1 + draw(6), finishedMillis: 1000 * (1 + draw(20)) }
  const machine = yield* TestMachine.make
  const boot = machine.boot(RendezvousSpace.enzymes({}, [work, fails, die, quick]), { limits })
  let space = yield* Effect.flatMap(boot, RendezvousSpace.begin)
  const model = new ReferenceModel(limits)
  const open = new Set<string>()
  let starting: ReadonlyArray<string> = []
  let clock = 0
  for (let move = 0; move < 60; move++) {
    if (draw(8) === 0) space = yield* boot
    if (draw(3) === 0) {
      const by = draw(4000)
      yield* TestClock.adjust(by)
      clock += by
    }
    const keys = Random.shuffled(draw, ["a", "b", "c", "d", "e", "f"]).slice(0, draw(4))
    const flows = Array.from({ length: draw(3) === 0 ? draw(3) : 0 }, (_, i) => `inst${move}.${i}`)
    const asked: Work = {
      spawn: keys.filter((key) => !open.has(key)),
      report: keys.filter((key) => open.has(key)),
      flows,
      ops: draw(3) === 0 ? draw(3) : 0,
      isFailing: draw(4) === 0
    }
    const { id } = yield* space.signal({ signal: "/signals/work", payload: { ...asked } })
    if (asked.isFailing) yield* space.signal({ signal: "/signals/fails", payload: null })
    const trouble = draw(6)
    if (trouble === 0) {
      yield* space.signal({ signal: "/signals/die", payload: null })
      yield* Effect.flip(space.step)
    }
    if (trouble === 1) {
      machine.breakDisk(true)
      yield* Effect.flip(space.step)
      machine.breakDisk(false)
      space = yield* machine.open
    }
    const beat = yield* space.step
    const oids = (yield* handlingOf(space, id)).value as ReadonlyArray<string>
    model.retire(clock)
    const now = { beat, clock }
    for (const key of asked.spawn) {
      open.add(key)
      model.spawned.set(key, beat)
      model.kept.rv.delete(key)
    }
    for (const key of asked.report) open.delete(key)
    model.end("rv", now, asked.report)
    model.end("flow", now, starting)
    model.end("op", now, oids)
    // An aborted beat and a failed flush are diagnostics, too.
    model.end("fact", now, Array.from({ length: Number(asked.isFailing) + Number(trouble < 2) }, (_, i) => `${beat}.${i}`))
    starting = flows
    const expected =
      { rv: [...model.kept.rv, ...open], flow: [...model.kept.flow, ...flows], op: [...model.kept.op], fact: [...model.kept.fact] }
    for (const kind of Object.keys(folders) as ReadonlyArray<Kind>) {
      assert.deepStrictEqual(yield* namesIn(space, folders[kind]), expected[kind].sort(), `${kind} after beat ${beat}`)
    }
    assert.deepStrictEqual(ExpiryCheck.disagreements(yield* ExpiryCheck.cells(space)), [], `after beat ${beat}`)
  }
  const head = yield* space.head
  for (const from of [0, draw(head)]) {
    const { difference, impossible } = yield* space.examine((archive) => replay(archive, from, head))
    assert.isUndefined(difference ?? impossible, JSON.stringify(difference ?? impossible))
  }
})

/** A beat in which something fails. */
const failing = (space: Space) => Effect.andThen(space.signal({ signal: "/signals/fails", payload: 0 }), space.step)

const noteOf = (beat: number) => `/sys/index/over/fact/${String(beat).padStart(16, "0")}-000000`

/**
 * Damaged notes, where the notes of beats 3 to 5 are kept and one note is due: the cells, and the numbers of notes after
 * further beats.
 */
const broken: ReadonlyArray<readonly [what: string, cells: Readonly<Record<string, string | undefined>>, noted: number]> = [
  ["all are gone", Object.fromEntries([2, 3, 4, 5].map((beat) => [noteOf(beat), undefined])), 4],
  ["one is gone", { [noteOf(4)]: undefined }, 3],
  ["the first is none", { [noteOf(2)]: "\"nonsense\"" }, 4],
  ["one has no clock", { [noteOf(4)]: `{"names":["4.0"]}` }, 4],
  ["one has names that are none", { [noteOf(4)]: `{"clock":0,"names":["a/b",7,null]}` }, 4],
  ["one has no names", { [noteOf(3)]: `{"clock":0,"names":[]}` }, 4],
  ["one lies deeper, and one elsewhere", { "/sys/index/over/fact/0/1": "1", "/sys/index/over/fact/0?scope=user:1": "2" }, 4],
  ["the count is too high", { "/sys/index/over/fact": "1000" }, 4],
  ["the count is too low", { "/sys/index/over/fact": "1" }, 7],
  ["the count is none", { "/sys/index/over/fact": `{"$rich":{"json":"x"}}` }, 4],
  ["the count is below nothing", { "/sys/index/over/fact": "-5" }, 4]
]

describe("finished records", () => {
  it.effect("match the reference model by number and age, with aborted beats, faults and restarts", () =>
    Effect.forEach(Trials.seeds(20, { least: 2 }), (seed) =>
      Effect.scoped(live(seed)).pipe(
        RendezvousSpace.granted,
        Effect.catchCause((cause) => Effect.die(new Error(`life ${seed}`, { cause })))
      ), { discard: true }))

  it.effect("need no beat, and expire in part with each beat, whenever the process ends between beats", () =>
    Effect.gen(function*() {
      const long = enzyme("long", (tx) => {
        const oid = tx.op.start({ verb: "op/x", target: "/data/x", mode: "opm:states" })
        return oid
      })
      const on = enzyme("on", (tx, { payload }) => {
        const [oid, from] = payload as [string, number]
        for (let i = from; i < from + 500; i++) tx.op.setState(oid, `ist:s${i}`)
      })
      const close = enzyme("close", (tx, { payload }) => void tx.op.close(String(payload), "sts:ok"))
      const boot = (yield* TestMachine.make).boot([long, on, close], { retention: { journalMillis: 60 * 86_400_000 } })
      let space = yield* boot
      const { id } = yield* space.signal({ signal: "/signals/long", payload: 0 })
      yield* space.step
      const oid = (yield* handlingOf(space, id)).value as string
      for (let from = 0; from < 2500; from += 500) {
        yield* space.signal({ signal: "/signals/on", payload: [oid, from] })
        yield* space.step
      }
      yield* space.signal({ signal: "/signals/close", payload: oid })
      yield* space.step
      const count = Effect.suspend(() => Effect.map(space.below(`/rt/ops/${oid}`, { limit: 10_000 }), ({ length }) => length))
      assert.isAbove(yield* count, 2500)
      const head = yield* space.head
      yield* TestClock.adjust("31 days")
      assert.strictEqual(yield* space.head, head)
      const left: Array<number> = []
      for (let i = 0; i < 4; i++) {
        const before = yield* count
        yield* space.step
        left.push(before - (yield* count))
        assert.deepStrictEqual(ExpiryCheck.disagreements(yield* ExpiryCheck.cells(space)), [])
        if (i < 2) assert.isDefined(yield* space.ops.get(oid))
        space = yield* boot
      }
      assert.deepStrictEqual(left.slice(0, 2), [1024, 1024])
      assert.strictEqual(yield* count, 0)
      assert.strictEqual(left[3], 0)
      assert.isUndefined(yield* space.ops.get(oid))
      yield* RendezvousSpace.isReplayedEqual(space)
    }).pipe(Effect.scoped))

  it.effect("expire kind by kind: a steady load of one kind delays no other, and the backlog never grows", () =>
    Effect.forEach(Trials.some(loads), (load) =>
      Effect.gen(function*() {
        const limits = { ...TestKernel.settings.limits, finishedCount: 10 }
        const kernel = yield* TestMachine.make
        const space = yield* Effect.flatMap(kernel.boot(RendezvousSpace.enzymes({}, [busy, quick]), { limits }), RendezvousSpace.begin)
        for (let beat = 1; beat <= 6; beat++) {
          yield* space.signal({ signal: "/signals/busy", payload: { beat, ...load } })
          yield* space.step
          const stored = yield* ExpiryCheck.cells(space)
          assert.deepStrictEqual(ExpiryCheck.disagreements(stored), [])
          // The deletion is one beat behind the load: the previous beat determines the due records.
          for (const kind of Object.keys(folders) as ReadonlyArray<Kind>) {
            assert.isAtMost(
              ExpiryCheck.noted(stored, kind).length,
              limits.finishedCount + load[kind],
              `${kind} after beat ${beat} of ${JSON.stringify(load)}`
            )
          }
        }
        const { difference, impossible } = yield* space.examine((archive) => replay(archive, 0, Infinity))
        assert.isUndefined(difference ?? impossible, JSON.stringify(difference ?? impossible))
        yield* TestClock.adjust("31 days")
        for (let left = Infinity; left > 0;) {
          yield* space.step
          const stored = yield* ExpiryCheck.cells(space)
          assert.deepStrictEqual(ExpiryCheck.disagreements(stored), [])
          const ops = [...stored.keys()].filter((key) => /^\/rt\/ops\/[^/]*$/.test(key))
          for (const key of ops) assert.isTrue(stored.has(`${key}/history/OPH:1`), `${key} is there whole`)
          assert.isBelow(ops.length, left)
          left = ops.length
        }
      }).pipe(Effect.scoped, RendezvousSpace.granted), { discard: true }))

  it.effect("expire with all their documents", () =>
    Effect.gen(function*() {
      const job = Flow.make({
        name: "job",
        steps: { ask: { transform: () => ({ key: "asked", telemetry: { by: "flow" } }) }, answer: { wait: "ask" } }
      })
      const space = yield* RendezvousSpace.space(
        { start: (tx) => tx.flow.start("job", null, { inst: "one" }), report: (tx) => tx.rv.report("asked", { answer: 42 }) },
        [job]
      )
      yield* RendezvousSpace.ask(space, "start")
      yield* RendezvousSpace.steps(space, 2)
      yield* RendezvousSpace.ask(space, "report")
      yield* RendezvousSpace.steps(space, 2)
      assert.deepInclude(yield* RendezvousSpace.event(space, "asked"), { outcome: "applied" })
      assert.deepInclude(yield* space.get("/data/flow/inst/one"), { state: "done" })
      yield* TestClock.adjust("31 days")
      yield* space.step
      for (const folder of ["/data/rv", "/data/inbox/flow/inst_event", "/data/flow", "/sys/index"]) {
        assert.deepStrictEqual(yield* space.below(folder, { limit: 10 }), [], folder)
      }
      yield* RendezvousSpace.isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer()), RendezvousSpace.granted))

  it.effect("are indexed where no enzyme writes, with any grant", () =>
    Effect.gen(function*() {
      const odd = enzyme("odd", (tx, { payload }) => tx.set(String(payload), "nonsense"), { writes: ["/sys/**"] })
      const space = yield* TestKernel.space([odd, fails])
      for (const place of ["/sys/index/over/fact", "/sys/index/over/fact/0000000000000000-000000", "/sys/index/rv/a", "/sys/index/flow"]) {
        const { id } = yield* space.signal({ signal: "/signals/odd", payload: place })
        yield* space.step
        const [{ error, outcome } = assert.fail()] = present(yield* space.receipt(id)).handlings
        assert.deepStrictEqual([outcome, error?.code], ["dead", "cell.store.readonly"])
      }
      assert.strictEqual(yield* space.get("/sys/index/over/fact"), 4)
    }).pipe(Effect.provide(TestKernel.layer()), RendezvousSpace.granted))

  it.effect.each(broken)("expire and are counted correctly again if, of their notes, %s", ([, cells, noted]) =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      yield* kernel.register(fails)
      const first = yield* kernel.space("test")
      for (let i = 0; i < 6; i++) yield* failing(first)
      yield* Tamper.write("test", cells)
      yield* Effect.flip(first.step)
      const space = yield* kernel.space("test")
      const head = yield* space.head
      // Beat 6 was lost, and beat 7 notes that.
      yield* space.step
      for (let i = 0; i < 5; i++) yield* failing(space)
      const names = [0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12].slice(-noted).map((beat) => `${beat}.0`)
      assert.deepStrictEqual(ExpiryCheck.noted(yield* ExpiryCheck.cells(space), "fact"), names)
      yield* TestClock.adjust("31 days")
      yield* space.step
      assert.deepStrictEqual(yield* space.below("/sys/index", { limit: 100 }), [])
      for (let i = 0; i < 5; i++) yield* failing(space)
      const stored = yield* ExpiryCheck.cells(space)
      assert.deepStrictEqual([stored.get("/sys/index/over/fact"), ExpiryCheck.noted(stored, "fact").length], ["4", 4])
      const end = yield* space.head
      for (let from = head + 1; from <= end; from++) {
        const { difference, impossible } = yield* space.examine((archive) => replay(archive, from, end))
        assert.isUndefined(difference ?? impossible, JSON.stringify(difference ?? impossible))
      }
    }).pipe(Effect.provide(TestKernel.layer({ limits: { ...TestKernel.settings.limits, finishedCount: 3 } }))))

  it.effect("expire with the documents that the same beat writes", () =>
    Effect.gen(function*() {
      const odd = enzyme("odd", (tx) => tx.set("/data/flow/heard/one/only/1", "late"), { writes: ["/data/flow/**"] })
      const late = enzyme(
        "late",
        (tx, { payload }) => payload === undefined ? undefined : tx.op.await(String(payload), "sts:ok", { signal: "/signals/late" })
      )
      const start = (tx: Transaction) => {
        tx.flow.start("quick", null, { inst: "one" })
        const oid = tx.op.start({ verb: "op/x", target: "/data/x", mode: "opm:direct" })
        tx.op.close(oid, "sts:ok")
        return oid
      }
      const space = yield* RendezvousSpace.space({ start }, [quick, odd, late])
      const oid = (yield* RendezvousSpace.ask(space, "start")) as string
      yield* RendezvousSpace.steps(space, 2)
      assert.deepInclude(yield* space.get("/data/flow/inst/one"), { state: "done" })
      yield* TestClock.adjust("31 days")
      yield* space.signal({ signal: "/signals/odd" })
      const { id } = yield* space.signal({ signal: "/signals/late", payload: oid })
      yield* space.step
      assert.deepStrictEqual(present(yield* space.receipt(id)).handlings.map(({ outcome }) => outcome), ["ok"])
      for (const folder of ["/data/flow", "/rt/ops", "/sys"]) assert.deepStrictEqual(yield* space.below(folder, { limit: 10 }), [], folder)
      yield* RendezvousSpace.steps(space, 2)
      yield* RendezvousSpace.isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer()), RendezvousSpace.granted))

  it.effect("are not confused with a new record of the same name", () =>
    Effect.gen(function*() {
      const slow = Flow.make({ name: "slow", steps: { ask: { transform: () => ({ key: "asked" }) }, answer: { wait: "ask" } } })
      const odd = enzyme("odd", (tx) => tx.delete("/data/flow/inst/one"), { writes: ["/data/flow/**"] })
      const starting = (flow: string) => (tx: Transaction) => tx.flow.start(flow, null, { inst: "one" })
      const space = yield* RendezvousSpace.space({ quick: starting("quick"), slow: starting("slow"), spawn: (tx) => tx.rv.spawn({
        key: "two"
      }), report: (tx) => tx.rv.report("two") }, [quick, slow, odd])
      for (const name of ["quick", "spawn", "report"]) yield* RendezvousSpace.ask(space, name)
      yield* RendezvousSpace.steps(space, 2)
      assert.deepInclude(yield* space.get("/data/flow/inst/one"), { state: "done" })
      yield* TestClock.adjust("20 days")
      yield* space.signal({ signal: "/signals/odd" })
      yield* space.step
      assert.isUndefined(yield* space.get("/data/flow/inst/one"))
      for (const name of ["slow", "spawn"]) yield* RendezvousSpace.ask(space, name)
      yield* RendezvousSpace.steps(space, 2)
      yield* TestClock.adjust("11 days")
      yield* space.step
      assert.deepInclude(yield* space.get("/data/flow/inst/one"), { state: "waiting" })
      assert.isDefined(yield* space.get("/data/rv/two"))
      assert.deepStrictEqual(ExpiryCheck.disagreements(yield* ExpiryCheck.cells(space)), [])
      yield* RendezvousSpace.isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer()), RendezvousSpace.granted))

  it.effect("stay while the space is paused", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([fails])
      yield* space.signal({ signal: "/signals/fails", payload: 0 })
      yield* space.step
      yield* controlled(space, space.control.pause())
      for (let i = 0; i < 4; i++) yield* space.step
      yield* TestClock.adjust("31 days")
      yield* space.step
      assert.lengthOf(yield* space.below("/data/mailbox/diag/msgs", { limit: 10 }), 1)
      yield* controlled(space, space.control.resume())
      for (let i = 0; i < 4; i++) yield* space.step
      assert.deepStrictEqual(yield* space.below("/data/mailbox/diag/msgs", { limit: 10 }), [])
      yield* RendezvousSpace.isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))
})
