import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { type Enzyme, Flow, Mailroom, type Space, SystemGrants, type Transaction } from "systole"
import instIng from "../../enzymes/inst_ing.ts"
import mrInit from "../../enzymes/mr_init.ts"
import mrRoute from "../../enzymes/mr_route.ts"
import { controlled, enzyme, steps } from "../kernel/TestSpace.ts"
import * as TestMachine from "../kernel/TestMachine.ts"
import * as RendezvousSpace from "../rendezvous/RendezvousSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"
import { heard, instance, stateOf } from "./FlowInstances.ts"

const test = (name: string, run: () => Effect.Effect<void, unknown, Effect.Services<ReturnType<typeof RendezvousSpace.space>>>) =>
  it.effect(name, () => run().pipe(Effect.provide(TestKernel.layer()), RendezvousSpace.granted))

/** Work for somebody outside, and what follows from how it ended. */
const review = Flow.make({
  name: "review",
  input: Schema.Struct({ pages: Schema.Number }),
  steps: {
    enough: { guard: ({ input }) => input.pages > 0, otherwise: "done" },
    ask: { transform: ({ input }) => ({ due_off: 20, telemetry: { pages: input.pages } }) },
    answer: { wait: "ask", within: 10, otherwise: "error" },
    choose: { decide: ({ results }) => (results["answer"] as Flow.Completion).outcome === "applied" ? "print" : "error", to: ["print", "error"] },
    print: { transform: () => ({ key: "printing", due_off: 5, deadl_off: 0 }) },
    printed: { wait: "print" }
  }
})

const start = (input: unknown = { pages: 3 }, inst = "one") => (tx: Transaction) => tx.flow.start("review", input, { inst })
const verbs = {
  start: start(),
  report: (tx: Transaction) => tx.rv.report("one.ask", { good: true }),
  print: (tx: Transaction) => tx.rv.report("printing"),
  pause: (tx: Transaction) => tx.flow.pause("one"),
  resume: (tx: Transaction) => tx.flow.resume("one"),
  cancel: (tx: Transaction) => tx.flow.cancel("one")
}
const begin = (more: Readonly<Record<string, (tx: Transaction) => unknown>> = {}, enzymes: ReadonlyArray<Enzyme.Enzyme> = []) =>
  RendezvousSpace.space({ ...verbs, ...more }, [review, ...enzymes])

const codeOf = Effect.fnUntraced(function*<A, E extends { readonly code: string }>(space: Space, asked: Effect.Effect<A, E>) {
  const answer = yield* controlled(space, asked)
  return answer._tag === "Failure" ? answer.failure.code : "done"
})

