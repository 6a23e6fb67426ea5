import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme, Link } from "systole"
import * as Redacted from "../../src/cell/Redacted.ts"
import type { TokenRequest } from "../../src/access/TokenAdmin.ts"
import type { Store } from "../../src/access/TokenSet.ts"
import * as HostAccess from "../../src/main/host/HostAccess.ts"
import { MAX_STREAMS, RESERVED_STREAMS, StreamQuota, TOKEN_STREAMS } from "../../src/ingress/wire/StreamQuota.ts"
import { CallerStreams, ofToken } from "../../src/ingress/access/CallerStreams.ts"
import { type Answer, problem, serve, type TestIngress } from "../ingress/TestIngress.ts"
import { idIn, make } from "./TestTokens.ts"

const ROOT = "the-operators-own-token"
const config = {
  token: ROOT,
  spaces: { create: "on-demand" as const },
  labels: { cells: { "/data/orders/secret/**": ["salary"] } },
  pages: { "/page": () => "the page" }
}

const place = Enzyme.make({
  name: "place",
  query: "/signals/place",
  bind: ["/data/orders", "/data/other"],
  target: "required",
  run: (tx, { payload, target }) => {
    if (payload === "fail") throw new Error(`a secret of ${target}`)
    tx.set(String(target), payload)
    return "placed"
  }
})

type As = (token: string, path: string, init?: RequestInit) => Promise<Answer>

/** A space with orders and other cells, and the requests of tokens. */
const test = (name: string, run: (app: TestIngress, as: As, tokens: ReturnType<typeof make>) => Promise<void>, store?: Store) =>
  it.live(name, () => {
    const tokens = make(store === undefined ? {} : { store })
    return Effect.flatMap(serve({ config, enzymes: [place], tokens }), (app) => Effect.promise(async () => {
      const as: As = (token, path, init = {}) =>
        app.ask(path.startsWith("/v1/access") ? path : `/v1/spaces/shop${path}`, {
          ...init,
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json", prefer: "wait=5", ...init.headers }
        })
      const space = await Effect.runPromise(app.kernel.space("shop"))
      for (const [address, value] of [["/data/orders/1", "one"], ["/data/orders/secret/2", "two"], ["/data/other", "three"]] as const) {
        await Effect.runPromise(space.set(address, value))
      }
      await Effect.runPromise(space.set("/data/orders/link", Link.make("/data/other")))
      await run(app, as, tokens)
    }))
  })

const signal = (target: string | undefined, payload: unknown = 1, signal = "/signals/place") =>
  ({ method: "POST", body: JSON.stringify({ signal, payload, ...target === undefined ? {} : { target } }) })

const orders: TokenRequest = { verbs: ["read", "signal"], prefixes: ["/data/orders"], clearance: [] }

