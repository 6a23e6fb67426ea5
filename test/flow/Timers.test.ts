import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Flow, type Space, type Transaction } from "systole"
import { controlled, steps } from "../kernel/TestSpace.ts"
import * as TestMachine from "../kernel/TestMachine.ts"
import * as RendezvousSpace from "../rendezvous/RendezvousSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"
import { instance, stateOf } from "./FlowInstances.ts"

/** Limits with a small backlog of signals and few instances. */
const narrow = { ...TestKernel.settings.limits, backlogSignals: 20, flowInstances: 5 }

const brief = Flow.make({ name: "brief", steps: { only: { guard: () => true } } })
const patient = Flow.make({ name: "patient", steps: { ask: { transform: () => ({}) }, answer: { wait: "ask", within: 1_000_000 } } })
const waiting = Flow.make({
  name: "waiting",
  steps: { answer: { wait: () => "app:never", within: 5, otherwise: "late" }, late: { wait: () => "app:later" } }
})
const timed = Flow.make({
  name: "timed",
  steps: { answer: { wait: () => "app:never", within: "1s", otherwise: "late" }, late: { wait: () => "app:later" } }
})
const serial = Flow.make({
  name: "serial",
  steps: { ask: { transform: () => ({}) }, answer: { wait: "ask", within: 6, otherwise: "error" }, rest: { wait: () => "app:never" } }
})

/** The fired timers and the sent signals of each beat, from the journal. */
const journal = Effect.fnUntraced(function*(space: Space) {
  const head = yield* space.head
  return yield* space.examine(({ store }) => [...store.scanJournal(0, head)].map(({ beat, text }) => {
    const { met = [], sent = [] } = JSON.parse(text.split("\n")[0]!) as {
      readonly met?: ReadonlyArray<string>
      readonly sent?: ReadonlyArray<ReadonlyArray<unknown>>
    }
    return { beat, met, sent }
  }))
})

/** The timers of flows that fired, each with its beat. */
const rung = Effect.fnUntraced(function*(space: Space) {
  const rows = yield* journal(space)
  return rows.flatMap(({ beat, met }) => met.filter((key) => key.startsWith("/data/flow/")).map((key) => [beat, key] as const))
})

/** The beats that sent a signal to an instance. */
const sentOn = Effect.fnUntraced(function*(space: Space, inst: string) {
  const rows = yield* journal(space)
  const isToInstance = ([, signal, target]: ReadonlyArray<unknown>) =>
    String(signal).startsWith("/CEP:sig_flow/") && target === `/data/flow/inst/${inst}`
  return rows.flatMap(({ beat, sent }) => sent.filter(isToInstance).map(() => beat))
})

/** Sends one signal fewer than the backlog allows. */
const fan = (tx: Transaction) => {
  for (let i = 0; i < 19; i++) tx.signal({ signal: `/signals/none/${i}` })
}

/** Asserts that the backlog has room for a run of `fan`. */
const hasRoom = Effect.fnUntraced(function*(space: Space) {
  const { id } = yield* space.signal({ signal: "/signals/do", payload: "fan" })
  yield* space.step
  assert.strictEqual((yield* space.receipt(id))!.status, "handled", "what a run sends is not refused")
})

