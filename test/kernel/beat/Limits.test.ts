import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Retry } from "systole"
import * as Address from "../../../src/cell/Address.ts"
import type { QueuedCommand } from "../../../src/kernel/model/Command.ts"
import { Inbox } from "../../../src/kernel/inbox/Inbox.ts"
import * as Journal from "../../../src/kernel/journal/Journal.ts"
import * as Write from "../../../src/stage/write/Write.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import { controlled, ended, enzyme, steps } from "../TestSpace.ts"
import { present } from "../../support/Present.ts"

const limits = TestKernel.settings.limits
const count = enzyme("count", (tx) => tx.increment("/data/n"), { query: "/signals/**" })

describe("a beat captures", () => {
  it.effect("1,024 signals, and the next beats the others, in order", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([count])
      yield* Effect.forEach(
        Array.from({ length: 2500 }, (_, i) => i),
        (i) => space.signal({ signal: `/signals/${i}` }),
        { concurrency: "unbounded" }
      )
      const taken: Array<number> = []
      for (let beat = 0; beat < 4; beat++) {
        yield* space.step
        taken.push(present(yield* TestKernel.ledger(space, beat, "inbox")).length)
      }
      assert.deepStrictEqual(taken, [1024, 1024, 452, 0])
      assert.strictEqual(present(yield* TestKernel.ledger(space, 1, "inbox"))[0], "signal=/signals/1024 target=-")
      assert.strictEqual(yield* space.get("/data/n"), 2500)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("as many characters of signals as its limit, and at least one signal", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([count])
      for (let i = 0; i < 5; i++) yield* space.signal({ signal: `/signals/${i}`, payload: "x".repeat(i === 0 ? 500 : 58) })
      const taken: Array<number> = []
      for (let beat = 0; beat < 3; beat++) {
        yield* space.step
        taken.push(present(yield* TestKernel.ledger(space, beat, "inbox")).length)
      }
      assert.deepStrictEqual(taken, [1, 2, 2])
    }).pipe(Effect.provide(TestKernel.layer({ limits: { ...limits, captureBytes: 300 } }))))

  it.effect("no more if many attempts or delayed signals are due at once", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme(
          "busy",
          (tx, { attempt }) => attempt === 1 ? new Retry({ reason: "busy" }) : tx.increment("/data/n"),
          { query: "/signals/busy/*" }
        ),
        enzyme("late", (tx) => tx.increment("/data/n"), { query: "/signals/late/*" })
      ])
      for (let i = 0; i < 12; i++) yield* space.signal({ signal: `/signals/busy/${i}` })
      for (let i = 0; i < 12; i++) yield* space.signal({ signal: `/signals/late/${i}`, at: { ms: 1000 } })
      yield* steps(space, 3)
      yield* TestClock.adjust("1 second")
      const taken: Array<number> = []
      for (let beat = 3; beat < 10; beat++) {
        yield* space.step
        taken.push(present(yield* TestKernel.ledger(space, beat, "inbox")).length)
      }
      assert.deepStrictEqual(taken, [4, 4, 4, 4, 4, 4, 0])
      assert.strictEqual(yield* space.get("/data/n"), 24)
    }).pipe(Effect.provide(TestKernel.layer({ tempo: 100, limits: { ...limits, captureSignals: 4 } }))))
})

