import { assert, describe, it } from "@effect/vitest"
import { createHmac } from "node:crypto"
import { vi } from "vitest"
import { Flow, webhook } from "systole"
import * as AccessTable from "../../src/access/AccessTable.ts"
import * as Withdrawn from "../../src/access/WithdrawnCredentials.ts"
import * as Inside from "../../src/main/workers/Inside.ts"
import type { DirectoryStub, Env, SpaceStub } from "../../src/main/workers/Platform.ts"
import { REPORTS } from "../../src/access/Rates.ts"
import * as Router from "../../src/main/workers/Router.ts"
import { make, type Parts } from "../../src/main/workers/Settings.ts"
import { AUDIENCE, claims, ISSUER, key } from "../access/Issuer.ts"

const TOKEN = "a-token-of-some-length"

/** The names of the objects that a test woke. */
const woken: Array<string> = []

const space = (fetch: SpaceStub["fetch"]): SpaceStub => ({
  fetch,
  arrive: () => Promise.reject(new Error("not called")),
  pull: ({ address, proof }) => Promise.resolve({ text: JSON.stringify(`${address} for ${proof.length} characters`) }),
  post: ({ payload, proof, signal }) => Promise.resolve(Response.json({ signal, payload, proof: proof.length }, { status: 202 }))
})

const noTokens: Omit<DirectoryStub, "add" | "list" | "remove"> = {
  tokens: async () => AccessTable.none,
  saveToken: async () => "changed",
  useToken: async () => {},
  withdrawn: async () => Withdrawn.none,
  withdraw: async () => {},
  sessionKey: async () => "a random text",
  spend: async () => "first"
}

const env = (fetch: SpaceStub["fetch"], secret: { readonly SYSTOLE_TOKEN?: string } = {}): Env => ({
  SPACES: {
    getByName: (name) => {
      woken.push(name)
      return space(fetch)
    }
  },
  DIRECTORY: {
    getByName: () => ({
      add: () => Promise.resolve(),
      remove: () => Promise.resolve(),
      list: (_, { after, limit }) => Promise.resolve({ spaces: [`after ${after}`, `${limit}`], next: "z" }),
      ...noTokens
    })
  },
  ...secret
})

/** A request as Cloudflare hands it to a Worker. */
const ofCloudflare = (request: Request): Request => Object.assign(request, { cf: { colo: "AMS" } })

const asked = async (parts: Parts, path: string, init: RequestInit & { readonly env?: Env } = {}) => {
  woken.length = 0
  const { env: given = env(async () => new Response("object")), ...rest } = init
  const gate = (env: Env) => make(parts, env)
  const inside = async (env: Env) => Inside.open(make(parts, env), env)
  const response = await Router.make({ gate, inside })(new Request(`https://worker.example${path}`, rest), given)
  const text = await response.text()
  const allow = response.headers.get("allow")
  return { status: response.status, text, code: /"code":"([^"]*)"/.exec(text)?.[1], ...allow === null ? {} : { allow } }
}

const authorized = { headers: { authorization: `Bearer ${TOKEN}` } }
const parts: Parts = { manifest: {}, config: { token: TOKEN, pages: { "/page": async ({ get }) => String(await get("shop", "/data/a")) } } }

/** The log of a Worker during a test. */
const logged = async (run: () => Promise<void>): Promise<string> => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined)
  try {
    await run()
    return log.mock.calls.flat().join("\n")
  } finally {
    log.mockRestore()
  }
}

