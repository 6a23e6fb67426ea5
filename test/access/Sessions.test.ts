import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { runInNewContext } from "node:vm"
import { BEARER_MILLIS, LINK_MILLIS } from "../../src/access/Sessions.ts"
import type { Store } from "../../src/access/TokenSet.ts"
import * as HostAccess from "../../src/main/host/HostAccess.ts"
import { enzymes, problem, serve, type TestIngress } from "../ingress/TestIngress.ts"
import { DAY, make } from "./TestTokens.ts"

const ROOT = "the-operators-own-token"
const READER = "the-token-of-the-page"
const config = {
  token: ROOT,
  spaces: { create: "on-demand" as const },
  pages: { "/": () => "<p>home" },
  labels: { cells: { "/data/pay/**": ["salary"] }, readers: { web: { token: READER, clearance: [] } } }
}
const SESSION = "/v1/session"
const CELL = "/v1/spaces/shop/cells/data/count"
const CSRF = { "x-systole-csrf": "1" }

/** A browser at an address: it keeps the cookie that an answer sets. */
class Browser {
  readonly app: TestIngress
  readonly site: string
  cookie = ""
  set: string | null = null

  constructor(app: TestIngress, site = "https://shop.example") {
    this.app = app
    this.site = site
  }

  async ask(path: string, init: RequestInit = {}) {
    const headers = { host: new URL(this.site).host, ...this.cookie === "" ? {} : { cookie: `other=1; ${this.cookie}` }, ...init.headers }
    const response = await this.app.app.fetch(new Request(this.site + path, { ...init, headers }))
    const set = response.headers.get("set-cookie")
    if (set !== null) {
      this.set = set
      this.cookie = set.split(";")[0]!
    }
    const text = await response.text()
    const body: any = response.headers.get("content-type")?.includes("json") === true ? JSON.parse(text) : text
    return { status: response.status, headers: response.headers, body }
  }

  login(secret: string, as = "") {
    return this.ask(SESSION + as, { method: "POST", headers: { authorization: `Bearer ${secret}` } })
  }

  /** The status, with the code of a refusal. */
  async told(path: string, init?: RequestInit): Promise<ReadonlyArray<unknown>> {
    const answer = await this.ask(path, init)
    return answer.status >= 400 ? problem(answer) : [answer.status]
  }
}

const test = (name: string, run: (app: TestIngress, tokens: ReturnType<typeof make>) => Promise<void>, more: {
  readonly store?: Store
  readonly root?: string
} = {}) =>
  it.live(name, () => {
    const tokens = make({ root: ROOT, ...more })
    return Effect.flatMap(serve({ config: { ...config, token: more.root ?? ROOT }, enzymes, tokens }), (app) =>
      Effect.promise(() => run(app, tokens)))
  })

const put = (body: string, headers = {}): RequestInit =>
  ({ method: "PUT", body, headers: { "content-type": "application/json", ...headers } })

