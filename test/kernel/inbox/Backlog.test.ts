import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Document, Kernel, Retry, type Space } from "systole"
import { OutboxQueue } from "../../../src/kernel/inbox/OutboxQueue.ts"
import { Inbox } from "../../../src/kernel/inbox/Inbox.ts"
import * as SpaceMode from "../../../src/kernel/model/SpaceMode.ts"
import * as Signal from "../../../src/kernel/model/Signal.ts"
import type { Rows } from "../../../src/kernel/inbox/SignalBuffer.ts"
import type { Resolution } from "../../../src/registry/Registry.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import { ended, enzyme, steps } from "../TestSpace.ts"
import * as TestMachine from "../TestMachine.ts"

const limits = { ...TestKernel.settings.limits, captureSignals: 4 }
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)

/** The rows of a store, with the number of reads of each. */
const shelf = () => {
  const texts = new Map<number, string>()
  const reads = new Map<number, number>()
  const asked: Array<string> = []
  const rows: Rows = {
    space: "shop",
    place: "a shelf",
    queued: (first, limit) => numbers(limit).flatMap((n) => {
      const [seq, text] = [first + n, texts.get(first + n)]
      if (text === undefined) return []
      reads.set(seq, (reads.get(seq) ?? 0) + 1)
      return [{ seq, text }]
    }),
    waiting: (id) => {
      asked.push(id)
      return []
    }
  }
  return { texts, reads, rows, asked }
}

const pending = (seq: number): Signal.PendingSignal => {
  const sent = { id: `x.0.${seq}`, signal: "/signals/s", target: undefined, payload: undefined, at: undefined }
  return new Signal.PendingSignal(seq, Signal.make(sent, { origin: "ingress", depth: 0, expected: 0 }))
}

const lane = (): Resolution => ({ status: "no-match", entries: [], lane: "space", cycle: [] })

/** Takes beat after beat, each of which completes all its signals. Returns their numbers in order. */
const drain = (inbox: Inbox, beats: number): ReadonlyArray<number> =>
  numbers(beats).flatMap((beat) => {
    const taken = inbox.capture.take({ beat, clock: 0 }, limits, { mode: SpaceMode.open, resolve: lane })
    for (const { flight } of taken) inbox.events.complete(flight)
    return taken.map(({ pending }) => pending.seq)
  })

