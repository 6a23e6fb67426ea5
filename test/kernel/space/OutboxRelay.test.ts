import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { CurrentReporter, type Kernel, replay, Reporter, type Space, type Told, verify } from "systole"
import * as TestKernel from "../../support/TestKernel.ts"
import * as Trials from "../../support/Trials.ts"
import { controlled, enzyme, steps, turns } from "../TestSpace.ts"
import * as RestartableKernel from "../RestartableKernel.ts"

/** Sends its payload to space b, which records it. */
const enzymes = [
  enzyme("send", (tx, { payload }) => {
    for (const item of payload as ReadonlyArray<unknown>) tx.signal({ signal: "/signals/take", space: "b", payload: item })
    tx.increment("/data/sent")
  }),
  enzyme("take", (tx, { id, payload }) => tx.append("/data/taken", [payload, id])),
  enzyme("ping", (tx, { payload }) => {
    tx.increment("/data/pings")
    tx.signal({ signal: "/signals/ping", space: payload === "a" ? "b" : "a", payload: payload === "a" ? "b" : "a" })
  })
]

const taken = (space: Space) =>
  Effect.map(space.get("/data/taken"), (list) => ((list ?? []) as ReadonlyArray<readonly [unknown, string]>).map(([payload]) => payload))

const spaces = (kernel: Kernel["Service"]) => Effect.all([kernel.space("a"), kernel.space("b")])

const isReplayedEqual = Effect.fnUntraced(function*(space: Space) {
  const head = yield* space.head
  assert.isUndefined((yield* space.examine((archive) => replay(archive, 0, head))).difference, space.name)
  assert.isUndefined((yield* space.examine(verify)).fault)
})

/** Makes space a send, and runs the host's turns. */
const send = (a: Space, ...items: ReadonlyArray<unknown>) =>
  Effect.gen(function*() {
    yield* a.signal({ signal: "/signals/send", payload: items })
    yield* a.step
    yield* turns()
  })