describe("A session", () => {
  test("stands for its credential in a cookie that no script reads and no other site sends", async (app, { create }) => {
    await app.put(CELL, 1, { authorization: `Bearer ${ROOT}` })
    for (const [secret, name, write] of [
      [ROOT, "operator", [200]],
      [await create({ verbs: ["read", "write"] }), "sys_", [200]],
      [await create({ verbs: ["read"], spaces: ["shop"] }), "sys_", [403, "access/verb"]],
      [READER, "web", [403, "label/withheld"]]
    ] as const) {
      const browser = new Browser(app)
      assert.deepStrictEqual(await browser.told(CELL), [401, "auth/missing"])
      assert.strictEqual((await browser.login(secret)).status, 201)
      assert.match(browser.set ?? "", /^__Host-systole=syc\.[\w.-]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/)
      assert.strictEqual((await browser.ask(CELL)).body, 1)
      assert.deepStrictEqual(await browser.told(CELL, put("1", CSRF)), write)
      const { body } = await browser.ask(SESSION)
      assert.include(body.name, name)
      assert.strictEqual(body.expires - Date.UTC(2026, 10, 27), 43_200_000)
      assert.notInclude(JSON.stringify(body), "syc.")
    }
  })

  test("opens pages and streams, and a stream ends with it", async (app, tokens) => {
    const browser = new Browser(app)
    assert.deepStrictEqual(await browser.told("/"), [401, "auth/missing"])
    await app.put(CELL, 1, { authorization: `Bearer ${ROOT}` })
    await browser.login(await tokens.create({ verbs: ["read"] }))
    assert.strictEqual((await browser.ask("/")).body, "<p>home")
    const headers = { cookie: browser.cookie, accept: "text/event-stream", host: "shop.example" }
    const stream = await app.app.fetch(new Request(browser.site + CELL, { headers }))
    const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ""
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      text += read.value
      if (text.includes("data: 1")) break
    }
    assert.include(text, "data: 1")
    const wait = reader.read()
    assert.deepStrictEqual((await browser.ask(SESSION, { method: "DELETE", headers: CSRF })).body, { ended: true })
    await app.put(CELL, 2, { authorization: `Bearer ${ROOT}` })
    assert.isTrue((await wait).done)
  })

  test("is over at its end, after its logout, and with its credential", async (app, tokens) => {
    const { admin, clock, create } = tokens
    const begun = async (secret: string) => {
      const browser = new Browser(app)
      assert.strictEqual((await browser.login(secret)).status, 201)
      assert.deepStrictEqual(await browser.told(SESSION), [200])
      return browser
    }
    const idOf = (secret: string) => secret.split("_")[1] ?? ""
    const revoked = await create({ verbs: ["read"] })
    const rotated = await create({ verbs: ["read"] })
    const [ended, gone, kept, turned] = [await begun(ROOT), await begun(revoked), await begun(READER), await begun(rotated)]
    await admin.revoke(idOf(revoked))
    assert.deepStrictEqual(await gone.told(SESSION), [401, "auth/revoked"])
    await admin.rotate(idOf(rotated), undefined)
    assert.deepStrictEqual(await turned.told(SESSION), [200])
    await admin.settle(idOf(rotated))
    assert.deepStrictEqual(await turned.told(SESSION), [401, "auth/missing"])
    const copy = Object.assign(new Browser(app), { cookie: ended.cookie })
    assert.deepStrictEqual(await ended.told(SESSION, { method: "DELETE" }), [403, "access/origin"])
    assert.strictEqual((await ended.ask(SESSION, { method: "DELETE", headers: { origin: ended.site } })).status, 200)
    assert.match(ended.set ?? "", /^__Host-systole=; Path=\/; Max-Age=0;/)
    assert.deepStrictEqual(await copy.told(SESSION), [401, "auth/expired"])
    const short = await begun(await create({ verbs: ["read"], expires: "1m" }))
    assert.strictEqual((await short.ask(SESSION)).body.expires, clock.now + 60_000)
    clock.now += 60_000
    assert.deepStrictEqual(await short.told(SESSION), [401, "auth/expired"])
    assert.deepStrictEqual(await kept.told(SESSION), [200])
    clock.now += DAY / 2
    assert.deepStrictEqual(await kept.told(SESSION), [401, "auth/expired"])
  })

  test("changes nothing for a page of another origin, of the same site, too", async (app) => {
    const browser = new Browser(app)
    await browser.login(ROOT)
    for (const origin of ["https://evil.example", "https://neighbour.shop.example", "https://shop.example:8443", "null"]) {
      assert.deepStrictEqual(await browser.told(CELL, put("1", { origin })), [403, "access/origin"], origin)
    }
    const form = { "content-type": "application/x-www-form-urlencoded" }
    const post = (headers: object) =>
      browser.told("/v1/spaces/shop/signals", { method: "POST", body: "signal=/a", headers: { ...form, ...headers } })
    assert.deepStrictEqual(await post({}), [403, "access/origin"])
    assert.deepStrictEqual(await post({ origin: browser.site }), [415, "body/media-type"])
    assert.deepStrictEqual(await browser.told(CELL, put("1", { origin: browser.site })), [200])
    const elsewhere = { method: "POST", headers: { origin: "https://evil.example", authorization: `Bearer ${ROOT}` } }
    assert.deepStrictEqual(await browser.told(SESSION, elsewhere), [403, "access/origin"])
  })

  test("is refused if it is forged, changed or shown as another kind", async (app, { create }) => {
    const browser = new Browser(app)
    const secret = await create({ verbs: ["read"] })
    await browser.login(secret)
    const { body: { token: bearer } } = await browser.login(secret, "?as=token")
    const [name, text = ""] = browser.cookie.split("=")
    const [kind, id, end, who, code = ""] = text.split(".")
    const forged = [
      [kind, id, end, "operator", code], [kind, id, "zzzzzzzz", who, code], [kind, "0".repeat(16), end, who, code],
      [kind, id, end, who, "0".repeat(64)], ["syb", id, end, who, code], [kind, id, end, who], [kind, id, end, "token-zzzzzzzz", code]
    ].map((parts) => parts.join("."))
    const told = (cookie: string) => Object.assign(new Browser(app), { cookie }).told(SESSION)
    for (const cookie of [...forged, bearer, "", "x".repeat(5000)]) {
      assert.deepStrictEqual(await told(`${name}=${cookie}`), [401, "auth/missing"], cookie)
    }
    const headers = { authorization: `Bearer ${text}` }
    assert.deepStrictEqual(await new Browser(app).told(SESSION, { headers }), [401, "auth/missing"])
    // A neighbouring host can set a cookie without the prefix.
    assert.deepStrictEqual(await told(`systole-443=${text}`), [401, "auth/missing"])
  })
})

