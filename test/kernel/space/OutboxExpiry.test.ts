import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { type Batch, CurrentReporter, type Kernel, replay, Reporter, type Space, type Told, verify } from "systole"
import * as TestKernel from "../../support/TestKernel.ts"
import { controlled, enzyme, steps, turns } from "../TestSpace.ts"
import * as RestartableKernel from "../RestartableKernel.ts"

/** Sends its payload to space b, which records it. */
const enzymes = [
  enzyme("send", (tx, { payload }) => {
    for (const item of payload as ReadonlyArray<unknown>) tx.signal({ signal: "/signals/take", space: "b", payload: item })
  }),
  enzyme("take", (tx, { payload }) => tx.append("/data/taken", payload))
]

const hour = 3_600_000
const day = 24 * hour

const nothing: Batch = { entry: undefined, cells: [], receipts: [], queued: [], dequeued: [], blobs: [], observations: [] }

const taken = (space: Space) => Effect.map(space.get("/data/taken"), (list) => list ?? [])

const spaces = (kernel: Kernel["Service"]) => Effect.all([kernel.space("a"), kernel.space("b")])

const isReplayedEqual = Effect.fnUntraced(function*(space: Space) {
  const head = yield* space.head
  assert.isUndefined((yield* space.examine((archive) => replay(archive, 0, head))).difference, space.name)
  assert.isUndefined((yield* space.examine(verify)).fault)
})

/** Makes space a send, and runs the host's turns. */
const send = Effect.fnUntraced(function*(a: Space, ...items: ReadonlyArray<unknown>) {
  yield* a.signal({ signal: "/signals/send", payload: items })
  yield* a.step
  yield* turns()
})

describe("a signal that another space does not confirm", () => {
  for (const outcome of ["was handled", "never arrived"] as const) {
    it.effect(`is given up before the receiver's receipts expire, and says so, whether it ${outcome}`, () =>
      Effect.gen(function*() {
        const host = yield* RestartableKernel.make(enzymes)
        const log: Array<Told> = []
        const boot = () => Effect.provideService(host.boot({ tempo: hour }), CurrentReporter, new Reporter((told) => log.push(told)))
        const [a, b] = yield* spaces(yield* boot())
        yield* host.hold("b")
        yield* send(a, 1, 2)
        if (outcome === "was handled") {
          // The sender ends before it learns of the delivery.
          yield* host.hold("a")
          yield* host.release("b")
          yield* turns()
          yield* steps(b, 3)
        }
        yield* TestClock.adjust(8 * day)
        const kernel = yield* boot()
        for (const name of ["a", "b"]) yield* host.release(name)
        const there = yield* kernel.space("b")
        // The receiver forgets.
        yield* steps(there, 2)
        const again = yield* kernel.space("a")
        yield* turns()
        yield* steps(there, 2)
        yield* steps(again, 2)
        const before = outcome === "was handled" ? [1, 2] : []
        assert.deepStrictEqual(yield* taken(there), before)
        const { letters } = yield* again.dead({ limit: 10 })
        const expected = ["outbox/expired", "space:b", "b"]
        assert.deepStrictEqual(letters.map(({ code, enzyme, space }) => [code, enzyme, space]), [expected, expected])
        assert.deepStrictEqual((yield* TestKernel.diagnostics(again)).map(({ code, sev }) => [code, sev]), [
          ["outbox/expired", "sev:crit"],
          ["outbox/expired", "sev:crit"]
        ])
        const reports = log.filter(({ topic }) => topic === "outbox/expired")
        assert.deepStrictEqual(reports.map(({ severity, space }) => [severity, space]), [["sev:crit", "a"]])
        assert.match((yield* again.letter(letters[0]!.id, "space:b"))?.message ?? "", /Look there whether it was handled/)
        assert.deepStrictEqual(yield* again.examine(({ store }) => [...store.queue()]), [])
        // The operator decides.
        for (const { enzyme, id } of letters) yield* controlled(again, again.redeliver(id, enzyme))
        yield* turns()
        yield* steps(there, 3)
        assert.deepStrictEqual(yield* taken(there), [...before, 1, 2])
        for (const space of [again, there]) yield* isReplayedEqual(space)
      }))
  }

  it.effect("is given up at 0.7 of the retention of receipts and no earlier, also while the sender is open", () =>
    Effect.gen(function*() {
      const host = yield* RestartableKernel.make(enzymes)
      const kernel = yield* host.boot({ tempo: hour / 4, retention: { receiptMillis: 10 * day } })
      const a = yield* kernel.space("a")
      const pass = Effect.fnUntraced(function*(millis: number) {
        for (let passed = 0; passed < millis; passed += 12 * hour) {
          yield* TestClock.adjust(12 * hour)
          yield* turns()
        }
        yield* steps(a, 2)
      })
      host.breakOpening("b", true)
      yield* send(a, "old")
      yield* pass(4 * day)
      yield* send(a, "new")
      // Attempts are up to 64 beats apart, here 16 hours.
      yield* pass(2 * day)
      assert.lengthOf((yield* a.dead({ limit: 10 })).letters, 0)
      yield* pass(4 * day)
      assert.lengthOf((yield* a.dead({ limit: 10 })).letters, 1)
      host.breakOpening("b", false)
      yield* pass(day)
      const b = yield* kernel.space("b")
      yield* steps(b, 3)
      assert.deepStrictEqual(yield* taken(b), ["new"])
    }))

  it.effect("is given up after a standstill of the sender alone", () =>
    Effect.gen(function*() {
      const host = yield* RestartableKernel.make(enzymes)
      const [a, b] = yield* spaces(yield* host.boot({ tempo: hour }))
      yield* host.hold("b")
      yield* send(a, 1)
      yield* host.hold("a")
      yield* host.release("b")
      yield* turns()
      yield* steps(b, 2)
      const kernel = yield* host.boot({ tempo: hour })
      yield* host.release("a")
      const there = yield* kernel.space("b")
      for (let passed = 0; passed < 8; passed++) {
        yield* TestClock.adjust(day)
        yield* steps(there, 2)
      }
      const again = yield* kernel.space("a")
      yield* turns()
      yield* steps(again, 2)
      yield* steps(there, 2)
      assert.deepStrictEqual(yield* taken(there), [1])
      assert.lengthOf((yield* again.dead({ limit: 10 })).letters, 1)
    }))

  it.effect("of an earlier version has the age of its beat", () =>
    Effect.gen(function*() {
      for (const [age, isGivenUp] of [[4 * day, false], [5 * day, true]] as const) {
        const host = yield* RestartableKernel.make(enzymes)
        const [a] = yield* spaces(yield* host.boot({ tempo: hour }))
        yield* host.hold("b")
        yield* send(a, 1)
        yield* host.edit("a", (store) => {
          const [{ seq = 0, text = "" } = {}] = store.queue()
          const { to: { sent, ...to }, ...row } = JSON.parse(text)
          assert.isNumber(sent)
          store.append({ ...nothing, queued: [{ seq: seq + 1, text: JSON.stringify({ ...row, to }) }], dequeued: [seq] })
        })
        yield* TestClock.adjust(age)
        const kernel = yield* host.boot({ tempo: hour })
        yield* host.release("b")
        const [again, b] = yield* spaces(kernel)
        yield* turns()
        yield* steps(again, 2)
        yield* steps(b, 2)
        assert.deepStrictEqual(yield* taken(b), isGivenUp ? [] : [1])
        assert.lengthOf((yield* again.dead({ limit: 10 })).letters, isGivenUp ? 1 : 0)
      }
    }))
})
