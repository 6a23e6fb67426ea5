import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Redacted from "../../src/cell/Redacted.ts"
import { BEARER_MILLIS } from "../../src/access/Sessions.ts"
import { MAX_SPENT_BY } from "../../src/access/Token.ts"
import type { Store } from "../../src/access/TokenSet.ts"
import * as HostAccess from "../../src/main/host/HostAccess.ts"
import { type Answer, enzymes, problem, serve, type TestIngress } from "../ingress/TestIngress.ts"
import { DAY, make } from "./TestTokens.ts"

const ROOT = "the-operators-own-token"
const SESSION = "/v1/session"
const CELL = "/v1/spaces/shop/cells/data/count"
const config = { token: ROOT, spaces: { create: "on-demand" as const } }

type Tokens = ReturnType<typeof make> & { readonly sessionMillis?: number }
type Ask = (path: string, credential: object, init?: RequestInit) => Promise<Answer>

const bearer = (authorization: unknown) => ({ authorization: `Bearer ${authorization}` })
const cookieOf = ({ headers }: Answer) => ({ cookie: headers.get("set-cookie")?.split(";")[0] ?? "" })
const idOf = (secret: string) => secret.split("_")[1] ?? ""
const post = { method: "POST" }
const csrf = { "x-systole-csrf": "1" }

const running = <A>(tokens: Tokens, run: (app: TestIngress, ask: Ask) => Promise<A>): Promise<A> =>
  Effect.runPromise(Effect.scoped(Effect.flatMap(serve({ config, enzymes, tokens }), (app) => Effect.promise(() =>
    run(app, (path, credential, init = {}) => app.ask(path, { ...init, headers: { host: "shop.example", ...credential, ...init.headers } }))
  ))))

/** The texts of a stream as it goes on. */
const followed = async (app: TestIngress, headers: HeadersInit) => {
  const stream = await app.app.fetch(new Request(`https://shop.example${CELL}`, { headers }))
  assert.strictEqual(stream.status, 200)
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader()
  for (let text = ""; !text.includes("data: ");) text += (await reader.read()).value
  return reader
}

describe("A link", () => {
  it("is used once, whatever it is used for", () => running(make({ root: ROOT }), async (_, ask) => {
    const link = async () => ((await ask(`${SESSION}?as=link`, bearer(ROOT), post)).body as { readonly link: string }).link.split("#")[1]
    for (const first of ["", "?as=token"]) {
      const shown = bearer(await link())
      assert.strictEqual((await ask(SESSION + first, shown, post)).status, 201)
      for (const again of ["", "?as=token"]) {
        assert.deepStrictEqual(problem(await ask(SESSION + again, shown, post)), [401, "auth/expired"])
      }
    }
    const shown = bearer(await link())
    const both = await Promise.all([ask(`${SESSION}?as=token`, shown, post), ask(SESSION, shown, post)])
    assert.deepStrictEqual(both.map(({ status }) => status).toSorted(), [201, 401])
  }))
})

describe("A session that was ended", () => {
  it("stays so until its own end, also after the limit of sessions became shorter", async () => {
    const clock = { now: Date.UTC(2026, 10, 27) }
    const store = HostAccess.inMemory()
    const cookie = await running(make({ root: ROOT, clock, store }), async (_, ask) => cookieOf(await ask(SESSION, bearer(ROOT), post)))
    await running({ ...make({ root: ROOT, clock, store }), sessionMillis: 60_000 }, async (_, ask) => {
      assert.strictEqual((await ask(SESSION, cookie)).status, 200)
      assert.strictEqual((await ask(SESSION, cookie, { method: "DELETE", headers: csrf })).status, 200)
      clock.now += 120_000
      // Another session ends, and the rows that are over are removed.
      const other = cookieOf(await ask(SESSION, bearer(ROOT), post))
      assert.strictEqual((await ask(SESSION, other, { method: "DELETE", headers: csrf })).status, 200)
    })
    await running(make({ root: ROOT, clock, store }), async (_, ask) =>
      assert.deepStrictEqual(problem(await ask(SESSION, cookie)), [401, "auth/expired"]))
  })

  it("is noted for each credential, so that none keeps the others from ending theirs", () => {
    const tokens = make({ root: ROOT })
    return running(tokens, async (_, ask) => {
      const secret = await tokens.create({ verbs: ["read"], spaces: ["shop"] })
      const ended = async (credential: string) => {
        const cookie = cookieOf(await ask(SESSION, bearer(credential), post))
        return ask(SESSION, cookie, { method: "DELETE", headers: csrf })
      }
      const name = `token-${idOf(secret)}`
      for (let n = 0; n < MAX_SPENT_BY; n++) {
        const { pass } = await tokens.sessions.make("cookie", { name, digest: "" }, DAY)
        await tokens.sessions.end({ name, id: Redacted.value(pass).split(".")[1] }, DAY)
      }
      assert.deepStrictEqual(problem(await ended(secret)), [429, "access/full"])
      assert.strictEqual((await ended(await tokens.create({ verbs: ["read"] }))).status, 200)
      assert.strictEqual((await ended(ROOT)).status, 200)
    })
  })
})

