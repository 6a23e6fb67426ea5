import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Flow, type Space } from "systole"
import { controlled, enzyme, steps } from "../kernel/TestSpace.ts"
import * as TestMachine from "../kernel/TestMachine.ts"
import * as RendezvousSpace from "../rendezvous/RendezvousSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"
import { heard, instance, stateOf } from "./FlowInstances.ts"

const test =
  (name: string, run: () => Effect.Effect<void, unknown, Effect.Services<ReturnType<typeof RendezvousSpace.space>>>, settings = {}) =>
  it.effect(name, () => run().pipe(Effect.provide(TestKernel.layer(settings)), RendezvousSpace.granted))

const rendezvousState = (space: Space, key: string) =>
  Effect.map(RendezvousSpace.entry(space, key), (entry) => (entry as { readonly state: string }).state)

const asking = Flow.make({ name: "asking", steps: { ask: { transform: () => ({}) }, answer: { wait: "ask" } } })

describe("A budget of beats", () => {
  test("ends a waiting instance and its rendezvous when the budget is spent, and costs no input until then", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({ start: (tx) => tx.flow.start("asking", undefined, { inst: "one", beats: 5 }) }, [asking])
      yield* RendezvousSpace.ask(space, "start")
      const started = yield* space.head
      for (let tenth = 1; tenth < 5; tenth++) {
        yield* TestClock.adjust("100 millis")
        yield* steps(space, 3)
      }
      assert.strictEqual(yield* stateOf(space, "one"), "waiting")
      const inputsOf = (text: string) => (JSON.parse(text) as { readonly in: ReadonlyArray<unknown> }).in.length
      const idle = yield* space.examine(({ store }) =>
        [...store.scanJournal(started + 3, started + 12)].map(({ text }) => inputsOf(text))
      )
      assert.deepStrictEqual([...new Set(idle)], [0])
      yield* TestClock.adjust("100 millis")
      yield* space.step
      assert.deepInclude(yield* instance(space, "one"), { state: "error", note: `its budget ended with beat ${started + 5}` })
      yield* space.step
      assert.strictEqual(yield* rendezvousState(space, "one.ask"), "killed")
      assert.lengthOf(yield* RendezvousSpace.events(space, "one.ask"), 1)
      assert.deepStrictEqual(yield* space.below("/data/flow/subs", { limit: 10 }), [])
      yield* RendezvousSpace.isReplayedEqual(space)
    }), { tempo: 100 })

  it.effect("set by a command ends a waiting instance across restarts; a longer budget delays the end, a spent one ends it at once", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const enzymes = RendezvousSpace.enzymes({ start: (tx) => ["short", "long", "spent"].map(
        (inst) => tx.flow.start("asking", undefined, { inst, ...(inst === "long" ? { beats: 4 } : {}) })
      ) }, [asking])
      let space = yield* RendezvousSpace.begin(yield* machine.boot(enzymes))
      yield* RendezvousSpace.ask(space, "start")
      yield* space.step
      yield* controlled(space, space.flows.budget("short", { beats: 4 }))
      yield* controlled(space, space.flows.budget("long", { beats: 9 }))
      yield* controlled(space, space.flows.budget("spent", { steps: 1 }))
      yield* space.step
      assert.deepInclude(yield* instance(space, "spent"), { state: "error", note: "its budget of 1 steps is spent" })
      space = yield* machine.boot(enzymes)
      yield* steps(space, 3)
      assert.deepStrictEqual([yield* stateOf(space, "short"), yield* stateOf(space, "long")], ["error", "waiting"])
      yield* steps(space, 6)
      assert.deepStrictEqual(
        [yield* stateOf(space, "long"), yield* rendezvousState(space, "long.ask"), yield* rendezvousState(space, "short.ask")],
        ["error", "killed", "killed"]
      )
      yield* RendezvousSpace.isReplayedEqual(space)
    }).pipe(RendezvousSpace.granted))
})

