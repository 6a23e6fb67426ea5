import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import { defineConfig, Enzyme } from "systole"
import * as Redacted from "../../src/cell/Redacted.ts"
import type * as Jwt from "../../src/contract/Jwt.ts"
import * as JwtVerifier from "../../src/access/JwtVerifier.ts"
import { MAX_REMEMBERED } from "../../src/access/VerificationCache.ts"
import { Rates } from "../../src/access/Rates.ts"
import * as Config from "../../src/loader/Config.ts"
import * as Jwts from "../../src/main/composition/Jwts.ts"
import * as TrustedProxies from "../../src/main/host/TrustedProxies.ts"
import { problem, serve } from "../ingress/TestIngress.ts"
import { AUDIENCE, claims, key, keysOf, withServer } from "./Issuer.ts"
import { make, settings } from "./TestJwts.ts"
import { make as makeTokens } from "./TestTokens.ts"

const [first, second, rsa] = await Promise.all([key("first"), key("second"), key("rsa", "RS256")])

const local = { keys: [first.jwk, rsa.jwk] as unknown as ReadonlyArray<Readonly<Record<string, unknown>>> }
const START = Date.UTC(2026, 10, 27)

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: START }))
afterEach(() => void vi.useRealTimers())

describe("A JSON Web Token", () => {
  it("is accepted from its issuer, for its audience, by an algorithm of the configuration", async () => {
    const { code, set } = make(settings(local))
    const jwt = await first.sign(claims(START))
    assert.strictEqual(await code(jwt), "jwt:alice")
    const again = set.check(Redacted.make(jwt))
    assert.isFalse(again instanceof Promise, "it is remembered")
    const several = make(settings(local, { audience: ["other", AUDIENCE], algorithms: ["RS256", "ES256"] }))
    assert.strictEqual(await several.code(await rsa.sign(claims(START))), "jwt:alice")
  })

  it("is refused with another issuer, audience, algorithm, key or text", async () => {
    const { code, set } = make(settings(local))
    const other = await key("first")
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url")
    const [head = "", body = "", signature = ""] = (await first.sign(claims(START))).split(".")
    const wrong = {
      "no algorithm": `${part({ alg: "none" })}.${part(claims(START))}.`,
      "no algorithm, with a signature": `${part({ alg: "none", kid: "first" })}.${body}.${signature}`,
      "an algorithm with a secret": `${part({ alg: "HS256", kid: "first" })}.${body}.${signature}`,
      "an algorithm that is not of the configuration": await rsa.sign(claims(START)),
      "another audience": await first.sign(claims(START, { aud: "other" })),
      "another issuer": await first.sign(claims(START, { iss: "https://other.example" })),
      "no subject": await first.sign({ ...claims(START), sub: undefined as never }),
      "a subject with a line": await first.sign(claims(START, { sub: "a\nb" })),
      "a subject with half a character": await first.sign(claims(START, { sub: "a\ud800" })),
      "no end": await first.sign({ ...claims(START), exp: undefined as never }),
      "the key of another issuer under the same name": await other.sign(claims(START)),
      "an unknown key": await second.sign(claims(START)),
      "another body": `${head}.${part(claims(START, { sub: "root" }))}.${signature}`,
      "a critical header": `${part({ alg: "ES256", kid: "first", crit: ["x"], x: 1 })}.${body}.${signature}`,
      "no parts": "a.b.c"
    }
    for (const [name, jwt] of Object.entries(wrong)) assert.strictEqual(await code(jwt), "auth/jwt", name)
    assert.strictEqual(set.size, 0)
    const checked = (jwt: string) => set.check(Redacted.make(jwt))
    const [mine, theirs] = [await checked(await first.sign(claims(START, { aud: "other" }))), await checked(wrong["another body"])]
    assert.match("refused" in mine ? mine.refused.message : "", /its claim aud does not fit/)
    assert.match("refused" in theirs ? theirs.refused.message : "", /its signature does not fit/)
  })

  it("is accepted with a clock that differs by a minute, and refused with one that differs by ten", async () => {
    const { code } = make(settings(local))
    for (const [minutes, expected] of [[1, "jwt:alice"], [10, "auth/jwt"]] as const) {
      assert.strictEqual(await code(await first.sign(claims(START + minutes * 60_000))), expected)
    }
    const jwt = await first.sign(claims(START))
    assert.strictEqual(await code(jwt), "jwt:alice")
    vi.setSystemTime(START + 3_659_000)
    assert.strictEqual(await code(jwt), "jwt:alice")
    vi.setSystemTime(START + 3_660_000)
    assert.strictEqual(await code(jwt), "auth/expired")
    assert.strictEqual(await make(settings(local, { tolerance: 0 })).code(await first.sign(claims(START - 1_000))), "auth/expired")
  })

  it("has the scope that a function of the configuration gives it; without one, or with nonsense, it alone is refused", async () => {
    const scopes: Record<string, unknown> = {
      alice: { verbs: ["read", "signal"], prefixes: ["/data/alice"], clearance: [], spaces: ["shop"] }, nobody: undefined,
      text: "read", empty: { verbs: [] }, verb: { verbs: ["rule"] }, prefix: { verbs: ["read"], prefixes: ["data"] },
      wide: { verbs: ["write"], prefixes: ["/data"] }, space: { verbs: ["read"], spaces: ["@access"] },
      later: undefined, unreadable: undefined
    }
    const { code, set, told } = make(settings(local, {
      claims: ({ sub }) => {
        if (sub === "thrown") throw new Error("no luck")
        if (sub === "unreadable") throw Object.create(null)
        if (sub === "later") return Promise.reject(new Error("later")) as never
        return scopes[sub] as Jwt.Scope
      }
    }))
    const checked = await set.check(Redacted.make(await first.sign(claims(START))))
    assert.deepInclude("token" in checked ? checked.token : {}, scopes["alice"] as object)
    for (const sub of ["thrown", "thrown", ...Object.keys(scopes).slice(1)]) {
      assert.strictEqual(await code(await first.sign(claims(START, { sub }))), "auth/jwt", sub)
    }
    const [thrown, text, , verb, , , , promise, unreadable, ...others] = told
    assert.deepStrictEqual([thrown, text, promise, unreadable, ...others], [
      "Error: no luck",
      "ClaimsFailed: For sub \"text\", access.jwt.claims gave a scope that is \"read\", and no object",
      "ClaimsFailed: access.jwt.claims gave a promise. Make it a function without async",
      "ClaimsFailed: For sub \"unreadable\", access.jwt.claims threw what cannot be read"
    ])
    assert.match(
      verb ?? "",
      /^ClaimsFailed: For sub "verb", access\.jwt\.claims gave a scope that has a field "verbs\.0" that is "rule" instead of /
    )
    assert.strictEqual(await code(await first.sign(claims(START))), "jwt:alice")
  })

  it("that is too long, or whose key cannot be used, is told so, and the log has the key", async () => {
    const damaged = { ...second.jwk, x: "AAAA", kid: "damaged" }
    const { set, told } = make(settings({ keys: [{ ...damaged }] }))
    const long = await set.check(Redacted.make(`a.${"b".repeat(9000)}.c`))
    assert.match("refused" in long ? long.refused.message : "", /has 9004 characters of at most 8192/)
    for (let i = 0; i < 3; i++) {
      const checked = await set.check(Redacted.make(await second.sign(claims(START), { kid: "damaged" })))
      assert.match("refused" in checked ? `${checked.refused.code} ${checked.refused.message}` : "", /^auth\/jwt .* cannot be used/)
    }
    assert.lengthOf(told, 1)
    assert.match(told[0] ?? "", /^KeyUnusable: a key of the issuer/)
  })

  it("is remembered in bounded memory", async () => {
    const { code, set } = make(settings(local))
    const signed = await first.sign(claims(START))
    await code(signed)
    const verify = vi.spyOn(crypto.subtle, "verify").mockResolvedValue(true)
    const [head, , signature = ""] = signed.split(".")
    for (let i = 0; i < MAX_REMEMBERED + 5; i++) {
      const body = Buffer.from(JSON.stringify(claims(START, { sub: `${i}` }))).toString("base64url")
      await code(`${head}.${body}.${signature.slice(8)}${`${i}`.padStart(8, "0")}`)
    }
    verify.mockRestore()
    assert.strictEqual(set.size, MAX_REMEMBERED)
    assert.isTrue(set.check(Redacted.make(signed)) instanceof Promise, "the oldest is verified again")
  })
})