describe("An older secret that a rotation ended", () => {
  for (const as of ["token", "session"] as const) {
    it(`ends the streams of its ${as}, and those of the newer one go on`, () => {
      const tokens = make({ root: ROOT })
      return running(tokens, async (app, ask) => {
        await app.put(CELL, 1, bearer(ROOT))
        const old = await tokens.create({ verbs: ["read"] })
        const next = await tokens.rotate(idOf(old))
        const shown = async (secret: string) =>
          ({ accept: "text/event-stream", host: "shop.example",
            ...as === "token" ? bearer(secret) : cookieOf(await ask(SESSION, bearer(secret), post)) })
        const [before, after] = [await followed(app, await shown(old)), await followed(app, await shown(next))]
        await tokens.admin.settle(idOf(old))
        await app.put(CELL, 2, bearer(ROOT))
        assert.isTrue((await before.read()).done)
        assert.include((await after.read()).value, "data: 2")
        await after.cancel()
      })
    })
  }
})

describe("A bearer for a page of another site", () => {
  it("gets no secret that lasts longer than it", () => {
    const tokens = make({ root: ROOT })
    return running(tokens, async (_, ask) => {
      const { body } = await ask(`${SESSION}?as=token`, bearer(ROOT), post)
      const { expires, token } = body as { readonly expires: number; readonly token: string }
      assert.strictEqual(expires, tokens.clock.now + BEARER_MILLIS)
      const other = await tokens.create({ verbs: ["read"] })
      const headers = { "content-type": "application/json" }
      const create = { method: "POST", headers, body: JSON.stringify({ verbs: ["admin"], expires: "366d" }) }
      assert.deepStrictEqual(problem(await ask("/v1/access/tokens", bearer(token), create)), [403, "access/origin"])
      assert.deepStrictEqual(problem(await ask(`/v1/access/tokens/${idOf(other)}/rotation`, bearer(token), post)), [403, "access/origin"])
      assert.strictEqual((await ask("/v1/access/tokens", bearer(token))).status, 200)
    })
  })
})

describe("A request with a cookie", () => {
  it("changes nothing for a page without TLS of the same host", () => running(make({ root: ROOT }), async (_, ask) => {
    const cookie = cookieOf(await ask(SESSION, bearer(ROOT), post))
    const ends = (origin: string) => ask(SESSION, cookie, { method: "DELETE", headers: { origin } })
    assert.deepStrictEqual(problem(await ends("http://shop.example")), [403, "access/origin"])
    assert.strictEqual((await ends("https://shop.example")).status, 200)
  }))

  it("gets no answer that a cache between may keep", () => running(make({ root: ROOT }), async (app, ask) => {
    await app.put(CELL, 1, bearer(ROOT))
    const cookie = cookieOf(await ask(SESSION, bearer(ROOT), post))
    const { endpoints } = app.app.table
    let asked = 0
    for (const { method, path } of endpoints) {
      if (method !== "GET" || /\/(?:livez|readyz)$/.test(path)) continue
      const { headers, status } = await ask(path.replace(":space", "shop").replace("*", "data/count"), cookie)
      assert.match(headers.get("cache-control") ?? "", /no-store|private/, `${path} ${status}`)
      asked++
    }
    assert.isAbove(asked, 30)
  }))
})

describe("A host without a key of sessions", () => {
  it("looks for it again after its clock was set back", async () => {
    const clock = { now: Date.UTC(2026, 10, 27) }
    const kept = HostAccess.inMemory()
    const before = make({ root: ROOT, clock, store: kept })
    const cookie = await running(before, async (_, ask) => cookieOf(await ask(SESSION, bearer(ROOT), post)))
    let isAway = true
    const store: Store = { ...kept, key: (drawn) => isAway ? Promise.reject(new Error("away")) : kept.key(drawn) }
    await running(make({ root: ROOT, clock, store }), async (_, ask) => {
      assert.deepStrictEqual(problem(await ask(SESSION, cookie)), [503, "access/unavailable"])
      isAway = false
      clock.now -= 600_000
      assert.strictEqual((await ask(SESSION, cookie)).status, 200)
    })
  })
})