describe("the signals in memory", () => {
  it.each([100, 1000, 5000])("is as much as a beat can take, and the rest of %i is read from its rows, each a few times", (count) => {
    const { reads, rows, texts } = shelf()
    const inbox = new Inbox(limits, rows)
    const arrived = numbers(count).map(pending)
    for (const each of arrived) inbox.push(each)
    for (const each of arrived) {
      texts.set(each.seq, each.text)
      each.stored = true
    }
    inbox.waiting.saved(arrived)
    assert.strictEqual(reads.size, 0)
    assert.deepStrictEqual(drain(inbox, count), numbers(count))
    assert.strictEqual(reads.size, count - limits.captureSignals)
    assert.isAtMost([...reads.values()].reduce((sum, n) => sum + n, 0), 4 * count)
    assert.isFalse(inbox.isRunnable({ beat: count, clock: 0 }))
  })

  it("include those without a row", () => {
    const { reads, rows } = shelf()
    const inbox = new Inbox(limits, rows)
    for (const seq of numbers(100)) inbox.push(pending(seq))
    assert.deepStrictEqual(drain(inbox, 100), numbers(100))
    assert.strictEqual(reads.size, 0)
  })

  it("are limited to the characters of one beat", () => {
    const { reads, rows, texts } = shelf()
    const inbox = new Inbox({ ...limits, captureSignals: 1000, captureBytes: 500 }, rows)
    for (const each of numbers(100).map(pending)) {
      texts.set(each.seq, each.text)
      each.stored = true
      inbox.push(each)
    }
    drain(inbox, 100)
    assert.isAtLeast(reads.size, 94)
  })

  it("leave with the beat that takes them, and make room for others", () => {
    const { reads, rows } = shelf()
    const inbox = new Inbox(limits, rows)
    for (const round of [0, 1, 2]) {
      for (const n of numbers(limits.captureSignals)) {
        const each = pending(4 * round + n)
        each.stored = round > 0
        inbox.push(each)
      }
      assert.lengthOf(drain(inbox, 4), 4)
    }
    assert.strictEqual(reads.size, 0)
  })

  it("are found by id without the store until they have a row, and with it afterwards", () => {
    const { asked, rows } = shelf()
    const inbox = new Inbox(limits, rows)
    const [first, second] = [pending(0), pending(1)]
    for (const each of [first, second]) inbox.push(each)
    const [taken] = inbox.capture.take({ beat: 0, clock: 0 }, limits, { mode: SpaceMode.open, resolve: lane })
    for (const each of [first, second]) each.stored = true
    inbox.waiting.saved([first, second])
    assert.strictEqual(inbox.waiting.get("x.0.0"), first.signal, "the beat under way has it")
    assert.isFalse(inbox.waiting.has("x.0.1"))
    inbox.events.keep(taken!.flight)
    assert.isFalse(inbox.waiting.has("x.0.0"))
    inbox.events.complete(taken!.flight)
    assert.deepStrictEqual(asked, ["x.0.1", "x.0.0"])
    drain(inbox, 2)
    assert.isFalse(inbox.waiting.has("x.0.1"))
    assert.lengthOf(asked, 2)
  })

  it("have at most one beat's worth of captured events", () => {
    const { rows } = shelf()
    const inbox = new Inbox(limits, rows)
    const again = {
      enzyme: "e",
      attempt: 2,
      why: "retry",
      document: undefined,
      losses: 0,
      captured: 0,
      lane: undefined,
      loose: true
    } as const
    for (const seq of numbers(20)) {
      inbox.push(pending(seq))
      inbox.restore(new Signal.PendingSignal(100 + seq, pending(100 + seq).signal, { due: { beat: 0, moment: undefined }, again }))
    }
    for (const beat of numbers(20)) {
      for (const { flight } of inbox.capture.take({ beat, clock: 0 }, limits, { mode: SpaceMode.open, resolve: lane })) {
        flight.lane = undefined
        inbox.events.keep(flight)
      }
    }
    assert.isAtMost(inbox.events.size, limits.captureSignals)
  })

  it("report a row with another number, or without a signal", () => {
    const cases = [[{ seq: 7, text: pending(7).text }, /number 4 is gone/], [{ seq: 4, text: "{" }, /number 4 is no signal/]] as const
    for (const [row, told] of cases) {
      const inbox = new Inbox(limits, { ...shelf().rows, queued: () => [row] })
      for (const each of numbers(6).map(pending)) {
        each.stored = true
        inbox.push(each)
      }
      try {
        drain(inbox, 6)
        assert.fail("it took the other row")
      } catch (error) {
        assert.strictEqual((error as { readonly code?: string }).code, "store/damaged")
        assert.match((error as Error).message, told)
      }
    }
  })

  it("report a missing row", () => {
    const { rows } = shelf()
    const inbox = new Inbox(limits, rows)
    for (const each of numbers(6).map(pending)) {
      each.stored = true
      inbox.push(each)
    }
    assert.throws(() => drain(inbox, 6), /space "shop" at a shelf cannot be read: the signal that waits as number 4 is gone/)
  })
})

