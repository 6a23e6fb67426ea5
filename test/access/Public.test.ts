import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Link } from "systole"
import { CallerStreams, NETWORK_STREAMS } from "../../src/ingress/access/CallerStreams.ts"
import { MAX_STREAMS, PUBLIC_STREAMS, RESERVED_STREAMS, StreamQuota } from "../../src/ingress/wire/StreamQuota.ts"
import * as PublicReads from "../../src/contract/PublicReads.ts"
import { Rates } from "../../src/access/Rates.ts"
import * as Config from "../../src/loader/Config.ts"
import { enzymes, problem, serve, type TestIngress } from "../ingress/TestIngress.ts"
import { idIn, make as makeTokens } from "./TestTokens.ts"

const ROOT = "the-operators-own-token"
const config = {
  token: ROOT,
  spaces: { create: "on-demand" as const },
  access: { public: ["GET /v1/spaces/shop/cells/data/menu/**", "GET /menu"] },
  labels: { cells: { "/data/menu/secret/**": ["salary"] } },
  pages: { "/menu": () => "the menu", "/orders": () => "the orders" }
}

const cells = { "/data/menu": "all", "/data/menu/tea": 3, "/data/menu/secret/cost": 1, "/data/menus": 7 }

/** A shop whose menu is public, and another space with one. */
const test = (name: string, run: (app: TestIngress, tokens: ReturnType<typeof makeTokens>) => Promise<void>) =>
  it.live(name, () => {
    const tokens = makeTokens({ root: ROOT })
    const rates = {
      rates: new Rates({ address: { requests: 3, seconds: 60 }, credential: { requests: 50, seconds: 60 } }, () => tokens.clock.now),
      addressOf: (_: Request, connection: string | undefined) => connection
    }
    return Effect.flatMap(serve({ config, enzymes, tokens, rates }), (app) => Effect.promise(async () => {
      for (const name of ["shop", "other"]) {
        const space = await Effect.runPromise(app.kernel.space(name))
        for (const [address, value] of Object.entries(cells)) {
          await Effect.runPromise(space.set(address, value))
        }
        await Effect.runPromise(space.set("/data/menu/link", Link.make("/data/menus")))
      }
      await run(app, tokens)
    }))
  })

const shop = "/v1/spaces/shop/cells"

