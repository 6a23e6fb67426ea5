import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Random } from "effect"
import { TestClock } from "effect/testing"
import { createHash } from "node:crypto"
import { explain, Fatal, Kernel, replay, Retry, type Space, verify, why } from "systole"
import * as TestSpace from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

/** Enzymes that exercise all that a beat records. */
const everything = () => [
  TestSpace.enzyme("order", (tx, event) => {
    tx.set(`/data/log/${tx.id()}`, { chance: tx.random(), now: tx.now, payload: event.payload })
    tx.increment("/data/count")
    tx.signal({ signal: "/signals/note", target: "/data/orders/1" })
    tx.signal({ signal: "/signals/rich", payload: new Map([["at", new Date(tx.now)]]) })
    tx.signal({ signal: "/signals/later", payload: tx.beat, at: { beats: 3 } })
    return tx.list("/data/log").length
  }),
  TestSpace.enzyme("note", (tx, event) => tx.append("/data/notes", { id: event.id, count: tx.get("/data/count") }), {
    bind: ["/data/orders"],
    query: "/signals/note"
  }),
  TestSpace.enzyme("rich", (tx, event) => tx.set("/data/rich", event.payload)),
  TestSpace.enzyme("later", (tx, event) => tx.set("/data/later", event.payload)),
  TestSpace.enzyme("shy", (tx, event) => event.attempt < 3 ? new Retry({ reason: "not yet" }) : tx.set("/data/shy", event.attempt)),
  TestSpace.enzyme("fight", (tx, event) => tx.set("/data/ring", event.payload)),
  TestSpace.enzyme("dead", () => { throw new TypeError("no") }),
  TestSpace.enzyme("fatal", () => new Fatal({ reason: "the end" })),
  TestSpace.enzyme(
    "slow",
    (tx) => Effect.map(Effect.andThen(Effect.promise(() => Promise.resolve()), Random.next), (chance) => tx.set("/data/slow", chance))
  ),
  TestSpace.enzyme(
    "keep",
    (tx, event) => tx.set("/data/kept", (tx.get(`/cas/${String(event.payload)}`) as Uint8Array | undefined)?.length ?? null)
  ),
  TestSpace.enzyme("operate", (tx, { payload, signal }) => {
    if (signal !== "/signals/operate") return tx.append("/data/operated", [signal, payload])
    const oid = tx.op.start({ verb: "op/x", target: "/data/x", mode: "opm:states", payload: new Set([tx.beat]) })
    tx.op.await(oid, "ist:plan", { signal: "/signals/operate/planned", payload: { beat: tx.beat } })
    tx.op.await(oid, "sts:ok", { signal: "/signals/operate/closed", ttl: 2 })
    tx.op.setState(oid, "ist:plan", { note: "soon" })
  }, { query: "/signals/operate", match: "prefix" }),
  TestSpace.enzyme("bind", (tx) => {
    tx.bind("/data/late", "note")
    tx.signal({ signal: "/signals/note", target: "/data/late/1" })
  })
]

const bytes = new Uint8Array([1, 2, 3])
const hash = createHash("sha256").update(bytes).digest("hex")

/** Drives a space through all of it. */
const live = Effect.fnUntraced(function*(space: Space) {
  const post = (name: string, payload?: unknown) => space.signal({ signal: `/signals/${name}`, payload })
  yield* post("keep", hash)
  yield* space.step
  const { store, writer } = yield* space.content
  writer.write(bytes)
  yield* store(hash)
  yield* TestSpace.controlled(space, space.set("/data/outside", new Set([1n, 2n])))
  yield* TestSpace.controlled(space, space.bind("/data/more", "note"))
  const started = yield* TestSpace.controlled(
    space,
    space.ops.start({ verb: "op/x", target: "x", mode: "opm:direct", payload: new Map([[1n, "one"]]) })
  )
  const { oid } = started._tag === "Success" ? started.success : { oid: "none" }
  yield* TestSpace.controlled(space, space.ops.state(oid, { state: "ist:plan", code: 1, note: "soon" }))
  yield* TestSpace.controlled(space, space.ops.state(oid, { state: "no state" }))
  yield* TestSpace.controlled(space, space.ops.close(oid, { status: "sts:fail", summary: { why: undefined } }))
  for (const round of [1, 2, 3]) {
    yield* space.signal({ signal: "/signals/order", payload: { round }, id: `order-${round}` })
    for (const name of ["shy", "dead", "slow", "bind", "operate"]) yield* post(name, { round })
    for (const fighter of ["a", "b", "c"]) {
      yield* space.signal({
        signal: "/signals/fight",
        target: `/data/corner/${fighter}`,
        payload: fighter
      }).pipe(Effect.andThen(space.bind("/data/corner", "fight").pipe(Effect.forkChild)))
    }
    yield* space.step
  }
  yield* post("keep", hash)
  yield* post("fatal")
  yield* Effect.flip(space.step)
  yield* TestSpace.steps(space, 12)
})