describe("A flow", () => {
  test("E25 goes on in the beat after the event of the rendezvous that it waits for was written", () =>
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
      assert.deepStrictEqual(history.filter(({ beat }) => beat === written + 1).map(({ outcome, step }) => [step, outcome]), [["answer", "applied"], ["choose", "print"], ["print", "spawned"]])
      yield* RendezvousSpace.ask(space, "print")
      yield* space.step
      assert.deepInclude(yield* instance(space, "one"), { state: "done", steps_used: 6 })
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("E25 goes on by the signal path of a rendezvous that another spawned, too", () =>
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

  test("hears of a completion that came before it waits, and of the newest one of an epoch", () =>
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
      const space = yield* begin({ two: (tx) => tx.flow.start("two", undefined, { inst: "x" }), second: (tx) => tx.rv.report("second", { at: tx.beat }), first: (tx) => tx.rv.report("first") }, [two])
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

  test("spawns a beat later where the rendezvous of that key completes in this one", () =>
    Effect.gen(function*() {
      const over = Flow.make({ name: "over", steps: { ask: { transform: () => ({ key: "job", due_off: 20 }) }, answer: { wait: "ask" } } })
      const space = yield* begin({ spawn: (tx) => tx.rv.spawn({ key: "job", due_off: 2, deadl_off: 0 }), over: (tx) => tx.flow.start("over", undefined, { inst: "x" }) }, [over])
      yield* RendezvousSpace.ask(space, "spawn")
      yield* RendezvousSpace.ask(space, "over")
      yield* steps(space, 3)
      assert.deepStrictEqual(yield* RendezvousSpace.events(space, "job"), [3])
      assert.deepInclude(yield* instance(space, "x"), { state: "waiting", pc: "answer" })
      assert.deepInclude(yield* RendezvousSpace.entry(space, "job") as Effect.Effect<object>, { state: "pending", inst_id: "x" })
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("lets the variants of each step compete on their own, and of several steps where they share an inst_id", () =>
    Effect.gen(function*() {
      const ask = (inst_id?: string) => ({ transform: () => ({ prof: "spec" as const, due_off: 50, ...(inst_id === undefined ? {} : { inst_id }) }) })
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
      // What is left of an instance ends with it.
      yield* RendezvousSpace.ask(space, "cancel")
      yield* steps(space, 2)
      assert.strictEqual(yield* stateOf("apart.q"), "killed")
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("hears of what it spawned itself alone, whoever else sends by the same signal path, and of each of its own", () =>
    Effect.gen(function*() {
      const asking = Flow.make({ name: "asking", steps: { q: { transform: () => ({ due_off: 50 }) }, a: { wait: "q" } } })
      const both = Flow.make({ name: "both", steps: { p: { transform: () => ({ signal_path: "app:done" }) }, q: { transform: () => ({ signal_path: "app:done" }) }, a: { wait: "p" }, b: { wait: "q" } } })
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
      assert.deepStrictEqual([yield* stateOf(space, "both"), yield* heard(space, "both", "a"), yield* heard(space, "both", "b")], ["done", { key: "both.p", outcome: "applied", telemetry: { of: "p" } }, { key: "both.q", outcome: "applied", telemetry: { of: "q" } }])
      yield* RendezvousSpace.ask(space, "cancel")
      assert.deepStrictEqual(yield* space.below("/data/flow/subs", { limit: 10 }), [])
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("costs a beat what hears in it, not what waits beside it by the same signal path, and leaves nothing there when it is over", () =>
    Effect.gen(function*() {
      const heard = Flow.make({ name: "heard", steps: { q: { transform: () => ({ due_off: 50, signal_path: "app:done" }) }, a: { wait: "q", within: 4 } } })
      const many = Array.from({ length: 200 }, (_, n) => `i${n}`)
      const space = yield* begin({ many: (tx) => many.map((inst) => tx.flow.start("heard", undefined, { inst })), one: (tx) => tx.rv.report("i7.q") }, [heard])
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

  test("goes another way where a guard refuses, a Wait is over or work ends otherwise, and tells that it is over", () =>
    Effect.gen(function*() {
      const over: Array<unknown> = []
      const space = yield* begin({ none: start({ pages: 0 }, "none"), late: start({ pages: 1 }, "late") }, [
        enzyme("over", (tx, { signal, target }) => void over.push([tx.beat, signal, target]), { query: "/CEP:sig_inst/*", bind: ["/data/flow"] })
      ])
      for (const verb of ["start", "none", "late"]) yield* RendezvousSpace.ask(space, verb)
      yield* RendezvousSpace.ask(space, "report")
      // Nobody prints: that rendezvous ends with its deadline, and the flow hears that.
      yield* steps(space, 12)
      assert.deepInclude(yield* instance(space, "none"), { state: "done", results: { enough: false } })
      assert.deepInclude(yield* instance(space, "late"), { state: "error", note: "step \"answer\": late" })
      assert.deepInclude((yield* instance(space, "one")).results["printed"] as object, { outcome: "timeout" })
      assert.sameDeepMembers(over.map((one) => (one as ReadonlyArray<unknown>).slice(1)), [["/CEP:sig_inst/done", "/data/flow/inst/none"], ["/CEP:sig_inst/done", "/data/flow/inst/one"], ["/CEP:sig_inst/error", "/data/flow/inst/late"]])
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("is paused, hears meanwhile, goes on when it is resumed, and is cancelled with its rendezvous", () =>
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

  test("keeps to its budget of steps and beats, and to its clamps", () =>
    Effect.gen(function*() {
      const clamped = Flow.make({ name: "clamped", steps: { limit: { clamp: { beats: 5 }, otherwise: "done" }, ask: { transform: () => ({}) }, answer: { wait: "ask", within: 8, next: "check", otherwise: "check" }, check: { clamp: { beats: 5 } } } })
      const space = yield* begin({
        few: (tx) => tx.flow.start("review", { pages: 1 }, { inst: "few", steps: 1 }),
        brief: (tx) => tx.flow.start("review", { pages: 1 }, { inst: "brief", beats: 4 }),
        clamped: (tx) => tx.flow.start("clamped", undefined, { inst: "clamped" }),
        more: (tx) => tx.flow.budget("more", { steps: 10 }),
        give: (tx) => [tx.flow.start("review", { pages: 1 }, { inst: "more", steps: 1 }), tx.flow.budget("more", { steps: 10 }), tx.flow.budget("none", {})]
      }, [clamped])
      for (const verb of ["few", "brief", "clamped"]) yield* RendezvousSpace.ask(space, verb)
      assert.deepStrictEqual(yield* RendezvousSpace.ask(space, "give"), ["more", true, false])
      yield* steps(space, 14)
      assert.deepInclude(yield* instance(space, "few"), { state: "error", steps_used: 1, note: "its budget of 1 steps is spent" })
      assert.deepInclude(yield* instance(space, "brief"), { state: "error", note: "its budget ended with beat 6" })
      assert.deepInclude(yield* instance(space, "clamped"), { state: "error", note: "step \"check\": beyond" })
      assert.strictEqual((yield* instance(space, "more")).history.at(-1)!.outcome, "late")
    }))

  it.effect("goes on after a power cut between any two steps", () =>
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

describe("A flow that is asked for in the lobby", () => {
  it.effect("is started, and moved, once for each request, which says what came of it", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([mrInit, mrRoute, instIng, ...RendezvousSpace.enzymes({
        ask: (tx) => {
          tx.set("/data/inbox/flow/inst_start/r1", { flow: "review", inst: "one", input: { pages: 2 } })
          tx.signal({ signal: Mailroom.ADDED, target: "/data/inbox/flow/inst_start/r1", payload: 1 })
        },
        move: (tx) => {
          for (const [name, request] of Object.entries({ p: { inst: "one", action: "pause" }, q: { inst: "none", action: "cancel" }, r: { key: "one.ask", action: "rv_report", telemetry: { good: 1 } }, s: { action: "fly" }, t: { action: "toString" }, u: {}, v: { inst: "one", action: "budget", beats: -1 } })) {
            tx.set(`/data/inbox/flow/inst_ctrl/${name}`, request)
            tx.signal({ signal: Mailroom.ADDED, target: `/data/inbox/flow/inst_ctrl/${name}`, payload: 1 })
          }
        },
        wrong: (tx) => {
          for (const [name, request] of Object.entries({ v: { flow: "none" }, w: { flow: "review" }, x: { flow: "review", input: { pages: 1 }, inst: "one" }, y: { flow: "review", input: { pages: 1 }, steps: -1 }, z: {} })) {
            tx.set(`/data/inbox/flow/inst_start/${name}`, request)
            tx.signal({ signal: Mailroom.ADDED, target: `/data/inbox/flow/inst_start/${name}`, payload: 1 })
          }
        },
        again: (tx) => tx.signal({ signal: Mailroom.ADDED, target: "/data/flow/inbox/inst_start/r1", payload: 2 })
      }, [review])])
      yield* RendezvousSpace.begin(space)
      yield* RendezvousSpace.ask(space, "ask")
      yield* steps(space, 4)
      assert.deepInclude(yield* space.get("/data/flow/inbox/inst_start/r1") as unknown as Effect.Effect<object>, { flow: "review", outcome: "one" })
      assert.strictEqual(yield* stateOf(space, "one"), "waiting")
      yield* RendezvousSpace.ask(space, "wrong")
      yield* RendezvousSpace.ask(space, "again")
      yield* RendezvousSpace.ask(space, "move")
      yield* steps(space, 3)
      const outcomes = yield* Effect.forEach(["p", "q", "r", "s", "t", "u", "v"], (name) => space.get(`/data/flow/inbox/inst_ctrl/${name}#/outcome`))
      assert.deepStrictEqual(outcomes, ["ok", "refused", "ok", "unknown action", "unknown action", "unknown action", "refused"])
      const starts = yield* Effect.forEach(["v", "w", "x", "y", "z"], (name) => Effect.map(space.get(`/data/flow/inbox/inst_start/${name}`), (request) => request as { readonly outcome?: string; readonly code?: string }))
      assert.deepStrictEqual(starts.map(({ code, outcome }) => [outcome, code]), ["flow/unknown", "flow/invalid", "flow/exists", "flow/invalid", "flow/unknown"].map((code) => ["refused", code]))
      assert.strictEqual(yield* stateOf(space, "one"), "paused")
      assert.deepStrictEqual((yield* space.dead({ limit: 10 })).letters, [])
      yield* RendezvousSpace.isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer()), Effect.provideService(SystemGrants, new Set(["inst_ing", "mr_init", "mr_route", "rv_init"]))))
})

describe("What flows refuse", () => {
  const step = { transform: () => ({}) }

  it("is a declaration that could not run: a missing step, a circle, a Wait for what is not spawned", () => {
    const bad: ReadonlyArray<readonly [unknown, RegExp]> = [
      [{}, /0 steps/],
      [undefined, /no steps/],
      [{ a: { guard: () => true, otherwise: "b" } }, /"a" goes on at "b", which is no step/],
      [{ a: { ...step, next: "b" } }, /"a" goes on at "b"/],
      [{ a: { decide: () => "x", to: ["x"] } }, /"a" goes on at "x"/],
      [{ a: { ...step, next: "b" }, b: { guard: () => true, otherwise: "a" } }, /a → b → a/],
      [{ a: { ...step, next: "a" } }, /a → a/],
      [{ a: { wait: "b" } }, /waits for "b", which is no transform/],
      [{ a: { wait: "b" }, b: step }, /does not come before/],
      [{ a: { guard: () => true }, b: { wait: "a" } }, /which is no transform/],
      [{ a: step, b: { wait: "a", within: 0 } }, /whole number of beats/],
      [{ a: { clamp: { steps: -1 } } }, /whole numbers/],
      [{ a: { guard: 3 } }, /no function/],
      [{ a: { decide: () => "done", to: [] } }, /does not say in to/],
      [{ a: { guard: () => true, transform: () => ({}) } }, /exactly one of/],
      [{ a: {} }, /exactly one of/],
      [{ done: step }, /cannot name a step/]
    ]
    for (const [given, reason] of bad) {
      try {
        Flow.make({ name: "bad", steps: given as never })
        assert.fail(`taken: ${JSON.stringify(given)}`)
      } catch (error) {
        assert.strictEqual((error as { readonly code?: string }).code, "flow/declared", String(error))
        assert.match((error as Error).message, reason)
      }
    }
    assert.throws(() => Flow.make({ name: "a/b", steps: { a: step } }), /not one name/)
  })

  test("from outside is told by name, and leaves the ledger as it was", () =>
    Effect.gen(function*() {
      const calm = Flow.make({ name: "calm", steps: { hear: { wait: () => "CEP:sig_rv/never" } } })
      const space = yield* begin({ none: start({ pages: 0 }, "over"), calm: (tx) => tx.flow.start("calm", undefined, { inst: "one" }) }, [calm])
      yield* RendezvousSpace.ask(space, "calm")
      yield* RendezvousSpace.ask(space, "none")
      yield* steps(space, 2)
      const before = yield* RendezvousSpace.digest(space)
      const { flow } = space
      const refusals = [
        [flow.start({ flow: "nothing" }), "flow/unknown"],
        [flow.start({ flow: "a/b" }), "flow/unknown"],
        [flow.start({ flow: "review", input: { pages: "many" } }), "flow/invalid"],
        [flow.start({ flow: "review", input: { pages: 1 }, inst: "a/b" }), "flow/invalid"],
        [flow.start({ flow: "review", input: { pages: 1 }, inst: "one" }), "flow/exists"],
        [flow.start({ flow: "review", input: { pages: 1 }, steps: -1 }), "flow/invalid"],
        [flow.pause("none"), "flow/absent"],
        [flow.pause("a/b"), "flow/absent"],
        [flow.resume("one"), "flow/state"],
        [flow.cancel("over"), "flow/state"],
        [flow.budget("one", { beats: 0.5 }), "flow/invalid"],
        [flow.budget("over", {}), "flow/state"],
        [flow.cancel(3 as never), "flow/invalid"]
      ] as ReadonlyArray<readonly [Effect.Effect<unknown, { readonly code: string }>, string]>
      for (const [i, [asked, code]] of refusals.entries()) assert.strictEqual(yield* codeOf(space, asked), code, `${i}`)
      assert.strictEqual(yield* RendezvousSpace.digest(space), before)
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("in a run aborts it", () =>
    Effect.gen(function*() {
      const space = yield* begin({
        unknown: (tx) => tx.flow.start("nothing"),
        misfit: (tx) => tx.flow.start("review", 3),
        forge: (tx) => tx.set("/data/flow/inst/x", {})
      })
      const refusals = [["unknown", "flow/unknown"], ["misfit", "flow/invalid"], ["forge", "envelope/outside"]] as const
      for (const [verb, code] of refusals) assert.strictEqual(yield* RendezvousSpace.ask(space, verb), code)
    }))

  test("is an id with which the keys of its rendezvous would be too long, and a step whose name cannot be a key", () =>
    Effect.gen(function*() {
      const space = yield* begin({})
      assert.strictEqual(yield* codeOf(space, space.flow.start({ flow: "review", input: { pages: 1 }, inst: "i".repeat(250) })), "flow/invalid")
      assert.strictEqual(yield* codeOf(space, space.flow.start({ flow: "review", input: { pages: 1 }, inst: "i".repeat(240) })), "done")
      assert.strictEqual(yield* codeOf(space, space.flow.start({ flow: "review", input: { pages: 1 }, inst: "constructor" })), "done")
      yield* steps(space, 2)
      assert.strictEqual(yield* stateOf(space, "constructor"), "waiting")
      assert.throws(() => Flow.make({ name: "bad", steps: { constructor: { transform: () => ({}) } } as never }), /cannot name a step/)
    }))
})