describe("The sessions of a host", () => {
  const store = HostAccess.inMemory()
  const using = async <A>(root: string, use: (browser: Browser) => Promise<A>): Promise<A> =>
    Effect.runPromise(Effect.scoped(Effect.flatMap(serve({ config: { ...config, token: root }, tokens: make({ root, store }) }), (app) =>
      Effect.promise(() => use(new Browser(app))))))

  it("hold after a restart, and end with the token of the configuration", async () => {
    for (const secret of [ROOT, READER]) {
      const cookie = await using(ROOT, async (browser) => (await browser.login(secret), browser.cookie))
      assert.deepStrictEqual(await using(ROOT, (browser) => Object.assign(browser, { cookie }).told(SESSION)), [200])
      assert.deepStrictEqual(
        await using("another-token-of-the-operator", (browser) => Object.assign(browser, { cookie }).told(SESSION)),
        [401, "auth/missing"]
      )
    }
  })

  it("are refused while the table cannot be read, and no other credential is", async () => {
    const failing: Store = { ...store, key: () => Promise.reject(new Error("damaged")), load: () => Promise.reject(new Error("damaged")) }
    const cookie = await using(ROOT, async (browser) => (await browser.login(ROOT), browser.cookie))
    const tokens = make({ root: ROOT, store: failing })
    await Effect.runPromise(Effect.scoped(Effect.flatMap(serve({ config, tokens }), (app) => Effect.promise(async () => {
      const browser = new Browser(app)
      const headers = { authorization: `Bearer ${ROOT}` }
      assert.deepStrictEqual(await browser.told(SESSION, { headers }), [200])
      assert.deepStrictEqual(await browser.told(SESSION, { method: "POST", headers }), [503, "access/unavailable"])
      assert.deepStrictEqual(await Object.assign(browser, { cookie }).told(SESSION), [503, "access/unavailable"])
    }))))
  })

  it("are not looked for in the table by each forged cookie", async () => {
    let looks = 0
    const counted: Store = { ...HostAccess.inMemory(), key: async () => void looks++ as undefined }
    const tokens = make({ root: ROOT, store: counted })
    await Effect.runPromise(Effect.scoped(Effect.flatMap(serve({ config, tokens }), (app) => Effect.promise(async () => {
      const cookie = `__Host-systole=syc.${"0".repeat(16)}.zzzzzzzz.operator.${"0".repeat(64)}`
      for (let n = 0; n < 200; n++) {
        assert.deepStrictEqual(await Object.assign(new Browser(app), { cookie }).told(SESSION), [401, "auth/missing"])
      }
      assert.strictEqual(looks, 1)
    }))))
  })
})