describe("a full inbox", () => {
  it.effect("refuses a further signal, and accepts it once there is room", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([count])
      for (let i = 0; i < 3; i++) yield* space.signal({ signal: `/signals/${i}` })
      const error = yield* Effect.flip(space.signal({ signal: "/signals/more" }))
      assert.strictEqual(error.code, "inbox/full")
      yield* space.step
      yield* space.signal({ signal: "/signals/more" })
      yield* space.step
      assert.strictEqual(yield* space.get("/data/n"), 4)
    }).pipe(Effect.provide(TestKernel.layer({ limits: { ...limits, inboxSignals: 3 } }))))

  it.effect("by characters refuses a further signal, too, but no repetition of a known one", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([count])
      const big = { signal: "/signals/a", id: "a", payload: "x".repeat(90) }
      yield* space.signal(big)
      assert.strictEqual((yield* Effect.flip(space.signal({ signal: "/signals/b", payload: "x".repeat(300) }))).code, "inbox/full")
      assert.isTrue((yield* space.signal(big)).duplicate)
      yield* space.signal({ signal: "/signals/c" })
    }).pipe(Effect.provide(TestKernel.layer({ limits: { ...limits, inboxBytes: 320 } }))))

  it.effect("delays no signal of runs", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("fan", (tx) => {
          for (let i = 0; i < 50; i++) tx.signal({ signal: `/signals/n/${i}`, payload: i })
        }),
        enzyme("n", (tx) => tx.increment("/data/n"), { query: "/signals/n/*" })
      ])
      yield* space.signal({ signal: "/signals/fan" })
      yield* steps(space, 2)
      yield* space.signal({ signal: "/signals/fan" })
      assert.strictEqual(yield* space.get("/data/n"), 50)
    }).pipe(Effect.provide(TestKernel.layer({ limits: { ...limits, inboxSignals: 1 } }))))

  it.effect("counts paths and targets, and signals that wait for a retry", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("try", (_, { attempt }) => attempt < 2 ? new Retry({ reason: "once" }) : undefined, { query: "/try/**" })
      ])
      const long = `/try/${"n".repeat(250)}`
      yield* space.signal({ signal: long })
      yield* space.step
      assert.strictEqual((yield* Effect.flip(space.signal({ signal: "/signals/more", payload: "x".repeat(200) }))).code, "inbox/full")
      yield* space.step
      yield* space.signal({ signal: "/signals/more", payload: "x".repeat(200) })
    }).pipe(Effect.provide(TestKernel.layer({ limits: { ...limits, inboxBytes: 500 } }))))
})

describe("a signal's path", () => {
  it.effect("has at most as many characters as an address, from outside and from runs", () =>
    Effect.gen(function*() {
      const path = (length: number) => `/${"n".repeat(199)}`.repeat(11).slice(0, length)
      const space = yield* TestKernel.space([enzyme("send", (tx) => tx.signal({ signal: path(2049) }))])
      const error = yield* Effect.flip(space.signal({ signal: path(2049) }))
      assert.strictEqual(error.code, "signal/invalid")
      assert.include(error.message, "2049 characters and the limit is 2048")
      assert.isBelow(error.message.length, 300)
      yield* space.signal({ signal: path(2048) })
      const { id } = yield* space.signal({ signal: "/signals/send" })
      yield* space.step
      assert.strictEqual((yield* space.receipt(id))?.handlings[0]?.error?.code, "signal/invalid")
    }).pipe(Effect.provide(TestKernel.layer())))
})

describe("the backlog of a space", () => {
  /** Sends ten signals for each signal it handles. */
  const tenfold = enzyme("ten", (tx) => {
    for (let i = 0; i < 10; i++) tx.signal({ signal: `/ten/${tx.id()}`, payload: i })
  }, { query: "/ten/**", retry: { attempts: 3 } })

  it.effect("refuses signals of runs beyond the limit of waiting ones, and buries runs that can never send", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([tenfold])
      const { id } = yield* space.signal({ signal: "/ten/first" })
      yield* steps(space, 40)
      assert.strictEqual((yield* space.receipt(id))?.status, "handled")
      let open = 1
      let most = 0
      for (let beat = 0; beat < 40; beat++) {
        for (const [, , outcome, sent] of Journal.parse(present(yield* space.journal(beat)).text).runs) {
          if (typeof outcome === "object") open += (sent ?? []).length - 1
          else if (outcome === "dead") open--
        }
        most = Math.max(most, open)
      }
      assert.isAbove(most, 30)
      assert.isAtMost(most, 35 + 10)
      assert.deepStrictEqual([...new Set((yield* TestKernel.diagnostics(space)).map(({ code }) => code))], ["backlog/full"])
    }).pipe(Effect.provide(TestKernel.layer({ limits: { ...limits, backlogSignals: 35, captureSignals: 10 } }))))

  it.effect("counts characters, too", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme(
          "big",
          (tx, { payload }) => void tx.signal({ signal: "/signals/none", payload: "x".repeat(payload as number) }),
          { retry: { attempts: 1 } }
        )
      ])
      const small = yield* space.signal({ signal: "/signals/big", payload: 100 })
      const large = yield* space.signal({ signal: "/signals/big", target: undefined, payload: 1000 })
      yield* steps(space, 2)
      assert.strictEqual((yield* space.receipt(small.id))?.status, "handled")
      assert.strictEqual((yield* space.receipt(large.id))?.handlings[0]?.error?.code, "backlog/full")
    }).pipe(Effect.provide(TestKernel.layer({ limits: { ...limits, backlogBytes: 1000 } }))))

  it.effect("lets a chain continue when full, and refused runs when there is room", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("chain", (tx) => void tx.signal({ signal: "/signals/chain" })),
        enzyme("fan", (tx) => {
          for (let i = 0; i < 3; i++) tx.signal({ signal: `/signals/none/${i}` })
        })
      ])
      yield* space.signal({ signal: "/signals/chain" })
      yield* space.step
      const { id } = yield* space.signal({ signal: "/signals/fan" })
      yield* steps(space, 4)
      assert.deepStrictEqual(yield* ended(space, id), ["fan ok @2 #2"])
      assert.lengthOf(present(yield* TestKernel.ledger(space, 4, "inbox")), 1)
    }).pipe(Effect.provide(TestKernel.layer({ limits: { ...limits, backlogSignals: 3 } }))))
})