describe("the queue of signals for other spaces", () => {
  const leaving = (seq: number, space: string, payload?: string): Signal.PendingSignal => {
    const sent = {
      id: `0.0.${seq}`,
      signal: "/signals/s",
      target: undefined,
      payload: payload === undefined ? undefined : Document.encode(payload),
      at: undefined
    }
    return new Signal.PendingSignal(seq, Signal.make(sent, { origin: "run", depth: 1, expected: 1, to: { space } }))
  }

  it("holds one beat's worth in memory, delivers space by space in order, and reads the rest from rows", () => {
    const { reads, rows, texts } = shelf()
    const departures = new OutboxQueue(limits, rows)
    for (const seq of numbers(1000)) {
      const each = leaving(seq, seq % 3 === 0 ? "b" : "c")
      texts.set(seq, each.text)
      each.stored = true
      departures.add(each)
    }
    assert.strictEqual(reads.size, 0)
    const left: Record<string, Array<number>> = { b: [], c: [] }
    for (const space of ["b", "c"]) {
      while (departures.has(space)) {
        const batch = departures.next(space)
        assert.isAtMost(batch.length, limits.captureSignals)
        // Only some of them are taken; the others return.
        const over = batch.slice(0, 3)
        departures.over(space, over)
        left[space]!.push(...over.map(({ seq }) => seq))
      }
    }
    assert.deepStrictEqual(left, { b: numbers(1000).filter((n) => n % 3 === 0), c: numbers(1000).filter((n) => n % 3 !== 0) })
    assert.isAtLeast(reads.size, 1000 - limits.captureSignals)
    assert.deepStrictEqual(departures.spaces, [])
  })

  it("delivers batches within a beat's characters, and larger signals one at a time", () => {
    const departures = new OutboxQueue({ captureSignals: 100, captureBytes: 3000 })
    for (const [seq, length] of [1000, 1000, 1000, 9000, 10].entries()) departures.add(leaving(seq, "b", "x".repeat(length)))
    const sizes: Array<number> = []
    for (let batch = departures.next("b"); batch.length > 0; batch = departures.next("b")) {
      sizes.push(batch.length)
      departures.over("b", batch)
    }
    assert.deepStrictEqual(sizes, [2, 1, 1, 1])
  })
})

/** Inspects a space, and again after it was reopened. */
const twice = Effect.fnUntraced(function*(
  machine: TestMachine.TestMachine,
  enzymes: Parameters<TestMachine.TestMachine["boot"]>[0],
  look: (space: Space) => Effect.Effect<void, unknown>
) {
  yield* look(yield* machine.open)
  yield* look(yield* machine.boot(enzymes, { limits }))
})

describe("an event far back in a backlog", () => {
  it.effect("is pending, known by its caller's id, and handled once in its turn, even after a restart", () =>
    Effect.gen(function*() {
      const ran: Array<unknown> = []
      const enzymes = [enzyme("e", (_, { payload }) => void ran.push(payload))]
      const machine = yield* TestMachine.make
      const space = yield* machine.boot(enzymes, { limits })
      const post = (n: number) => ({ signal: "/signals/e", payload: n, ...n % 2 === 0 ? { id: `caller-${n}` } : {} })
      const ids: Array<string> = []
      for (const n of numbers(40)) ids.push((yield* space.signal(post(n))).id)
      yield* twice(machine, enzymes, Effect.fnUntraced(function*(space) {
        for (const n of [2, 20, 38]) {
          const again = yield* space.signal(post(n))
          assert.deepStrictEqual([again.duplicate, again.id], [true, ids[n]])
          assert.strictEqual((yield* Effect.flip(space.signal({ ...post(n), payload: "other" }))).code, "signal/id-reused")
        }
        for (const n of [21, 38, 39]) assert.strictEqual((yield* space.receipt(ids[n]!))?.status, "pending")
        assert.isUndefined(yield* space.receipt("x.0.40"))
        yield* steps(space, 5)
      }))
      const reopened = yield* machine.open
      yield* steps(reopened, 30)
      assert.deepStrictEqual(ran, numbers(40))
      for (const id of ids) assert.strictEqual((yield* reopened.receipt(id))?.status, "handled")
    }))

  it.effect("keeps its id unique after a restart", () =>
    Effect.gen(function*() {
      const enzymes = [enzyme("e", () => undefined)]
      const machine = yield* TestMachine.make
      const space = yield* machine.boot(enzymes, { limits })
      for (const payload of numbers(12)) yield* space.signal({ signal: "/signals/e", payload })
      const reopened = yield* machine.boot(enzymes, { limits })
      assert.strictEqual((yield* reopened.signal({ signal: "/signals/e", payload: 12 })).id, "x.0.12")
    }))
})

