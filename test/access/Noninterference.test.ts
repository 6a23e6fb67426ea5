import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Computation, Enzyme, Link } from "systole"
import { Rates } from "../../src/access/Rates.ts"
import type { Endpoint } from "../../src/contract/Endpoint.ts"
import type { Bearer } from "../../src/ingress/access/Access.ts"
import { serve, type TestIngress } from "../ingress/TestIngress.ts"
import * as Random from "../support/Random.ts"
import * as Trials from "../support/Trials.ts"
import { make } from "./TestTokens.ts"

const SEEDS = Trials.seeds(20)
const [ROOT, WEB] = ["the-operators-own-token", "the-token-of-the-page"]
const SHOP = "/v1/spaces/shop"
const config = {
  token: ROOT,
  spaces: { create: "on-demand" as const },
  access: { public: [`GET ${SHOP}/cells/data/shop/**`] },
  labels: {
    cells: { "/data/shop/pay": ["salary"], "/data/shop/pay/**": ["salary"] },
    readers: { web: { token: WEB, clearance: [] } }
  }
}

/** The kinds of secrets: above a clearance, beyond prefixes, and in another scope. Each has cells, and signals that go there. */
const secrets = {
  above: { folder: "/data/shop/pay", query: "", label: ["salary"] },
  beyond: { folder: "/data/back", query: "", label: undefined },
  scoped: { folder: "/data/shop/carts", query: "?scope=user:7", label: undefined }
} as const

type Kind = keyof typeof secrets

const kinds = Object.keys(secrets) as ReadonlyArray<Kind>

/** Names that worlds draw cells from, so that two of them have others, and other numbers of them. */
const NAMES = ["0", "1", "2", "a", "b", "zz"]
const cellOf = (kind: Kind, name: string): string => `${secrets[kind].folder}/${name}${secrets[kind].query}`

const put = Enzyme.make({
  name: "put",
  query: "/signals/put",
  bind: ["/data"],
  target: "required",
  run: (tx, { payload, target }) => (tx.set(String(target), payload), payload)
})
/** Knows a secret, and returns it or fails by it. */
const tell = Enzyme.make({
  name: "tell",
  query: "/signals/tell",
  bind: ["/data"],
  target: "required",
  run: (tx) => {
    const value = Number(tx.get("/data/shop/pay/0") ?? 0)
    if (value % 2 === 0) throw new Error(`it is ${value}`)
    return value
  }
})
const nodes = [
  Computation.make({ name: "open", output: "/data/shop/open", run: (tx) => Number(tx.get("/data/shop/0")) + 1 }),
  Computation.make({
    name: "closed",
    output: "/data/shop/pay/sum",
    run: (tx) => Number(tx.get("/data/shop/0")) + Number(tx.get("/data/shop/pay/0") ?? 0)
  })
]

/** A credential, and the kinds of secrets that it may not know. */
interface Credential {
  readonly hidden: ReadonlyArray<Kind>
  readonly authorization: string | undefined
}

const verbs = ["read", "signal"] as const
const scopeOfJwt = { "jwt-user": { verbs, scope: "user:42", clearance: [] }, "jwt-all": { verbs, scope: "user:42" } }

const bearer: Bearer = ({ headers }) => {
  const name = headers.get("authorization")?.slice("Bearer ".length) ?? ""
  if (!Object.hasOwn(scopeOfJwt, name)) return undefined
  return { token: { id: "jwt:ada", created: 0, expires: 2 ** 50, digests: [], ...scopeOfJwt[name as keyof typeof scopeOfJwt] } }
}

/** The credentials that are less than the operator's. */
const names = [
  "a reader", "a token with a clearance", "a token with prefixes", "a token with both", "a JSON Web Token with a scope",
  "a JSON Web Token with a scope and a clearance", "public reads"
]