describe("Timers of flows", () => {
  it.effect("take no room in the backlog of signals, neither for finished instances nor after a replacement", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const enzymes = RendezvousSpace.enzymes({
        fan,
        start: (tx) => tx.flow.start("brief", undefined, { beats: 1_000_000 }),
        open: (tx) => tx.flow.start("patient", undefined, { inst: "open" }),
        renew: (tx) => tx.flow.budget("open", { beats: 1_000_000 + tx.beat })
      }, [brief, patient])
      let space = yield* RendezvousSpace.begin(yield* machine.boot(enzymes, { limits: narrow }))
      for (let i = 0; i < 40; i++) {
        assert.match((yield* RendezvousSpace.ask(space, "start")) as string, /^FL:/, `start ${i}`)
        yield* space.step
      }
      yield* hasRoom(space)
      yield* RendezvousSpace.ask(space, "open")
      yield* steps(space, 2)
      for (let i = 0; i < 40; i++) {
        assert.strictEqual(yield* RendezvousSpace.ask(space, "renew"), true, `renewal ${i}`)
        yield* space.step
      }
      yield* hasRoom(space)
      space = yield* machine.boot(enzymes, { limits: narrow })
      yield* space.step
      yield* hasRoom(space)
      assert.deepStrictEqual([yield* stateOf(space, "open"), yield* rung(space)], ["waiting", []])
      yield* RendezvousSpace.isReplayedEqual(space)
    }).pipe(RendezvousSpace.granted))

  it.effect("fire once, also if the process ends before, between and after", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const enzymes = RendezvousSpace.enzymes({ start: (tx) => {
        tx.flow.start("waiting", undefined, { inst: "late" })
        tx.flow.start("waiting", undefined, { inst: "spent", beats: 3 })
      } }, [waiting])
      const boot = machine.boot(enzymes, { tempo: 10 })
      yield* RendezvousSpace.begin(yield* boot)
      yield* RendezvousSpace.ask(yield* machine.open, "start")
      const started = yield* (yield* machine.open).head
      for (let i = 0; i < 12; i++) {
        const space = yield* boot
        yield* TestClock.adjust(10)
        yield* space.step
      }
      const space = yield* machine.open
      assert.deepInclude(yield* instance(space, "spent"), { state: "error", note: `its budget ended with beat ${started + 3}` })
      assert.deepInclude(yield* instance(space, "late"), { state: "waiting", pc: "late" })
      assert.deepStrictEqual(yield* rung(space), [[started + 3, "/data/flow/inst/spent"], [started + 6, "/data/flow/inst/late"]])
      assert.deepStrictEqual(yield* sentOn(space, "late"), [started, started + 6])
      assert.deepStrictEqual(yield* space.below("/sys/index/flow", { limit: 10 }), [])
      yield* RendezvousSpace.isReplayedEqual(space)
    }).pipe(RendezvousSpace.granted))

  it.effect("do not fire after a replacement, after their wait step has passed, or while their instance is paused", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const enzymes = RendezvousSpace.enzymes({
        start: (tx) => ["renewed", "answered", "paused", "cancelled"].forEach(
          (inst) => tx.flow.start("serial", undefined, { inst, beats: { renewed: 5, paused: 8 }[inst] ?? 0 })
        ),
        renew: (tx) => tx.flow.budget("renewed", { beats: 50 }),
        answer: (tx) => { tx.rv.report("renewed.ask"); tx.rv.report("answered.ask") },
        rest: (tx) => { tx.flow.pause("paused"); tx.flow.cancel("cancelled") },
        resume: (tx) => tx.flow.resume("paused")
      }, [serial])
      let space = yield* RendezvousSpace.begin(yield* machine.boot(enzymes))
      for (const verb of ["start", "", "renew", "answer", "rest"]) yield* verb === "" ? space.step : RendezvousSpace.ask(space, verb)
      yield* steps(space, 10)
      space = yield* machine.boot(enzymes)
      yield* steps(space, 10)
      assert.deepStrictEqual(yield* rung(space), [])
      const states = (...insts: ReadonlyArray<string>) => Effect.forEach(insts, (inst) => stateOf(space, inst))
      assert.deepStrictEqual(yield* states("renewed", "answered", "paused", "cancelled"), ["waiting", "waiting", "paused", "cancelled"])
      // The paused instance gets its timer back on resume, and the renewed budget still ends.
      yield* RendezvousSpace.ask(space, "resume")
      yield* steps(space, 40)
      assert.deepStrictEqual(yield* states("renewed", "answered", "paused"), ["error", "waiting", "error"])
      assert.deepStrictEqual((yield* rung(space)).map(([, key]) => key), ["/data/flow/inst/paused", "/data/flow/inst/renewed"])
      yield* RendezvousSpace.isReplayedEqual(space)
    }).pipe(RendezvousSpace.granted))

  it.effect("that are due while the space is paused fire after the resume, and survive a rollback", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({ start: (tx) => tx.flow.start("waiting", undefined, { inst: "late" }) }, [waiting])
      /** Requests a control operation, and steps until it has ended. */
      const through = Effect.fnUntraced(function*<A, E>(ask: Effect.Effect<A, E>) {
        assert.strictEqual((yield* controlled(space, ask))._tag, "Success")
        for (let i = 0; i < 20 && (yield* space.control.state).control !== null; i++) yield* space.step
      })
      yield* RendezvousSpace.ask(space, "start")
      yield* space.step
      yield* through(space.control.pause())
      yield* through(space.control.rollback(0))
      yield* steps(space, 10)
      assert.deepStrictEqual([yield* stateOf(space, "late"), yield* rung(space)], ["waiting", []])
      yield* through(space.control.resume())
      yield* steps(space, 3)
      assert.deepInclude(yield* instance(space, "late"), { state: "waiting", pc: "late" })
      assert.lengthOf(yield* rung(space), 1)
      yield* RendezvousSpace.isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer()), RendezvousSpace.granted))

  it.effect("wake an idle space, and cause no beat before", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const enzymes = RendezvousSpace.enzymes({}, [waiting])
      const space = yield* machine.boot(enzymes, { tempo: 10, pace: "demand" })
      const started =
        yield* space.flows.start({ flow: "waiting", inst: "late" }).pipe(Effect.andThen(space.idle), Effect.andThen(space.head))
      yield* TestClock.adjust(40)
      yield* space.idle
      assert.strictEqual(yield* space.head, started)
      yield* TestClock.adjust(20)
      yield* space.idle
      assert.deepInclude(yield* instance(space, "late"), { state: "waiting", pc: "late" })
      assert.deepStrictEqual(yield* rung(space), [[started + 5, "/data/flow/inst/late"]])
    }).pipe(RendezvousSpace.granted))

  it.effect("end a wait within a time by the clock, however many beats there are", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({}, [timed])
      yield* controlled(space, space.flows.start({ flow: "timed", inst: "one" }))
      yield* steps(space, 30)
      yield* TestClock.adjust("999 millis")
      yield* steps(space, 3)
      assert.deepInclude(yield* instance(space, "one"), { state: "waiting", pc: "answer" })
      yield* TestClock.adjust("1 millis")
      yield* steps(space, 3)
      assert.deepInclude(yield* instance(space, "one"), { state: "waiting", pc: "late" })
      yield* RendezvousSpace.isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer()), RendezvousSpace.granted))

  it.effect("have the same maximum delay as a delayed signal", () =>
    Effect.gen(function*() {
      const furthest = 2 ** 43
      const space = yield* RendezvousSpace.space({}, [patient])
      for (const beats of [furthest + 1, Number.MAX_SAFE_INTEGER]) {
        const answer = yield* controlled(space, space.flows.start({ flow: "patient", beats }))
        assert.strictEqual(answer._tag === "Failure" ? answer.failure.code : undefined, "flow/invalid")
        assert.throws(
          () => Flow.make({ name: "far", steps: { only: { wait: () => "app:x", within: beats } } }),
          /waits within no whole number of beats from 1 to/
        )
        assert.throws(() => Flow.make({ name: "far", steps: { only: { clamp: { beats } } } }), /clamps to no whole numbers/)
        const spaced = { name: "far", steps: { only: { wait: () => "app:x", within: "10 s" } } }
        assert.throws(() => Flow.make(spaced), /and no time such as "10s"/)
      }
      const now = (yield* space.head) + 1
      yield* controlled(space, space.flows.start({ flow: "patient", inst: "far", beats: furthest }))
      const { budget: { deadline, deadline_ms } } = (yield* space.get("/data/flow/inst/far")) as unknown as {
        readonly budget: { readonly deadline: number; readonly deadline_ms: number }
      }
      assert.deepStrictEqual([deadline, Number.isSafeInteger(deadline_ms)], [now + furthest, true])
    }).pipe(Effect.provide(TestKernel.layer({ tempo: 60_000 })), RendezvousSpace.granted))
})

