import { assert, describe, it } from "@effect/vitest"
import { Enzyme } from "systole"
import { type ExpectationFailed, expectCell, type ExpectedReceipt, expectReceipt, expectSignal, TestSpace } from "systole/testing"
import * as Check from "../../../src/main/testing/contract/Check.ts"

const failed = async (check: () => unknown): Promise<ExpectationFailed> => {
  try {
    await check()
  } catch (error) {
    return error as ExpectationFailed
  }
  throw new Error("it held")
}

const put = Enzyme.make({ name: "put", query: "/signals/put", run: (tx, { payload }) => {
  tx.set("/data/put", payload)
  tx.signal({ signal: "/signals/told", payload })
  return payload
} })

const dies = Enzyme.make({
  name: "dies",
  query: "/signals/dies",
  retry: { attempts: 1 },
  run: () => {
    throw new TypeError("no such thing")
  }
})

describe("expectReceipt", () => {
  it("tells the status, with the failure of the handling", () =>
    TestSpace.use([dies], async (space) => {
      const receipt = await space.handled({ signal: "/signals/dies" })
      expectReceipt(receipt, { status: "dead", handlings: { dies: { outcome: "dead" } } })
      expectReceipt(receipt, { code: "run/failed" })
      expectReceipt(await space.handled({ signal: "/signals/none" }), { code: "signal/no-match" })
      assert.include((await failed(() => expectReceipt(receipt, { code: "cell/type" }))).message, "the code of x.")
      const { actual, expected, message } = await failed(() => expectReceipt(receipt))
      assert.match(message, /is "dead", and "handled" is expected; dies failed with \S+: .*no such thing/)
      assert.deepStrictEqual([actual, expected], ["dead", "handled"])
    }))

  it("tells the value, the enzymes and the parts of a handling that differ", () =>
    TestSpace.use([put], async (space) => {
      const receipt = await space.handled({ signal: "/signals/put", payload: { b: 1, a: [new Date(0)] } })
      expectReceipt(receipt, { value: { a: [new Date(0)], b: 1 } })
      const told = async (expected: ExpectedReceipt) => (await failed(() => expectReceipt(receipt, expected))).message
      assert.include(await told({ value: 2 }), "the value of put is {\"a\":[\"1970-01-01T00:00:00.000Z\"],\"b\":1}, and 2 is expected")
      assert.include(await told({ handlings: { get: {} } }), "the enzymes that handled")
      assert.include(await told({ handlings: { put: { attempt: 2 } } }), "the attempt of put is 1, and 2 is expected")
      assert.include((await failed(() => expectReceipt(undefined))).message, "no receipt")
    }))
})

describe("expectCell and expectSignal", () => {
  it("tell what is there and what was sent", () =>
    TestSpace.use([put], async (space) => {
      await space.handled({ signal: "/signals/put", payload: 5 })
      await expectCell(space, "/data/put", 5)
      assert.strictEqual((await failed(() => expectCell(space, "/data/put", 6))).message, "/data/put is 5, and 6 is expected")
      assert.strictEqual((await failed(() => expectCell(space, "/data/none", 6))).message, "/data/none is undefined, and 6 is expected")
      assert.lengthOf(expectSignal(space, { signal: "/signals/told", payload: 5 }), 1)
      const { message } = await failed(() => expectSignal(space, { signal: "/signals/told", payload: 6 }))
      const sent = "{\"beat\":0,\"signal\":\"/signals/told\",\"payload\":5}"
      assert.strictEqual(message, `no signal matched {"signal":"/signals/told","payload":6}; runs sent ${sent}`)
      assert.match((await failed(() => expectSignal(space, { times: 2 }))).message, /^1 instead of 2 signals matched/)
    }))
})

describe("Check", () => {
  it("tells values that differ, whatever they are", () => {
    const pairs: ReadonlyArray<readonly [unknown, unknown]> = [
      [1, 2], [0, -0], [null, undefined], ["1", 1], [1n, 2n], [{ a: undefined }, {}], [{ a: 1 }, { b: 1 }], [[1], [1, 2]], [[], {}],
      [new Map([[1, 2]]), new Map([[1, 3]])], [new Set([1]), new Set([2])], [new Date(0), new Date(1)],
      [Uint8Array.of(1), Uint8Array.of(2)], [Uint8Array.of(1), [1]]
    ]
    for (const [a, b] of pairs) {
      assert.isFalse(Check.equals(a, b), `${Check.show(a)} and ${Check.show(b)}`)
      assert.isTrue(Check.equals(a, structuredClone(a)), Check.show(a))
    }
    assert.isTrue(Check.equals({ a: 1, b: [NaN] }, { b: [NaN], a: 1 }))
  })

  it("refuses what is above, below, false or does not throw", async () => {
    Check.atMost(1, 1)
    Check.atLeast(1, 1)
    Check.refuses(() => { throw new Error("no room") }, /room/)
    const other = () => { throw new Error("other") }
    const numbers = [() => Check.atMost(2, 1), () => Check.atLeast(1, 2), () => Check.holds(false, "no")]
    for (const check of [...numbers, () => Check.refuses(() => 1, /room/), () => Check.refuses(other, /room/)]) {
      assert.strictEqual((await failed(check)).name, "ExpectationFailed")
    }
  })
})
