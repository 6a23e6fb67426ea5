import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { MAX_CALLERS, MAX_SPACES, Rates, type Settings } from "../../src/access/Rates.ts"
import { networkOf } from "../../src/ingress/access/RateLimit.ts"
import * as Config from "../../src/loader/Config.ts"
import * as TrustedProxies from "../../src/main/host/TrustedProxies.ts"
import { problem, serve } from "../ingress/TestIngress.ts"
import { make as makeTokens } from "./TestTokens.ts"

const make = (settings: Settings) => {
  const clock = { now: 0 }
  return { clock, rates: new Rates(settings, () => clock.now) }
}

const ten: Settings = { credential: { requests: 10, seconds: 5 }, address: { requests: 2, seconds: 60 } }

describe("A rate", () => {
  it("has so many requests at once, which come back evenly", () => {
    const { clock, rates } = make(ten)
    const taken = () => rates.take("credential", "a", "shop")
    for (let left = 9; left >= 0; left--) assert.deepInclude(taken(), { isOver: false, left })
    assert.deepInclude(taken(), { isOver: true, left: 0, seconds: 1 })
    clock.now += 500
    assert.deepInclude(taken(), { isOver: false, left: 0, seconds: 5 })
    assert.deepInclude(taken(), { isOver: true })
    clock.now += 60_000
    assert.deepInclude(taken(), { isOver: false, left: 9, seconds: 1 })
    clock.now -= 600_000
    assert.deepInclude(taken(), { isOver: false, left: 8 })
  })

  it("is that of each caller in each space, and absent where the configuration has none", () => {
    const { rates } = make({ credential: { requests: 1, seconds: 60 } })
    const isOver = (caller: string, space: string) => rates.take("credential", caller, space)?.isOver
    const asked = [["a", "shop"], ["a", "shop"], ["a", "home"], ["b", "shop"]] as const
    assert.deepStrictEqual(asked.map(([caller, space]) => isOver(caller, space)), [false, true, false, false])
    assert.isUndefined(rates.take("address", "a"))
  })

  it("is looked at without a request", () => {
    const { clock, rates } = make(ten)
    assert.isFalse(rates.isSpent("address", "a"))
    for (const isSpent of [false, true]) {
      rates.take("address", "a")
      assert.strictEqual(rates.isSpent("address", "a"), isSpent)
    }
    assert.strictEqual(rates.size, 1)
    clock.now += 30_000
    assert.isFalse(rates.isSpent("address", "a"))
    assert.isFalse(make({}).rates.isSpent("address", "a"))
  })

  it("is not multiplied by names of spaces, and is held in bounded memory", () => {
    const { clock, rates } = make({ credential: { requests: 1, seconds: 60 }, address: { requests: 1, seconds: 60 } })
    const spaces = Array.from({ length: 1000 }, (_, i) => `s${i}`)
    const allowed = () => spaces.filter((space) => rates.take("credential", "a", space)?.isOver === false)
    assert.lengthOf(allowed(), MAX_SPACES + 1)
    clock.now += 60_000
    assert.isAtMost(allowed().length, MAX_SPACES + 1)
    for (let i = 0; i < 2 * MAX_CALLERS; i++) rates.take("address", `${i}`)
    assert.strictEqual(rates.size, MAX_CALLERS + 1)
    assert.strictEqual(rates.take("credential", "a", "s0")?.isOver, true, "strangers displace no credential")
  })
})

describe("The address of a caller", () => {
  const address = (trusted: ReadonlyArray<string>, connection: string | undefined, forwarded = "") =>
    TrustedProxies.make(trusted)(new Request("http://a/", { headers: { "x-forwarded-for": forwarded } }), connection)

  it("is that of its connection, or of the nearest entry that is no trusted proxy", () => {
    assert.strictEqual(address([], "9.9.9.9", "1.1.1.1"), "9.9.9.9")
    assert.strictEqual(address(["10.0.0.0/8"], "9.9.9.9", "1.1.1.1"), "9.9.9.9")
    assert.strictEqual(address(["10.0.0.0/8"], "10.0.0.1", "6.6.6.6, 1.1.1.1, 10.2.0.1"), "1.1.1.1")
    assert.strictEqual(address(["10.0.0.0/8"], "::ffff:10.0.0.1", "6.6.6.6, 1.1.1.1:4711"), "1.1.1.1")
    assert.strictEqual(address(["10.0.0.1", "fd00::/8"], "fd00::1", "[2001:db8::7]:443"), "2001:db8::7")
    assert.strictEqual(address(["10.0.0.1"], "10.0.0.1", "unknown"), "10.0.0.1")
    assert.strictEqual(address(["10.0.0.1"], "10.0.0.1"), "10.0.0.1")
    assert.isUndefined(address(["10.0.0.1"], undefined, "1.1.1.1"))
  })

  it("counts as its network", () => {
    assert.strictEqual(networkOf("2001:db8:1:2:3:4:5:6"), networkOf("2001:db8:1:2::9"))
    assert.notStrictEqual(networkOf("2001:db8::1"), networkOf("2001:db8:0:1::1"))
    assert.strictEqual(networkOf("::ffff:1.2.3.4"), "1.2.3.4")
  })
})