describe("A replay", () => {
  it.effect("of every kind of recorded input is equal, from the first beat and from any other", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space(everything())
      yield* live(space)
      const head = yield* space.head
      const whole = yield* space.examine((history) => replay(history, 0, head))
      assert.isUndefined(whole.difference, JSON.stringify(whole.difference))
      assert.strictEqual(whole.beats, head + 1)
      for (let from = 1; from <= head; from++) {
        const part = yield* space.examine((history) => replay(history, from, from + 2))
        assert.isUndefined(part.difference, `from ${from}: ${JSON.stringify(part.difference)}`)
      }
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("does not change the space", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space(everything())
      yield* live(space)
      const before = [yield* space.get("/data/count"), yield* space.head, yield* space.below("/data", { limit: 1000 })]
      yield* space.examine((history) => replay(history, 0, 1000))
      assert.deepStrictEqual([yield* space.get("/data/count"), yield* space.head, yield* space.below("/data", { limit: 1000 })], before)
      yield* space.signal({ signal: "/signals/order", payload: 1 })
      yield* space.step
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("names the first beat, enzyme and address that differ, with both values", () =>
    Effect.gen(function*() {
      let outside = 0
      const space = yield* TestKernel.space([
        TestSpace.enzyme("pure", (tx) => tx.increment("/data/pure")),
        TestSpace.enzyme("leaky", (tx) => tx.set("/data/leak", ++outside))
      ])
      yield* space.signal({ signal: "/signals/pure" })
      yield* space.step
      yield* space.signal({ signal: "/signals/leaky" })
      yield* space.step
      const { difference } = yield* space.examine((history) => replay(history, 0, 10))
      assert.deepStrictEqual(difference, { beat: 1, enzyme: "leaky", address: "/data/leak", what: "a cell", recorded: "1", replayed: "2" })
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("names modules with changed code, from any first beat", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      const [old, changed] = [1, 2].map((value) => TestSpace.enzyme("m", (tx) => tx.set("/data/m", value)))
      yield* kernel.register(old!, { hash: "OLD" })
      const space = yield* kernel.space("test")
      yield* TestSpace.steps(space, 2)
      yield* kernel.unregister(old!)
      yield* kernel.register(changed!, { hash: "NEW" })
      for (const from of [0, 1]) {
        const { changed: names } = yield* space.examine((history) => replay(history, from, 1))
        assert.deepStrictEqual(names, ["m"], `from ${from}`)
      }
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("may begin at a skipped beat number, and sees the state of that beat only", () =>
    Effect.gen(function*() {
      const gate: Array<() => void> = []
      const space = yield* TestKernel.space([
        TestSpace.enzyme(
          "slow",
          (tx) =>
            Effect.map(
              Effect.promise(() => new Promise<void>((open) => gate.push(open))),
              () => tx.set("/data/seen", tx.get("/data/live") ?? null)
            ),
          { limitMs: 3_600_000 }
        ),
        TestSpace.enzyme("live", (tx) => tx.set("/data/live", 1)),
        TestSpace.enzyme("storm", (tx, event) => tx.set("/data/storm", event.payload))
      ])
      const first = yield* Effect.forkChild(space.handled({ signal: "/signals/slow", at: { beats: 5 } }), { startImmediately: true })
      yield* space.handled({ signal: "/signals/storm", payload: 1 })
      yield* TestSpace.turns()
      yield* TestClock.adjust("1 minute")
      yield* TestSpace.turns(30)
      gate.splice(0).forEach((open) => open())
      yield* Fiber.join(first)
      const replayed = yield* Effect.forkChild(space.examine((history) => replay(history, 2, 1000)), { startImmediately: true })
      yield* TestSpace.turns()
      // The space continues while the replayed run waits.
      yield* space.handled({ signal: "/signals/live" })
      gate.splice(0).forEach((open) => open())
      const { beats, difference } = yield* Fiber.join(replayed)
      assert.isUndefined(difference, JSON.stringify(difference))
      assert.isAtLeast(beats, 1)
      const whole = yield* Effect.forkChild(space.examine((history) => replay(history, 0, 1000)), { startImmediately: true })
      yield* TestSpace.turns()
      gate.splice(0).forEach((open) => open())
      assert.isUndefined((yield* Fiber.join(whole)).difference)
    }).pipe(Effect.provide(TestKernel.layer({ pace: "demand", tempo: 100 }))))

  it.effect("keeps content visible that arrived a second time", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space(everything())
      const upload = Effect.gen(function*() {
        const { store, writer } = yield* space.content
        writer.write(bytes)
        yield* store(hash)
      })
      yield* upload
      for (let i = 0; i < 3; i++) {
        yield* space.signal({ signal: "/signals/keep", payload: hash })
        yield* space.step
        yield* upload
      }
      assert.strictEqual(yield* space.get("/data/kept"), 3)
      for (const from of [0, 1, 2]) {
        assert.isUndefined((yield* space.examine((history) => replay(history, from, 10))).difference, `from ${from}`)
      }
    }).pipe(Effect.provide(TestKernel.layer())))
})

describe("A verification", () => {
  it.effect("finds a missing journal", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      yield* space.step
      const { fault } = yield* space.examine(
        ({ hash, rest, store }) =>
          verify({ hash, rest, store: { ...store, anchor: () => store.anchor(), head: () => store.head(), scanJournal: () => [] } })
      )
      assert.strictEqual(fault?.beat, 0)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("accepts an unchanged journal, and names the beat of any changed byte", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space(everything())
      yield* live(space)
      const found = yield* space.examine(verify)
      assert.isUndefined(found.fault)
      assert.strictEqual(found.entries, (yield* space.head) + 1)
      for (const beat of [0, 3, 7]) {
        const text = (yield* space.journal(beat))!.text.split("\n")[0]!
        for (const at of [5, Math.floor(text.length / 2), text.length - 2]) {
          const fault = yield* space.examine(async (history) => {
            const changed = text.slice(0, at) + (text[at] === "x" ? "y" : "x") + text.slice(at + 1)
            const scanJournal = function*(from: number, to: number) {
              for (const row of history.store.scanJournal(from, to)) yield row.beat === beat ? { ...row, text: changed } : row
            }
            return (await verify({
              ...history,
              store: new Proxy(history.store, {
                get: (store, key) => key === "scanJournal" ? scanJournal : Reflect.get(store, key).bind?.(store) ?? Reflect.get(store, key)
              })
            })).fault
          })
          assert.strictEqual(fault?.beat, beat)
        }
      }
    }).pipe(Effect.provide(TestKernel.layer())))
})

describe("Why", () => {
  it.effect("traces a value back to the ingress, with the reads of the run", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space(everything())
      yield* live(space)
      const rich = yield* space.examine((history) => why(history, "/data/rich"))
      const chains = rich?.writers.map(({ by, chain }) =>
        [by, ...chain.map(({ sentBy, signal }) => `${signal} by ${sentBy ?? "the ingress"}`)])
      assert.deepStrictEqual(chains, [
        ["rich", "/signals/rich by order", "/signals/order by the ingress"]
      ])
      const notes = yield* space.examine((history) => why(history, "/data/notes"))
      assert.deepStrictEqual(notes?.writers.map(({ by, reads }) => [by, ...reads.map(({ address }) => address)]), [
        ["note", "/data/count"],
        ["note", "/data/count"]
      ])
      assert.strictEqual((yield* space.examine((history) => why(history, "/data/outside")))?.writers[0]?.by, "capture")
      assert.isUndefined(yield* space.examine((history) => why(history, "/data/never")))
    }).pipe(Effect.provide(TestKernel.layer())))
})

describe("An explanation", () => {
  it.effect("states for each signal of a beat why an enzyme ran or did not", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        TestSpace.enzyme("ran", () => undefined, { bind: ["/data/here"], query: "/signals/s" }),
        TestSpace.enzyme("once", (_, event) => event.attempt === 1 ? new Retry({ reason: "again" }) : undefined, {
          query: "/signals/s",
          bind: ["/data/here"]
        }),
        TestSpace.enzyme("a", () => undefined, { query: "/signals/cycle", after: ["b"] }),
        TestSpace.enzyme("b", () => undefined, { query: "/signals/cycle", after: ["a"] })
      ])
      yield* TestSpace.controlled(space, space.unbind("/data/here/not", "ran"))
      for (const target of ["/data/here/1", "/data/there", "/data/here/not"]) yield* space.signal({ signal: "/signals/s", target })
      yield* space.signal({ signal: "/signals/cycle" })
      const beat = yield* space.step
      yield* space.step
      const verdicts = (beat: number, enzyme: string) =>
        Effect.map(
          space.examine((history) => explain(history, beat, enzyme)),
          (explained) => explained?.signals.map(({ verdict }) => verdict)
        )
      assert.deepStrictEqual(yield* verdicts(beat, "ran"), ["ran", "not-bound", "masked", "no-match"])
      assert.deepStrictEqual(yield* verdicts(beat, "once"), ["retry", "not-bound", "retry", "no-match"])
      assert.deepStrictEqual(yield* verdicts(beat, "a"), ["no-match", "no-match", "no-match", "cycle"])
      assert.deepStrictEqual(yield* verdicts(beat, "nobody"), ["not-registered", "not-registered", "not-registered", "not-registered"])
      assert.deepStrictEqual(yield* verdicts(beat + 1, "ran"), ["other-attempt", "other-attempt"])
      assert.isUndefined(yield* verdicts(99, "ran"))
    }).pipe(Effect.provide(TestKernel.layer())))
})
