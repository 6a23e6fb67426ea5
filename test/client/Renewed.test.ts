import { assert, describe, it } from "@effect/vitest"
import { connect, renewed, type RequestFailed } from "../../src/client/index.ts"

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

  it("is renewed when the server refuses it, once for all requests that it refuses", async () => {
    const { token } = source()
    assert.strictEqual(await token(), "bearer 1")
    assert.deepStrictEqual(await Promise.all([token("bearer 1"), token("bearer 1")]), ["bearer 2", "bearer 2"])
    assert.deepStrictEqual([await token("bearer 1"), await token()], ["bearer 2", "bearer 2"])
  })

  it("sends a refused request once more with its successor, and fails with the refusal otherwise", async () => {
    const problem = { code: "auth/revoked", status: 401, detail: "The token was revoked." }
    const sent: Array<string> = []
    let accepted = "bearer 2"
    const fetch = async (_: string, { headers }: RequestInit): Promise<Response> => {
      const shown = new Headers(headers).get("authorization") ?? ""
      sent.push(shown)
      return shown === `Bearer ${accepted}` ? Response.json({ beat: 1 }) : Response.json(problem, { status: 401 })
    }
    const space = connect({ token: source().token, platform: { fetch } }).space("shop")
    await space.set("/data/a", 1)
    assert.deepStrictEqual(sent, ["Bearer bearer 1", "Bearer bearer 2"])
    accepted = "none"
    const refused = (settings: object) =>
      connect({ platform: { fetch }, ...settings }).space("shop").set("/data/a", 1)
        .then(() => undefined, (error: RequestFailed) => error.code)
    assert.strictEqual(await refused({ token: source().token }), "auth/revoked")
    assert.lengthOf(sent, 4)
    assert.strictEqual(await refused({ token: "the same" }), "auth/revoked")
    assert.lengthOf(sent, 5)
    const ended = renewed(async () => problem)
    assert.strictEqual(await refused({ token: ended }), "auth/revoked")
    assert.lengthOf(sent, 5)
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