describe("The keys of an issuer", () => {
  it("are loaded once for many tokens, and again for a key that rotated", () => withServer(async (server) => {
    server.answer = keysOf(first)
    const { code, set } = make(settings(server.url))
    const jwts = await Promise.all(Array.from({ length: 50 }, (_, i) => first.sign(claims(START, { sub: `${i}` }))))
    assert.deepStrictEqual(await Promise.all(jwts.map(code)), jwts.map((_, i) => `jwt:${i}`))
    assert.strictEqual(server.asked, 1)
    const next = await second.sign(claims(START))
    for (let i = 0; i < 20; i++) assert.strictEqual(await code(next), "auth/jwt")
    assert.strictEqual(server.asked, 1, "an unknown key costs no load at once")
    vi.setSystemTime(START + JwtVerifier.COOLDOWN)
    server.answer = keysOf(second)
    assert.strictEqual(await code(next), "jwt:alice")
    assert.strictEqual(server.asked, 2)
    assert.strictEqual(await code(jwts[0] ?? ""), "auth/jwt", "its key is withdrawn")
    assert.isFalse(set.check(Redacted.make(next)) instanceof Promise)
  }))

  it("are loaded anew after ten minutes, which ends the tokens of a withdrawn one", () => withServer(async (server) => {
    server.answer = keysOf(first, second)
    const { code } = make(settings(server.url))
    const [old, other] = [await first.sign(claims(START)), await second.sign(claims(START))]
    assert.deepStrictEqual([await code(old), await code(other)], ["jwt:alice", "jwt:alice"])
    server.answer = keysOf(second)
    assert.strictEqual(await code(old), "jwt:alice")
    vi.setSystemTime(START + JwtVerifier.KEYS_AGE)
    assert.deepStrictEqual([await code(old), await code(other)], ["auth/jwt", "jwt:alice"])
  }))

  it("that cannot be loaded refuse JSON Web Tokens alone, without a load for each", () => withServer(async (server) => {
    const { code, told } = make(settings(server.url))
    const jwt = await first.sign(claims(START))
    const answers = {
      "is no JSON": (response) => void response.end("<html>"),
      "is too large": (response) => void response.end(`{"keys":[],"x":"${"x".repeat(JwtVerifier.KEYS_BYTES)}"}`),
      "is an error": (response) => void response.writeHead(500).end(),
      "is a redirection": (response) => void response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
      "is no key set": (response) => void response.end("[]"),
      "ends early": (response) => void response.writeHead(200, { "content-length": "100" }).write("{", () => response.destroy())
    } satisfies Record<string, typeof server.answer>
    let now = START
    for (const [name, answer] of Object.entries(answers)) {
      server.answer = answer
      const before = server.asked
      for (let i = 0; i < 20; i++) assert.strictEqual(await code(jwt), "access/unavailable", name)
      assert.strictEqual(server.asked - before, 1, name)
      vi.setSystemTime(now += JwtVerifier.KEYS_RETRY)
    }
    assert.isAbove(told.length, 3)
    server.answer = keysOf(first)
    assert.strictEqual(await code(jwt), "jwt:alice")
    server.answer = answers["is an error"]
    vi.setSystemTime(now += JwtVerifier.KEYS_AGE)
    assert.strictEqual(await code(jwt), "jwt:alice", "known keys go on for an hour")
    vi.setSystemTime(now += JwtVerifier.MAX_KEYS_AGE)
    assert.strictEqual(await code(await first.sign(claims(now))), "access/unavailable")
  }))

  it("are waited for by one request at a time while older ones go on, also for an address beyond its rate", () =>
    withServer(async (server) => {
      server.answer = keysOf(first)
      const { set, told } = make(settings(server.url))
      const jwt = await first.sign(claims(START))
      await set.check(Redacted.make(jwt))
      vi.setSystemTime(START + JwtVerifier.KEYS_AGE)
      const asked = new Promise<() => void>((resolve) => {
        server.answer = (response) => resolve(() => void response.writeHead(500).end())
      })
      const waits = set.check(Redacted.make(jwt), () => true)
      assert.isTrue(waits instanceof Promise)
      const end = await asked
      for (let i = 0; i < 10; i++) assert.property(set.check(Redacted.make(jwt)), "token", "it is answered at once")
      end()
      assert.property(await waits, "token")
      for (let i = 0; i < 10; i++) assert.property(set.check(Redacted.make(jwt)), "token")
      assert.strictEqual(server.asked, 2)
      assert.lengthOf(told, 1)
      vi.setSystemTime(START + JwtVerifier.KEYS_AGE + JwtVerifier.KEYS_RETRY_KNOWN)
      server.answer = keysOf(second)
      const refused = await set.check(Redacted.make(jwt))
      assert.strictEqual("refused" in refused ? refused.refused.code : "", "auth/jwt", "its key is withdrawn")
      assert.strictEqual(server.asked, 3)
    }))

  it("whose server does not answer are given up after five seconds", () => withServer(async (server) => {
    server.answer = () => {}
    const { code } = make(settings(server.url))
    const jwt = await first.sign(claims(START))
    const began = performance.now()
    assert.deepStrictEqual(await Promise.all([code(jwt), code(jwt)]), ["access/unavailable", "access/unavailable"])
    assert.isBelow(performance.now() - began, JwtVerifier.KEYS_MILLIS + 3000)
    assert.strictEqual(server.asked, 1)
  }))
})