describe("A browser on this machine", () => {
  it.live("has a cookie of its port, and no session without a token is in its way", () =>
    Effect.flatMap(serve({ config: { spaces: { create: "on-demand" } }, tokens: make() }), (app) => Effect.promise(async () => {
      const browser = new Browser(app, "http://127.0.0.1:4200")
      assert.strictEqual((await browser.ask(SESSION)).body.name, "operator")
      await browser.ask(SESSION, { method: "POST" })
      assert.match(browser.set ?? "", /^systole-4200=syc\..*; HttpOnly; SameSite=Strict$/)
      assert.deepStrictEqual(await browser.told(SESSION), [200])
      browser.cookie = browser.cookie.replace(/.{3}$/, "000")
      assert.deepStrictEqual(await browser.told(SESSION), [200])
      assert.deepStrictEqual(await browser.told(SESSION, { headers: { origin: "http://127.0.0.1:4300" } }), [403, "host/refused"])
    })))

  test("keeps its session while a page of another port sets a cookie of that name with a longer path", async (app) => {
    const browser = new Browser(app, "http://127.0.0.1:4200")
    await browser.login(ROOT)
    const { cookie } = browser
    for (const shadow of ["", "syc.0.0.operator.0"]) {
      browser.cookie = `systole-4200=${shadow}; ${cookie}`
      assert.deepStrictEqual(await browser.told(SESSION), [200])
    }
  })
})

describe("A bearer for a page of another site", () => {
  test("ends the session that it came from, and one from a token itself alone", async (app, { create }) => {
    const [browser, secret] = [new Browser(app), await create({ verbs: ["read"] })]
    await browser.login(secret)
    const bearer = async (from: () => ReturnType<Browser["ask"]>) => ({ authorization: `Bearer ${(await from()).body.token}` })
    const ofSession = () => bearer(() => browser.ask(`${SESSION}?as=token`, { method: "POST", headers: CSRF }))
    const ofToken = () => bearer(() => new Browser(app).login(secret, "?as=token"))
    const [first, second, third, fourth] = [await ofSession(), await ofSession(), await ofToken(), await ofToken()]
    const told = (headers: HeadersInit, method = "GET") => new Browser(app).told(SESSION, { headers, method })
    assert.deepStrictEqual(await told(third, "DELETE"), [200])
    assert.deepStrictEqual([await told(third), await told(fourth)], [[401, "auth/expired"], [200]])
    assert.deepStrictEqual(await told(first, "DELETE"), [200])
    assert.deepStrictEqual([await told(second), await browser.told(SESSION)], [[401, "auth/expired"], [401, "auth/expired"]])
    assert.deepStrictEqual([await told(fourth), await told({ authorization: `Bearer ${secret}` })], [[200], [200]])
  })

  test("lasts 15 minutes at most, ends with its session, and makes none that lasts longer", async (app, { admin, clock, create }) => {
    const browser = new Browser(app)
    const secret = await create({ verbs: ["read"] })
    await browser.login(secret)
    const { body: { expires, token } } = await browser.ask(`${SESSION}?as=token`, { method: "POST", headers: CSRF })
    assert.strictEqual(expires, clock.now + BEARER_MILLIS)
    const page = new Browser(app)
    const headers = { authorization: `Bearer ${token}`, origin: "https://page.example" }
    const asks = (path = SESSION, init = {}) => page.told(path, { headers, ...init })
    assert.deepStrictEqual(await asks(), [200])
    clock.now += BEARER_MILLIS / 2
    assert.strictEqual((await page.ask(`${SESSION}?as=token`, { method: "POST", headers })).body.expires, expires)
    assert.deepStrictEqual(await asks(`${SESSION}?as=link`, { method: "POST" }), [403, "access/origin"])
    clock.now += BEARER_MILLIS / 2
    assert.deepStrictEqual(await asks(), [401, "auth/expired"])
    const again = async () => `Bearer ${(await browser.ask(`${SESSION}?as=token`, { method: "POST", headers: CSRF })).body.token}`
    headers.authorization = await again()
    assert.deepStrictEqual(await asks(), [200])
    await browser.ask(SESSION, { method: "DELETE", headers: CSRF })
    assert.deepStrictEqual(await asks(), [401, "auth/expired"])
    headers.authorization = `Bearer ${(await new Browser(app).login(secret, "?as=token")).body.token}`
    assert.deepStrictEqual(await asks(), [200])
    await admin.revoke(secret.split("_")[1] ?? "")
    assert.deepStrictEqual(await asks(), [401, "auth/revoked"])
  })
})

