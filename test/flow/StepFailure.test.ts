import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Flow, Link } from "systole"
import { steps } from "../kernel/TestSpace.ts"
import * as RendezvousSpace from "../rendezvous/RendezvousSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

describe("A step that fails", () => {
  it.effect("ends its instance in error with the code in the note, and leaves no subscription", () =>
    Effect.gen(function*() {
      const first = { transform: () => ({ due_off: 50 }) }
      const flows: Readonly<Record<string, readonly [step: object, note: RegExp]>> = {
        throwing: [{ guard: () => { throw new Error("x") } }, /step "bad" failed: run\/failed/],
        odd: [{ guard: () => { throw undefined } }, /run\/failed/],
        spawning: [{ transform: () => ({ due: -1 }) }, /rv\/invalid/],
        nothing: [{ transform: () => undefined }, /run\/failed/],
        key: [{ transform: () => ({ key: "a b" }) }, /failed: /],
        address: [{ guard: ({ get }: Flow.View) => get("no address") === undefined }, /address\/invalid/],
        caught: [{ transform: ({ get }: Flow.View) => { try { return get("/data/loop") as object } catch { return {} } } }, /link\//],
        choice: [{ decide: () => "elsewhere", to: ["done"] }, /flow\/invalid/],
        path: [{ wait: () => "a//b" }, /flow\/invalid/],
        pathless: [{ wait: () => 3 }, /flow\/invalid/],
        deep: [{ wait: () => Array(64).fill("a").join("/") }, /flow\/invalid/],
        long: [{ wait: () => "a".repeat(1001) }, /flow\/invalid/],
        large: [{ wait: "first" }, /value\/invalid/]
      }
      const made = Object.entries(flows).map(([name, [bad]]) => Flow.make({ name, steps: { first, bad } as never }))
      const space = yield* RendezvousSpace.space({
        loop: (tx) => tx.set("/data/loop", Link.make("/data/loop")),
        all: (tx) =>
          Object.keys(flows).map((name) => tx.flow.start(name, name === "large" ? "x".repeat(1_046_152) : undefined, { inst: name }))
      }, made)
      yield* RendezvousSpace.ask(space, "loop")
      yield* RendezvousSpace.ask(space, "all")
      yield* steps(space, 3)
      for (const [name, [, note]] of Object.entries(flows)) {
        const kept =
          yield* space.get(`/data/flow/inst/${name}`) as unknown as Effect.Effect<{ readonly state: string; readonly note?: string }>
        assert.strictEqual(kept.state, "error", name)
        assert.match(kept.note!, note, name)
      }
      assert.deepStrictEqual(yield* space.below("/data/flow/subs", { limit: 10 }), [])
      yield* RendezvousSpace.isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer()), RendezvousSpace.granted))
})