describe("What is public", () => {
  test("is read, listed and asked for by HEAD without a credential, at and below its cell", async ({ ask, fetch }) => {
    assert.deepInclude(await ask(`${shop}/data/menu/tea`), { status: 200, body: 3 })
    assert.deepInclude(await ask(`${shop}/data/menu`), { status: 200, body: "all" })
    assert.deepStrictEqual((await ask(`${shop}/data/menu?list`)).body, { names: ["link", "tea"], next: null })
    assert.deepStrictEqual((await ask(`${shop}/data/menu?below`)).body, { cells: ["/data/menu/link", "/data/menu/tea"], next: null })
    assert.strictEqual((await fetch(`${shop}/data/menu/tea`, { method: "HEAD" })).status, 200)
    assert.deepInclude(await ask("/menu"), { status: 200 })
  })

  test("has no secret, and no link leads out of it", async ({ ask }) => {
    for (const path of ["/data/menu/secret/cost", "/data/menu/link"]) {
      const answer = await ask(`${shop}${path}`)
      assert.deepStrictEqual(problem(answer), [403, "label/withheld"], path)
      assert.include(JSON.stringify(answer.body), "requests without a credential")
    }
    assert.deepStrictEqual((await ask(`${shop}/data/menu/secret?list`)).body, { names: [], next: null })
  })

  test("is shared by the whole space: a cell of a user is neither read nor listed, followed or led to", async ({ ask, fetch, kernel }) => {
    const space = await Effect.runPromise(kernel.space("shop"))
    await Effect.runPromise(space.set("/data/menu/cart?scope=user:42", ["private"]))
    await Effect.runPromise(space.set("/data/menu/mine", Link.make("/data/menu/cart?scope=user:42")))
    for (const path of ["/data/menu/cart?scope=user:42", "/data/menu/cart?scope=user:43", "/data/menu/mine"]) {
      assert.deepStrictEqual(problem(await ask(`${shop}${path}`)), [403, "label/withheld"], path)
    }
    const { body } = await ask(`${shop}/data/menu?below`)
    assert.deepStrictEqual(body, { cells: ["/data/menu/link", "/data/menu/mine", "/data/menu/tea"], next: null })
    const listed = await ask(`${shop}/data/menu?list&scope=user:42`)
    assert.notInclude(JSON.stringify(listed.body), "cart")
    const stream = await fetch(`${shop}/data/menu/cart?scope=user:42`, { headers: { accept: "text/event-stream" } })
    assert.strictEqual(stream.status, 403)
  })

  test("is no other cell, space, page, route or method", async ({ app, ask }) => {
    const paths = [
      `${shop}/data/menus`, `${shop}/data?below`, `${shop}/`, `${shop}/data/menu/../menus`, `${shop}/data/menu/%2e%2e/menus`,
      `${shop}/data/menu%2f..%2f..%2fmenus`, "//v1/spaces/shop/cells/data/menu/tea",
      "/v1/spaces/other/cells/data/menu/tea", "/v1/spaces/shop/locks/data/menu/tea", "/orders", "/menu/", "/menu/orders"
    ]
    for (const path of paths) assert.deepStrictEqual(problem(await ask(path)), [401, "auth/missing"], path)
    const socket = { connection: "upgrade", upgrade: "websocket" }
    assert.deepStrictEqual(problem(await ask(`${shop}/data/menu/tea`, { headers: socket })), [401, "auth/missing"])
    const open = new Set<string>()
    for (const { access, method, path } of app.table.endpoints) {
      const asked = path.replace(":space", "shop").replace("/*", "/data/menu/tea").replaceAll(/:\w+/g, "1")
      const { status } = await ask(asked, method === "GET" || method === "DELETE" ? { method } : { method, body: "{}" })
      if (status !== 401 && access !== "anyone") open.add(`${method} ${path}`)
    }
    assert.deepStrictEqual([...open], ["GET /v1/spaces/:space/cells/*"])
  })

  test("is no way around a credential that is shown", async ({ ask }, { admin, clock, create }) => {
    const read = (authorization: string) => ask(`${shop}/data/menu/tea`, { headers: { authorization } })
    assert.deepStrictEqual(problem(await read("Bearer wrong")), [401, "auth/missing"])
    const other = await create({ verbs: ["read"], spaces: ["other"] })
    assert.deepStrictEqual(problem(await read(`Bearer ${other}`)), [403, "access/space"])
    await admin.revoke(other.split("_")[1] ?? "")
    assert.deepStrictEqual(problem(await read(`Bearer ${other}`)), [401, "auth/revoked"])
    const begun = await ask("/v1/session", { method: "POST", headers: { authorization: `Bearer ${ROOT}` } })
    const cookie = begun.headers.get("set-cookie")?.split(";")[0] ?? ""
    assert.strictEqual((await ask(`${shop}/data/menus`, { headers: { cookie } })).status, 200)
    clock.now += 86_400_000
    assert.deepStrictEqual(problem(await ask(`${shop}/data/menus`, { headers: { cookie } })), [401, "auth/expired"])
    assert.strictEqual((await ask(`${shop}/data/menu/tea`, { headers: { cookie } })).status, 200)
  })

  test("is read whatever a client encodes, and by one that offers another protocol", async ({ ask, kernel }) => {
    await Effect.runPromise(Effect.flatMap(kernel.space("shop"), (space) => space.set("/data/menu/a,b", 5)))
    for (const path of ["/data/menu/a,b", "/data/menu/a%2Cb", "/data/%6denu/a%2cb"]) {
      const headers = { connection: "upgrade", upgrade: "h2c" }
      assert.deepInclude(await ask(`${shop}${path}`, { headers }), { status: 200, body: 5 }, path)
    }
    for (const path of ["/data/menu%2Ctea", "/data/menu/%2e%2e/menus", "/data%2Fmenu/tea"]) {
      assert.deepStrictEqual(problem(await ask(`${shop}${path}`)), [401, "auth/missing"], path)
    }
  })

  test("is read by a person whose session has less access", async ({ ask }, { create, set }) => {
    const narrow = await create({ verbs: ["read"], spaces: ["shop"], prefixes: ["/data/orders"] })
    const begun = await ask("/v1/session", { method: "POST", headers: { authorization: `Bearer ${narrow}` } })
    const headers = { cookie: begun.headers.get("set-cookie")?.split(";")[0] ?? "" }
    assert.deepInclude(await ask(`${shop}/data/menu/tea`, { headers }), { status: 200, body: 3 })
    assert.deepInclude(await ask("/menu", { headers }), { status: 200 })
    assert.deepStrictEqual(set.denied(idIn(narrow)), {}, "nothing was refused")
    const stream = await ask(`${shop}/data/menu/secret/cost`, { headers: { ...headers, accept: "text/event-stream" } })
    assert.deepStrictEqual(problem(stream), [403, "label/withheld"])
    assert.deepStrictEqual(problem(await ask(`${shop}/data/menus`, { headers })), [403, "access/prefix"])
    const shown = { headers: { authorization: `Bearer ${narrow}` } }
    assert.deepStrictEqual(problem(await ask(`${shop}/data/menu/tea`, shown)), [403, "access/prefix"])
    assert.deepStrictEqual(set.denied(idIn(narrow)), { "access/prefix": 2 })
  })

  test("puts nothing into the list of refused reads of readers", async ({ ask }) => {
    await ask(`${shop}/data/menu/secret/cost`)
    assert.deepInclude((await ask("/v1/spaces/shop/denials", { headers: { authorization: `Bearer ${ROOT}` } })).body, { denials: [] })
  })

  test("is followed by an event stream", async ({ fetch, kernel }) => {
    const answer = await fetch(`${shop}/data/menu/tea`, { headers: { accept: "text/event-stream" } })
    assert.strictEqual(answer.status, 200)
    const decoder = new TextDecoder()
    const readerOf = ({ body }: Response) => (body as ReadableStream<Uint8Array>).getReader()
    const reader = readerOf(answer)
    const next = async () => {
      // The first chunk may only tell that the stream is alive.
      for (let i = 0; i < 5; i++) {
        const text = decoder.decode((await reader.read()).value)
        if (text.includes("data:")) return text
      }
      return "nothing"
    }
    assert.include(await next(), "data: 3")
    await Effect.runPromise(Effect.flatMap(kernel.space("shop"), (space) => space.set("/data/menu/tea", 4)))
    assert.include(await next(), "data: 4")
    await reader.cancel()
    const linked = readerOf(await fetch(`${shop}/data/menu/link`, { headers: { accept: "text/event-stream" } }))
    assert.notInclude(decoder.decode((await linked.read()).value), "data: 7")
    await linked.cancel()
  })

  test("has a rate by address", async ({ app }) => {
    const from = async (address: string, path = `${shop}/data/menu/tea`) =>
      (await app.fetch(new Request(`http://localhost${path}`), () => address)).status
    for (const status of [200, 200, 200, 429, 429]) assert.strictEqual(await from("1.1.1.1"), status)
    assert.strictEqual(await from("1.1.1.1", "/menu"), 429)
    assert.strictEqual(await from("2.2.2.2", "/menu"), 200)
  })
})