describe("more events than fit into memory", () => {
  it.effect("can be retried, for each enzyme as often as needed, even after a restart", () =>
    Effect.gen(function*() {
      const attempts = (name: string, wanted: number, order: "strict" | "loose") =>
        enzyme(name, (tx, { attempt }) => {
          if (attempt < wanted) return new Retry({ reason: "not yet" })
          tx.increment(`/data/${name}`)
        }, { query: "/signals/:n", order })
      const enzymes = [attempts("twice", 2, "strict"), attempts("thrice", 3, "loose")]
      const machine = yield* TestMachine.make
      const space = yield* machine.boot(enzymes, { limits })
      const ids: Array<string> = []
      for (const n of numbers(20)) for (const payload of ["first", "second"]) ids.push(
        (yield* space.signal({ signal: `/signals/${n}`, payload })).id
      )
      yield* twice(machine, enzymes, Effect.fnUntraced(function*(space) {
        yield* steps(space, 8)
        assert.strictEqual((yield* space.receipt(ids[39]!))?.status, "pending")
      }))
      const reopened = yield* machine.open
      yield* steps(reopened, 120)
      assert.deepStrictEqual([yield* reopened.get("/data/twice"), yield* reopened.get("/data/thrice")], [40, 40])
      for (const id of ids) {
        const lines = (yield* ended(reopened, id))!.map((line) => line.replace(/@\d+/, "")).toSorted()
        assert.deepStrictEqual(lines, ["thrice ok  #3", "twice ok  #2"], id)
      }
    }))

  it.effect("can contend for a document, and run one by one in order", () =>
    Effect.gen(function*() {
      const enzymes = [enzyme("set", (tx, { payload }) => {
        tx.set("/data/x", payload)
        tx.append("/data/log", payload)
      }, { query: "/signals/:n" })]
      const machine = yield* TestMachine.make
      const space = yield* machine.boot(enzymes, { limits })
      for (const payload of numbers(30)) yield* space.signal({ signal: `/signals/${payload}`, payload })
      yield* twice(machine, enzymes, (space) => Effect.asVoid(steps(space, 10)))
      const reopened = yield* machine.open
      yield* steps(reopened, 20)
      assert.deepStrictEqual(yield* reopened.get("/data/log"), numbers(30))
    }))

  it.effect("can be due at once, and precede new signals in order", () =>
    Effect.gen(function*() {
      const ran: Array<unknown> = []
      const enzymes = [enzyme("late", (_, { payload }) => void ran.push(payload), { query: "/signals/:n" })]
      const machine = yield* TestMachine.make
      const space = yield* machine.boot(enzymes, { limits })
      for (const payload of numbers(50)) yield* space.signal({ signal: `/signals/${payload}`, payload, at: { ms: 10 } })
      yield* TestClock.adjust(10)
      yield* space.signal({ signal: "/signals/new", payload: "new" })
      yield* twice(machine, enzymes, (space) => Effect.asVoid(steps(space, 3)))
      yield* steps(yield* machine.open, 20)
      assert.deepStrictEqual(ran, [...numbers(50), "new"])
    }))
})

describe("a space with a long backlog", () => {
  it.effect("yields to another space after each group", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      const events = 3000
      const flooded = yield* TestKernel.space([enzyme("e", () => undefined), enzyme("hold", () => held)], "flooded")
      let release = (): void => {}
      const held = new Promise<void>((resolve) => { release = resolve })
      const other = yield* kernel.space("other")
      yield* flooded.signal({ signal: "/signals/hold" })
      yield* Effect.forEach(numbers(events), (payload) => flooded.signal({ signal: "/signals/e", payload }), { concurrency: "unbounded" })
      release()
      const began = yield* flooded.head
      const answer = yield* Effect.forkChild(other.handled({ signal: "/signals/e", payload: 0 }), { startImmediately: true })
      assert.strictEqual((yield* Fiber.join(answer)).status, "handled")
      assert.isAtMost((yield* flooded.head) - began, 4 * limits.groupBeats)
      yield* flooded.idle
      assert.strictEqual((yield* flooded.head) - began, events + 1)
    }).pipe(Effect.provide(TestKernel.layer({ pace: "demand" }))))
})