describe("A request with a JSON Web Token", () => {
  const scope = { verbs: ["read" as const], spaces: ["shop"] }

  it("is verified in front, which hands its decision to the object with its proof", async () => {
    const issued = await key("first")
    const jwt = {
      issuer: ISSUER, audience: AUDIENCE, algorithms: ["ES256" as const], jwks: { keys: [issued.jwk] } as never, claims: () => scope
    }
    const parts: Parts = { manifest: {}, config: { token: TOKEN, access: { jwt } } }
    const object = env(async (request) => {
      const { refused, token } = await make(parts, object).access(request)
      return Response.json({ id: token?.id, verbs: token?.verbs, refused: refused?.message })
    })
    const by = async (token: string, path = "/v1/spaces/shop/cells/data/a", headers = {}) =>
      asked(parts, path, { env: object, headers: { ...headers, authorization: `Bearer ${token}` } })
    const good = await issued.sign(claims(Date.now()))
    assert.deepStrictEqual(JSON.parse((await by(good)).text), { id: "jwt:alice", verbs: ["read"] })
    assert.deepStrictEqual(woken, ["shop"])
    assert.strictEqual((await by(good, "/v1/spaces/other/cells/data/a")).code, "access/space")
    assert.strictEqual((await by(await issued.sign(claims(Date.now(), { aud: "other" })))).code, "auth/jwt")
    assert.deepStrictEqual(woken, [])
    // A caller knows no proof.
    const root = { ...scope, id: "jwt:root", verbs: ["admin"], created: 0, expires: 1e15, digests: [] }
    const forged = encodeURIComponent(JSON.stringify(root))
    for (const proof of ["", "0".repeat(64)]) {
      assert.strictEqual((await by("x.y.z", "/v1/spaces/shop/cells/data/a", { "x-systole-token": `${proof} ${forged}` })).code, "auth/jwt")
    }
  })
})

