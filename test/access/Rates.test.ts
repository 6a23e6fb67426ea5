import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { MAX_CALLERS, MAX_SPACES, Rates, REPORTS, type Settings } from "../../src/access/Rates.ts"
import * as IpAddress from "../../src/cell/IpAddress.ts"
import { networkOf } from "../../src/ingress/access/RateLimit.ts"
import * as Config from "../../src/loader/Config.ts"
import * as TrustedProxies from "../../src/main/host/TrustedProxies.ts"
import { enzymes, problem, serve } from "../ingress/TestIngress.ts"
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
    assert.strictEqual(networkOf(address(["10.0.0.0/8"], "::ffff:10.0.0.1", "6.6.6.6, 1.1.1.1:4711") ?? ""), "1.1.1.1")
    assert.strictEqual(address(["10.0.0.1", "fd00::/8"], "fd00::1", "[2001:db8::7]:443"), "[2001:db8::7]:443")
    assert.strictEqual(address(["10.0.0.1"], "10.0.0.1", "unknown"), "10.0.0.1")
    assert.strictEqual(address(["10.0.0.1"], "10.0.0.1"), "10.0.0.1")
    assert.isUndefined(address(["10.0.0.1"], undefined, "1.1.1.1"))
  })

  it("has one form, whatever its text, and what is none is no trusted entry", () => {
    const same = [
      ["1.2.3.4", "::ffff:1.2.3.4", "::FFFF:102:304", "0:0:0:0:0:ffff:1.2.3.4", "1.2.3.4:80", "[::ffff:1.2.3.4]:443", " 1.2.3.4 "],
      ["2001:db8:1:2::9", "2001:0db8:0001:0002:3:4:5:6", "[2001:DB8:1:2::]:80", "2001:db8:1:2:0:0:1.2.3.4", "2001:db8:1:2::1%eth0"],
      ["::1", "0:0:0:0:0:0:0:1", "[::1]"]
    ]
    for (const texts of same) assert.lengthOf([...new Set(texts.map(networkOf))], 1, texts.join())
    assert.lengthOf([...new Set(same.flat().map(networkOf))], same.length)
    assert.notStrictEqual(networkOf("::ffff:808:808"), networkOf("::ffff:808:909"))
    const none = [
      "", "010.0.0.1", "1.2.3", "1.2.3.4.5", "256.1.1.1", "0x1.1.1.1", ":::", "1::2::3", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7", "::12345",
      "1:2:3:4:5:6:7:8::", "g::1", "1.2.3.4::", "::1.2.3", "[1.2.3.4", "proxy.example", "9".repeat(1000), ":".repeat(100_000)
    ]
    for (const text of none) assert.isUndefined(IpAddress.parseEntry(text), text.slice(0, 50))
    for (const text of none) {
      assert.strictEqual(address(["0.0.0.0/0", "::/0"], "10.0.0.1", `9.9.9.9, ${text}`), "10.0.0.1", text.slice(0, 50))
    }
  })

  it("is one of a network by its first bits", () => {
    const isIn = (network: string, text: string) => IpAddress.isIn(
      IpAddress.network(network) ?? assert.fail(network), IpAddress.parse(text) ?? assert.fail(text)
    )
    for (const [network, inside, outside] of [
      ["10.0.0.0/8", "10.255.0.1", "11.0.0.1"], ["10.1.2.128/25", "10.1.2.200", "10.1.2.127"],
      ["::ffff:127.0.0.1", "127.0.0.1", "127.0.0.2"],
      ["0.0.0.0/0", "9.9.9.9", "2001:db8::1"], ["fd00::/8", "fdff::1", "fe00::1"], ["2001:db8::/33", "2001:db8:7fff::", "2001:db8:8000::"],
      ["::1", "::1", "::2"], ["::/0", "1.2.3.4", ""]
    ] as const) {
      assert.isTrue(isIn(network, inside), network)
      if (outside !== "") assert.isFalse(isIn(network, outside), network)
    }
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

describe("A batch of signals", () => {
  const root = "the-operators-own-token"
  const config = { token: root, spaces: { create: "on-demand" as const } }

  it.live("counts as so many requests, and one beyond the rate is refused as a whole", () => {
    const tokens = makeTokens()
    const credential = { requests: 10, seconds: 10 }
    const rates = { rates: new Rates({ credential }, () => tokens.clock.now), addressOf: TrustedProxies.make([]) }
    return Effect.flatMap(serve({ config, enzymes, tokens, rates }), ({ ask }) => Effect.promise(async () => {
      await ask("/v1/spaces/shop", { method: "PUT", headers: { authorization: `Bearer ${root}` } })
      const narrow = { verbs: ["read", "signal"], prefixes: ["/signals/count"] } as const
      for (const scope of [{ verbs: ["read", "signal", "operate"] }, narrow] as const) {
        const authorization = `Bearer ${await tokens.create(scope)}`
        const send = async (count: number) => {
          const body = JSON.stringify(Array.from({ length: count }, () => ({ signal: "/signals/count" })))
          const headers = { authorization, "content-type": "application/json", prefer: "wait=5" }
          const answer = await ask("/v1/spaces/shop/signals", { method: "POST", headers, body })
          return [answer.status, answer.headers.get("retry-after"), (answer.body as { readonly detail?: string }).detail ?? ""] as const
        }
        assert.deepStrictEqual((await send(8)).slice(0, 2), [207, null])
        // The request is taken, and its further signals are not.
        const [status, after, detail] = await send(3)
        assert.deepStrictEqual([status, after], [429, "1"])
        assert.match(detail, /10 requests in 10 seconds.* 3 signals, which count as so many/)
        tokens.clock.now += 10_000
        const [never, again, advice] = await send(11)
        assert.deepStrictEqual([never, again], [429, null])
        assert.match(advice, /smaller batches/)
        tokens.clock.now += 10_000
        assert.strictEqual((await send(10))[0], 207)
        tokens.clock.now += 10_000
      }
      const { body } = await ask("/v1/spaces/shop/cells/data/count", { headers: { authorization: `Bearer ${root}` } })
      assert.strictEqual(body, 36)
    }))
  })
})

describe("The report of a worker", () => {
  it.live("counts by its address while it is refused, without rates in the configuration", () => {
    const tokens = makeTokens()
    const root = "the-operators-own-token"
    const rates = { rates: new Rates({}, () => tokens.clock.now), addressOf: TrustedProxies.make([]) }
    const config = { token: root, spaces: { create: "on-demand" as const } }
    return Effect.flatMap(serve({ config, tokens, rates }), ({ app }) => Effect.promise(async () => {
      const report = async (address: string) => {
        const headers = { authorization: `Rendezvous ${"ab".repeat(16)}`, "content-type": "application/json" }
        const init = { method: "POST", headers, body: "{}" }
        const answer = await app.fetch(new Request(`http://localhost/v1/spaces/shop/rv/k/report`, init), () => address)
        return answer.status
      }
      for (let n = 0; n < REPORTS.requests; n++) assert.strictEqual(await report("1.1.1.1"), 403)
      assert.strictEqual(await report("1.1.1.1"), 429)
      assert.strictEqual(await report("::ffff:1.1.1.1"), 429)
      assert.strictEqual(await report("2.2.2.2"), 403)
      tokens.clock.now += 1000 * REPORTS.seconds / REPORTS.requests
      assert.strictEqual(await report("1.1.1.1"), 403)
    }))
  })
})

describe("The configuration of rates", () => {
  it.effect("is checked", () => Effect.gen(function*() {
    const refused = (access: object) => Effect.map(Effect.flip(Config.decode({ access })), String)
    const trustedProxies = ["10.0.0.0/8", "::1", "::ffff:127.0.0.1", "fd00::/8", "127.0.0.1"]
    const { access } = yield* Config.decode({ access: { rates: ten, trustedProxies } })
    assert.deepStrictEqual(access.rates, ten)
    assert.match(yield* refused({ rates: { credential: { requests: 0, seconds: 1 } } }), /requests/)
    assert.match(yield* refused({ rates: { root: { requests: 1, seconds: 1 } } }), /root/)
    const wrong = ["10.0.0.0/33", "proxy.example", "010.0.0.1", "fe80::1%eth0", "10.0.0.0/08", "::ffff:1.2.3.4/129", "10.0.0", "::1/129"]
    for (const proxy of wrong) {
      assert.match(yield* refused({ trustedProxies: [proxy] }), /trustedProxies/, proxy)
    }
  }))
})