describe("A token with a prefix", () => {
  test("knows the problems of the space, which tell of all cells, only by a prefix of their own", async (_, as, { create }) => {
    assert.strictEqual((await as(ROOT, "/signals", signal("/data/other", "fail"))).status, 422)
    const { body } = await as(ROOT, "/cells/data/mailbox/diag/msgs?below")
    const { cells: [fact = ""] } = body as { readonly cells: ReadonlyArray<string> }
    assert.include(JSON.stringify((await as(ROOT, `/cells${fact}`)).body), "run/dead")
    const some = await create({ verbs: ["read"], prefixes: ["/data"] })
    assert.deepStrictEqual(problem(await as(some, `/cells${fact}`)), [403, "label/withheld"])
    assert.notInclude(JSON.stringify((await as(some, "/cells/data?below&values")).body), "mailbox")
    const all = await create({ verbs: ["read"], prefixes: ["/data", "/data/mailbox"] })
    assert.strictEqual((await as(all, `/cells${fact}`)).status, 200)
  })

  test("reads and lists the cells below it, and learns nothing of others, not even by a link", async ({ fetch }, as, { create }) => {
    const token = await create({ verbs: ["read", "signal"], prefixes: ["/data/orders"] })
    assert.deepInclude(await as(token, "/cells/data/orders/1"), { status: 200, body: "one" })
    assert.deepInclude(await as(token, "/cells/data/orders/secret/2"), { status: 200, body: "two" })
    assert.deepStrictEqual((await as(token, "/cells/data/orders?list")).body, { names: ["1", "link"], next: null })
    const all = ["1", "link", "secret/2"].map((name) => `/data/orders/${name}`)
    assert.deepStrictEqual((await as(token, "/cells/data/orders?below")).body, { cells: all, next: null })
    assert.deepStrictEqual(problem(await as(token, "/cells/data/orders/link")), [403, "label/withheld"])
    const others = ["/cells/data/other", "/cells/data/nothing", "/cells/data?list", "/cells/data?below", "/cells/rt/ops", "/cells/?below"]
    for (const path of others) assert.deepStrictEqual(problem(await as(token, path)), [403, "access/prefix"], path)
    const [there, absent] = [await as(token, "/cells/data/other"), await as(token, "/cells/data/wrong")]
    assert.strictEqual(JSON.stringify(there.body).replace("other", "wrong"), JSON.stringify(absent.body))
    for (const path of ["/cells/data/orders/../other", "/cells/data/orders/%2e%2e/other"]) {
      assert.deepStrictEqual(problem(await as(token, path)), [403, "access/prefix"], path)
    }
    assert.deepStrictEqual(problem(await as(token, "/cells/data/orders%2f..%2fother")), [403, "access/prefix"])
    for (const name of ["other", "orders/link"]) {
      const init = { method: "HEAD", headers: { authorization: `Bearer ${token}` } }
      assert.strictEqual((await fetch(`/v1/spaces/shop/cells/data/${name}`, init)).status, 403)
    }
  })

  test("with a clearance reads what both admit", async (_, as, { create }) => {
    const token = await create(orders)
    assert.deepInclude(await as(token, "/cells/data/orders/1"), { status: 200, body: "one" })
    assert.deepStrictEqual(problem(await as(token, "/cells/data/orders/secret/2")), [403, "label/withheld"])
    const { body } = await as(token, "/cells/data/orders?below")
    assert.deepStrictEqual(body, { cells: ["/data/orders/1", "/data/orders/link"], next: null })
  })

  test("sends signals to targets below it, and sees their ends", async (_, as, { create }) => {
    const token = await create({ verbs: ["read", "signal"], prefixes: ["/data/orders"] })
    assert.deepInclude((await as(token, "/signals", signal("/data/orders/3"))).body, {
      status: "handled", handlings: [{ enzyme: "place", outcome: "ok", value: "placed" }]
    })
    for (const target of ["/data/other", "/data", "/data/ordersx", undefined]) {
      assert.deepStrictEqual(problem(await as(token, "/signals", signal(target))), [403, "access/prefix"], target)
    }
    const batch = [{ signal: "/signals/place", target: "/data/orders/4" }, { signal: "/signals/place", target: "/data/other" }]
    const { body } = await as(token, "/signals", { method: "POST", body: JSON.stringify(batch) })
    assert.deepStrictEqual((body as { readonly answers: ReadonlyArray<Answer> }).answers.map(({ status }) => status), [200, 403])
    assert.deepInclude(await as(ROOT, "/cells/data/other"), { body: "three" })
  })

  test("sends no signal to a target behind a link that leads out, whatever lies there", async ({ kernel }, as, { create }) => {
    const token = await create({ verbs: ["read", "signal"], prefixes: ["/data/orders"] })
    const space = await Effect.runPromise(kernel.space("shop"))
    const links = { dangling: "/data/nothing", twice: "/data/orders/link", system: "/sys/nodes", own: "/data/orders/1" }
    for (const [name, to] of Object.entries(links)) await Effect.runPromise(space.set(`/data/orders/${name}`, Link.make(to)))
    await Effect.runPromise(space.set("/data/back", Link.make("/data/orders/1")))
    await Effect.runPromise(space.set("/data/orders/around", Link.make("/data/back")))
    const answers = new Set<string>()
    for (const name of ["link", "link#/part", "dangling", "twice", "system", "around"]) {
      const answer = await as(token, "/signals", signal(`/data/orders/${name}`))
      assert.deepStrictEqual(problem(answer), [403, "access/prefix"], name)
      answers.add(JSON.stringify(answer.body).replaceAll(name.split("#", 1)[0] ?? "", "…"))
    }
    assert.strictEqual(answers.size, 1)
    assert.deepInclude(await as(ROOT, "/cells/data/other"), { body: "three" })
    assert.strictEqual((await as(token, "/signals", signal("/data/orders/own", "mine"))).status, 200)
    assert.deepInclude(await as(ROOT, "/cells/data/orders/1"), { body: "mine" })
  })
})

