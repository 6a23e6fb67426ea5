import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Flow, type Space, type Transaction } from "systole"
import { controlled, steps } from "../kernel/TestSpace.ts"
import * as RendezvousSpace from "../rendezvous/RendezvousSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"
import { stateOf } from "./FlowInstances.ts"
import { begin, start } from "./ReviewFlow.ts"

const test = (name: string, run: () => Effect.Effect<void, unknown, Effect.Services<ReturnType<typeof RendezvousSpace.space>>>) =>
  it.effect(name, () => run().pipe(Effect.provide(TestKernel.layer()), RendezvousSpace.granted))

const codeOf = Effect.fnUntraced(function*<A, E extends { readonly code: string }>(space: Space, asked: Effect.Effect<A, E>) {
  const answer = yield* controlled(space, asked)
  return answer._tag === "Failure" ? answer.failure.code : "done"
})

describe("A declaration of a flow", () => {
  const step = { transform: () => ({}) }

  it("is refused if it cannot run: a missing step, a circle, a wait step without its transform", () => {
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
})

describe("An invalid request to flows", () => {
  test("is refused by code to a command, and leaves the ledger unchanged", () =>
    Effect.gen(function*() {
      const calm = Flow.make({ name: "calm", steps: { hear: { wait: () => "CEP:sig_rv/never" } } })
      const startCalm = (tx: Transaction) => tx.flow.start("calm", undefined, { inst: "one" })
      const space = yield* begin({ none: start({ pages: 0 }, "over"), calm: startCalm }, [calm])
      yield* RendezvousSpace.ask(space, "calm")
      yield* RendezvousSpace.ask(space, "none")
      yield* steps(space, 2)
      const before = yield* RendezvousSpace.digest(space)
      const { flows: flow } = space
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
        [flow.cancel(3 as never), "flow/absent"]
      ] as ReadonlyArray<readonly [Effect.Effect<unknown, { readonly code: string }>, string]>
      for (const [i, [asked, code]] of refusals.entries()) assert.strictEqual(yield* codeOf(space, asked), code, `${i}`)
      assert.strictEqual(yield* RendezvousSpace.digest(space), before)
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("aborts the run that makes it", () =>
    Effect.gen(function*() {
      const space = yield* begin({
        unknown: (tx) => tx.flow.start("nothing"),
        misfit: (tx) => tx.flow.start("review", 3),
        forge: (tx) => tx.set("/data/flow/inst/x", {})
      })
      const refusals = [["unknown", "flow/unknown"], ["misfit", "flow/invalid"], ["forge", "envelope/outside"]] as const
      for (const [verb, code] of refusals) assert.strictEqual(yield* RendezvousSpace.ask(space, verb), code)
    }))

  test("is one with an id too long for the keys of its rendezvous; a step cannot be named like a member of every object", () =>
    Effect.gen(function*() {
      const space = yield* begin({})
      const startCode = (inst: string) => codeOf(space, space.flows.start({ flow: "review", input: { pages: 1 }, inst }))
      assert.strictEqual(yield* startCode("i".repeat(250)), "flow/invalid")
      assert.strictEqual(yield* startCode("i".repeat(240)), "done")
      assert.strictEqual(yield* startCode("constructor"), "done")
      yield* steps(space, 2)
      assert.strictEqual(yield* stateOf(space, "constructor"), "waiting")
      assert.throws(() => Flow.make({ name: "bad", steps: { constructor: { transform: () => ({}) } } as never }), /cannot name a step/)
    }))
})
