import { assert, describe, it } from "@effect/vitest"
import { renewed } from "../../src/client/index.ts"

const MINUTE = 60_000

/** A source of bearers of 15 minutes. Its clock is ahead of the clock of the page by milliseconds. */
const source = (ahead = 0) => {
  const clock = { now: 1_000_000 }
  let asked = 0
  const token = renewed(async () => ({ token: `bearer ${++asked}`, expires: clock.now + ahead + 15 * MINUTE }), { now: () => clock.now })
  const after = (ms: number): Promise<string | undefined> => {
    clock.now += ms
    return token()
  }
  return { after, token }
}

describe("A bearer of a page", () => {
  it("is shared by parallel requests, and renewed before its end", async () => {
    const { after, token } = source()
    assert.deepStrictEqual(await Promise.all([token(), token(), token()]), ["bearer 1", "bearer 1", "bearer 1"])
    assert.strictEqual(await after(9 * MINUTE), "bearer 1")
    assert.strictEqual(await after(MINUTE), "bearer 2")
    assert.strictEqual(await after(9 * MINUTE), "bearer 2")
    assert.strictEqual(await after(-20 * MINUTE), "bearer 3")
  })

  it("is used and renewed in time by a page with a wrong clock", async () => {
    const early = source(20 * MINUTE)
    assert.strictEqual(await early.token(), "bearer 1")
    assert.strictEqual(await early.after(10 * MINUTE), "bearer 2")
    const late = source(-20 * MINUTE)
    assert.strictEqual(await late.token(), "bearer 1")
    assert.strictEqual(await late.after(20_000), "bearer 1")
    assert.strictEqual(await late.after(20_000), "bearer 2")
  })

  it("is renewed after a failure", async () => {
    let asked = 0
    const token = renewed(async () => {
      if (asked++ === 0) throw new Error("no answer")
      return { token: "bearer", expires: 15 * MINUTE }
    }, { now: () => 0 })
    assert.instanceOf(await token().catch((error: unknown) => error), Error)
    assert.strictEqual(await token(), "bearer")
  })
})