describe("A token", () => {
  test("sends signals of the runtime with the verb operate alone", async (_, as, { create }) => {
    const [plain, operator] = [await create({ verbs: ["read", "signal"] }), await create({ verbs: ["read", "signal", "operate"] })]
    for (const name of ["/CEP:sig_x/y", "/CEP:sig_cei/sev:crit"]) {
      assert.deepStrictEqual(problem(await as(plain, "/signals", signal(undefined, 1, name))), [403, "label/withheld"], name)
      assert.notStrictEqual((await as(operator, "/signals", signal(undefined, 1, name))).status, 403, name)
    }
  })

  test("makes a space on demand with the verb admin alone", async ({ ask }, _, { create }) => {
    const at = "/v1/spaces/brandnew"
    const sent = async (verbs: TokenRequest["verbs"], [method, path, body]: readonly [string, string, string]) => {
      const authorization = `Bearer ${await create({ verbs })}`
      return ask(`${at}${path}`, { method, body, headers: { authorization, "content-type": "application/json" } })
    }
    const body = JSON.stringify({ signal: "/signals/place", target: "/data/orders/1" })
    for (const request of [["PUT", "/cells/data/x", "1"], ["POST", "/signals", body], ["PUT", "/blobs", "text"]] as const) {
      const answer = await sent(["read", "signal", "write", "operate"], request)
      assert.deepStrictEqual(problem(answer), [404, "space/unknown"], request[1])
    }
    assert.strictEqual((await sent(["write", "admin"], ["PUT", "/cells/data/x", "1"])).status, 200)
  })

  test("has own ids that are not those of others", async (_, as, { create }) => {
    const [one, two] = [await create({ verbs: ["signal"] }), await create({ verbs: ["signal"] })]
    const headers = { "idempotency-key": "mine", prefer: "" }
    const sent = (token: string) => as(token, "/signals", { ...signal("/data/orders/9"), headers })
    const ids = [await sent(one), await sent(one), await sent(two)].map(({ body }) => (body as { readonly id: string }).id)
    assert.strictEqual(ids[0], ids[1])
    assert.notStrictEqual(ids[0], ids[2])
  })

  test("sees pages and the list of spaces if it reads all of them", async ({ ask }, _, { create }) => {
    const by = async (wanted: TokenRequest, path: string) =>
      (await ask(path, { headers: { authorization: `Bearer ${await create(wanted)}` } })).status
    for (const path of ["/page", "/v1/spaces"]) {
      assert.strictEqual(await by({ verbs: ["read"] }, path), 200)
      for (const scope of [{ spaces: ["shop"] }, { prefixes: ["/data"] }, { clearance: [] }]) {
        assert.strictEqual(await by({ verbs: ["read"], ...scope }, path), 403)
      }
      assert.strictEqual(await by({ verbs: ["signal"] }, path), 403)
    }
  })

  test("ends its open streams before their next event when it is revoked", async ({ fetch, kernel }, _, { admin, create }) => {
    const opened = async (wanted: TokenRequest) => {
      const token = await create(wanted)
      const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream" }
      const { body } = await fetch("/v1/spaces/shop/cells/data/orders/1", { headers })
      return { id: idIn(token) ?? "", reader: body!.pipeThrough(new TextDecoderStream()).getReader() }
    }
    const space = await Effect.runPromise(kernel.space("shop"))
    for (const wanted of [{ verbs: ["read"] }, orders] satisfies ReadonlyArray<TokenRequest>) {
      const { id, reader } = await opened(wanted)
      let text = ""
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        text += read.value
        if (text.includes("event: value")) break
      }
      assert.include(text, "event: value")
      await admin.revoke(id)
      const next = reader.read()
      await Effect.runPromise(space.set("/data/orders/1", `after ${id}`))
      assert.deepStrictEqual(await next, { done: true, value: undefined })
    }
  })
})