const place = Enzyme.make({
  name: "place",
  query: "/signals/place",
  bind: ["/data"],
  target: "required",
  run: (tx, { payload, target }) => (tx.set(String(target), payload), "placed")
})

describe("A request with a JSON Web Token", () => {
  it.live("is not verified beyond the rate of its address, unless it is remembered", () => {
    const tokens = makeTokens()
    const { set } = make(settings(local))
    const root = "the-operators-own-token"
    const bearer = Jwts.shownTo(set)
    const rates = { rates: new Rates({ address: { requests: 3, seconds: 60 } }, Date.now), addressOf: TrustedProxies.make([]) }
    return Effect.flatMap(serve({ config: { token: root }, tokens, bearer, rates }), ({ app, ask }) => Effect.promise(async () => {
      const from = async (address: string, token: string) => {
        const headers = { authorization: `Bearer ${token}` }
        const answer = await app.fetch(new Request("http://localhost/v1/spaces/shop/cells/data/a", { headers }), () => address)
        return [answer.status, answer.headers.has("retry-after")] as const
      }
      const [known, later] = [await first.sign(claims(START)), await first.sign(claims(START, { sub: "bob" }))]
      const [head, , signature] = known.split(".")
      const wrong = (n: number) => `${head}.${Buffer.from(JSON.stringify({ n })).toString("base64url")}.${signature}`
      assert.deepStrictEqual(await from("2.2.2.2", known), [404, false])
      const verify = vi.spyOn(crypto.subtle, "verify")
      for (let n = 0; n < 20; n++) assert.deepStrictEqual(await from("2.2.2.2", wrong(n)), n < 3 ? [401, false] : [429, true])
      assert.strictEqual(verify.mock.calls.length, 3)
      assert.deepStrictEqual(await from("2.2.2.2", later), [429, true])
      assert.deepStrictEqual(await from("2.2.2.2", known), [404, false])
      assert.deepStrictEqual(await from("2.2.2.2", root), [404, false])
      assert.deepStrictEqual(await from("3.3.3.3", later), [404, false])
      assert.strictEqual(verify.mock.calls.length, 4)
      verify.mockRestore()
      const { body } = await ask("/v1/access/tokens", { headers: { authorization: `Bearer ${root}` } })
      assert.deepInclude(body as object, { jwt: { "auth/jwt": 3, "access/rate": 18 }, unknown: 0 })
    }))
  })

  it.live("has a stream that ends when its key is withdrawn", () => Effect.promise(() => withServer(async (server) => {
    server.answer = keysOf(first, second)
    const tokens = makeTokens()
    const bearer = Jwts.shownTo(make(settings(server.url)).set)
    const config = { token: "the-operators-own-token", spaces: { create: "on-demand" as const } }
    const served = Effect.flatMap(serve({ config, tokens, bearer }), ({ ask, fetch }) => Effect.promise(async () => {
      const put = (value: number) => ask("/v1/spaces/shop/cells/data/a", {
        method: "PUT", body: `${value}`, headers: { authorization: `Bearer ${config.token}`, "content-type": "application/json" }
      })
      await put(1)
      const open = async (token: string) => {
        const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream" }
        const answer = await fetch("/v1/spaces/shop/cells/data/a", { headers })
        assert.strictEqual(answer.status, 200)
        const reader = answer.body!.getReader()
        assert.isFalse((await reader.read()).done)
        return reader
      }
      const [withdrawn, kept] = [await open(await first.sign(claims(START))), await open(await second.sign(claims(START)))]
      server.answer = keysOf(second)
      vi.setSystemTime(START + JwtVerifier.KEYS_AGE)
      tokens.clock.now = START + JwtVerifier.KEYS_AGE
      await put(2)
      assert.isTrue((await withdrawn.read()).done)
      assert.isFalse((await kept.read()).done)
      await kept.cancel()
    }))
    await Effect.runPromise(Effect.scoped(served))
  })))

  it.live("is answered within the scope of its claims, beside other credentials", () => {
    const tokens = makeTokens()
    const jwts = make(settings(local, {
      claims: ({ sub }) => sub === "nobody" ? undefined : { verbs: ["read", "signal"], spaces: ["shop"], prefixes: [`/data/${sub}`] }
    }))
    const bearer = Jwts.shownTo(jwts.set)
    const root = "the-operators-own-token"
    const config = { token: root, spaces: { create: "on-demand" as const } }
    return Effect.flatMap(serve({ config, enzymes: [place], tokens, bearer }), ({ accidents, ask, fetch }) => Effect.promise(async () => {
      const as = (token: string, path: string, init: RequestInit = {}) =>
        ask(path, { ...init, headers: { authorization: `Bearer ${token}`, "content-type": "application/json", prefer: "wait=5" } })
      await as(root, "/v1/spaces/shop/cells/data/alice/a", { method: "PUT", body: "1" })
      const [alice, bob] = [await first.sign(claims(START)), await first.sign(claims(START, { sub: "bob" }))]
      assert.deepInclude(await as(alice, "/v1/spaces/shop/cells/data/alice/a"), { status: 200, body: 1 })
      assert.deepStrictEqual(problem(await as(bob, "/v1/spaces/shop/cells/data/alice/a")), [403, "access/prefix"])
      assert.deepStrictEqual(problem(await as(alice, "/v1/spaces/other/cells/data/alice/a")), [403, "access/space"])
      const written = await as(alice, "/v1/spaces/shop/cells/data/alice/a", { method: "PUT", body: "2" })
      assert.deepStrictEqual(problem(written), [403, "access/verb"])
      const signal = { method: "POST", body: JSON.stringify({ signal: "/signals/place", target: "/data/alice/b", payload: 2 }) }
      assert.deepInclude((await as(alice, "/v1/spaces/shop/signals", signal)).body, { status: "handled" })
      assert.deepStrictEqual(problem(await as(bob, "/v1/spaces/shop/signals", signal)), [403, "access/prefix"])
      const nobody = await as(await first.sign(claims(START, { sub: "nobody" })), "/v1/spaces")
      assert.deepStrictEqual(problem(nobody), [401, "auth/jwt"])
      assert.strictEqual(nobody.headers.get("www-authenticate"), "Bearer")
      assert.deepStrictEqual(problem(await as(alice, "/v1/session", { method: "POST" })), [400, "access/invalid"])
      const { body } = await as(root, "/v1/access/tokens")
      assert.deepInclude(body as object, { jwt: { "access/prefix": 1, "access/space": 1, "access/verb": 1, "auth/jwt": 1 }, unknown: 0 })
      const headers = { authorization: `Bearer ${alice}`, accept: "text/event-stream" }
      const stream = (await fetch("/v1/spaces/shop/cells/data/alice/a", { headers })).body?.getReader()
      assert.isFalse((await stream?.read())?.done)
      vi.setSystemTime(START + 4_000_000)
      tokens.clock.now = START + 4_000_000
      let ended = await stream?.read()
      if (ended?.done === false) ended = await stream?.read()
      assert.isTrue(ended?.done, "it ends with its token")
      assert.deepStrictEqual(problem(await as(alice, "/v1/spaces/shop/cells/data/alice/a")), [401, "auth/expired"])
      assert.deepStrictEqual(accidents, [])
    }))
  })
})