describe("control input", () => {
  it.effect("is refused over the limit, and otherwise taken in as many beats as it needs", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      const sets = yield* Effect.forEach(Array.from({ length: 12 }, (_, i) => i), (i) =>
        Effect.forkChild(Effect.result(space.set(`/data/${i}`, "x".repeat(900))), { startImmediately: true }))
      yield* steps(space, 5)
      const answers = yield* Effect.forEach(sets, (fiber) => Fiber.join(fiber))
      const told = answers.map((answer) => answer._tag === "Success" ? answer.success : answer.failure.code)
      assert.deepStrictEqual(told, [0, 0, 1, 1, 2, 2, 3, 3, "inbox/full", "inbox/full", "inbox/full", "inbox/full"])
      const late = yield* controlled(space, space.set("/data/late", "x".repeat(900)))
      assert.strictEqual(late._tag, "Success")
    }).pipe(Effect.provide(TestKernel.layer({ limits: { ...limits, inboxBytes: 8500, captureBytes: 2100 } }))))

  const set = (text: string, n: number): QueuedCommand =>
    ({ command: { kind: "set", write: Write.set(Address.parse(`/data/${n}`), text), group: undefined }, answer: () => undefined })
  const bind = (cell: string): QueuedCommand =>
    ({ command: { kind: "bind", change: { cell, enzyme: "e", propagate: true, tombstone: false } }, answer: () => undefined })

  it("is refused over the limits of waiting number and characters, and accepted when there is room", () => {
    const inbox = new Inbox()
    const narrow = { ...limits, inboxSignals: 2, inboxBytes: 1000 }
    assert.isUndefined(inbox.commands.offer(set("x".repeat(500), 1), narrow))
    assert.strictEqual(inbox.commands.offer(set("x".repeat(500), 2), narrow), "1000 characters")
    assert.isUndefined(inbox.commands.offer(bind("/data/a"), narrow))
    assert.strictEqual(inbox.commands.offer(bind("/data/b"), narrow), "2 signals")
    inbox.commands.drop(inbox.commands.next(narrow).length)
    assert.deepStrictEqual([inbox.volume.bytes, inbox.commands.size], [0, 0])
    assert.isUndefined(inbox.commands.offer(set("x".repeat(800), 2), narrow))
  })

  it("enters a beat in order, at least one and up to the limit, and stays queued until the commit", () => {
    const inbox = new Inbox()
    const narrow = { ...limits, captureBytes: 1000, captureSignals: 3 }
    const all = [
      set("x".repeat(2000), 0),
      set("x".repeat(300), 1),
      set("x".repeat(300), 2),
      set("x".repeat(300), 3),
      ...[4, 5, 6, 7].map((n) => bind(`/data/${n}`))
    ]
    for (const queued of all) inbox.commands.offer(queued, narrow)
    const counts: Array<number> = []
    while (inbox.commands.size > 0) {
      const next = inbox.commands.next(narrow)
      assert.deepStrictEqual(inbox.commands.next(narrow), next)
      assert.deepStrictEqual(next, inbox.commands.all().slice(0, next.length))
      counts.push(next.length)
      inbox.commands.drop(next.length)
    }
    assert.deepStrictEqual(counts, [1, 2, 3, 2])
  })
})
