import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Fatal, replay, Retry, type Space, verify } from "systole"
import * as TestKernel from "../../support/TestKernel.ts"
import { controlled, ended, enzyme, steps } from "../TestSpace.ts"
import * as TestMachine from "../TestMachine.ts"

/** An enzyme that fails until a cell is set. */
const breakable = (options: Parameters<typeof enzyme>[2] = {}) =>
  enzyme("fix", (tx, { attempt, payload }) => {
    if (tx.get("/data/mended") === undefined) throw new TypeError("not yet")
    tx.append("/data/fixed", payload ?? "impulse")
    return { attempt }
  }, options)

/** Sets that cell and executes a control input, in one beat. */
const mended = <A, E>(space: Space, control: Effect.Effect<A, E>) =>
  controlled(space, Effect.andThen(Effect.forkChild(space.set("/data/mended", true), { startImmediately: true }), control))

const isReplayedEqual = Effect.fnUntraced(function*(space: Space) {
  const head = yield* space.head
  assert.isUndefined((yield* space.examine((archive) => replay(archive, 0, head))).difference)
  assert.isUndefined((yield* space.examine(verify)).fault)
})

describe("dead letters", () => {
  it.effect("are listed in pages, and one is shown with its payload and message", () =>
    Effect.gen(function*() {
      const made = breakable()
      const space = yield* TestKernel.space([made])
      for (let i = 0; i < 5; i++) yield* space.signal({ signal: "/signals/fix", target: undefined, payload: { i } })
      yield* steps(space, 5)
      const first = yield* space.dead({ limit: 2 })
      assert.deepStrictEqual(first.letters.map(({ id }) => id), ["x.0.0", "x.0.1"])
      assert.deepStrictEqual(first.letters[1], {
        id: "x.0.1", enzyme: "fix", signal: "/signals/fix", attempt: 1, beat: 1, captured: 1, tag: "TypeError", code: "run/failed"
      })
      const rest = yield* space.dead({ after: first.next, limit: 10 })
      assert.deepStrictEqual(rest.letters.map(({ id }) => id), ["x.0.2", "x.0.3", "x.0.4"])
      assert.isUndefined(rest.next)
      const letter = yield* space.letter("x.0.2", "fix")
      assert.deepInclude(letter, { payload: { i: 2 }, message: "not yet" })
      for (const [id, name] of [["x.0.9", "fix"], ["x.0.1", "other"], ["a/b", "fix"], ["", ""]] as const) {
        assert.isUndefined(yield* space.letter(id, name))
      }
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("are listed in pages, each once, in the order of their ids", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([breakable()])
      for (let beat = 0; beat < 12; beat++) {
        yield* space.signal({ signal: "/signals/fix", payload: { beat }, ...(beat === 3 ? { id: "mine" } : {}) })
        yield* space.step
      }
      for (let i = 0; i < 11; i++) yield* space.signal({ signal: "/signals/fix", target: undefined, payload: { i } })
      yield* steps(space, 11)
      const seen: Array<string> = []
      for (let after: string | undefined; ;) {
        const page = yield* space.dead({ limit: 5, after })
        seen.push(...page.letters.map(({ id }) => id))
        after = page.next
        if (after === undefined) break
      }
      assert.lengthOf(seen, 23)
      assert.deepStrictEqual(seen, [...new Set(seen)].toSorted())
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("run their enzyme alone, exactly once, when they are redelivered, and its receipt replaces them", () =>
    Effect.gen(function*() {
      const made = breakable({ query: "/signals/s" })
      const space = yield* TestKernel.space([made, enzyme("well", (tx) => tx.increment("/data/well"), { query: "/signals/s" })])
      const posted = { signal: "/signals/s", payload: [1, 2], id: "mine" }
      const { id } = yield* space.signal(posted)
      yield* space.step
      assert.strictEqual((yield* space.receipt(id))?.status, "dead")
      const sent = yield* mended(space, space.redeliver(id, "fix"))
      assert.strictEqual(sent._tag, "Success")
      assert.strictEqual((yield* space.receipt(id))?.status, "pending")
      assert.isUndefined(yield* space.letter(id, "fix"))
      yield* steps(space, 3)
      const receipt = yield* space.receipt(id)
      assert.strictEqual(receipt?.status, "handled")
      assert.deepStrictEqual((yield* ended(space, id))?.toSorted(), ["fix ok @2 #1", "well ok @0 #1"])
      assert.deepStrictEqual(yield* space.get("/data/fixed"), [[1, 2]])
      assert.strictEqual(yield* space.get("/data/well"), 1)
      assert.deepStrictEqual(yield* space.list("/rt/dead"), [])
      assert.isTrue((yield* space.signal(posted)).duplicate)
      yield* steps(space, 2)
      assert.deepStrictEqual(yield* space.get("/data/fixed"), [[1, 2]])
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("are refused by name if absent, and at a second redelivery in one beat", () =>
    Effect.gen(function*() {
      const made = breakable()
      const space = yield* TestKernel.space([made])
      const { id } = yield* space.signal({ signal: "/signals/fix" })
      yield* space.step
      const both = Effect.all(
        [
          Effect.result(space.redeliver(id, "fix")),
          Effect.result(space.redeliver(id, "fix")),
          Effect.result(space.redeliver("x.9.9", "fix"))
        ],
        { concurrency: "unbounded" }
      )
      const answers = yield* mended(space, both)
      assert.strictEqual(answers._tag, "Success")
      if (answers._tag === "Success") {
        assert.deepStrictEqual(
          answers.success.map((answer) => answer._tag === "Success" ? answer.success : answer.failure.code),
          [1, "dead/absent", "dead/absent"]
        )
      }
      assert.strictEqual((yield* Effect.flip(space.redeliver("a/b", "fix"))).code, "dead/absent")
      yield* steps(space, 2)
      assert.deepStrictEqual(yield* space.get("/data/fixed"), ["impulse"])
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("come back when all attempts of the redelivery fail", () =>
    Effect.gen(function*() {
      const log: Array<number> = []
      const space = yield* TestKernel.space([enzyme("try", (_, { attempt }) => {
        log.push(attempt)
        return new Retry({ reason: "no" })
      }, { retry: { attempts: 2 } })])
      const { id } = yield* space.signal({ signal: "/signals/try", payload: 1 })
      yield* steps(space, 2)
      yield* controlled(space, space.redeliver(id, "try"))
      yield* steps(space, 4)
      assert.deepStrictEqual(log, [1, 2, 1, 2])
      assert.deepStrictEqual(yield* ended(space, id), ["try dead @4 #2"])
      assert.deepInclude(yield* space.letter(id, "try"), { beat: 4, captured: 0, payload: 1 })
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("of impulses and of fatal runs can be redelivered too", () =>
    Effect.gen(function*() {
      let fatal = true
      const space = yield* TestKernel.space([
        enzyme("start", (tx) => tx.signal({ signal: "/signals/end" })),
        enzyme("end", (tx) => fatal ? new Fatal({ reason: "the end" }) : tx.increment("/data/end"), { onFatal: "continue" })
      ])
      yield* space.signal({ signal: "/signals/start" })
      yield* space.step
      yield* Effect.flip(space.step)
      yield* space.step
      const { letters: [letter = assert.fail()] } = yield* space.dead({ limit: 10 })
      // Its first run aborts the beat again, and the redelivery is kept.
      yield* controlled(space, space.redeliver(letter.id, "end"))
      yield* Effect.flip(space.step)
      yield* space.step
      fatal = false
      yield* controlled(space, space.redeliver(letter.id, "end"))
      yield* steps(space, 2)
      assert.strictEqual(yield* space.get("/data/end"), 1)
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("are redelivered once, while another enzyme of their event is retried, and in the beat in which that one ends", () =>
    Effect.gen(function*() {
      for (const when of [1, 2, 3, 4]) {
        const made = breakable({ query: "/signals/s" })
        const slow = enzyme(
          "slow",
          (tx, { attempt }) => attempt < 3 ? new Retry({ reason: "wait" }) : tx.increment("/data/slow"),
          { query: "/signals/s" }
        )
        const machine = yield* TestMachine.make
        const space = yield* machine.boot([made, slow])
        const { id } = yield* space.signal({ signal: "/signals/s", payload: when })
        yield* steps(space, when)
          yield* mended(space, space.redeliver(id, "fix"))
        yield* steps(space, 4)
        assert.deepStrictEqual((yield* ended(space, id))?.toSorted(), [`fix ok @${when + 1} #1`, "slow ok @3 #3"], `beat ${when}`)
        assert.strictEqual((yield* space.receipt(id))?.status, "handled")
        assert.deepStrictEqual(yield* space.get("/data/fixed"), [when])
        yield* isReplayedEqual(space)
      }
    }))

  it.effect("of a chain beyond the hop limit run with every enzyme that takes the signal, and begin a new chain", () =>
    Effect.gen(function*() {
      const hops = 3
      const machine = yield* TestMachine.make
      const enzymes = [
        enzyme("loop", (tx, { payload }) => {
          tx.increment("/data/loops")
          if (tx.get("/data/mended") === undefined) tx.signal({ signal: "/signals/loop", ...payload === undefined ? {} : { payload } })
        }),
        enzyme("witness", (tx) => tx.increment("/data/seen"), { query: "/signals/loop" })
      ]
      const settings = { limits: { ...TestKernel.settings.limits, hops } }
      for (const payload of [undefined, { n: 1 }]) {
        let space = yield* machine.boot(enzymes, settings)
        const before = Number((yield* space.get("/data/loops")) ?? 0)
        yield* space.signal({ signal: "/signals/loop", payload })
        yield* steps(space, hops + 3)
        const { letters: [first = assert.fail()] } = yield* space.dead({ limit: 10 })
        assert.deepInclude(first, { code: "signal/storm", signal: "/signals/loop" })
        yield* controlled(space, space.redeliver(first.id, first.enzyme))
        assert.deepStrictEqual((yield* space.dead({ limit: 10 })).letters, [])
        space = yield* machine.boot(enzymes, settings)
        yield* steps(space, hops + 3)
        // The chain has as many hops as the first time, and its last signal is the next letter.
        assert.strictEqual(yield* space.get("/data/loops"), before + 2 * (hops + 1))
        const { letters: [second = assert.fail(), ...others] } = yield* space.dead({ limit: 10 })
        assert.deepInclude(second, { code: "signal/storm" })
        assert.notStrictEqual(second.id, first.id)
        assert.deepStrictEqual(others, [])
        if (payload !== undefined) assert.deepInclude(yield* space.receipt(first.id), { status: "handled" })
        yield* mended(space, space.redeliver(second.id, second.enzyme))
        yield* steps(space, 3)
        assert.deepStrictEqual((yield* space.dead({ limit: 10 })).letters, [])
        assert.strictEqual(yield* space.get("/data/loops"), before + 2 * (hops + 1) + 1)
        assert.strictEqual(yield* space.get("/data/seen"), yield* space.get("/data/loops"))
        if (payload !== undefined) {
          const receipt = yield* space.receipt(second.id)
          assert.deepStrictEqual([receipt?.status, receipt?.handlings.map(({ enzyme }) => enzyme)], ["handled", ["loop", "witness"]])
        }
        yield* isReplayedEqual(space)
        yield* controlled(space, space.set("/data/mended", undefined))
      }
    }))

  it.effect("run once after a redelivery, whenever the space is opened again", () =>
    Effect.gen(function*() {
      const made = breakable()
      const machine = yield* TestMachine.make
      let space = yield* machine.boot([made])
      const { id } = yield* space.signal({ signal: "/signals/fix", payload: "once" })
      yield* space.step
      space = yield* machine.boot([made])
      yield* mended(space, space.redeliver(id, "fix"))
      space = yield* machine.boot([made])
      yield* space.step
      space = yield* machine.boot([made])
      yield* steps(space, 2)
      assert.deepStrictEqual(yield* space.get("/data/fixed"), ["once"])
      assert.strictEqual((yield* space.receipt(id))?.status, "handled")
      yield* isReplayedEqual(space)
    }))

  it.effect("send the signal of onDead to the target of their event, with their names and the code", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        breakable({ onDead: "/signals/died", bind: ["/data"] }),
        enzyme("late", (tx) => tx.get("/data/mended") === undefined ? new Retry({ reason: "not yet" }) : "well", {
          onDead: "/signals/died", retry: { attempts: 2 }
        }),
        enzyme("end", () => new Fatal({ reason: "the end" }), {
          onDead: "/signals/died", onFatal: "continue", bind: ["/data"]
        }),
        enzyme("died", (tx, { payload, target = "none" }) => tx.append("/data/died", [target, payload]), { bind: ["/data"] })
      ])
      yield* space.signal({ signal: "/signals/fix", target: "/data/a", payload: 1 })
      yield* space.signal({ signal: "/signals/late", payload: 1 })
      yield* steps(space, 4)
      yield* space.signal({ signal: "/signals/end", target: "/data/b", payload: 1 })
      yield* Effect.result(space.step)
      yield* steps(space, 3)
      assert.deepStrictEqual(yield* space.get("/data/died"), [
        ["/data/a", { id: "x.0.0", enzyme: "fix", code: "run/failed" }],
        ["none", { id: "x.0.1", enzyme: "late", code: "run/retry" }],
        ["/data/b", { id: "x.4.0", enzyme: "end", code: "run/fatal" }]
      ])
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))
})
