import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Redacted from "../../src/cell/Redacted.ts"
import * as ConfiguredAccess from "../../src/ingress/access/ConfiguredAccess.ts"
import { serve } from "./TestIngress.ts"

const token = "a-token-of-some-length"
const known = Redacted.make(token)
const request = (headers: Readonly<Record<string, string>>, url = "http://localhost:4200/v1/spaces") => new Request(url, { headers })

describe("The access of a configuration", () => {
  it("requires the token if one is configured", () => {
    const check = ConfiguredAccess.make({ token: known, loopback: true })
    const codes = (authorization: string) => check(request({ authorization }))?.code
    assert.strictEqual(check(request({}))?.code, "auth/missing")
    assert.strictEqual(codes("Bearer wrong"), "auth/missing")
    assert.strictEqual(codes(token), "auth/missing")
    assert.strictEqual(codes(`Bearer ${token}x`), "auth/missing")
    assert.strictEqual(codes(`Bearer ${token.toUpperCase()}`), "auth/missing")
    assert.strictEqual(codes(`Bearer ${token}`), undefined)
    assert.strictEqual(codes(`bearer ${token}`), undefined)
  })

  it("accepts the token of the process, with and without a configured one", () => {
    const drawn = "drawn-at-the-start"
    const localToken = Redacted.make(drawn)
    for (const rules of [{ token: known, localToken, loopback: true }, { token: undefined, localToken, loopback: true }]) {
      const check = ConfiguredAccess.make(rules)
      assert.isUndefined(check(request({ authorization: `Bearer ${drawn}` })))
      assert.strictEqual(check(request({ authorization: "Bearer wrong" }))?.code, "auth/missing")
    }
    const check = ConfiguredAccess.make({ token: known, loopback: true })
    assert.strictEqual(check(request({ authorization: "Bearer undefined" }))?.code, "auth/missing")
  })

  it("accepts any host name with the token", () => {
    const check = ConfiguredAccess.make({ token: known, loopback: true })
    assert.isUndefined(check(request({ authorization: `Bearer ${token}`, host: "shop.example" })))
  })

  it("refuses requests from pages of other sites without a token, except navigation", () => {
    const check = ConfiguredAccess.make({ token: undefined, loopback: true })
    const sent = (headers: Readonly<Record<string, string>>, method = "POST") =>
      check(new Request("http://localhost:4200/v1/spaces", { method, headers: { host: "localhost:4200", ...headers } }))?.code
    assert.strictEqual(sent({ origin: "https://evil.example" }), "host/refused")
    assert.strictEqual(sent({ origin: "null" }), "host/refused")
    for (const origin of ["http://localhost:3000", "http://localhost", "http://127.0.0.1:4200", "http://x.localhost:4200", "junk"]) {
      assert.strictEqual(sent({ origin }), "host/refused", origin)
    }
    assert.isUndefined(sent({ origin: "http://localhost:4200" }))
    assert.isUndefined(sent({ origin: "http://localhost", host: "localhost:80" }))
    for (const site of ["same-site", "cross-site"]) {
      assert.strictEqual(sent({ "sec-fetch-site": site }), "host/refused", site)
      assert.strictEqual(sent({ "sec-fetch-site": site, "sec-fetch-mode": "navigate" }), "host/refused", site)
    }
    for (const site of ["same-origin", "none"]) assert.isUndefined(sent({ "sec-fetch-site": site }))
    assert.isUndefined(sent({}))
    assert.strictEqual(check({
      method: "GET",
      url: "http://localhost:4200/x",
      headers: new Headers({ host: "localhost:4200", "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" })
    } as Request)?.code, "host/refused")
    assert.isUndefined(check({
      method: "GET",
      url: "http://localhost:4200/x",
      headers: new Headers({ host: "localhost:4200", "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" })
    } as Request))
  })

  it("refuses to be framed by a page of another origin", () => {
    const check = ConfiguredAccess.make({ token: undefined, loopback: true })
    const led = (to: string) =>
      check({
        method: "GET",
        url: "http://localhost:4200/x",
        headers: new Headers({ host: "localhost:4200", "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": to })
      } as Request)?.code
    for (const frame of ["iframe", "frame", "embed", "object"]) assert.strictEqual(led(frame), "host/refused", frame)
    assert.isUndefined(led("document"))
  })

  it("refuses a malformed host", () => {
    const check = ConfiguredAccess.make({ token: undefined, loopback: true })
    for (const host of ["127.999.1.1", "127.0.0.256:4200", "localhost:99999"]) {
      for (const origin of ["http://localhost:4200", `http://${host}`]) {
        assert.strictEqual(check(request({ host, origin }))?.code, "host/refused", `${host} ${origin}`)
      }
    }
  })

  it("refuses an unknown token even if no token is configured", () => {
    for (const loopback of [true, false]) {
      const check = ConfiguredAccess.make({ token: undefined, loopback })
      for (const authorization of ["Rendezvous wrong", "rendezvous", "Rendezvous 00ff", "Bearer x", "bearer"]) {
        assert.strictEqual(check(request({ authorization, host: "localhost:4200" }))?.code, "auth/missing", authorization)
      }
      assert.isUndefined(check(request({ host: "localhost:4200" })))
    }
  })

  it("accepts only local host names without a token", () => {
    const check = ConfiguredAccess.make({ token: undefined, loopback: true })
    const code = (host: string) => check(request({ host }))?.code
    for (const host of ["localhost", "localhost:4200", "127.0.0.1:80", "[::1]:4200", "shop.localhost"]) assert.isUndefined(code(host), host)
    for (
      const host of ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1", "", "localhost:4200@evil.example"]
    ) {
      assert.strictEqual(code(host), "host/refused", host)
    }
    assert.strictEqual(check(request({}, "http://evil.example/v1/spaces"))?.code, "host/refused")
    assert.strictEqual(check({ headers: new Headers(), url: "/v1/spaces" } as Request)?.code, "host/refused")
  })

  it("accepts any host name on a server that is not on a loopback address", () => {
    assert.isUndefined(ConfiguredAccess.make({ token: undefined, loopback: false })(request({ host: "shop.example" })))
  })

  it.effect("protects every path and method, for any URL", () =>
    Effect.gen(function*() {
      const { accidents, app } = yield* serve({ config: { token: "a-token-of-some-length" } })
      for (const method of ["GET", "TRACE", "CONNECT", "PROPFIND"]) {
        for (const path of ["/v1/spaces", "/v1/.", "/v1/spaces?x=/.", "/livez/%2e%2e/v1/spaces", "//livez"]) {
          const url = `http://localhost${path}`
          // A plain object, as hosts pass it: the constructor of `Request` refuses some of these methods.
          const request = Object.create(new Request("http://localhost"), { url: { value: url }, method: { value: method } }) as Request
          Object.defineProperty(request, "headers", { value: new Headers() })
          assert.strictEqual((yield* Effect.promise(async () => app.fetch(request))).status, 401, `${method} ${path}`)
        }
      }
      assert.deepStrictEqual(accidents, [])
    }).pipe(Effect.scoped))
})