/** The effects of the button of a page at a URL, whose requests succeed. */
const clicked = async (html: string, url: string) => {
  const [button, { href, hash, pathname }] = [{ focus: () => {}, onclick: async () => {} }, new URL(url)]
  const seen = { asked: "", bearer: "", next: "", shown: "" }
  const resolved = (relative: string) => new URL(relative, href).href
  runInNewContext(/<script type="module">([^]*)<\/script>/.exec(html)?.[1] ?? "", {
    document: { body: { dataset: { next: /data-next="(.*)"/.exec(html)?.[1] } }, getElementById: () => button },
    location: { hash, pathname, replace: (next: string) => seen.next = resolved(next) },
    history: { replaceState: (_: unknown, __: string, shown: string) => seen.shown = shown },
    // The second request asks whether the browser kept the cookie.
    fetch: async (path: string, init?: { readonly headers: { readonly authorization: string } }) => {
      if (init !== undefined) Object.assign(seen, { asked: resolved(path), bearer: init.headers.authorization })
      return Response.json({})
    },
    isSecureContext: true
  })
  await button.onclick()
  return seen
}

describe("A link", () => {
  test("begins a session once, within 5 minutes, and lets nobody in otherwise", async (app, { clock, create }) => {
    const secret = await create({ verbs: ["read"] })
    const linked = async () => {
      const { body, status } = await new Browser(app).login(secret, "?as=link")
      assert.strictEqual(status, 201)
      assert.strictEqual(body.expires, clock.now + LINK_MILLIS)
      return body.link.split("#") as [path: string, link: string]
    }
    const [path, link] = await linked()
    const browser = new Browser(app)
    const page = await browser.ask(path)
    assert.strictEqual(page.status, 200)
    assert.deepStrictEqual(await clicked(page.body, `https://shop.example/below/a/prefix${path}#${link}`), {
      asked: "https://shop.example/below/a/prefix/v1/session",
      bearer: `Bearer ${link}`,
      next: "https://shop.example/below/a/prefix/",
      shown: `/below/a/prefix${path}`
    })
    assert.include(page.headers.get("content-security-policy"), "default-src 'none'; script-src 'sha256-")
    assert.strictEqual(page.headers.get("referrer-policy"), "no-referrer")
    assert.deepStrictEqual(await browser.told(SESSION, { headers: { authorization: `Bearer ${link}` } }), [401, "auth/missing"])
    assert.strictEqual((await browser.login(link)).status, 201)
    clock.now += LINK_MILLIS
    assert.deepStrictEqual(await browser.told(SESSION), [200])
    const again = { method: "POST", headers: { authorization: `Bearer ${link}` } }
    assert.deepStrictEqual(await new Browser(app).told(SESSION, again), [401, "auth/expired"])
    const [, twice] = await linked()
    const both = await Promise.all([new Browser(app).login(twice), new Browser(app).login(twice)])
    assert.deepStrictEqual(both.map(({ status }) => status).toSorted(), [201, 401])
    const used = await new Browser(app).login(twice)
    assert.strictEqual(used.body.detail, "The link was used. Make another one with systole login")
    const [, late] = await linked()
    clock.now += LINK_MILLIS
    const over = await new Browser(app).login(late)
    assert.strictEqual(over.status, 401)
    assert.match(over.body.detail, /^The link ended at \S+Z\. Make another one with systole login$/)
  })
})