const credentials = async ({ create }: ReturnType<typeof make>): Promise<ReadonlyArray<Credential>> => {
  const cleared = await create({ verbs, clearance: [] })
  const bounded = await create({ verbs, prefixes: ["/data/shop"] })
  const both = await create({ verbs, prefixes: ["/data/shop"], clearance: [] })
  const shown: Readonly<Record<string, Credential>> = {
    "a reader": { hidden: ["above"], authorization: `Bearer ${WEB}` },
    "a token with a clearance": { hidden: ["above"], authorization: `Bearer ${cleared}` },
    "a token with prefixes": { hidden: ["beyond"], authorization: `Bearer ${bounded}` },
    "a token with both": { hidden: ["above", "beyond"], authorization: `Bearer ${both}` },
    "a JSON Web Token with a scope": { hidden: ["scoped"], authorization: "Bearer jwt-all" },
    "a JSON Web Token with a scope and a clearance": { hidden: ["above", "scoped"], authorization: "Bearer jwt-user" },
    "public reads": { hidden: kinds, authorization: undefined }
  }
  return names.map((name) => shown[name] ?? assert.fail(name))
}

/** A request of a credential. */
interface Asked {
  readonly path: string
  readonly init?: RequestInit & { readonly headers?: Readonly<Record<string, string>> }
}

const cells = [
  ...["0", "1", "2", "none", "open", "above", "beyond", "scoped", "deep"].map((name) => `/data/shop/${name}`),
  ...kinds.flatMap((kind) => [...NAMES, "never"].map((name) => cellOf(kind, name))),
  "/data/shop/pay/sum", "/data/shop/carts/0?scope=user:42", "/sys/labels", "/rt/beat/1/meta", "/rt/ops"
]
const folders = [
  "/", "/data", "/data/shop", "/data/shop/0", "/data/mailbox", "/data/mailbox/diag/msgs", "/sys", "/rt",
  ...kinds.map((kind) => secrets[kind].folder)
]

const pathOf = (cell: string, query = ""): string =>
  `${SHOP}/cells${cell}${query === "" ? "" : `${cell.includes("?") ? "&" : "?"}${query}`}`

/** The requests to each endpoint of readers, which may ask for the events and the content with these names. */
const sends = [{ prefer: "wait=5", label: undefined }, { prefer: "wait=5", label: ["salary"] }, { prefer: "", label: undefined }]

type Requests = (names: { readonly events: ReadonlyArray<string>; readonly content: string }) => ReadonlyArray<Asked>

const asks: Readonly<Record<string, Requests>> = {
  "GET /v1/spaces/:space/cells/*": () => [
    ...cells.flatMap((cell): ReadonlyArray<Asked> => [
      { path: pathOf(cell) },
      { path: pathOf(cell), init: { method: "HEAD" } },
      { path: pathOf(cell), init: { headers: { range: "bytes=0-1" } } },
      { path: pathOf(cell), init: { headers: { "if-none-match": "*" } } },
      { path: pathOf(cell), init: { headers: { accept: "text/event-stream" } } }
    ]),
    ...folders.flatMap((folder) => ["", "&scope=user:7", "&scope=user:42"].flatMap((scope): ReadonlyArray<Asked> => [
      { path: pathOf(folder, `list&limit=5${scope}`) },
      { path: pathOf(folder, `below&limit=5${scope}`) },
      { path: pathOf(folder, `below&values${scope}`) }
    ]))
  ],
  "GET /v1/spaces/:space/receipts/:id": ({ events }) => events.map((id) => ({ path: `${SHOP}/receipts/${encodeURIComponent(id)}` })),
  "GET /v1/spaces/:space/waiting": () => [{ path: `${SHOP}/waiting?limit=2` }, { path: `${SHOP}/waiting?limit=100` }],
  "GET /v1/spaces/:space/blobs/:hash": ({ content }) =>
    [content, "f".repeat(64), "0".repeat(64)].map((hash) => ({ path: `${SHOP}/blobs/${hash}` })),
  "GET /v1/spaces/:space/schema": () => [{ path: `${SHOP}/schema` }],
  "POST /v1/spaces/:space/signals": () =>
    ["/data/shop/1", "/data/shop/none", "/data/shop/above", "/data/shop/beyond", "/data/shop/scoped", "/data/back/new",
      "/data/shop/carts/new?scope=user:7", "/data/shop/pay/new", undefined].flatMap((target) =>
      ["put", "tell", "nobody"].flatMap((name) => sends.map(({ label, prefer }) => ({
        path: `${SHOP}/signals`,
        init: {
          method: "POST",
          headers: { prefer },
          body: JSON.stringify({ signal: `/signals/${name}`, payload: 5, id: `order-${name}`, target, label })
        }
      }))))
}

