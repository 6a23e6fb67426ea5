import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { BeatAborted, Enzyme, Fatal, Registry, Retry } from "systole"
import * as TestKernel from "../support/TestKernel.ts"

/** An enzyme that counts its runs under `/data/<name>`, and executes this function. */
const counting = (name: string, query: string, more: Partial<Enzyme.Definition> = {}) =>
  Enzyme.make({
    ...more,
    name,
    query,
    run: (tx, event) => {
      tx.increment(`/data/${name}`)
      return more.run?.(tx, event)
    }
  })

const journalOf = (space: Effect.Success<ReturnType<typeof TestKernel.space>>) =>
  Effect.gen(function*() {
    const head = yield* space.head
    return yield* Effect.forEach(Array.from({ length: head + 1 }, (_, beat) => beat), (beat) => space.journal(beat))
  })

describe("C: the beat cycle", () => {
  it.effect("C1 a signal runs in the step after its post, and its emissions run in the next step and not before", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        counting("first", "/signals/first", { run: (tx) => tx.signal({ signal: "/signals/second" }) }),
        counting("second", "/signals/second")
      ])
      yield* space.signal({ signal: "/signals/first" })
      assert.strictEqual(yield* space.step, 0)
      assert.strictEqual(yield* space.get("/data/first"), 1)
      assert.strictEqual(yield* space.get("/data/second"), undefined)
      assert.strictEqual(yield* space.step, 1)
      assert.strictEqual(yield* space.get("/data/second"), 1)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("C2 an emission of beat N runs in N+1 and never in N, and the ledger of N+1 has its inbox line", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        counting("first", "/signals/first", { run: (tx) => tx.signal({ signal: "/signals/second", target: "/data/x" }) }),
        counting("second", "/signals/second", { bind: ["/data"] })
      ])
      yield* space.signal({ signal: "/signals/first" })
      const beat = yield* space.step
      yield* space.step
      assert.deepStrictEqual(yield* TestKernel.ledger(space, beat, "agenda"), ["enzyme=first rc=0 signal=/signals/first target=-"])
      assert.deepStrictEqual(yield* TestKernel.ledger(space, beat + 1, "inbox"), ["signal=/signals/second target=/data/x"])
      assert.deepStrictEqual(yield* TestKernel.ledger(space, beat + 1, "agenda"), [
        "enzyme=second rc=0 signal=/signals/second target=/data/x"
      ])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("C3 a signal for beat 99 is recorded at once and runs in beat 99 and not before; a beat that is over is refused", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([counting("late", "/signals/late")])
      const accepted = yield* space.signal({ signal: "/signals/late", at: { beat: 99 } })
      assert.strictEqual((yield* space.receipt(accepted.id))?.status, "pending")
      for (let beat = 0; beat < 99; beat++) assert.strictEqual(yield* space.step, beat)
      assert.strictEqual(yield* space.get("/data/late"), undefined)
      assert.strictEqual(yield* space.step, 99)
      assert.strictEqual(yield* space.get("/data/late"), 1)
      const refused = yield* Effect.flip(space.signal({ signal: "/signals/late", at: { beat: 99 } }))
      assert.strictEqual(refused.code, "signal/invalid")
      assert.include(refused.message, "beat 99")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("C4 a signal with neither signal nor target is refused, from outside and from a run", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([counting("careless", "/signals/careless", { run: (tx) => tx.signal({}) })])
      const refused = yield* Effect.flip(space.signal({ payload: 1 }))
      assert.strictEqual(refused.code, "signal/invalid")
      const { id } = yield* space.signal({ signal: "/signals/careless" })
      yield* space.step
      assert.strictEqual(yield* space.get("/data/careless"), undefined)
      assert.strictEqual((yield* space.receipt(id))?.handlings[0]?.error?.code, "signal/invalid")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("C5 equal impulses of a beat run an enzyme once, a repeatable one each time, and events one per beat in order", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        counting("thrice", "/signals/thrice", { run: (tx) => [1, 2, 3].forEach(() => tx.signal({ signal: "/signals/impulse" })) }),
        counting("once", "/signals/impulse"),
        counting("each", "/signals/impulse", { repeatable: true }),
        Enzyme.make({ name: "order", query: "/signals/event", run: (tx, event) => tx.append("/data/order", event.payload) })
      ])
      yield* space.signal({ signal: "/signals/thrice" })
      yield* space.step
      const beat = yield* space.step
      assert.strictEqual(yield* space.get("/data/once"), 1)
      assert.strictEqual(yield* space.get("/data/each"), 3)
      const agenda = yield* TestKernel.ledger(space, beat, "agenda")
      assert.strictEqual(agenda?.filter((line) => line === "enzyme=once rc=0 signal=/signals/impulse target=-").length, 3)
      assert.strictEqual(agenda?.filter((line) => line.startsWith("enzyme=each ")).length, 3)

      for (const payload of [1, 2, 3]) yield* space.signal({ signal: "/signals/event", payload })
      for (const seen of [[1], [1, 2], [1, 2, 3], [1, 2, 3]]) {
        yield* space.step
        assert.deepStrictEqual(yield* space.get("/data/order"), seen)
      }
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("C6 a processed queue does not run again", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([counting("one", "/signals/one")])
      yield* space.signal({ signal: "/signals/one" })
      yield* space.step
      const again = yield* space.step
      assert.strictEqual(yield* space.get("/data/one"), 1)
      assert.deepStrictEqual(yield* TestKernel.ledger(space, again, "agenda"), [])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("C7 an enzyme that ends once with Retry runs in N and in N+1, and not in N+2", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        Enzyme.make({
          name: "shy",
          query: "/signals/shy",
          run: (tx, event) => {
            tx.increment("/data/shy")
            return event.attempt === 1 ? new Retry({ reason: "not yet" }) : undefined
          }
        })
      ])
      yield* space.signal({ signal: "/signals/shy" })
      const beats = [yield* space.step, yield* space.step, yield* space.step]
      const lines = yield* Effect.forEach(beats, (beat) => TestKernel.ledger(space, beat, "agenda"))
      assert.deepStrictEqual(lines, [
        ["enzyme=shy rc=-1 signal=/signals/shy target=-"],
        ["enzyme=shy rc=0 signal=/signals/shy target=-"],
        []
      ])
      assert.strictEqual(yield* space.get("/data/shy"), 1)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("C8 of two successful enzymes and one that ends with Retry, only the last runs again", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        counting("a", "/signals/s"),
        counting("b", "/signals/s"),
        counting("c", "/signals/s", { run: (_, event) => event.attempt === 1 ? new Retry({ reason: "again" }) : undefined })
      ])
      const { id } = yield* space.signal({ signal: "/signals/s" })
      yield* space.step
      assert.strictEqual((yield* space.receipt(id))?.status, "pending")
      const beat = yield* space.step
      assert.deepStrictEqual(yield* TestKernel.ledger(space, beat, "agenda"), ["enzyme=c rc=0 signal=/signals/s target=-"])
      assert.deepStrictEqual([yield* space.get("/data/a"), yield* space.get("/data/b"), yield* space.get("/data/c")], [1, 1, 1])
      const receipt = yield* space.receipt(id)
      assert.strictEqual(receipt?.status, "handled")
      assert.deepStrictEqual(receipt?.handlings.map(({ attempt, beat, enzyme }) => [enzyme, beat, attempt]), [
        ["a", 0, 1],
        ["b", 0, 1],
        ["c", 1, 2]
      ])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("C10 a fatal run as the second of three aborts the step: the number stands and the third does not run", () =>
    Effect.gen(function*() {
      let third = 0
      const space = yield* TestKernel.space([
        counting("one", "/signals/one"),
        Enzyme.make({ name: "two", query: "/signals/two", run: () => new Fatal({ reason: "the end" }) }),
        Enzyme.make({ name: "three", query: "/signals/three", run: () => void third++ })
      ])
      for (const name of ["one", "two", "three"]) yield* space.signal({ signal: `/signals/${name}` })
      const failure = yield* Effect.flip(space.step)
      assert.instanceOf(failure, BeatAborted)
      assert.include(failure.message, "two")
      assert.strictEqual(third, 0)
      assert.strictEqual(yield* space.head, -1)
      assert.strictEqual(yield* space.get("/data/one"), undefined)

      assert.strictEqual(yield* space.step, 0)
      assert.strictEqual(third, 1)
      assert.strictEqual(yield* space.get("/data/one"), 1)
      assert.deepStrictEqual(yield* TestKernel.ledger(space, 0, "agenda"), [
        "enzyme=one rc=0 signal=/signals/one target=-",
        "enzyme=two rc=-2 signal=/signals/two target=-",
        "enzyme=three rc=0 signal=/signals/three target=-"
      ])
      assert.deepStrictEqual(yield* space.list("/rt/dead"), [])
      assert.isDefined(yield* space.get("/rt/dead/x.0.1/two"))
      assert.deepStrictEqual((yield* TestKernel.diagnostics(space)).map(({ sev, topic }) => [sev, topic]), [["sev:fatal", "beat/aborted"]])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("C12 agenda lines show label or name, rc, signal and target, or no-match", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        counting("named", "/signals/a"),
        counting("labelled", "/signals/b", { label: "Labelled" })
      ])
      for (const signal of ["/signals/a", "/signals/b", "/signals/c"]) yield* space.signal({ signal })
      yield* space.signal({ signal: "/signals/a", target: "/data/nobody" })
      const beat = yield* space.step
      assert.deepStrictEqual(yield* TestKernel.ledger(space, beat, "agenda"), [
        "enzyme=named rc=0 signal=/signals/a target=-",
        "enzyme=Labelled rc=0 signal=/signals/b target=-",
        "no-match signal=/signals/c target=-",
        "no-match signal=/signals/a target=/data/nobody"
      ])
      assert.strictEqual((yield* space.receipt("x.0.2"))?.status, "no-match")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("C13 the stage line counts the promoted impulses", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        counting("two", "/signals/two", { run: (tx) => ["/signals/a", "/signals/b"].forEach((signal) => tx.signal({ signal })) }),
        counting("one", "/signals/one", { run: (tx) => tx.signal({ signal: "/signals/a" }) })
      ])
      yield* space.signal({ signal: "/signals/two" })
      const first = yield* space.step
      yield* space.signal({ signal: "/signals/one" })
      const second = yield* space.step
      assert.deepStrictEqual(yield* TestKernel.ledger(space, first, "stage"), [`commit: promoted 2 impulses -> beat ${first + 1}`])
      assert.deepStrictEqual(yield* TestKernel.ledger(space, second, "stage"), [`commit: promoted 1 impulse -> beat ${second + 1}`])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("C14 without ledgers no ledger cells are shown, and all other results are equal", () =>
    Effect.gen(function*() {
      const run = (ledgers: boolean) =>
        Effect.gen(function*() {
          const space = yield* TestKernel.space([counting("one", "/signals/one")])
          const { id } = yield* space.signal({ signal: "/signals/one" })
          yield* space.step
          const receipt = yield* space.receipt(id)
          return {
            receipt,
            one: yield* space.get("/data/one"),
            journal: yield* journalOf(space),
            agenda: yield* TestKernel.ledger(space, 0, "agenda")
          }
        }).pipe(Effect.provide(TestKernel.layer({ ledgers })))
      const { agenda: none, ...without } = yield* run(false)
      const { agenda: some, ...within } = yield* run(true)
      assert.isUndefined(none)
      assert.isDefined(some)
      assert.deepStrictEqual(without, within)
    }))

  it.effect("C15 the registry is asked once per pair and beat, and again in the next", () =>
    Effect.gen(function*() {
      const registry = yield* Registry
      const space = yield* TestKernel.space([
        counting("many", "/signals/many", { run: (tx) => [1, 2, 3].forEach(() => tx.signal({ signal: "/signals/one" })) }),
        counting("one", "/signals/one")
      ])
      yield* space.signal({ signal: "/signals/many" })
      yield* space.step
      const before = registry.resolutions
      yield* space.step
      assert.strictEqual(registry.resolutions - before, 1)
      yield* space.signal({ signal: "/signals/one" })
      yield* space.step
      assert.strictEqual(registry.resolutions - before, 2)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("C17 a write of beat N is visible to another enzyme in N+1 and not in N", () =>
    Effect.gen(function*() {
      const reads: Array<unknown> = []
      const space = yield* TestKernel.space([
        Enzyme.make({ name: "writer", query: "/signals/s", before: ["reader"], run: (tx) => tx.set("/data/x", "new") }),
        Enzyme.make({ name: "reader", query: "/signals/s", run: (tx) => void reads.push(tx.get("/data/x")) })
      ])
      yield* space.set("/data/x", "old").pipe(Effect.forkChild)
      yield* space.step
      yield* space.signal({ signal: "/signals/s" })
      yield* space.step
      yield* space.signal({ signal: "/signals/s" })
      yield* space.step
      assert.deepStrictEqual(reads, ["old", "new"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("C18 the same registry, inbox and inputs give the same journal, byte for byte", () =>
    Effect.gen(function*() {
      const run = Effect.gen(function*() {
        const space = yield* TestKernel.space([
          counting("one", "/signals/:what", { match: "prefix", run: (tx, event) => {
            tx.set(`/data/log/${tx.id()}`, { chance: tx.random(), now: tx.now, what: event.params["what"] })
            if (tx.beat < 3) tx.signal({ signal: "/signals/again", payload: new Map([["beat", tx.beat]]) })
            return tx.list("/data/log").length
          } }),
          counting("two", "/signals/*", { after: ["one"], run: () => new Retry({ reason: "later" }) })
        ])
        for (const n of [1, 2, 3]) yield* space.signal({ signal: `/signals/s${n}`, payload: { n } })
        for (let i = 0; i < 12; i++) yield* space.step
        return yield* journalOf(space)
      }).pipe(Effect.provide(TestKernel.layer()))
      const first = yield* run
      assert.strictEqual(first.length, 12)
      assert.deepStrictEqual(yield* run, first)
    }))
})