describe("An instance", () => {
  it.effect("is refused if its input leaves no room for its end, and ends in error if its steps leave none", () =>
    Effect.gen(function*() {
      const large =
        Array.from({ length: 20 }, (_, i) => [`step${i}`, { transform: () => ({ telemetry: { text: "z".repeat(900_000) } }) }] as const)
      const many = Flow.make({ name: "many", steps: Object.fromEntries([...large, ["answer", { wait: "step0" }]]) as never })
      const space = yield* RendezvousSpace.space({ cancel: (tx) => tx.flow.cancel("ample") }, [patient, many])
      yield* controlled(space, space.flows.start({ flow: "patient", inst: "small", input: "" }))
      const empty = JSON.stringify(yield* instance(space, "small")).length
      const start = (inst: string, left: number) =>
        controlled(space, space.flows.start({ flow: "patient", inst, input: "y".repeat(1_048_576 - empty - left) }))
      for (const left of [10, 500, 2000]) {
        const answer = yield* start(`x${left}`, left)
        assert.strictEqual(answer._tag === "Failure" ? answer.failure.code : undefined, "value/invalid", `${left} characters left`)
        if (answer._tag === "Failure") assert.match(answer.failure.message, /so that there is room for how it ends/)
        assert.isUndefined(yield* space.get(`/data/flow/inst/x${left}`))
      }
      yield* start("tight", 2100)
      yield* start("ample", 4000)
      // The steps spawn more than one run may write.
      yield* controlled(space, space.flows.start({ flow: "many", inst: "many", input: "y".repeat(600_000) }))
      yield* space.step
      assert.deepInclude(yield* instance(space, "tight"), { state: "error", note: 'step "answer" failed: value/invalid' })
      assert.match((yield* instance(space, "many")).note!, /^step "step\d+" failed: /)
      assert.strictEqual(yield* RendezvousSpace.ask(space, "cancel"), true)
      yield* steps(space, 2)
      assert.strictEqual(yield* stateOf(space, "ample"), "cancelled")
      const { rendezvous } = yield* space.rv.list({ limit: 100 })
      assert.deepStrictEqual(rendezvous.map(({ key, state }) => [key, state]), [["ample.ask", "killed"], ["small.ask", "ready"]])
      assert.deepStrictEqual(yield* space.below("/data/flow/subs", { limit: 10 }), ["/data/flow/subs/key/small.ask/small"])
      yield* RendezvousSpace.isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer()), RendezvousSpace.granted))
})