/** A page of a list, whose end a cursor tells. */
interface Page {
  readonly next?: string | null
}

/** Requests as a credential. */
const caller = ({ fetch }: TestIngress, authorization: string | undefined) => {
  const send = ({ init = {}, path }: Asked) => fetch(path, {
    ...init,
    headers: { "content-type": "application/json", ...authorization === undefined ? {} : { authorization }, ...init.headers }
  })
  /** The status, all header fields, and the body. Of a stream it is the first event without its cursor, of a list all its pages. */
  const answer = async (asked: Asked): Promise<unknown> => {
    const response = await send(asked)
    const { headers, status } = response
    const shown = { status, headers: Object.fromEntries(headers) }
    if (headers.get("content-type") === "text/event-stream") {
      const stream = events(response)
      const first = await stream.next()
      await stream.end()
      return { ...shown, first }
    }
    const text = await response.text()
    if (status !== 200 || !asked.path.includes("limit=")) return { ...shown, text }
    const pages = [JSON.parse(text) as Page]
    for (let { next } = pages[0] ?? {}; typeof next === "string";) {
      const page = await (await send({ ...asked, path: `${asked.path}&after=${encodeURIComponent(next)}` })).json() as Page
      pages.push(page)
      next = page.next
    }
    // Where its pages end is outside the promise.
    const { "content-length": _, ...rest } = shown.headers
    const items: ReadonlyArray<unknown> = pages.flatMap(({ next, ...page }) => Object.values(page).flat())
    return { status, headers: rest, items }
  }
  return { send, answer }
}

/** The events of a stream, without their cursors, which are sealed with a key of the space's opening. */
const events = ({ body }: Response) => {
  const reader = body!.getReader()
  const decoder = new TextDecoder()
  let text = ""
  const next = async (): Promise<string> => {
    for (;;) {
      const [event, rest] = /^([^]*?)\n\n([^]*)$/.exec(text)?.slice(1) ?? []
      if (event === undefined || rest === undefined) {
        const { done, value } = await reader.read()
        if (done) return "end"
        text += decoder.decode(value, { stream: true })
        continue
      }
      text = rest
      if (/^data/m.test(event)) return event.replace(/^id: ?[0-9a-f]{16}$/m, "id")
    }
  }
  return { next, end: () => reader.cancel() }
}

/** The acts of the operator in a world: the draws of `draw` are the same in both of a pair, and the draws of `own` differ. */
const acted = async (app: TestIngress, { draw, hidden, own }: { draw: Random.Random; own: Random.Random; hidden: ReadonlyArray<Kind> }) => {
  const space = await Effect.runPromise(app.kernel.space("shop"))
  const set = (address: string, value: unknown) => Effect.runPromise(space.set(address, value))
  for (const kind of kinds) {
    const isHidden = hidden.includes(kind)
    const random = isHidden ? own : draw
    const { label } = secrets[kind]
    for (const name of NAMES) if (random(3) > 0) await set(cellOf(kind, name), random(1000))
    for (const name of ["put", "tell", "nobody"]) {
      for (let left = random(3); left > 0; left--) {
        const target = cellOf(kind, Random.pick(random, NAMES))
        // The number of a beat is outside the promise, so events that the credential may know have own ids.
        const id = isHidden && random(2) === 0 ? {} : { id: random(2) === 0 ? `order-${name}` : `${kind}-${random(3)}` }
        const later = random(2) === 0 ? { at: { ms: 3_600_000 } } : {}
        const body = { signal: `/signals/${name}`, target, payload: random(1000), ...label && { label }, ...id, ...later }
        await app.post(`${SHOP}/signals`, body, { authorization: `Bearer ${ROOT}`, prefer: "at" in body ? "" : "wait=5" })
      }
    }
  }
}

const base = async (set: (address: string, value: unknown) => Promise<unknown>): Promise<void> => {
  for (const name of ["0", "1", "2"]) await set(`/data/shop/${name}`, Number(name))
  await set("/data/shop/deep", { part: ["of", "a document"] })
  await set("/data/shop/carts/0?scope=user:42", ["tea"])
  for (const kind of kinds) await set(`/data/shop/${kind}`, Link.make(cellOf(kind, "0")))
}

