import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Kernel } from "systole"
import { createHash } from "node:crypto"
import * as TestKernel from "../../support/TestKernel.ts"
import { controlled, enzyme, replays, steps } from "../TestSpace.ts"

const enzymes = () => [
  enzyme("labelled", (tx) => tx.signal({ signal: "/signals/next", target: "/data/a" }), { label: "Start it", query: "/signals/start" }),
  enzyme("plain", (tx) => {
    tx.signal({ signal: "/signals/next", target: "/data/a" })
    tx.signal({ signal: "/signals/late", at: { beats: 5 } })
  }, { query: "/signals/start" }),
  enzyme("next", (tx, { target }) => tx.set(target!, tx.beat), { bind: ["/data"] })
]

describe("the view of a beat", () => {
  it.effect("shows inbox, agenda and stage in their text forms", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space(enzymes())
      yield* space.signal({ signal: "/signals/start" })
      yield* space.signal({ target: "/data/nobody" })
      yield* steps(space, 2)
      assert.deepStrictEqual(yield* TestKernel.ledger(space, 0, "inbox"), [
        "signal=/signals/start target=-", "signal=- target=/data/nobody"
      ])
      assert.deepStrictEqual(yield* TestKernel.ledger(space, 0, "agenda"), [
        "enzyme=Start it rc=0 signal=/signals/start target=-",
        "enzyme=plain rc=0 signal=/signals/start target=-",
        "enzyme=next rc=0 signal=- target=/data/nobody"
      ])
      assert.deepStrictEqual(yield* TestKernel.ledger(space, 0, "stage"), ["commit: promoted 2 impulses -> beat 1"])
      assert.deepStrictEqual(
        yield* TestKernel.ledger(space, 1, "inbox"), Array.from({ length: 2 }, () => "signal=/signals/next target=/data/a")
      )
      assert.deepStrictEqual(yield* TestKernel.ledger(space, 1, "stage"), ["commit: promoted 0 impulses -> beat 2"])
      yield* replays(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("shows the labels that enzymes had then, and each name as its author wrote it", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      const of = (label: string | undefined, query = "/signals/*") =>
        enzyme("one", () => {}, { ...(label === undefined ? {} : { label }), query })
      const labels = ["First", "Second", undefined] as const
      const space = yield* TestKernel.space([])
      for (const label of labels) {
        const now = of(label)
        yield* kernel.register(now)
        yield* space.signal({ signal: "/signals/x" })
        yield* space.step
        yield* kernel.unregister(now)
      }
      for (const now of [of(undefined), of("Two", "/signals/x")]) yield* kernel.register(now)
      yield* space.signal({ signal: "/signals/x" })
      yield* steps(space, 2)
      const agendas = yield* Effect.forEach([0, 1, 2, 3], (beat) => TestKernel.ledger(space, beat, "agenda"))
      const line = (shown: string) => `enzyme=${shown} rc=0 signal=/signals/x target=-`
      assert.deepStrictEqual(
        agendas.map((lines) => [...lines ?? []].sort()), [["First"], ["Second"], ["one"], ["Two", "one"]].map((names) => names.map(line))
      )
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("names the effective registrations, the clock and the digests", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space(enzymes())
      yield* steps(space, 2)
      const [first, second] = yield* Effect.forEach(
        [0, 1], (beat) => Effect.map(space.get(`/rt/beat/${beat}/meta`), (meta) => meta as Record<string, unknown>)
      )
      assert.deepInclude(first, { activated: 3, prev: "", unix_ts_ns: "0" })
      assert.deepInclude(second, { activated: 0, prev: first?.["hash"] })
      assert.strictEqual(yield* space.get("/rt/beat/1/meta/prev"), first?.["hash"])
      assert.strictEqual(yield* space.get("/rt/beat/1/meta#/prev"), first?.["hash"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("is absent for future beats and unknown parts", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      yield* space.step
      const places = [
        "/rt/beat",
        "/rt/beat/0",
        "/rt/beat/1/agenda",
        "/rt/beat/x/agenda",
        "/rt/beat/0/nope",
        "/rt/beat/0/toString",
        "/rt/beat/0/constructor",
        "/rt/beat/0/meta/toString",
        "/rt/receipts",
        "/rt/analytics/0/inbox"
      ]
      for (const place of places) assert.strictEqual(yield* space.get(place), undefined, place)
      for (const place of ["/rt/beat/1", "/rt/beat/x", "/rt/beat/0/meta", "/rt/receipts"]) {
        assert.deepStrictEqual(yield* space.list(place), [], place)
      }
      assert.strictEqual((yield* Effect.flip(space.list("/data#/x"))).code, "address/invalid")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("is listed with its parts, the newest 400 beats at once", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      yield* steps(space, 11)
      assert.deepStrictEqual(yield* space.list("/rt/beat"), ["0", "1", "10", "2", "3", "4", "5", "6", "7", "8", "9"])
      assert.deepStrictEqual(yield* space.list("/rt/beat/10"), ["agenda", "inbox", "meta", "stage", "state"])
      assert.includeMembers([...yield* space.list("/rt")], ["analytics", "beat", "receipts"])
      assert.deepStrictEqual(yield* space.list("/rt/analytics"), ["async", "diag", "persist"])
      yield* steps(space, 400)
      const names = yield* space.list("/rt/beat")
      assert.strictEqual(names.length, 400)
      assert.include(names, "410")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("can be switched off without a change of the journal", () =>
    Effect.gen(function*() {
      const script = Effect.gen(function*() {
        const space = yield* TestKernel.space(enzymes())
        const { id } = yield* space.signal({ signal: "/signals/start" })
        yield* steps(space, 2)
        return {
          shown: yield* space.get("/rt/beat/0/agenda"),
          receipt: yield* space.receipt(id),
          journal: yield* space.journal(1),
          cell: yield* space.get("/data/a")
        }
      })
      const { shown, ...on } = yield* Effect.provide(script, TestKernel.layer(), { local: true })
      const { shown: hidden, ...off } = yield* Effect.provide(script, TestKernel.layer({ ledgers: false }), { local: true })
      assert.isDefined(shown)
      assert.isUndefined(hidden)
      assert.deepStrictEqual(on, off)
    }))

  it.effect("is readable from outside and not by runs, and writable by none", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("peek", (tx) => tx.get("/rt/beat/0/agenda"))])
      const { id } = yield* space.signal({ signal: "/signals/peek" })
      yield* space.step
      assert.strictEqual((yield* space.receipt(id))?.handlings[0]?.error?.code, "transaction/refused")
      assert.strictEqual((yield* Effect.flip(space.set("/rt/beat/0/agenda", []))).code, "cell/refused")
    }).pipe(Effect.provide(TestKernel.layer())))
})

describe("a receipt", () => {
  it.effect("can be read as cells, whole and for each enzyme", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("a", () => ({ n: 7 }), { query: "/signals/s" }), enzyme("b", () => undefined, { query: "/signals/s" })
      ])
      const { id } = yield* space.signal({ signal: "/signals/s" })
      yield* space.step
      assert.deepStrictEqual(yield* space.get(`/rt/receipts/${id}`), (yield* space.receipt(id)) as never)
      assert.strictEqual(yield* space.get(`/rt/receipts/${id}/a#/value/n`), 7)
      assert.deepStrictEqual(yield* space.get(`/rt/receipts/${id}/b#/value`), {})
      assert.strictEqual(yield* space.get(`/rt/receipts/${id}/c`), undefined)
      assert.strictEqual(yield* space.get("/rt/receipts/x.7.7"), undefined)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("exists for signals that a run sent with a payload, in any space", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme(
          "start",
          (tx) => [
            tx.signal({ signal: "/signals/e", payload: 1 }),
            tx.signal({ signal: "/signals/e", payload: 2 }),
            tx.signal({ signal: "/signals/e", payload: 3, at: { beats: 6 } })
          ]
        ),
        enzyme("e", (_, { payload }) => payload)
      ])
      const { id } = yield* space.signal({ signal: "/signals/start" })
      yield* steps(space, 8)
      const sent = (yield* space.receipt(id))?.handlings[0]?.value as ReadonlyArray<string>
      const receipts = yield* Effect.forEach(sent, (id) => space.receipt(id))
      assert.deepStrictEqual(receipts.map((receipt) => [receipt?.beat, receipt?.handlings[0]?.value]), [[1, 1], [2, 2], [6, 3]])
    }).pipe(Effect.provide(TestKernel.layer())))
})

