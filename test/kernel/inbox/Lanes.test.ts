import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme, Retry } from "systole"
import * as TestKernel from "../../support/TestKernel.ts"
import { enzyme, steps } from "../TestSpace.ts"

/** Records runs in order. Negative payloads fail twice before they succeed. */
const log = (name: string, options: Partial<Enzyme.Definition> = {}) => {
  const ran: Array<string> = []
  const made = Enzyme.make({
    name,
    query: "/signals/*",
    ...options,
    run: (tx, { attempt, payload, target }) => {
      ran.push(`${target ?? ""}${payload}@${tx.beat}`)
      return (payload as number) < 0 && attempt < 3 ? new Retry({ reason: "wait" }) : undefined
    }
  })
  return { ran, made }
}

describe("events of one lane", () => {
  it.effect("share signal and target by default: one runs in each beat, first in, first out, and none is lost", () =>
    Effect.gen(function*() {
      const { made, ran } = log("e", { bind: ["/data"] })
      const space = yield* TestKernel.space([made])
      for (const payload of [1, 2, 3]) for (const target of ["/data/a", "/data/b"]) yield* space.signal({
        signal: "/signals/s",
        target,
        payload
      })
      yield* space.signal({ signal: "/signals/t", target: "/data/a", payload: 9 })
      yield* steps(space, 4)
      assert.deepStrictEqual(ran, ["/data/a1@0", "/data/b1@0", "/data/a9@0", "/data/a2@1", "/data/b2@1", "/data/a3@2", "/data/b3@2"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("share a target for all signals if an enzyme declares it", () =>
    Effect.gen(function*() {
      const { made, ran } = log("e", { bind: ["/data"], lane: "target" })
      const space = yield* TestKernel.space([made])
      for (
        const [signal, target, payload] of [["s", "a", 1], ["t", "a", 2], ["s", "b", 3]] as const
      ) yield* space.signal({ signal: `/signals/${signal}`, target: `/data/${target}`, payload })
      yield* steps(space, 3)
      assert.deepStrictEqual(ran, ["/data/a1@0", "/data/b3@0", "/data/a2@1"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("share the space if an enzyme declares it", () =>
    Effect.gen(function*() {
      const { made, ran } = log("e", { lane: "space" })
      const space = yield* TestKernel.space([made])
      for (const [i, signal] of ["s", "t", "u"].entries()) yield* space.signal({ signal: `/signals/${signal}`, payload: i })
      yield* steps(space, 4)
      assert.deepStrictEqual(ran, ["0@0", "1@1", "2@2"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("use the coarsest lane of their enzymes, which all run in one beat", () =>
    Effect.gen(function*() {
      const narrow = log("narrow")
      const wide = log("wide", { query: "/signals/s", lane: "space" })
      const space = yield* TestKernel.space([narrow.made, wide.made])
      yield* space.signal({ signal: "/signals/s", payload: 1 })
      yield* space.signal({ signal: "/signals/s", target: undefined, payload: 2 })
      yield* space.signal({ signal: "/signals/other", payload: 3 })
      yield* steps(space, 3)
      assert.deepStrictEqual(narrow.ran, ["1@0", "3@0", "2@1"])
      assert.deepStrictEqual(wide.ran, ["1@0", "2@1"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("wait while the previous one is retried", () =>
    Effect.gen(function*() {
      const { made, ran } = log("e")
      const space = yield* TestKernel.space([made])
      for (const payload of [-1, 2, 3]) yield* space.signal({ signal: "/signals/s", payload })
      yield* space.signal({ signal: "/signals/other", payload: 4 })
      yield* steps(space, 7)
      assert.deepStrictEqual(ran, ["-1@0", "4@0", "-1@1", "-1@3", "2@4", "3@5"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("continue meanwhile if the enzyme is loose, and never in the beat of another attempt", () =>
    Effect.gen(function*() {
      const { made, ran } = log("e", { order: "loose" })
      const space = yield* TestKernel.space([made])
      for (const payload of [-1, 2, 3]) yield* space.signal({ signal: "/signals/s", payload })
      yield* steps(space, 6)
      assert.deepStrictEqual(ran, ["-1@0", "-1@1", "2@2", "-1@3", "3@4"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("with a loose enzyme never have two of its attempts in a beat", () =>
    Effect.gen(function*() {
      const { made, ran } = log("e", { order: "loose" })
      const space = yield* TestKernel.space([made])
      for (const payload of [-1, -2, -3]) yield* space.signal({ signal: "/signals/s", payload })
      yield* steps(space, 12)
      assert.lengthOf(ran, 9)
      const beats = ran.map((line) => line.split("@")[1])
      assert.strictEqual(new Set(beats).size, ran.length, ran.join(", "))
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("wait while the previous one contends for a document, loose or not", () =>
    Effect.gen(function*() {
      const ran: Array<string> = []
      const space = yield* TestKernel.space([enzyme("e", (tx, { payload }) => {
        ran.push(`${payload}@${tx.beat}`)
        tx.set("/data/x", payload)
      }, { query: "/signals/:lane", order: "loose" })])
      for (const [lane, payload] of [["a", 1], ["b", 2], ["b", 3]] as const) yield* space.signal({ signal: `/signals/${lane}`, payload })
      yield* steps(space, 4)
      assert.deepStrictEqual(ran, ["1@0", "2@0", "2@1", "3@2"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("continue only after each strict enzyme of the previous one", () =>
    Effect.gen(function*() {
      const strict = log("strict")
      const loose = log("loose", { order: "loose" })
      const space = yield* TestKernel.space([strict.made, loose.made])
      for (const payload of [-1, 2]) yield* space.signal({ signal: "/signals/s", payload })
      yield* steps(space, 6)
      assert.deepStrictEqual(strict.ran, ["-1@0", "-1@1", "-1@3", "2@4"])
      assert.deepStrictEqual(loose.ran, strict.ran)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("continue when the previous one becomes a dead letter", () =>
    Effect.gen(function*() {
      const ran: Array<string> = []
      const space = yield* TestKernel.space([enzyme("e", (tx, { payload }) => {
        ran.push(`${payload}@${tx.beat}`)
        if (payload === 1) throw new Error("no")
      })])
      for (const payload of [1, 2]) yield* space.signal({ signal: "/signals/e", payload })
      yield* steps(space, 2)
      assert.deepStrictEqual(ran, ["1@0", "2@1"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("keep their order over a long backlog, and unmatched ones hold no lane", () =>
    Effect.gen(function*() {
      const ran: Array<number> = []
      const space = yield* TestKernel.space([enzyme("e", (_, { payload }) => void ran.push(payload as number))])
      yield* Effect.forEach(
        Array.from({ length: 300 }, (_, i) => i), (payload) => space.signal({ signal: "/signals/e", payload }), { concurrency: "unbounded" }
      )
      yield* space.signal({ signal: "/signals/nobody", payload: 1 })
      yield* steps(space, 300)
      assert.deepStrictEqual(ran, Array.from({ length: 300 }, (_, i) => i))
      assert.include((yield* TestKernel.ledger(space, 0, "agenda"))!, "no-match signal=/signals/nobody target=-")
    }).pipe(Effect.provide(TestKernel.layer())))
})
