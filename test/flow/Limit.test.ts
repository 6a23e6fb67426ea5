import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { Flow } from "systole"
import { controlled, enzyme, steps } from "../kernel/TestSpace.ts"
import * as TestMachine from "../kernel/TestMachine.ts"
import * as RendezvousSpace from "../rendezvous/RendezvousSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

describe("Instances of flows beyond the limit", () => {
  it.effect("are refused by code to runs and to commands, also after a restart, until other instances end", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const limits = { ...TestKernel.settings.limits, flowInstances: 2 }
      const flow = Flow.make({ name: "calm", steps: { ask: { transform: () => ({}) }, answer: { wait: "ask" } } })
      const enzymes = RendezvousSpace.enzymes({
        two: (tx) => ["a", "b"].map((inst) => tx.flow.start("calm", undefined, { inst })),
        more: (tx) => tx.flow.start("calm"),
        asked: (tx) => tx.flow.request({ flow: "calm" })
      }, [flow])
      let space = yield* RendezvousSpace.begin(yield* machine.boot(enzymes, { limits }))
      assert.deepStrictEqual(yield* RendezvousSpace.ask(space, "two"), ["a", "b"])
      const reason = [
        "2 instances of flows in the space are not over, which is the limit.",
        "Let some of them end, cancel some, or raise the limit flowInstances"
      ].join(" ")
      const refused = Effect.fnUntraced(function*() {
        assert.strictEqual(yield* RendezvousSpace.ask(space, "more"), "flow/full")
        assert.deepStrictEqual(yield* RendezvousSpace.ask(space, "asked"), { refused: "flow/full" })
        const answer = yield* controlled(space, space.flows.start({ flow: "calm" }))
        assert.strictEqual(answer._tag === "Failure" ? answer.failure.message : undefined, reason)
      })
      yield* refused()
      space = yield* machine.boot(enzymes, { limits })
      yield* refused()
      yield* controlled(space, space.flows.cancel("a"))
      assert.match((yield* RendezvousSpace.ask(space, "more")) as string, /^FL:/)
      yield* steps(space, 2)
      yield* refused()
      // A replay repeats the refusals under the present limit, which is higher.
      yield* RendezvousSpace.isReplayedEqual(yield* machine.boot(enzymes))
    }).pipe(RendezvousSpace.granted))

  it.effect("are refused in the beat that would start them, counting the starts of commands and of other runs", () =>
    Effect.gen(function*() {
      const calm = Flow.make({ name: "calm", steps: { ask: { transform: () => ({}) }, answer: { wait: "ask" } } })
      const starts = (name: string, count: number) => enzyme(name, (tx) => {
        const answers = Array.from({ length: count }, () => tx.flow.request({ flow: "calm" }))
        if (name === "failing") throw new Error("nothing of it is kept")
        return answers.map((answer) => "inst" in answer ? "started" : answer.refused)
      }, { retry: { attempts: 1 } })
      const space = yield* RendezvousSpace.space({}, [calm, starts("failing", 4), starts("two", 2), starts("four", 4)])
      const under = space.get("/sys/index/flow")
      const outside = yield* Effect.forkChild(space.flows.start({ flow: "calm" }), { startImmediately: true })
      const sent = yield* Effect.forEach(["failing", "two", "four"], (name) => space.signal({ signal: `/signals/${name}` }))
      yield* space.step
      yield* Fiber.join(outside)
      const values = yield* Effect.forEach(sent, ({ id }) => Effect.map(space.receipt(id), (receipt) => receipt!.handlings[0]!.value))
      assert.deepStrictEqual(values as unknown, [{}, ["started", "started"], ["started", "started", "flow/full", "flow/full"]])
      assert.strictEqual(yield* under, 5)
      yield* RendezvousSpace.isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer({ limits: { ...TestKernel.settings.limits, flowInstances: 5 } })), RendezvousSpace.granted))

  it.effect("are counted without the starts of failed runs, in a replay as well", () =>
    Effect.gen(function*() {
      const calm = Flow.make({ name: "calm", steps: { ask: { transform: () => ({}) }, answer: { wait: "ask" } } })
      const sends = (name: string, count: number) => enzyme(name, (tx) => {
        const answers = [10, 0].map((beats) => tx.flow.request({ flow: "calm", beats }))
        for (let i = 0; i < count; i++) tx.signal({ signal: `/signals/none/${i}` })
        return answers.map((answer) => "inst" in answer ? "started" : answer.refused)
      }, { retry: { attempts: 1 } })
      const space = yield* RendezvousSpace.space({}, [calm, sends("much", 30), sends("little", 1)])
      const handled = Effect.fnUntraced(function*(...names: ReadonlyArray<string>) {
        const sent = yield* Effect.forEach(names, (name) => space.signal({ signal: `/signals/${name}` }))
        yield* space.step
        return yield* Effect.forEach(
          sent,
          ({ id }) => Effect.map(space.receipt(id), (receipt) => receipt!.handlings[0]!.error?.code ?? receipt!.handlings[0]!.value)
        )
      })
      assert.deepStrictEqual(yield* handled("much"), ["backlog/full"])
      assert.deepStrictEqual((yield* handled("much", "little")) as unknown, ["backlog/full", ["started", "flow/full"]])
      assert.deepStrictEqual((yield* handled("little", "much")) as unknown, [["flow/full", "flow/full"], "backlog/full"])
      yield* RendezvousSpace.isReplayedEqual(space)
    }).pipe(
      Effect.provide(TestKernel.layer({ limits: { ...TestKernel.settings.limits, flowInstances: 1, backlogSignals: 20 } })),
      RendezvousSpace.granted
    ))
})