describe("the journal", () => {
  const script = Effect.gen(function*() {
    const space = yield* TestKernel.space([
      ...enzymes(),
      enzyme("odd", (tx) => tx.set("/data/odd", { at: new Date(tx.now), drawn: tx.random(), id: tx.id(), "10": 1, "9": -0 })),
      enzyme("boom", () => { throw new Error("engine specific") })
    ])
    yield* space.signal({ signal: "/signals/start", id: "mine" })
    for (const name of ["odd", "boom"]) yield* space.signal({ signal: `/signals/${name}`, payload: new Map([["k", 1n]]) })
    yield* controlled(space, space.set("/data/x", [1]))
    yield* steps(space, 8)
    return yield* Effect.forEach(Array.from({ length: 9 }, (_, beat) => beat), (beat) => space.journal(beat))
  })

  it.effect("is a chain: each entry holds the digest of the one before, and its own digest is that of its text", () =>
    Effect.gen(function*() {
      const rows = yield* Effect.provide(script, TestKernel.layer())
      let prev = ""
      for (const row of rows) {
        const line = row!.text.split("\n")[0]!
        assert.strictEqual((JSON.parse(line) as { readonly prev: string }).prev, prev)
        assert.strictEqual(createHash("sha256").update(line).digest("hex"), row!.hash)
        prev = row!.hash
      }
    }))

  it.effect("is the same byte for byte wherever the same script is played", () =>
    Effect.gen(function*() {
      const first = yield* Effect.provide(script, TestKernel.layer(), { local: true })
      const second = yield* Effect.provide(script, TestKernel.layer(), { local: true })
      assert.deepStrictEqual(first, second)
      assert.strictEqual(first.length, 9)
      assert.isTrue(first.every((row) => row !== undefined))
    }))

  it.effect("hashes no message of an error: engines word them differently", () =>
    Effect.gen(function*() {
      const [row] = yield* Effect.provide(script, TestKernel.layer())
      const [line, aside] = row!.text.split("\n")
      assert.notInclude(line, "engine specific")
      assert.include(aside, "engine specific")
    }))

  it.effect("names each module by its digest once, and again when that changes", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      const made = enzyme("m", () => undefined)
      yield* kernel.register(made, { hash: "a".repeat(64) })
      const space = yield* kernel.space("modules")
      yield* steps(space, 2)
      yield* kernel.unregister(made)
      yield* kernel.register(enzyme("m", () => undefined), { hash: "b".repeat(64) })
      yield* space.step
      const texts = yield* Effect.forEach([0, 1, 2], (beat) => Effect.map(space.journal(beat), (row) => row!.text))
      const [a, b] = ["a", "b"].map((digit) => [`/cas/${digit.repeat(64)}`])
      assert.deepStrictEqual(texts.map((text) => (JSON.parse(text) as { readonly cells: unknown }).cells), [
        [["/sys/code/m", -1, [], [a]]],
        [],
        [["/sys/code/m", -1, [a], [b]]]
      ])
    }).pipe(Effect.provide(TestKernel.layer())))
})