describe("The streams of a token", () => {
  test("have a limit of their own, and are free again when they end", async ({ fetch }, _, { create }) => {
    const authorization = `Bearer ${await create({ verbs: ["read"] })}`
    const headers = { authorization, accept: "text/event-stream" }
    const readers: Array<ReadableStreamDefaultReader<Uint8Array>> = []
    const open = async () => {
      const response = await fetch("/v1/spaces/shop/cells/data/orders/1", { headers })
      if (response.status !== 200) return response.status
      const reader = response.body?.getReader()
      await reader?.read()
      if (reader !== undefined) readers.push(reader)
      return response.status
    }
    const statuses = await Promise.all(Array.from({ length: TOKEN_STREAMS + 100 }, open))
    assert.strictEqual(statuses.filter((status) => status === 200).length, TOKEN_STREAMS)
    assert.strictEqual(await open(), 429)
    const other = { authorization: `Bearer ${ROOT}`, accept: "text/event-stream" }
    assert.strictEqual((await fetch("/v1/spaces/shop/cells/data/orders/1", { headers: other })).status, 200)
    await readers.pop()?.cancel()
    assert.strictEqual(await open(), 200)
    const gone = new AbortController()
    await readers.pop()?.cancel()
    await fetch("/v1/spaces/shop/cells/data/orders/1", { headers, signal: gone.signal })
    assert.strictEqual(await open(), 429)
    gone.abort()
    for (const path of ["/v1/spaces/shop/cells/data/none?path=", "/v1/spaces/none/cells/data/a"]) {
      await fetch(path, { headers, signal: AbortSignal.abort() })
    }
    assert.strictEqual(await open(), 200)
    await Promise.all(readers.map((reader) => reader.cancel()))
  })
})

