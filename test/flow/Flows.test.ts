import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Flow } from "systole"
import { enzyme, steps } from "../kernel/TestSpace.ts"
import * as TestMachine from "../kernel/TestMachine.ts"
import * as RendezvousSpace from "../rendezvous/RendezvousSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"
import { heard, instance, stateOf } from "./FlowInstances.ts"
import { begin, review, start, verbs } from "./ReviewFlow.ts"

const test = (name: string, run: () => Effect.Effect<void, unknown, Effect.Services<ReturnType<typeof RendezvousSpace.space>>>) =>
  it.effect(name, () => run().pipe(Effect.provide(TestKernel.layer()), RendezvousSpace.granted))

describe("A flow", () => {
  test("E25 continues in the beat after the beat that wrote the event of its rendezvous", () =>
    Effect.gen(function*() {
      const space = yield* begin()
      assert.strictEqual(yield* RendezvousSpace.ask(space, "start"), "one")
      assert.deepInclude(yield* instance(space, "one"), { state: "ready", pc: "enough", steps_used: 0 })
      yield* space.step
      assert.deepInclude(yield* instance(space, "one"), { state: "waiting", pc: "answer" })
      const asked = yield* RendezvousSpace.entry(space, "one.ask") as Effect.Effect<object>
      assert.deepInclude(asked, { state: "pending", inst_id: "one", telemetry: { pages: 3 } })
      yield* RendezvousSpace.ask(space, "report")
      const [written = NaN] = yield* RendezvousSpace.events(space, "one.ask")
      assert.strictEqual(yield* space.step, written + 1)
      const { history, pc } = yield* instance(space, "one")
      assert.strictEqual(pc, "printed")
      assert.deepStrictEqual(yield* heard(space, "one", "answer"), { key: "one.ask", outcome: "applied", telemetry: { good: true } })
      assert.deepStrictEqual(
        history.filter(({ beat }) => beat === written + 1).map(({ outcome, step }) => [step, outcome]),
        [["answer", "applied"], ["choose", "print"], ["print", "spawned"]]
      )
      yield* RendezvousSpace.ask(space, "print")
      yield* space.step
      assert.deepInclude(yield* instance(space, "one"), { state: "done", steps_used: 6 })
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("E25 continues by the signal path of a rendezvous that a run spawned", () =>
    Effect.gen(function*() {
      const follow = Flow.make({ name: "follow", steps: { hear: { wait: ({ input }) => `CEP:sig_rv/${input as string}` } } })
      const space = yield* begin({
        follow: (tx) => ["a", "b"].map((inst) => tx.flow.start("follow", "job", { inst })),
        spawn: (tx) => tx.rv.spawn({ key: "job" }),
        done: (tx) => tx.rv.report("job", { n: 1 })
      }, [follow])
      for (const verb of ["follow", "spawn", "done"]) yield* RendezvousSpace.ask(space, verb)
      yield* space.step
      for (const inst of ["a", "b"]) {
        assert.deepInclude(yield* instance(space, inst), { state: "done" })
        assert.deepStrictEqual(yield* heard(space, inst, "hear"), { key: "job", outcome: "applied", telemetry: { n: 1 } })
      }
      assert.deepStrictEqual(yield* space.below("/data/flow/subs", { limit: 10 }), [])
    }))

  test("receives a completion that precedes the wait step, and the newest completion of an epoch", () =>
    Effect.gen(function*() {
      const two = Flow.make({
        name: "two",
        steps: {
          first: { transform: () => ({ key: "first" }) },
          second: { transform: () => ({ key: "second", prof: "rv-epoch", epoch_k: 1 }) },
          one: { wait: "first" },
          other: { wait: "second" },
          again: { wait: "second" }
        }
      })
      const space = yield* begin({
        two: (tx) => tx.flow.start("two", undefined, { inst: "x" }),
        second: (tx) => tx.rv.report("second", { at: tx.beat }),
        first: (tx) => tx.rv.report("first")
      }, [two])
      yield* RendezvousSpace.ask(space, "two")
      yield* space.step
      for (const verb of ["second", "second", "first"]) yield* RendezvousSpace.ask(space, verb)
      yield* space.step
      assert.deepInclude(yield* instance(space, "x"), { state: "waiting", pc: "again" })
      assert.deepStrictEqual(yield* heard(space, "x", "other"), { key: "second", outcome: "applied", telemetry: { at: 4 } })
      yield* RendezvousSpace.ask(space, "second")
      yield* space.step
      assert.deepInclude(yield* instance(space, "x"), { state: "done" })
      assert.deepStrictEqual(yield* heard(space, "x", "other"), { key: "second", outcome: "applied", telemetry: { at: 4 } })
      assert.deepStrictEqual(yield* heard(space, "x", "again"), { key: "second", outcome: "applied", telemetry: { at: 7 } })
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("spawns one beat later if the rendezvous of the same key completes in this beat", () =>
    Effect.gen(function*() {
      const over = Flow.make({ name: "over", steps: { ask: { transform: () => ({ key: "job", due_off: 20 }) }, answer: { wait: "ask" } } })
      const space = yield* begin({
        spawn: (tx) => tx.rv.spawn({ key: "job", due_off: 2, deadl_off: 0 }),
        over: (tx) => tx.flow.start("over", undefined, { inst: "x" })
      }, [over])
      yield* RendezvousSpace.ask(space, "spawn")
      yield* RendezvousSpace.ask(space, "over")
      yield* steps(space, 3)
      assert.deepStrictEqual(yield* RendezvousSpace.events(space, "job"), [3])
      assert.deepInclude(yield* instance(space, "x"), { state: "waiting", pc: "answer" })
      assert.deepInclude(yield* RendezvousSpace.entry(space, "job") as Effect.Effect<object>, { state: "pending", inst_id: "x" })
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("lets the variants of one step compete, and those of several steps that share an inst_id", () =>
    Effect.gen(function*() {
      const ask = (inst_id?: string) =>
        ({ transform: () => ({ prof: "spec" as const, due_off: 50, ...(inst_id === undefined ? {} : { inst_id }) }) })
      const apart = Flow.make({ name: "apart", steps: { p: ask(), q: ask(), a: { wait: "p" }, b: { wait: "q" } } })
      const rivals = Flow.make({ name: "rivals", steps: { p: ask("q:1"), q: ask("q:1"), a: { wait: "p" }, b: { wait: "q" } } })
      const space = yield* begin({
        apart: (tx) => tx.flow.start("apart", undefined, { inst: "apart" }),
        rivals: (tx) => tx.flow.start("rivals", undefined, { inst: "rivals" }),
        first: (tx) => ["apart.p", "rivals.p"].map((key) => tx.rv.report(key, {})),
        cancel: (tx) => tx.flow.cancel("apart")
      }, [apart, rivals])
      for (const verb of ["apart", "rivals"]) yield* RendezvousSpace.ask(space, verb)
      yield* steps(space, 4)
      yield* RendezvousSpace.ask(space, "first")
      yield* steps(space, 4)
      const stateOf = Effect.fnUntraced(function*(key: string) {
        return ((yield* RendezvousSpace.entry(space, key)) as { readonly state: string }).state
      })
      assert.deepStrictEqual([yield* stateOf("apart.q"), yield* stateOf("rivals.q")], ["pending", "killed"])
      assert.deepInclude(yield* instance(space, "apart"), { state: "waiting", pc: "b" })
      assert.deepInclude(yield* instance(space, "rivals"), { state: "done" })
      // The pending variants of an instance are killed with it.
      yield* RendezvousSpace.ask(space, "cancel")
      yield* steps(space, 2)
      assert.strictEqual(yield* stateOf("apart.q"), "killed")
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("receives only the completions of its own rendezvous, each at its own step, though signal paths are shared", () =>
    Effect.gen(function*() {
      const asking = Flow.make({ name: "asking", steps: { q: { transform: () => ({ due_off: 50 }) }, a: { wait: "q" } } })
      const done = { transform: () => ({ signal_path: "app:done" }) }
      const both = Flow.make({ name: "both", steps: { p: done, q: done, a: { wait: "p" }, b: { wait: "q" } } })
      const space = yield* begin({
        asking: (tx) => ["order:17", "refund:17"].map((inst) => tx.flow.start("asking", undefined, { inst })),
        both: (tx) => tx.flow.start("both", undefined, { inst: "both" }),
        order: (tx) => tx.rv.report("order:17.q", { approved: true }),
        q: (tx) => tx.rv.report("both.q", { of: "q" }),
        p: (tx) => tx.rv.report("both.p", { of: "p" }),
        cancel: (tx) => tx.flow.cancel("refund:17")
      }, [asking, both])
      for (const verb of ["asking", "both", "order", "q", "p"]) yield* RendezvousSpace.ask(space, verb)
      yield* steps(space, 2)
      assert.deepInclude(yield* instance(space, "order:17"), { state: "done" })
      assert.deepInclude(yield* instance(space, "refund:17"), { state: "waiting", pc: "a" })
      assert.deepStrictEqual([yield* stateOf(space, "both"), yield* heard(space, "both", "a"), yield* heard(space, "both", "b")], [
        "done",
        { key: "both.p", outcome: "applied", telemetry: { of: "p" } },
        { key: "both.q", outcome: "applied", telemetry: { of: "q" } }
      ])
      yield* RendezvousSpace.ask(space, "cancel")
      assert.deepStrictEqual(yield* space.below("/data/flow/subs", { limit: 10 }), [])
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("costs a beat no work for instances that wait on the same signal path, and leaves no subscription at its end", () =>
    Effect.gen(function*() {
      const heard = Flow.make({
        name: "heard",
        steps: { q: { transform: () => ({ due_off: 50, signal_path: "app:done" }) }, a: { wait: "q", within: 4 } }
      })
      const many = Array.from({ length: 200 }, (_, n) => `i${n}`)
      const space = yield* begin(
        { many: (tx) => many.map((inst) => tx.flow.start("heard", undefined, { inst })), one: (tx) => tx.rv.report("i7.q") },
        [heard]
      )
      yield* RendezvousSpace.ask(space, "many")
      yield* space.step
      yield* RendezvousSpace.ask(space, "one")
      const beat = yield* space.head
      const [row] = yield* space.examine(({ store }) => [...store.scanJournal(beat, beat)])
      assert.isBelow(row!.text.length, 20_000)
      yield* steps(space, 6)
      assert.deepStrictEqual(yield* space.below("/data/flow/subs", { limit: 10 }), [])
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("takes the other branch if a guard refuses or a wait step expires, and signals its end", () =>
    Effect.gen(function*() {
      const over: Array<unknown> = []
      const space = yield* begin({ none: start({ pages: 0 }, "none"), late: start({ pages: 1 }, "late") }, [
        enzyme("over", (tx, { signal, target }) => void over.push([tx.beat, signal, target]), {
          query: "/CEP:sig_inst/*",
          bind: ["/data/flow"]
        })
      ])
      for (const verb of ["start", "none", "late"]) yield* RendezvousSpace.ask(space, verb)
      yield* RendezvousSpace.ask(space, "report")
      // No worker reports the print, so its deadline ends that rendezvous and wakes the flow.
      yield* steps(space, 12)
      assert.deepInclude(yield* instance(space, "none"), { state: "done", results: { enough: false } })
      assert.deepInclude(yield* instance(space, "late"), { state: "error", note: "step \"answer\": late" })
      assert.deepInclude((yield* instance(space, "one")).results["printed"] as object, { outcome: "timeout" })
      assert.sameDeepMembers(over.map((one) => (one as ReadonlyArray<unknown>).slice(1)), [
        ["/CEP:sig_inst/done", "/data/flow/inst/none"],
        ["/CEP:sig_inst/done", "/data/flow/inst/one"],
        ["/CEP:sig_inst/error", "/data/flow/inst/late"]
      ])
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("receives completions while paused, continues when resumed, and is cancelled with its rendezvous", () =>
    Effect.gen(function*() {
      const space = yield* begin()
      yield* RendezvousSpace.ask(space, "start")
      yield* space.step
      assert.deepStrictEqual([
        yield* RendezvousSpace.ask(space, "resume"),
        yield* RendezvousSpace.ask(space, "pause"),
        yield* RendezvousSpace.ask(space, "pause")
      ], [false, true, false])
      yield* RendezvousSpace.ask(space, "report")
      yield* steps(space, 2)
      assert.deepInclude(yield* instance(space, "one"), { state: "paused", pc: "answer" })
      assert.isTrue(yield* RendezvousSpace.ask(space, "resume"))
      yield* space.step
      assert.deepInclude(yield* instance(space, "one"), { state: "waiting", pc: "printed" })
      assert.isTrue(yield* RendezvousSpace.ask(space, "cancel"))
      yield* steps(space, 2)
      assert.strictEqual(yield* stateOf(space, "one"), "cancelled")
      assert.deepInclude(yield* RendezvousSpace.entry(space, "printing") as Effect.Effect<object>, { state: "killed" })
      assert.deepStrictEqual([yield* RendezvousSpace.ask(space, "cancel"), yield* RendezvousSpace.ask(space, "pause")], [false, false])
      assert.deepStrictEqual(yield* space.below("/data/flow/subs", { limit: 10 }), [])
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("obeys its budget of steps and beats, and its clamps", () =>
    Effect.gen(function*() {
      const clamped = Flow.make({ name: "clamped", steps: {
        limit: { clamp: { beats: 5 }, otherwise: "done" },
        ask: { transform: () => ({}) },
        answer: { wait: "ask", within: 8, next: "check", otherwise: "check" },
        check: { clamp: { beats: 5 } }
      } })
      const space = yield* begin({
        few: (tx) => tx.flow.start("review", { pages: 1 }, { inst: "few", steps: 1 }),
        brief: (tx) => tx.flow.start("review", { pages: 1 }, { inst: "brief", beats: 4 }),
        clamped: (tx) => tx.flow.start("clamped", undefined, { inst: "clamped" }),
        more: (tx) => tx.flow.budget("more", { steps: 10 }),
        give: (tx) => [
          tx.flow.start("review", { pages: 1 }, { inst: "more", steps: 1 }),
          tx.flow.budget("more", { steps: 10 }),
          tx.flow.budget("none", {})
        ]
      }, [clamped])
      for (const verb of ["few", "brief", "clamped"]) yield* RendezvousSpace.ask(space, verb)
      assert.deepStrictEqual(yield* RendezvousSpace.ask(space, "give"), ["more", true, false])
      yield* steps(space, 14)
      assert.deepInclude(yield* instance(space, "few"), { state: "error", steps_used: 1, note: "its budget of 1 steps is spent" })
      assert.deepInclude(yield* instance(space, "brief"), { state: "error", note: "its budget ended with beat 6" })
      assert.deepInclude(yield* instance(space, "clamped"), { state: "error", note: "step \"check\": beyond" })
      assert.strictEqual((yield* instance(space, "more")).history.at(-1)!.outcome, "late")
    }))

  it.effect("continues after a power cut between any two steps", () =>
    Effect.gen(function*() {
      const story = Effect.fnUntraced(function*(cut: boolean) {
        const machine = yield* TestMachine.make
        let space = yield* RendezvousSpace.begin(yield* machine.boot(RendezvousSpace.enzymes(verbs, [review])))
        const told: Array<unknown> = []
        for (const verb of ["start", "", "report", "", "print", "", ""]) {
          if (cut) space = yield* machine.boot(RendezvousSpace.enzymes(verbs, [review]))
          if (verb === "") yield* space.step
          else yield* RendezvousSpace.ask(space, verb)
          told.push(yield* instance(space, "one"))
        }
        assert.strictEqual(yield* stateOf(space, "one"), "done")
        yield* RendezvousSpace.isReplayedEqual(space)
        return told
      })
      assert.deepStrictEqual(yield* story(true), yield* story(false))
    }).pipe(RendezvousSpace.granted))
})