describe("The beats of a wait step and of a clamp", () => {
  const lasting = (time: number | string) => () =>
    Effect.gen(function*() {
      const brief = Flow.make({ name: "brief", steps: {
        ask: { transform: () => ({}) },
        answer: { wait: "ask", within: time, otherwise: "check", next: "check" },
        check: { clamp: { beats: time }, otherwise: "done", next: "error" }
      } })
      const space = yield* RendezvousSpace.space({
        start: (tx) => ["a", "b"].map((inst) => tx.flow.start("brief", undefined, { inst })),
        pause: (tx) => tx.flow.pause("b"),
        resume: (tx) => tx.flow.resume("b")
      }, [brief])
      yield* RendezvousSpace.ask(space, "start")
      yield* space.step
      yield* RendezvousSpace.ask(space, "pause")
      yield* steps(space, 8)
      // A resumed instance compares its timer again, which is not due yet.
      yield* RendezvousSpace.ask(space, "resume")
      yield* steps(space, 2)
      assert.deepStrictEqual([yield* stateOf(space, "a"), yield* stateOf(space, "b")], ["waiting", "waiting"])
      yield* TestClock.adjust("500 millis")
      yield* steps(space, 2)
      assert.deepStrictEqual([yield* stateOf(space, "a"), yield* stateOf(space, "b")], ["done", "done"])
      yield* RendezvousSpace.isReplayedEqual(space)
    })

  test("take at least the time of that many beats at the tempo, however fast the space beats", lasting(5), { tempo: 100 })
  test("may be given as a time", lasting("500ms"), { tempo: 100 })
})