describe("The configuration of what is public", () => {
  it.effect("is checked, and has a rate", () => Effect.gen(function*() {
    const refused = (read: string) =>
      Effect.map(Effect.flip(Config.decode({ access: { public: [read] }, pages: { "/menu": () => "" } })), String)
    const reads = [
      "POST /v1/spaces/shop/signals", "DELETE /v1/spaces/shop/cells/data/**", "GET /v1/spaces/shop/cells/**", "GET /v1/spaces/*/cells/a/**",
      "GET /v1/spaces/shop/cells/data/menu", "GET /v1/spaces/shop/cells/data/*/b/**", "GET /v1/spaces", "GET /v1/spaces/Shop/cells/a/**",
      "/menu", "get /menu", "GET /v1", "GET /v1/spaces/shop/cells/data/%2e%2e/**"
    ]
    for (const read of reads) assert.match(yield* refused(read), /public\.0 is .*give "GET \/v1\/spaces/, read)
    assert.match(yield* refused("GET /v1/spaces/shop/cells/data/../x/**"), /access\.public\.0 is .*, and .*\.\./)
    assert.match(yield* refused("GET /v1/spaces/shop/cells/cas/**"), /content under \/cas has no path of cells/)
    assert.match(yield* refused("GET /menus"), /access\.public\.0 is "GET \/menus", and pages has no \/menus\. Did you mean \/menu\?/)
    const { access } = yield* Config.decode({ access: { public: ["GET /v1/spaces/shop/cells/data/menu/**"] } })
    assert.deepStrictEqual(access.rates, { address: { requests: 600, seconds: 60 } })
    const own = { address: { requests: 5, seconds: 1 } }
    assert.deepStrictEqual((yield* Config.decode({ access: { rates: own, public: ["GET /v1/spaces/a/cells/b/**"] } })).access.rates, own)
    assert.deepStrictEqual((yield* Config.decode({ access: { public: [] } })).access, { public: [] })
  }))
})

describe("The streams without a credential", () => {
  const by = { kind: "public" } as const
  const everybody = { name: PublicReads.READER, of: "everybody" } as const

  it("are some of the host's, whatever readers it has", () => {
    for (const readers of [[], ["one"], ["one", "two"]]) {
      const quota = StreamQuota.of({ readers, public: ["GET /menu"] })
      for (let n = 0; n < PUBLIC_STREAMS; n++) {
        quota.check(everybody)
        quota.count(PublicReads.READER, 1)
      }
      assert.throws(() => quota.check(everybody), /256 streams without a credential are open/)
      const left = (MAX_STREAMS - RESERVED_STREAMS - PUBLIC_STREAMS) / Math.max(1, readers.length)
      for (let n = 0; n < left; n++) {
        quota.check({ name: "one" })
        quota.count("one", 1)
      }
      assert.throws(() => quota.check({ name: "one" }), /of reader "one" are open/)
    }
  })

  it("are few of one address, from their admission on", async () => {
    const streams = new CallerStreams(new StreamQuota(0))
    const body = () => new Response(new ReadableStream(), { headers: { "content-type": "text/event-stream" } })
    const open = (network: string | undefined) => streams.answered(new Request("http://localhost/"), { by, network }, body)
    const opened = await Promise.all(Array.from({ length: NETWORK_STREAMS }, () => open("1.1.1.1")))
    assert.deepStrictEqual([...new Set(opened.map(({ status }) => status))], [200])
    assert.strictEqual((await open("1.1.1.1")).status, 429)
    assert.strictEqual((await open("2.2.2.2")).status, 200)
    assert.strictEqual((await open(undefined)).status, 200)
    await opened[0]?.body?.cancel()
    assert.strictEqual((await open("1.1.1.1")).status, 200)
  })
})