/** The ids that the runtime gives to events of the first beats. All events that a credential may know have own ids instead. */
const minted = Array.from({ length: 40 }, (_, beat) => `x.${beat}.0`)
const owned = [
  ...kinds.flatMap((kind) => [0, 1, 2].map((n) => `${kind}-${n}`)),
  ...["put", "tell", "nobody"].map((name) => `order-${name}`)
]

const nameOf = ({ method, path }: Pick<Endpoint, "method" | "path">): string => `${method} ${path}`

/** One world: its operator acts, then the credential sends its signals, and asks for all that it may ask for. */
const world = ({ credential: { authorization, hidden }, isOther, seed, tokens }: {
  readonly seed: number
  readonly isOther: boolean
  readonly credential: Credential
  readonly tokens: ReturnType<typeof make>
}) =>
  Effect.gen(function*() {
    const rate = { requests: 100, seconds: 60 }
    let now = 0
    // The rate is whole again before each request, because two worlds may have other numbers of pages.
    const rates = { rates: new Rates({ address: rate, credential: rate }, () => now += 60_000), addressOf: () => "192.0.2.1" }
    const app = yield* serve({ config, enzymes: [put, tell], nodes, tokens, bearer, rates })
    const space = yield* app.kernel.space("shop")
    return yield* Effect.promise(async () => {
      const { answer, send } = caller(app, authorization)
      await base((address, value) => Effect.runPromise(space.set(address, value)))
      const { end, next } = events(await send({ path: pathOf("/data/shop/0"), init: { headers: { accept: "text/event-stream" } } }))
      const seen: Array<readonly [asked: string, answer: unknown]> = [["first event", await next()]]
      const [draw, own] = [Random.make(seed), Random.make(seed + (isOther ? 1000 : 0))]
      await acted(app, { draw, own, hidden })
      await Effect.runPromise(space.set("/data/shop/0", 7))
      seen.push(["next event", await next()])
      await end()
      const root = { authorization: `Bearer ${ROOT}` }
      const { body } = await app.ask(`${SHOP}/blobs`, { method: "PUT", body: "content", headers: root })
      const content = (body as { readonly address: string }).address.replace("/cas/", "")
      // Signals first, so that their receipts are among the answers.
      const ofReaders = app.app.table.endpoints.filter(({ access }) => access === "reader")
      const endpoints = ofReaders.toSorted((a, b) => b.method.localeCompare(a.method))
      for (const endpoint of endpoints) {
        const of = asks[nameOf(endpoint)] ?? assert.fail(`give the requests of ${nameOf(endpoint)}`)
        for (const asked of of({ events: [...owned, ...minted], content })) seen.push([JSON.stringify(asked), await answer(asked)])
      }
      const { body: secret } = await app.ask(pathOf("/data?below&values"), { headers: root })
      return { seen, secret: JSON.stringify(secret) }
    })
  }).pipe(Effect.scoped)

/*
 * Outside the promise are: the numbers of beats, and so the ids that have them; cursors, which are sealed with a key of the space's
 * opening; where the pages of a list end. Each caller with the digest of content reads it.
 */
describe("Two worlds that differ in what a credential may not know have the same statuses, header fields and bodies for", () => {
  for (const [i, name] of names.entries()) {
    it.live(name, () => Effect.gen(function*() {
      const tokens = make()
      const credential = (yield* Effect.promise(() => credentials(tokens)))[i] ?? assert.fail(name)
      for (const seed of SEEDS) {
        const one = yield* world({ seed, isOther: false, credential, tokens })
        const other = yield* world({ seed, isOther: true, credential, tokens })
        assert.strictEqual(other.seen.length, one.seen.length)
        for (const [at, answer] of one.seen.entries()) assert.deepStrictEqual(other.seen[at], answer, `seed ${seed}`)
        assert.notStrictEqual(other.secret, one.secret, "the worlds differ")
        const statuses = one.seen.map(([, answer]) => (answer as { readonly status?: number }).status)
        assert.includeMembers(statuses, [200, 403], "the credential is answered and refused")
      }
    }), 60_000 * SEEDS.length)
  }
})
