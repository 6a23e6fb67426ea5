import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { type Observation, Retry, type Space } from "systole"
import * as OpenSpace from "../../support/OpenSpace.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import { enzyme, turns } from "../TestSpace.ts"

/** Watches an address from now on. Returns the collected values. */
const watching = Effect.fnUntraced(function*(space: Space, address: string, after?: number) {
  const seen: Array<Observation> = []
  yield* Effect.forkChild(
    Stream.runForEach(
      space.watch(address, after === undefined ? {} : { after }), (observation) => Effect.sync(() => void seen.push(observation))
    ),
    { startImmediately: true }
  )
  yield* turns()
  return seen
})

/** The views inside an open space. */
interface Queried {
  readonly queries: { readonly views: { readonly byName: { readonly size: number } } }
}

const status = ({ beat, value }: Observation): readonly [number, unknown] =>
  [beat, (value as { readonly status?: unknown } | undefined)?.status]

describe("views", () => {
  it.effect("are watched like cells: a beat's view is published once, when the beat is durable", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("a", () => 1)])
      const agenda = yield* watching(space, "/rt/beat/1/agenda")
      const line = yield* watching(space, "/rt/beat/1/agenda#/0")
      assert.deepStrictEqual(agenda.map(({ value }) => value), [undefined])
      for (let i = 0; i < 3; i++) {
        yield* space.signal({ signal: "/signals/a" })
        yield* space.step
        yield* turns()
      }
      const text = "enzyme=a rc=0 signal=/signals/a target=-"
      assert.deepStrictEqual(agenda.map(({ value }) => value), [undefined, [text]])
      assert.deepStrictEqual(line.map(({ value }) => value), [undefined, text])
      // A returning subscriber gets it once at most.
      assert.deepStrictEqual((yield* watching(space, "/rt/beat/1/agenda", 0)).map(({ value }) => value), [[text]])
      assert.deepStrictEqual(yield* watching(space, "/rt/beat/1/agenda", 1), [])
      assert.include((yield* watching(space, "/rt/beat/1/agenda", 9))[0]?.missed, "beat 9")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("of receipts are published after each beat that changes them, and after no other", () =>
    Effect.gen(function*() {
      const flaky = enzyme("flaky", (_, { attempt }) => attempt < 2 ? new Retry({ reason: "later" }) : "well", { query: "/signals/s" })
      const space = yield* TestKernel.space([flaky, enzyme("quick", () => 1, { query: "/signals/s" })])
      const seen = yield* watching(space, "/rt/receipts/x.0.0")
      yield* space.signal({ signal: "/signals/s" })
      for (let i = 0; i < 4; i++) {
        yield* space.step
        yield* turns()
      }
      assert.deepStrictEqual(seen.map(status).map(([, status]) => status), [undefined, "pending", "handled"])
      assert.deepStrictEqual(
        (
          seen[1]!.value as unknown as { readonly handlings: ReadonlyArray<{ readonly enzyme: string }> }
        ).handlings.map(({ enzyme }) => enzyme),
        ["quick"]
      )
      assert.deepStrictEqual(yield* watching(space, "/rt/receipts/x.0.0", yield* space.head), [])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("of diagnostics are published with each new one, and keep no state of former subscribers", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("bad", () => {
        throw new TypeError("no")
      })])
      const { views } = OpenSpace.of<Queried>(space).queries
      const seen: Array<unknown> = []
      yield* Effect.scoped(Effect.gen(function*() {
        yield* Effect.forkScoped(
          Stream.runForEach(space.watch("/rt/analytics/diag"), ({ value }) => Effect.sync(() => void seen.push(value))),
          { startImmediately: true }
        )
        yield* turns()
        yield* space.signal({ signal: "/signals/bad" })
        yield* space.step
        yield* turns()
        assert.strictEqual(views.byName.size, 1)
      }))
      assert.deepStrictEqual(seen, [[], [{ count: 1, sev: "sev:crit", topic: "run/dead" }]])
      assert.strictEqual(views.byName.size, 0)
      assert.strictEqual((yield* Effect.flip(Stream.runDrain(space.watch("/rt/receipts")))).code, "address/invalid")
    }).pipe(Effect.provide(TestKernel.layer())))
})