describe("a signal to another space", () => {
  it.effect("arrives as an event with an id of its own, in order and once, and not in its own space", () =>
    Effect.gen(function*() {
      const [a, b] = yield* spaces(yield* (yield* RestartableKernel.make(enzymes)).boot())
      yield* send(a, 1, new Map([["two", 2n]]), 3)
      yield* steps(b, 3)
      assert.deepStrictEqual(yield* taken(b), [1, new Map([["two", 2n]]), 3])
      yield* steps(a, 2)
      assert.deepStrictEqual(yield* taken(a), [])
      const ids = ((yield* b.get("/data/taken")) as ReadonlyArray<readonly [unknown, string]>).map(([, id]) => id)
      for (const id of ids) {
        assert.match(id, /^[0-9a-f]{32}$/)
        assert.strictEqual((yield* b.receipt(id))?.status, "handled")
      }
      assert.strictEqual(new Set(ids).size, 3)
      for (const space of [a, b]) yield* isReplayedEqual(space)
    }))

  it.effect("is delivered by itself, and `idle` waits for it", () =>
    Effect.gen(function*() {
      const [a, b] = yield* spaces(yield* (yield* RestartableKernel.make(enzymes)).boot({ pace: "demand" }))
      yield* a.signal({ signal: "/signals/send", payload: [1] })
      yield* a.idle
      yield* b.idle
      assert.deepStrictEqual(yield* taken(b), [1])
    }))

  it.effect("is delivered after a crash before the receiver had it", () =>
    Effect.gen(function*() {
      const host = yield* RestartableKernel.make(enzymes)
      const [a, b] = yield* spaces(yield* host.boot())
      yield* host.hold("b")
      yield* send(a, 1, 2)
      assert.strictEqual(yield* b.head, -1)
      const kernel = yield* host.boot()
      yield* host.release("b")
      // Queued signals open their receiver.
      yield* kernel.space("a")
      yield* turns()
      const again = yield* kernel.space("b")
      yield* steps(again, 3)
      assert.deepStrictEqual(yield* taken(again), [1, 2])
      yield* isReplayedEqual(again)
    }))

  it.effect("is handled once after a crash between its delivery and the end of its row", () =>
    Effect.gen(function*() {
      for (const handled of [false, true]) {
        const host = yield* RestartableKernel.make(enzymes)
        const [a, b] = yield* spaces(yield* host.boot())
        yield* host.hold("b")
        yield* send(a, 1, 2)
        yield* host.hold("a")
        yield* host.release("b")
        yield* turns()
        if (handled) yield* steps(b, 2)
        const kernel = yield* host.boot()
        yield* host.release("a")
        const again = yield* kernel.space("a")
        yield* turns()
        const there = yield* kernel.space("b")
        yield* steps(there, 3)
        assert.deepStrictEqual(yield* taken(there), [1, 2], `handled before: ${handled}`)
        for (const space of [again, there]) yield* isReplayedEqual(space)
        assert.deepStrictEqual(yield* again.examine(({ store }) => [...store.queue()]), [])
      }
    }))

  it.effect("does not leave when its beat is lost", () =>
    Effect.gen(function*() {
      const host = yield* RestartableKernel.make(enzymes)
      const [a] = yield* spaces(yield* host.boot())
      yield* a.signal({ signal: "/signals/send", payload: [1] })
      yield* host.hold("a")
      yield* Effect.forkChild(a.step, { startImmediately: true })
      yield* turns()
      const kernel = yield* host.boot()
      yield* host.release("a")
      const [, b] = yield* spaces(kernel)
      yield* steps(b, 2)
      assert.deepStrictEqual(yield* taken(b), [])
      yield* (yield* kernel.space("a")).step
      yield* turns()
      yield* steps(b, 2)
      assert.deepStrictEqual(yield* taken(b), [1])
    }))

  it.effect("waits while the receiver is full, with one report, and then arrives in order", () =>
    Effect.gen(function*() {
      const limits = { ...TestKernel.settings.limits, inboxSignals: 2 }
      const log: Array<Told> = []
      const host = yield* RestartableKernel.make(enzymes)
      const reporter = new Reporter((told) => log.push(told))
      const [a, b] = yield* spaces(yield* Effect.provideService(host.boot({ limits, tempo: 10 }), CurrentReporter, reporter))
      yield* b.signal({ signal: "/signals/take", payload: "x" })
      yield* send(a, 1, 2, 3)
      assert.deepStrictEqual(log, [])
      for (let i = 0; i < 3; i++) {
        yield* TestClock.adjust(10 * 2 ** i)
        yield* turns()
      }
      assert.deepStrictEqual(log.map(({ severity, space, topic }) => [severity, topic, space]), [["sev:warn", "outbox/waiting", "a"]])
      assert.match(log[0]!.note, /^space "b" takes nothing: InboxFull/)
      for (let i = 0; i < 6; i++) {
        yield* b.step
        yield* TestClock.adjust(1000)
        yield* turns()
      }
      assert.deepStrictEqual(yield* taken(b), ["x", 1, 2, 3])
    }))

  it.effect("waits in the store, and arrives in order even with a small window and power cuts", () =>
    Effect.gen(function*() {
      const settings = { limits: { ...TestKernel.settings.limits, captureSignals: 4 } }
      const host = yield* RestartableKernel.make(enzymes)
      const items = Array.from({ length: 50 }, (_, i) => i)
      const [a] = yield* spaces(yield* host.boot(settings))
      yield* host.hold("b")
      yield* send(a, ...items)
      yield* turns()
      const kernel = yield* host.boot(settings)
      yield* host.release("b")
      const again = yield* kernel.space("a")
      yield* send(again, 50, 51)
      const b = yield* kernel.space("b")
      for (let i = 0; i < 60; i++) {
        yield* b.step
        yield* turns(2)
      }
      assert.deepStrictEqual(yield* taken(b), [...items, 50, 51])
      assert.deepStrictEqual(yield* again.examine(({ store }) => [...store.queue()]), [])
      for (const space of [again, b]) yield* isReplayedEqual(space)
    }))

  it.effect("is not overtaken by a smaller one that would fit", () =>
    Effect.gen(function*() {
      const limits = { ...TestKernel.settings.limits, inboxBytes: 400 }
      const [a, b] = yield* spaces(yield* (yield* RestartableKernel.make(enzymes)).boot({ limits, tempo: 10 }))
      yield* b.signal({ signal: "/signals/take", payload: "x" })
      const large = "l".repeat(250)
      yield* send(a, large, "small")
      for (let i = 0; i < 5; i++) {
        yield* b.step
        yield* TestClock.adjust(1000)
        yield* turns()
      }
      assert.deepStrictEqual(yield* taken(b), ["x", large, "small"])
    }))

  it.effect("waits while the receiver's disk is broken, and arrives once", () =>
    Effect.gen(function*() {
      const host = yield* RestartableKernel.make(enzymes)
      const kernel = yield* host.boot({ tempo: 10 })
      const [a] = yield* spaces(kernel)
      host.breakDisk("b", true)
      yield* send(a, 1, 2)
      yield* TestClock.adjust(10)
      yield* turns()
      host.breakDisk("b", false)
      yield* TestClock.adjust(100)
      yield* turns()
      const b = yield* kernel.space("b")
      yield* steps(b, 3)
      assert.deepStrictEqual(yield* taken(b), [1, 2])
    }))

  it.effect("becomes a dead letter of the sender for an unknown space, and is redelivered once it exists", () =>
    Effect.gen(function*() {
      const host = yield* RestartableKernel.make(enzymes)
      const kernel = yield* host.boot({ create: "explicit" })
      const a = yield* kernel.space("a", { create: true })
      yield* send(a, 1, { n: 2 })
      yield* steps(a, 2)
      const { letters } = yield* a.dead({ limit: 10 })
      const [unknown, told] = [["space/unknown", "space:b", "b"], ["space/unknown", "sev:crit"]]
      assert.deepStrictEqual(letters.map(({ code, enzyme, space }) => [code, enzyme, space]), [unknown, unknown])
      assert.deepStrictEqual((yield* TestKernel.diagnostics(a)).map(({ code, sev }) => [code, sev]), [told, told])
      assert.deepInclude(yield* a.letter(letters[1]!.id, "space:b"), { payload: { n: 2 } })
      assert.strictEqual((yield* a.receipt(letters[0]!.id))?.status, "dead")
      const b = yield* kernel.space("b", { create: true })
      for (const { enzyme, id } of letters) yield* controlled(a, a.redeliver(id, enzyme))
      yield* turns()
      yield* steps(b, 3)
      assert.deepStrictEqual(yield* taken(b), [1, { n: 2 }])
      assert.deepStrictEqual((yield* a.dead({ limit: 10 })).letters, [])
      for (const space of [a, b]) yield* isReplayedEqual(space)
    }))

  it.effect("keeps its delay as a dead letter: redelivered, it is due at the original time", () =>
    Effect.gen(function*() {
      for (const passed of [400, 2000]) {
        const host = yield* RestartableKernel.make([
          enzyme("late", (tx) => tx.signal({ signal: "/signals/take", space: "b", payload: "late", at: { ms: 1000 } })),
          enzyme("take", (tx) => tx.append("/data/taken", [tx.now]))
        ])
        const kernel = yield* host.boot({ create: "explicit" })
        const a = yield* kernel.space("a", { create: true })
        const start = yield* Clock.currentTimeMillis
        yield* a.signal({ signal: "/signals/late" })
        yield* a.step
        yield* turns()
        yield* a.step
        const { letters: [letter] } = yield* a.dead({ limit: 10 })
        const b = yield* kernel.space("b", { create: true })
        yield* TestClock.adjust(passed)
        yield* controlled(a, a.redeliver(letter!.id, letter!.enzyme))
        yield* turns()
        yield* b.step
        assert.deepStrictEqual(yield* b.get("/data/taken"), passed < 1000 ? undefined : [[start + passed]])
        yield* TestClock.adjust(1000)
        yield* b.step
        assert.lengthOf((yield* b.get("/data/taken")) as ReadonlyArray<unknown>, 1)
        for (const space of [a, b]) yield* isReplayedEqual(space)
      }
    }))

  it.effect("that was given up stays so if the space is reopened before the beat", () =>
    Effect.gen(function*() {
      const host = yield* RestartableKernel.make(enzymes)
      const kernel = yield* host.boot({ create: "explicit" })
      yield* send(yield* kernel.space("a", { create: true }), 1)
      const again = yield* (yield* host.boot({ create: "explicit" })).space("a")
      yield* turns()
      yield* again.step
      assert.deepStrictEqual((yield* again.dead({ limit: 10 })).letters.map(({ code }) => code), ["space/unknown"])
      yield* again.step
      assert.lengthOf(yield* TestKernel.diagnostics(again), 1)
    }))

  it.effect("may name its own space, and is then an ordinary signal", () =>
    Effect.gen(function*() {
      const kernel = yield* (yield* RestartableKernel.make([
        enzyme("start", (tx) => tx.signal({ signal: "/signals/next", space: "a", payload: 1, at: { beats: 2 } })),
        enzyme("next", (tx) => tx.set("/data/next", tx.beat))
      ])).boot()
      const a = yield* kernel.space("a")
      yield* a.signal({ signal: "/signals/start" })
      yield* steps(a, 3)
      assert.strictEqual(yield* a.get("/data/next"), 2)
      yield* isReplayedEqual(a)
    }))

  it.effect("keeps its delay at the receiver, and is refused with a beat number or an invalid name", () =>
    Effect.gen(function*() {
      const kernel = yield* (yield* RestartableKernel.make([
        enzyme("late", (tx) => tx.signal({ signal: "/signals/take", space: "b", payload: "late", at: { beats: 2 } })),
        enzyme("beat", (tx) => tx.signal({ signal: "/signals/take", space: "b", at: { beat: 99 } })),
        enzyme("name", (tx) => tx.signal({ signal: "/signals/take", space: "No Space" })),
        enzyme("take", (tx) => tx.set("/data/taken", tx.beat))
      ])).boot()
      const [a, b] = yield* spaces(kernel)
      yield* steps(b, 5)
      const ids = []
      for (const name of ["beat", "name", "late"]) ids.push((yield* a.signal({ signal: `/signals/${name}` })).id)
      yield* a.step
      yield* turns()
      for (const id of ids.slice(0, 2)) assert.strictEqual((yield* a.receipt(id))?.handlings[0]?.error?.code, "signal/invalid")
      yield* steps(b, 3)
      assert.strictEqual(yield* b.get("/data/taken"), 6)
      for (const space of [a, b]) yield* isReplayedEqual(space)
    }))

  for (const [name, at] of [["milliseconds", { ms: 1000 }], ["beats", { beats: 4 }]] as const) {
    it.effect(`keeps its delay in ${name} when it is redelivered after a crash on either side, and runs once`, () =>
      Effect.gen(function*() {
        for (const crash of ["before", "between", "after"] as const) {
          const host = yield* RestartableKernel.make([
            enzyme("late", (tx) => tx.signal({ signal: "/signals/take", space: "b", payload: "late", at })),
            enzyme("take", (tx) => tx.append("/data/taken", [tx.beat, tx.now]))
          ])
          const settings = { tempo: 250 }
          const start = yield* Clock.currentTimeMillis
          const [a, b] = yield* spaces(yield* host.boot(settings))
          yield* host.hold("b")
          yield* a.signal({ signal: "/signals/late" })
          yield* a.step
          yield* turns()
          if (crash !== "before") {
            yield* host.hold("a")
            yield* host.release("b")
            yield* turns()
          }
          if (crash === "after") yield* steps(b, 2)
          yield* TestClock.adjust(300)
          const kernel = yield* host.boot(settings)
          yield* host.release("a")
          yield* host.release("b")
          yield* kernel.space("a")
          yield* turns()
          const there = yield* kernel.space("b")
          while ((yield* there.head) < 3) {
            yield* there.step
            assert.deepStrictEqual(yield* taken(there), [], crash)
          }
          yield* TestClock.adjust(699)
          yield* steps(there, 1)
          assert.deepStrictEqual(yield* taken(there), [], crash)
          yield* TestClock.adjust(1)
          yield* steps(there, 2)
          assert.deepStrictEqual(yield* there.get("/data/taken"), [[5, start + 1000]], crash)
          yield* isReplayedEqual(there)
        }
      }))
  }

  it.effect("carries its depth: a chain between two spaces ends at the limit on hops", () =>
    Effect.gen(function*() {
      const limits = { ...TestKernel.settings.limits, hops: 4 }
      const [a, b] = yield* spaces(yield* (yield* RestartableKernel.make(enzymes)).boot({ limits, pace: "demand" }))
      yield* a.signal({ signal: "/signals/ping", payload: "a" })
      for (let i = 0; i < 4; i++) yield* Effect.all([a.idle, b.idle])
      assert.deepStrictEqual([yield* a.get("/data/pings"), yield* b.get("/data/pings")], [3, 2])
      assert.deepStrictEqual((yield* b.dead({ limit: 10 })).letters.map(({ code }) => code), ["signal/storm"])
      for (const space of [a, b]) yield* isReplayedEqual(space)
    }))

  for (const seed of Trials.seeds(8, { from: 1 })) {
    it.effect(`is handled once and in order under power cuts and disk faults (life ${seed})`, () =>
      Effect.gen(function*() {
        const host = yield* RestartableKernel.make(enzymes)
        const settings = { tempo: 10, limits: { ...TestKernel.settings.limits, inboxSignals: 6 } }
        let kernel = yield* host.boot(settings)
        let state = seed
        const draw = (bound: number): number => (state = (state * 48271) % 2147483647) % bound
        const sent: Array<number> = []
        const beat = (name: string) =>
          Effect.flatMap(kernel.space(name), (space) => Effect.forkChild(Effect.ignore(space.step), { startImmediately: true }))
        for (let i = 0; i < 60; i++) {
          const kind = draw(10)
          if (kind < 4) {
            yield* host.release("a")
            const a = yield* kernel.space("a")
            yield* a.signal({ signal: "/signals/send", payload: [sent.length, sent.length + 1] })
            sent.push(sent.length, sent.length + 1)
            yield* beat("a")
          } else if (kind < 6) yield* beat(kind === 4 ? "a" : "b")
          else if (kind === 6) kernel = yield* host.boot(settings)
          else if (kind === 7) yield* draw(2) === 0 ? host.hold("b") : host.release("b")
          else if (kind === 8) yield* host.hold("a")
          else host.breakDisk("b", draw(2) === 0)
          yield* turns(draw(6))
          yield* TestClock.adjust(draw(50))
        }
        host.breakDisk("b", false)
        for (const name of ["a", "b"]) yield* host.release(name)
        kernel = yield* host.boot(settings)
        for (let i = 0; i < 2 * sent.length + 10; i++) {
          yield* beat("a")
          yield* beat("b")
          yield* TestClock.adjust(1000)
          yield* turns(4)
        }
        const [a, b] = yield* spaces(kernel)
        assert.deepStrictEqual(yield* taken(b), sent)
        assert.deepStrictEqual(yield* a.examine(({ store }) => [...store.queue()]), [])
        for (const space of [a, b]) yield* isReplayedEqual(space)
      }))
  }
})