describe("A finished instance", () => {
  test("has killed the rendezvous that it spawned, however it ended, and none that another spawned under the same key later", () =>
    Effect.gen(function*() {
      const ways = {
        failing: { then: { guard: () => { throw new Error("x") } } },
        refused: { then: { guard: () => false } },
        finished: { then: { guard: () => true } },
        clamped: { then: { clamp: { steps: 1 } } },
        late: { then: { wait: "ask", within: 2, otherwise: "done" } }
      }
      const flows = Object.entries(ways).map(([name, more]) => Flow.make({ name, steps: {
        ask: { transform: () => ({ due_off: 50 }) },
        epoch: { transform: () => ({ prof: "rv-epoch", epoch_k: 3 }) },
        ...more
      } as never }))
      const shared = Flow.make({
        name: "shared",
        steps: { ask: { transform: () => ({ key: "job" }) }, answer: { wait: "ask" }, more: { wait: () => "never" } }
      })
      const space = yield* RendezvousSpace.space({
        all: (tx) => [...Object.keys(ways), "shared"].map((name) => tx.flow.start(name, undefined, { inst: name })),
        job: (tx) => tx.rv.report("job"),
        again: (tx) => tx.rv.spawn({ key: "job" }),
        cancel: (tx) => tx.flow.cancel("shared")
      }, [...flows, shared])
      for (const verb of ["all", "", "job", "again", "cancel", "", "", ""]) {
        yield* verb === "" ? space.step : RendezvousSpace.ask(space, verb)
      }
      for (const inst of Object.keys(ways)) {
        assert.include(["done", "error"], yield* stateOf(space, inst), inst)
        assert.deepStrictEqual(
          [yield* rendezvousState(space, `${inst}.ask`), yield* rendezvousState(space, `${inst}.epoch`)],
          ["killed", "killed"],
          inst
        )
      }
      assert.deepStrictEqual([yield* stateOf(space, "shared"), yield* rendezvousState(space, "job")], ["cancelled", "ready"])
      assert.deepStrictEqual(yield* space.below("/data/flow/subs", { limit: 10 }), [])
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("has killed its epoch rendezvous, also one that completes in the beat in which the instance ends", () =>
    Effect.gen(function*() {
      const epochs = Flow.make({
        name: "epochs",
        steps: { ask: { transform: () => ({ prof: "rv-epoch", epoch_k: 3 }) }, answer: { wait: () => "app:never", within: 3 } }
      })
      const space = yield* RendezvousSpace.space(
        { start: (tx) => ["cancelled", "late"].map((inst) => tx.flow.start("epochs", undefined, { inst })) },
        [epochs]
      )
      yield* RendezvousSpace.ask(space, "start")
      yield* steps(space, 2)
      yield* Effect.forkChild(space.rv.report("cancelled.ask"), { startImmediately: true })
      yield* controlled(space, space.flows.cancel("cancelled"))
      // The wait step expires in the beat that executes this report.
      yield* controlled(space, space.rv.report("late.ask"))
      yield* space.step
      assert.deepStrictEqual([yield* stateOf(space, "cancelled"), yield* stateOf(space, "late")], ["cancelled", "error"])
      yield* steps(space, 6)
      for (const inst of ["cancelled", "late"]) {
        assert.strictEqual(yield* rendezvousState(space, `${inst}.ask`), "killed", inst)
        assert.lengthOf(yield* RendezvousSpace.events(space, `${inst}.ask`), 2, inst)
      }
      yield* RendezvousSpace.isReplayedEqual(space)
    }))
})

describe("The telemetry of a completion", () => {
  const nest = (levels: number): unknown => levels === 0 ? 1 : { a: nest(levels - 1) }

  test("may be as large and as deep as a report, for each wait, and steps can read it", () =>
    Effect.gen(function*() {
      const sizes: Array<number> = []
      const deep = Flow.make({
        name: "deep",
        steps: {
          p: { transform: () => ({}) },
          q: { transform: () => ({}) },
          a: { wait: "p" },
          b: { wait: "q" },
          look: {
            guard: ({ results }) =>
              sizes.push(...["a", "b"].map((step) => JSON.stringify((results[step] as Flow.Completion).telemetry).length)) > 0
          }
        }
      })
      const space = yield* RendezvousSpace.space({ start: (tx) => tx.flow.start("deep", undefined, { inst: "x" }) }, [deep])
      yield* RendezvousSpace.ask(space, "start")
      yield* space.step
      yield* controlled(space, space.rv.report("x.p", { telemetry: { text: "y".repeat(1_000_000) } }))
      yield* controlled(space, space.rv.report("x.q", { telemetry: nest(61) as {} }))
      yield* steps(space, 2)
      assert.strictEqual(yield* stateOf(space, "x"), "done")
      assert.deepStrictEqual(sizes, [1_000_011, JSON.stringify(nest(61)).length])
      assert.deepStrictEqual((yield* heard(space, "x", "b")).telemetry, nest(61))
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("ends an instance whose cell has no room for it, kills its rendezvous, and is diagnosed", () =>
    Effect.gen(function*() {
      const late = Flow.make({ name: "late", steps: {
        other: { transform: () => ({ due_off: 50 }) },
        ask: { transform: () => ({ due_off: 3, deadl_off: 0 }) },
        answer: { wait: "ask" }
      } })
      const space = yield* RendezvousSpace.space({}, [late, enzyme("idle", () => undefined)])
      yield* controlled(space, space.flows.start({ flow: "late", inst: "small", input: "" }))
      yield* space.step
      const room = 1_046_528 - JSON.stringify(yield* instance(space, "small")).length
      yield* controlled(space, space.flows.start({ flow: "late", inst: "large", input: "y".repeat(room - 20) }))
      yield* space.step
      assert.strictEqual(yield* stateOf(space, "large"), "waiting")
      yield* steps(space, 6)
      assert.deepInclude(yield* instance(space, "large"), { state: "error", note: "does not fit its cell" } as {})
      const told = yield* TestKernel.diagnostics(space)
      assert.deepStrictEqual(told.map(({ subject, topic }) => [topic, subject]), [["flow/outgrown", { $link: "/data/flow/inst/large" }]])
      assert.deepStrictEqual(
        [yield* rendezvousState(space, "large.ask"), yield* rendezvousState(space, "large.other")],
        ["timeout", "killed"]
      )
      assert.deepStrictEqual(yield* space.below("/data/flow/subs", { limit: 10 }), [])
      yield* RendezvousSpace.isReplayedEqual(space)
    }))
})