describe("Router of a Worker", () => {
  it("refuses to serve without a token unless it is declared public", async () => {
    const log = await logged(async () => {
      const { code, status, text } = await asked({ manifest: {} }, "/v1/spaces")
      assert.deepStrictEqual([status, code], [500, "internal"])
      assert.notInclude(text, "token")
    })
    for (const way of ["secret SYSTOLE_TOKEN", ".dev.vars", "SYSTOLE_PUBLIC=true", "public: true"]) assert.include(log, way)
    assert.strictEqual((await asked({ manifest: {}, public: true }, "/v1/spaces")).status, 200)
  })

  it("takes its token from the secret, before that of the configuration", async () => {
    const given = env(async () => new Response("object"), { SYSTOLE_TOKEN: "another-token-of-some-length" })
    assert.strictEqual((await asked(parts, "/v1/spaces", { ...authorized, env: given })).status, 401)
    const headers = { authorization: "Bearer another-token-of-some-length" }
    assert.strictEqual((await asked(parts, "/v1/spaces", { headers, env: given })).status, 200)
  })

  it("wakes no object for a request without credentials, or for a name that is none", async () => {
    for (const path of ["/v1/spaces/shop", "/v1/spaces/shop/cells/data/a", "/v1/spaces/"]) {
      assert.strictEqual((await asked(parts, path)).code, "auth/missing")
    }
    const settings = make(parts, env(async () => new Response("object")))
    const router = Router.make({ gate: () => settings, inside: async (env) => Inside.open(settings, env) })
    for (const headers of [{}, { authorization: "Bearer wrong" }, { authorization: `Bearer sys_00000000_${"A".repeat(43)}` }]) {
      await router(new Request("https://worker.example/v1/spaces/shop", { headers }), env(async () => new Response("object")))
    }
    assert.deepStrictEqual(settings.tokens.denied(), { "auth/missing": 3 })
    for (const name of ["Shop", "-a", "a.b", "%2e%2e", "a%2Fb", "x".repeat(64), "%ff"]) {
      const { code, status } = await asked(parts, `/v1/spaces/${name}/cells/data/a`, authorized)
      assert.include(["space/name", "route/absent"], code, `${name}: ${status}`)
    }
    assert.strictEqual((await asked(parts, "/livez")).status, 200)
    assert.deepStrictEqual(woken, [])
  })

  it("lets what is public pass without a credential, by the rate of its address, and wakes no object for anything else", async () => {
    const open = make({ manifest: {}, config: {
      token: TOKEN,
      pages: { "/menu": () => "the menu", "/orders": () => "the orders" },
      access: { public: ["GET /v1/spaces/shop/cells/data/menu/**", "GET /menu"], rates: { address: { requests: 3, seconds: 60 } } }
    } }, env(async () => new Response("object")))
    const router = Router.make({ gate: () => open, inside: async (env) => Inside.open(open, env) })
    const ask = async (path: string, init: RequestInit & { readonly from?: string } = {}) => {
      woken.length = 0
      const { from = "1.1.1.1", ...rest } = init
      const request = ofCloudflare(new Request(`https://worker.example${path}`, { ...rest, headers: { "cf-connecting-ip": from } }))
      const response = await router(request, env(async () => new Response("object")))
      return [response.status, ...woken]
    }
    assert.deepStrictEqual(await ask("/v1/spaces/shop/cells/data/menu/tea"), [200, "shop"])
    assert.deepStrictEqual(await ask("/menu"), [200])
    assert.deepStrictEqual(await ask("/v1/spaces/shop/cells/data/menus"), [401])
    assert.deepStrictEqual(await ask("/menu"), [200])
    assert.deepStrictEqual(await ask("/v1/spaces/shop/cells/data/menu/tea"), [429])
    for (const path of ["/orders", "/v1/spaces", "/v1/spaces/other/cells/data/menu/tea"]) {
      assert.deepStrictEqual(await ask(path, { from: path }), [401], path)
    }
    const put = { method: "PUT", body: "1", from: "2.2.2.2" }
    assert.deepStrictEqual(await ask("/v1/spaces/shop/cells/data/menu/tea", put), [401])
  })

  it("lets a session read what is public and it has no access to", async () => {
    const object: SpaceStub["fetch"] = async ({ headers }) => new Response("object", { status: headers.has("cookie") ? 403 : 200 })
    const open = make({ manifest: {}, config: {
      token: TOKEN,
      pages: { "/menu": () => "the menu", "/orders": () => "the orders" },
      labels: { cells: {}, readers: { web: { token: "the-token-of-a-reader", clearance: [] } } },
      access: { public: ["GET /v1/spaces/shop/cells/data/menu/**", "GET /menu"] }
    } }, env(object))
    const router = Router.make({ gate: () => open, inside: async (env) => Inside.open(open, env) })
    const ask = (path: string, init: RequestInit) => router(new Request(`https://worker.example${path}`, init), env(object))
    const begun = await ask("/v1/session", { method: "POST", headers: { authorization: "Bearer the-token-of-a-reader" } })
    const headers = { cookie: begun.headers.get("set-cookie")?.split(";")[0] ?? "" }
    for (const [path, status] of [["/menu", 200], ["/v1/spaces/shop/cells/data/menu/tea", 200], ["/orders", 403]] as const) {
      assert.strictEqual((await ask(path, { headers })).status, status, path)
    }
  })

  it("is ready when its settings are valid and the directory answers, and else answers 503 and names the part that fails", async () => {
    assert.deepInclude(await asked(parts, "/readyz", authorized), { status: 200, text: "{\"status\":\"ready\"}" })
    const broken: Env = {
      ...env(async () => new Response("object")),
      DIRECTORY: {
        getByName: () => ({ add: async () => {}, remove: async () => {}, list: () => Promise.reject(new Error("reset")), ...noTokens })
      }
    }
    const log = await logged(async () => {
      assert.deepInclude(await asked(parts, "/v1/spaces", { ...authorized, env: broken }), { status: 503, code: "space/stopped" })
      const failing = (part: string) => ({ status: 503, text: JSON.stringify({ status: "failing", part }) })
      assert.deepInclude(await asked(parts, "/readyz", { ...authorized, env: broken }), failing("directory"))
      assert.deepInclude(await asked({ manifest: {} }, "/readyz"), failing("settings"))
    })
    assert.include(log, "reset")
    // A stranger wakes no object.
    assert.deepInclude(await asked(parts, "/readyz", { env: broken }), { status: 200 })
  })

  it("passes a request to the object of its space", async () => {
    assert.deepInclude(await asked(parts, "/v1/spaces/shop/cells/data/a", authorized), { status: 200, text: "object" })
    assert.deepStrictEqual(woken, ["shop"])
  })

  it("lets pages of the configured origins read answers, those of objects, too", async () => {
    const shop = "https://shop.example"
    const config = { token: TOKEN, origins: [shop] }
    const gate = (env: Env) => make({ manifest: {}, config }, env)
    const router = Router.make({ gate, inside: async (env) => Inside.open(gate(env), env) })
    const sent = async (headers: Readonly<Record<string, string>>, method = "GET") => {
      const request = new Request("https://worker.example/v1/spaces/shop/cells/data/a", { method, headers })
      // The headers of what was fetched do not change, as those of an object.
      const response = await router(request, env(() => fetch("data:,object")))
      return [response.status, response.headers.get("access-control-allow-origin")]
    }
    assert.deepStrictEqual(await sent({ ...authorized.headers, origin: shop }), [200, shop])
    assert.deepStrictEqual(await sent({ origin: shop }), [401, shop])
    assert.deepStrictEqual(await sent({ ...authorized.headers, origin: "https://evil.example" }), [200, null])
    assert.deepStrictEqual(await sent({ origin: shop, "access-control-request-method": "PUT" }, "OPTIONS"), [204, shop])
  })

  it("answers 503 for an object that was reset", async () => {
    const broken = env(() => Promise.reject(new Error("broken.outputGateBroken")))
    const log = await logged(async () => {
      assert.deepInclude(await asked(parts, "/v1/spaces/shop", { ...authorized, env: broken }), { status: 503, code: "space/stopped" })
    })
    assert.include(log, "outputGateBroken")
  })

  it("hands what a webhook verified to its space, and wakes no object for a request that it refuses", async () => {
    const hook = webhook({ scheme: "github", secret: { env: "HOOK_SECRET" }, space: "shop", signal: "/signals/paid", numbers: "text" })
    const given: Parts = { manifest: {}, config: { token: TOKEN, ingress: { "/hooks/paid": hook } } }
    const variables = { ...env(async () => new Response("object")), HOOK_SECRET: "the secret of the sender" }
    const sent = (body: string, secret: string) => ({
      method: "POST",
      body,
      env: variables,
      headers: { "x-github-delivery": "d1", "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}` }
    })
    const body = "{\"sum\":12345678901234567890}"
    const { status, text } = await asked(given, "/hooks/paid", sent(body, variables.HOOK_SECRET))
    assert.strictEqual(status, 202)
    assert.deepStrictEqual(JSON.parse(text), {
      signal: { signal: "/signals/paid", id: "d1", principal: "webhook /hooks/paid" }, payload: body.replace(/\d+/, "\"$&\""), proof: 64
    })
    assert.deepStrictEqual(woken, ["shop"])
    assert.deepInclude(await asked(given, "/hooks/paid", sent(body, "another")), { status: 401, code: "webhook/signature" })
    assert.deepInclude(await asked(given, "/hooks/paid", sent("[]", variables.HOOK_SECRET)), { status: 422, code: "webhook/body" })
    assert.deepInclude(await asked(given, "/hooks/other", sent(body, variables.HOOK_SECRET)), { status: 401, code: "auth/missing" })
    assert.deepInclude(await asked(given, "/hooks/paid", { env: variables }), { status: 401, code: "auth/missing" })
    assert.deepStrictEqual(woken, [])
    const log = await logged(async () => {
      const { HOOK_SECRET: _, ...bare } = variables
      assert.deepInclude(await asked(given, "/hooks/paid", { ...sent(body, "another"), env: bare }), { status: 500 })
    })
    assert.include(log, "Set HOOK_SECRET")
  })

  it("lists spaces in pages, and answers for pages and unknown paths", async () => {
    assert.include((await asked(parts, "/v1/spaces?after=b&limit=5", authorized)).text, "[\"after b\",\"5\"],\"next\":\"z\"")
    assert.strictEqual((await asked(parts, "/v1/spaces?limit=x", authorized)).status, 400)
    assert.include((await asked(parts, "/page", authorized)).text, "/data/a for 64 characters")
    assert.strictEqual((await asked(parts, "/page")).status, 401)
    assert.deepInclude(await asked(parts, "/elsewhere", authorized), { status: 404, code: "route/absent" })
  })

  it("lists enzymes and flows as a server does", async () => {
    const flow = Flow.make({ name: "approval", steps: { ask: { wait: () => "/signals/approved" } } })
    const given: Parts = { manifest: { "enzymes/approval.ts": { module: flow, hash: "1" } }, config: { token: TOKEN } }
    const list = async (path: string) => JSON.parse((await asked(given, path, authorized)).text) as unknown
    const steps = [{ step: "ask", kind: "wait", goals: ["done", "error"] }]
    assert.deepInclude(await list("/v1/flows"), { flows: [{ name: "approval", steps }] })
    const { enzymes } = await list("/v1/enzymes") as { readonly enzymes: ReadonlyArray<{ readonly name: string; readonly hash: string }> }
    assert.deepStrictEqual(enzymes.map(({ hash, name }) => [name, hash]), [["approval", "1"]])
    assert.deepStrictEqual(woken, [])
  })

  it("answers 405 with the allowed method where a path takes another one", async () => {
    const refused = { status: 405, code: "route/method", allow: "GET" }
    for (const path of ["/v1/spaces", "/v1/enzymes", "/v1/flows", "/page", "/livez", "/readyz"]) {
      assert.deepInclude(await asked(parts, path, { ...authorized, method: "POST" }), refused, path)
      assert.strictEqual((await asked(parts, path, { ...authorized, method: "HEAD" })).status, 200, path)
    }
    assert.deepInclude(await asked(parts, "/elsewhere", { ...authorized, method: "POST" }), { status: 404, code: "route/absent" })
    assert.deepInclude(await asked(parts, "/v1/spaces", { method: "POST" }), { status: 401 })
  })

  it("wakes no object for the reports of a caller with many refused ones, and for each report that is accepted", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 0 })
    try {
      const settings = make(parts, env(async () => new Response("object")))
      const router = Router.make({ gate: () => settings, inside: async (env) => Inside.open(settings, env) })
      const report = async (status: number, address: string) => {
        woken.length = 0
        const headers = { "authorization": `Rendezvous ${"ab".repeat(16)}`, "cf-connecting-ip": address }
        const request = new Request("https://worker.example/v1/spaces/shop/rv/r1/report", { method: "POST", headers })
        const answer = await router(ofCloudflare(request), env(async () => new Response("{}", { status })))
        return [answer.status, /"code":"([^"]*)"/.exec(await answer.text())?.[1], woken.length]
      }
      const { requests, seconds } = REPORTS
      for (let n = 0; n < 2 * requests; n++) assert.deepStrictEqual(await report(200, "192.0.2.1"), [200, undefined, 1])
      for (let n = 0; n < requests; n++) assert.deepStrictEqual(await report(403, "192.0.2.1"), [403, undefined, 1])
      assert.deepStrictEqual(await report(403, "192.0.2.1"), [429, "access/rate", 0])
      assert.deepStrictEqual(await report(200, "192.0.2.2"), [200, undefined, 1])
      for (let n = 0; n < requests; n++) assert.strictEqual((await report(404, `2001:db8:1:2:${n}::1`))[2], 1)
      assert.strictEqual((await report(404, "2001:db8:1:2:ffff::1"))[2], 0)
      for (let n = 0; n < requests; n++) assert.strictEqual((await report(404, `2001:db8::${n}:b:c:d`))[2], 1)
      assert.strictEqual((await report(404, "2001:db8::1"))[2], 0)
      assert.strictEqual((await report(404, "2001:0DB8:0:0:1:2:3:4"))[2], 0)
      assert.deepStrictEqual([(await report(404, "2001:db8:0:1::1"))[2], (await report(404, "::ffff:192.0.2.3"))[2]], [1, 1])
      vi.setSystemTime(1000 * seconds)
      assert.deepStrictEqual(await report(403, "192.0.2.1"), [403, undefined, 1])
    } finally {
      vi.useRealTimers()
    }
  })

  it("believes the address of a caller from Cloudflare alone, and elsewhere takes that of the connection, if it is told", async () => {
    const seen: Array<string | null> = []
    const object: SpaceStub["fetch"] = async ({ headers }) => {
      seen.push(headers.get("cf-connecting-ip"))
      return new Response("object")
    }
    const settings = make({ manifest: {}, config: {
      token: TOKEN, access: { public: ["GET /v1/spaces/shop/cells/data/menu/**"], rates: { address: { requests: 2, seconds: 600 } } }
    } }, env(object))
    const router = Router.make({ gate: () => settings, inside: async (env) => Inside.open(settings, env) })
    const ask = async (address: string, cf?: object) => {
      const request = new Request("https://worker.example/v1/spaces/shop/cells/data/menu", { headers: { "cf-connecting-ip": address } })
      return (await router(Object.assign(request, { cf }), env(object))).status
    }
    for (const n of [1, 2, 3]) assert.strictEqual(await ask(`192.0.2.${n}`, { colo: "AMS" }), 200)
    for (const [n, status] of [[4, 200], [5, 200], [6, 429]] as const) assert.strictEqual(await ask(`192.0.2.${n}`), status)
    for (const [n, status] of [[7, 200], [8, 200], [9, 429]] as const) {
      assert.strictEqual(await ask(`192.0.2.${n}`, { clientIp: `192.0.2.99:${n}` }), status)
    }
    const told = ["192.0.2.1", "192.0.2.2", "192.0.2.3", null, null, "192.0.2.99:7", "192.0.2.99:8"]
    assert.deepStrictEqual(seen, told)
  })
})