describe("The configuration of JSON Web Tokens", () => {
  const refused = (jwt: object) => Effect.map(Effect.flip(Config.decode({ access: { jwt } })), String)

  it.effect("is checked: no algorithm without public keys, and no address that others may change", () => Effect.gen(function*() {
    const valid = settings("https://issuer.example/jwks.json")
    const config = defineConfig({ access: { jwt: valid } })
    assert.deepStrictEqual((yield* Config.decode(config)).access.jwt, valid)
    for (const algorithm of ["none", "HS256", "RSA1_5"]) {
      assert.match(yield* refused({ ...valid, algorithms: [algorithm] }), /access\.jwt\.algorithms/)
    }
    for (const jwks of ["http://issuer.example/jwks.json", "file:///etc/keys", "jwks.json", { keys: [] }]) {
      assert.match(yield* refused({ ...valid, jwks }), /access\.jwt\.jwks/)
    }
    assert.match(yield* refused({ ...valid, jwks: { keys: [{ kty: "EC", d: "secret" }] } }), /access\.jwt\.jwks/)
    assert.match(yield* refused({ ...valid, audience: [] }), /audience/)
    assert.match(yield* refused({ ...valid, tolerance: 301 }), /tolerance/)
    assert.match(yield* refused({ ...valid, claims: { verbs: ["read"] } }), /claims/)
    assert.match(yield* refused({ ...valid, algorithms: [] }), /algorithms/)
  }))
})