describe("The streams of tokens", () => {
  it("leave those of the operator free beside streams of readers and sockets", async () => {
    const { create, set } = make()
    const checked = await set.check(Redacted.make(await create({ verbs: ["read"] })))
    if (!("token" in checked)) assert.fail("refused")
    const quota = new StreamQuota(1)
    const streams = new CallerStreams(quota, set)
    for (let n = RESERVED_STREAMS + 1; n < MAX_STREAMS; n++) quota.count("a reader", 1)
    const token = ofToken(checked.token)
    const seat = streams.enter(token)
    assert.throws(() => streams.enter(token), /the operator's/)
    seat.leave()
    streams.enter(token).begin()
    quota.count(undefined, 1)
    assert.throws(() => streams.enter(token), /the operator's/)
  })
})

describe("The administration", () => {
  test("is a part of the interface, and tells each secret once", async (_, as) => {
    const made = await as(ROOT, "/v1/access/tokens", { method: "POST", body: JSON.stringify({ verbs: ["read"], spaces: ["shop"] }) })
    assert.strictEqual(made.status, 201)
    const { id, token } = made.body as { readonly id: string; readonly token: string }
    assert.strictEqual(made.headers.get("location"), `/v1/access/tokens/${id}`)
    assert.strictEqual((await as(token, "/cells/data/other")).status, 200)
    assert.deepStrictEqual(problem(await as(token, "/cells/data/other", { method: "PUT", body: "1" })), [403, "access/verb"])
    const { body } = await as(ROOT, "/v1/access/tokens")
    assert.deepInclude((body as { readonly tokens: ReadonlyArray<object> }).tokens[0], {
      id, verbs: ["read"], spaces: ["shop"], secrets: 1, denied: { "access/verb": 1 }
    })
    assert.notInclude(JSON.stringify(body), token.slice(13))
    const second = await as(ROOT, `/v1/access/tokens/sys_${id}/rotation`, { method: "POST" })
    assert.strictEqual(second.status, 201)
    assert.deepInclude((await as(ROOT, `/v1/access/tokens/${id}/rotation`, { method: "DELETE" })).body, { id, secrets: 1 })
    assert.deepStrictEqual(problem(await as(token, "/cells/data/other")), [401, "auth/missing"])
    const { token: next } = second.body as { readonly token: string }
    assert.strictEqual((await as(next, "/cells/data/other")).status, 200)
    assert.strictEqual((await as(ROOT, `/v1/access/tokens/${id}`, { method: "DELETE" })).status, 200)
    assert.deepStrictEqual(problem(await as(next, "/cells/data/other")), [401, "auth/revoked"])
    assert.deepStrictEqual(problem(await as(ROOT, "/v1/access/tokens/nobody", { method: "DELETE" })), [404, "access/absent"])
  })

  test("counts each refused request once, also one with a wrong token of the configuration, or with none", async ({ ask }, as, { set }) => {
    const shown = [
      "Bearer wrong", "Basic d3Jvbmc=", `Bearer sys_00000000_${"A".repeat(43)}`,
      `Bearer syb.${"0".repeat(16)}.zzzzzzzz.operator.${"0".repeat(64)}`
    ]
    for (const authorization of shown) await ask("/v1/spaces", { headers: { authorization } })
    await ask("/v1/spaces")
    assert.deepStrictEqual(set.denied(), { "auth/missing": shown.length + 1 })
    assert.deepInclude((await as(ROOT, "/v1/access/tokens")).body, { unknown: shown.length + 1 })
  })

  test("is reached by no path of a space", async ({ ask }) => {
    for (const name of ["@access", "%40access"]) {
      const answer = await ask(`/v1/spaces/${name}/cells/data/a`, { headers: { authorization: `Bearer ${ROOT}` } })
      assert.deepStrictEqual(problem(answer), [400, "space/name"])
    }
  })

  test("never locks the operator out: the root needs no store", async (_, as, { check }) => {
    assert.strictEqual(await check(`sys_00000000_${"A".repeat(43)}`), "access/unavailable")
    assert.strictEqual((await as(ROOT, "/cells/data/other")).status, 200)
    assert.deepStrictEqual(problem(await as(`sys_00000000_${"A".repeat(43)}`, "/cells/data/other")), [503, "access/unavailable"])
    assert.deepStrictEqual(problem(await as(ROOT, "/v1/access/tokens")), [503, "access/unavailable"])
  }, { ...HostAccess.inMemory(), load: () => Promise.reject(new Error("damaged")) })
})

describe("A secret", () => {
  test("is in no answer but the first, no error, no cell and no journal row", async ({ accidents, ask }, as, tokens) => {
    const { admin, create, set } = tokens
    const token = await create(orders)
    const canary = token.slice(13)
    const seen: Array<unknown> = []
    for (const path of ["/cells/data/orders/1", "/cells/data/other"]) seen.push(await as(token, path), await as(`${token}x`, path))
    await as(token, "/signals", signal("/data/orders/5"))
    const cells = ["", "rt", "sys"].map((folder) => `/cells/${folder}?below&values`)
    for (const path of [...cells, "/beats", "/dead", "/ops", "/denials", "/waiting"]) seen.push(await as(ROOT, path))
    await admin.rotate(idIn(token) ?? "", undefined)
    seen.push(await as(ROOT, "/v1/access/tokens"), await ask("/openapi.json", { headers: { authorization: `Bearer ${ROOT}` } }))
    for (let beat = 0; beat < 8; beat++) seen.push(await as(ROOT, `/beats/${beat}`))
    seen.push(accidents.map(String), Object.entries(set).map(String))
    assert.notInclude(JSON.stringify(seen), canary)
    assert.notInclude(JSON.stringify(seen), ROOT)
  })
})
