import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { defaults, Enzyme, Kernel, type Persistence, type Space, type Transaction } from "systole"
import { TestReactor } from "systole/testing"
import * as Requests from "../../src/reactor/Request.ts"
import { enzyme, steps, through } from "../kernel/TestSpace.ts"
import * as Tamper from "../support/Tamper.ts"
import * as TestKernel from "../support/TestKernel.ts"

const DAY = 86_400_000

const ask = enzyme("ask", (tx, { signal }) =>
  signal === "/signals/ask/done" ? undefined : tx.io.request({ channel: "bank", opcode: "charge", signal: "/signals/ask/done" }), {
  query: "/signals/ask", match: "prefix"
})

/** Ends in the beat of its request. */
const hasty = Enzyme.make({
  name: "hasty",
  query: "/signals/hasty",
  durable: true,
  run: async (tx: Transaction) => void tx.io.request({ channel: "bank", opcode: "charge" })
})

/** Opens the space again after its store was written. */
const written = Effect.fnUntraced(function*(space: Space, cells: Readonly<Record<string, string | undefined>>) {
  yield* Tamper.write("test", cells)
  yield* Effect.flip(space.step)
  return yield* (yield* Kernel).space("test")
})

/** Runs a test over a scripted reactor, with a request of an enzyme in progress. */
const withRequest = <A, E>(
  test: (space: Space, reactor: TestReactor) => Effect.Effect<A, E, Kernel | Persistence>,
  signal = "/signals/ask"
) => {
  const reactor = new TestReactor({ bank: { opcodes: { charge: { repeatable: true } } } })
  const layer = TestKernel.layer({ limits: { ...defaults, finishedMillis: DAY } }, undefined, { reactor: reactor.layer })
  return Effect.gen(function*() {
    const space = yield* TestKernel.space([ask, hasty])
    yield* space.signal({ signal })
    yield* space.step
    yield* test(space, reactor)
  }).pipe(Effect.provide(layer))
}

describe("An entry of the index without its request", () => {
  it.effect("is cleared by its completion", () => withRequest((before, reactor) => Effect.gen(function*() {
    const rid = reactor.jobs[0]?.rid ?? ""
    reactor.crash()
    const space = yield* written(before, { [`/rt/ops/OPS:io/io_req/${rid}`]: undefined })
    yield* space.step
    assert.deepStrictEqual(yield* space.list("/sys/index/io"), [])
    yield* through(space, space.control.pause())
    assert.strictEqual((yield* space.control.state).state, "paused")
  })))
})

describe("A request of a run that was given up", () => {
  it.effect("is not made again, but with its letter", () => withRequest((before, reactor) => Effect.gen(function*() {
    const [oid = ""] = (yield* before.list("/rt/ops")).filter((name) => name !== "OPS:io")
    const [rid = ""] = yield* before.list(`/rt/ops/${oid}/io_req`)
    const place = `/rt/ops/${oid}/io_req/${rid}`
    const { code: _, errno: _errno, ...record } = (yield* before.get(place)) as unknown as Requests.Request
    const { text } = Requests.write({ ...record, state: "pending" })
    const dead = JSON.stringify({ state: "ist:dead" })
    const space = yield* written(before, { [place]: text, [`/sys/index/io/${rid}`]: `"${oid}"`, [`/rt/ops/${oid}`]: dead })
    yield* space.step
    assert.lengthOf(reactor.submitted, 0)
    assert.deepInclude(yield* space.get(place), { state: "fail", code: "io/cancelled" })
  }), "/signals/hasty"))
})

describe("A dossier with an open request", () => {
  it.effect("is retained, and the request of a run that is over is not made again", () => withRequest((before, reactor) =>
    Effect.gen(function*() {
      const [oid = ""] = (yield* before.list("/rt/ops")).filter((name) => name !== "OPS:io")
      const [rid = ""] = yield* before.list(`/rt/ops/${oid}/io_req`)
      const place = `/rt/ops/${oid}/io_req/${rid}`
      const { code: _, errno: _errno, ...record } = (yield* before.get(place)) as unknown as Requests.Request
      yield* TestClock.adjust(2 * DAY)
      // An earlier version left the requests of a run open at its end.
      const { text } = Requests.write({ ...record, state: "pending" })
      const space = yield* written(before, { [place]: text, [`/sys/index/io/${rid}`]: `"${oid}"` })
      assert.lengthOf(reactor.submitted, 0)
      yield* space.step
      assert.deepInclude(yield* space.get(place), { state: "fail", code: "io/cancelled" })
      yield* steps(space, 2)
      assert.deepStrictEqual(yield* space.list("/sys/index/io"), [])
      assert.isDefined(yield* space.get(`/rt/ops/${oid}`))
      yield* TestClock.adjust(2 * DAY)
      yield* steps(space, 2)
      assert.isUndefined(yield* space.get(`/rt/ops/${oid}`))
    }), "/signals/hasty"))
})