describe("The ingress with rates", () => {
  it.live("answers 429 beyond them with the fields of the draft, and never to the operator", () => {
    const tokens = makeTokens()
    const root = "the-operators-own-token"
    const rates = { rates: new Rates(ten, () => tokens.clock.now), addressOf: TrustedProxies.make([]) }
    const config = { token: root, spaces: { create: "on-demand" as const } }
    return Effect.flatMap(serve({ config, tokens, rates }), ({ app, ask }) => Effect.promise(async () => {
      const from = (address: string, token: string, path = "/v1/spaces/shop/cells/data/a") =>
        Promise.resolve(app.fetch(new Request(`http://localhost${path}`, { headers: { authorization: `Bearer ${token}` } }), () => address))
      const headers = { authorization: `Bearer ${root}`, "content-type": "application/json" }
      await ask("/v1/spaces/shop/cells/data/a", { method: "PUT", body: "1", headers })
      const token = await tokens.create({ verbs: ["read"] })
      const first = await from("1.1.1.1", token)
      assert.deepStrictEqual([first.status, first.headers.get("ratelimit-policy"), first.headers.get("ratelimit")], [
        200, "\"credential\";q=10;w=5", "\"credential\";r=9;t=1"
      ])
      for (let i = 0; i < 9; i++) assert.strictEqual((await from("1.1.1.1", token)).status, 200)
      const over = await from("1.1.1.1", token)
      const { code, detail } = await over.json() as { readonly code: string; readonly detail: string }
      assert.deepStrictEqual([over.status, code, over.headers.get("retry-after")], [429, "access/rate", "1"])
      assert.match(detail, /10 requests in 5 seconds.*again in 1 seconds/)
      assert.strictEqual((await from("1.1.1.1", token, "/v1/spaces/home/cells/data/a")).status, 404)
      for (const status of [401, 401, 429, 429]) assert.strictEqual((await from("2.2.2.2", "wrong")).status, status)
      assert.strictEqual((await from("3.3.3.3", "wrong")).status, 401)
      // A credential is not counted by its address.
      assert.strictEqual((await from("2.2.2.2", token, "/v1/spaces/home/cells/data/a")).status, 404)
      for (let i = 0; i < 30; i++) assert.strictEqual((await from("2.2.2.2", root)).status, 200)
      assert.strictEqual((await from("2.2.2.2", "wrong", "/livez")).status, 200)
      const { body } = await ask("/v1/access/tokens", { headers })
      const { tokens: [row] } = body as { readonly tokens: ReadonlyArray<{ readonly denied: object }> }
      assert.deepStrictEqual(row?.denied, { "access/rate": 1 })
      tokens.clock.now += 60_000
      assert.strictEqual((await from("2.2.2.2", "wrong")).status, 401)
      const within = await ask("/v1/spaces/shop/cells/data/a", { headers: { authorization: "Bearer no" } })
      assert.deepStrictEqual(problem(within), [401, "auth/missing"])
    }))
  })

  it.live("counts addresses behind pages of other sites, too", () => {
    const tokens = makeTokens()
    const rates = { rates: new Rates(ten, () => tokens.clock.now), addressOf: TrustedProxies.make([]) }
    const config = { token: "the-operators-own-token", origins: ["https://page.example"] }
    return Effect.flatMap(serve({ config, tokens, rates }), ({ app }) => Effect.promise(async () => {
      for (const origin of [{}, { origin: "https://page.example" }]) {
        for (const [address, statuses] of [["1.1.1.1", [401, 401, 429]], ["2.2.2.2", [401, 401, 429]]] as const) {
          for (const status of statuses) {
            const request = new Request("http://localhost/v1/spaces", { headers: { authorization: "Bearer wrong", ...origin } })
            const answer = await app.fetch(request, () => address)
            assert.strictEqual(answer.status, status)
            if ("origin" in origin) assert.strictEqual(answer.headers.get("access-control-allow-origin"), origin.origin)
          }
        }
        tokens.clock.now += 60_000
      }
    }))
  })
})

describe("The configuration of rates", () => {
  it.effect("is checked", () => Effect.gen(function*() {
    const refused = (access: object) => Effect.map(Effect.flip(Config.decode({ access })), String)
    const { access } = yield* Config.decode({ access: { rates: ten, trustedProxies: ["10.0.0.0/8", "::1", "fd00::/8", "127.0.0.1"] } })
    assert.deepStrictEqual(access.rates, ten)
    assert.match(yield* refused({ rates: { credential: { requests: 0, seconds: 1 } } }), /requests/)
    assert.match(yield* refused({ rates: { root: { requests: 1, seconds: 1 } } }), /root/)
    for (const proxy of ["10.0.0.0/33", "proxy.example", "10.0.0", "::1/129", ""]) {
      assert.match(yield* refused({ trustedProxies: [proxy] }), /trustedProxies/, proxy)
    }
  }))
})
