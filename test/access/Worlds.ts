/**
 * Worlds for the promise of noninterference: an operator acts in a space, then a credential asks for all that it may ask for. Two
 * worlds of one seed differ in secrets beyond the credential.
 *
 * Outside the promise are: the numbers of beats, and so the ids that have them; cursors, which are sealed with a key of the space's
 * opening; where the pages of a list end. Each caller with the digest of content reads it.
 *
 * @module
 */
import { assert } from "@effect/vitest"
import type { TokenRequest } from "../../src/access/TokenAdmin.ts"
import type { Endpoint } from "../../src/contract/Endpoint.ts"
import { SESSION } from "../../src/contract/Paths.ts"
import * as Random from "../support/Random.ts"
import { base, cellOf, type Kind, kinds, NAMES, ROOT, secrets, SHOP, verbs, WEB } from "./WorldModules.ts"

/** A host of worlds. */
export interface Host {
  /** Sends a request. */
  readonly send: (path: string, init: RequestInit) => Promise<Response>
  /** The first message of the socket that a request opens, or the answer that refuses it; none on a host without sockets. */
  readonly socket?: (path: string, init: RequestInit) => Promise<Response | string>
  /** The endpoints that it serves. */
  readonly endpoints: ReadonlyArray<Endpoint>
}

/** The headers by which a request shows a credential. */
type Shown = Readonly<Record<string, string>>

/** A credential, and the kinds of secrets that it may not know. */
export interface Credential {
  readonly hidden: ReadonlyArray<Kind>
  readonly shown: Shown
}

const bearerOf = (secret: string): Shown => ({ authorization: `Bearer ${secret}` })

/** Creates a token, and a JSON Web Token with the scope of a name. */
export interface Issuing {
  readonly create: (wanted: TokenRequest) => Promise<string>
  readonly jwt: (name: string) => Promise<string>
}

/** The pass that a host gives for a credential. */
const begun = async ({ send }: Pick<Host, "send">, secret: string, as: string): Promise<Response> =>
  send(`${SESSION}${as}`, { method: "POST", headers: bearerOf(secret) })

const bearerFor = async (host: Pick<Host, "send">, secret: string): Promise<Shown> => {
  const { token } = await (await begun(host, secret, "?as=token")).json() as { readonly token: string }
  return bearerOf(token)
}

const sessionFor = async (host: Pick<Host, "send">, secret: string): Promise<Shown> => {
  const response = await begun(host, secret, "")
  await response.body?.cancel()
  return { cookie: response.headers.get("set-cookie")?.split(";")[0] ?? assert.fail("no cookie"), "x-systole-csrf": "1" }
}

/** The credentials that are less than the operator's, by their names. */
export const credentials: Readonly<Record<string, (issuing: Issuing, host: Pick<Host, "send">) => Promise<Credential>>> = {
  "a reader": async () => ({ hidden: ["above"], shown: bearerOf(WEB) }),
  "a session of a reader": async (_, host) => ({ hidden: ["above"], shown: await sessionFor(host, WEB) }),
  "a token with a clearance": async ({ create }) => ({ hidden: ["above"], shown: bearerOf(await create({ verbs, clearance: [] })) }),
  "a token with prefixes": async ({ create }) =>
    ({ hidden: ["beyond"], shown: bearerOf(await create({ verbs, prefixes: ["/data/shop"] })) }),
  "a bearer of a token with prefixes": async ({ create }, host) =>
    ({ hidden: ["beyond"], shown: await bearerFor(host, await create({ verbs, prefixes: ["/data/shop"] })) }),
  "a token with both": async ({ create }) =>
    ({ hidden: ["above", "beyond"], shown: bearerOf(await create({ verbs, prefixes: ["/data/shop"], clearance: [] })) }),
  "a session of a token with both": async ({ create }, host) =>
    ({ hidden: ["above", "beyond"], shown: await sessionFor(host, await create({ verbs, prefixes: ["/data/shop"], clearance: [] })) }),
  "a JSON Web Token with a scope": async ({ jwt }) => ({ hidden: ["scoped"], shown: bearerOf(await jwt("jwt-all")) }),
  "a JSON Web Token with a scope and a clearance": async ({ jwt }) =>
    ({ hidden: ["above", "scoped"], shown: bearerOf(await jwt("jwt-user")) }),
  "public reads": async () => ({ hidden: kinds, shown: {} })
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
      { path: pathOf(cell), init: { headers: { accept: "text/event-stream" } } },
      { path: pathOf(cell), init: { headers: { upgrade: "websocket" } } }
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

/** A page of a list. A cursor tells its end. */
interface Page {
  readonly next?: string | null
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

/** Requests as a credential. */
const caller = (host: Host, shown: Shown) => {
  const withShown = (init: Asked["init"]) => ({ ...init, headers: { "content-type": "application/json", ...shown, ...init?.headers } })
  const send = ({ init, path }: Asked) => host.send(path, withShown(init))
  const opened = ({ init, path }: Asked): Promise<Response | string> =>
    init?.headers?.["upgrade"] === undefined || host.socket === undefined
      ? host.send(path, withShown(init))
      : host.socket(path, withShown(init))
  /** The status, all header fields, and the body. Of a stream it is the first event without its cursor, of a list all its pages. */
  const answer = async (asked: Asked): Promise<unknown> => {
    const response = await opened(asked)
    if (typeof response === "string") return { socket: response }
    const { headers, status } = response
    const { date: _date, ...fields } = Object.fromEntries(headers)
    const shown = { status, headers: fields }
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
    const { "content-length": _length, ...rest } = shown.headers
    const items: ReadonlyArray<unknown> = pages.flatMap(({ next, ...page }) => Object.values(page).flat())
    return { status, headers: rest, items }
  }
  return { send, answer }
}

const root = { ...bearerOf(ROOT), "content-type": "application/json" }

/** Sends a request of the operator. */
const operated = async ({ send }: Host, path: string, { headers, ...init }: NonNullable<Asked["init"]>): Promise<string> => {
  const response = await send(path, { ...init, headers: { ...root, ...headers } })
  return response.text()
}

const set = async (host: Host, address: string, value: unknown): Promise<void> => {
  await operated(host, pathOf(address), { method: "PUT", body: JSON.stringify(value) })
}

/** The acts of the operator in a world: the draws of `draw` are the same in both of a pair, and the draws of `own` differ. */
const acted = async (host: Host, { draw, hidden, own }: { draw: Random.Random; own: Random.Random; hidden: ReadonlyArray<Kind> }) => {
  for (const kind of kinds) {
    const isHidden = hidden.includes(kind)
    const random = isHidden ? own : draw
    const { label } = secrets[kind]
    for (const name of NAMES) if (random(3) > 0) await set(host, cellOf(kind, name), random(1000))
    for (const name of ["put", "tell", "nobody"]) {
      for (let left = random(3); left > 0; left--) {
        const target = cellOf(kind, Random.pick(random, NAMES))
        // The number of a beat is outside the promise, so events that the credential may know have own ids.
        const id = isHidden && random(2) === 0 ? {} : { id: random(2) === 0 ? `order-${name}` : `${kind}-${random(3)}` }
        const later = random(2) === 0 ? { at: { ms: 3_600_000 } } : {}
        const body = { signal: `/signals/${name}`, target, payload: random(1000), ...label && { label }, ...id, ...later }
        const prefer = "at" in body ? "" : "wait=5"
        await operated(host, `${SHOP}/signals`, { method: "POST", body: JSON.stringify(body), headers: { prefer } })
      }
    }
  }
}

/** The ids that the runtime gives to events of the first beats. All events that a credential may know have own ids instead. */
const minted = Array.from({ length: 40 }, (_, beat) => `x.${beat}.0`)
const owned = [
  ...kinds.flatMap((kind) => [0, 1, 2].map((n) => `${kind}-${n}`)),
  ...["put", "tell", "nobody"].map((name) => `order-${name}`)
]

const nameOf = ({ method, path }: Pick<Endpoint, "method" | "path">): string => `${method} ${path}`

/** The parts of a world. */
interface World {
  readonly host: Host
  readonly credential: Credential
  readonly seed: number
  readonly isOther: boolean
}

/** One world: its operator acts, then the credential sends its signals, and asks for all that it may ask for. */
export const world = async ({ credential: { hidden, shown }, host, isOther, seed }: World) => {
  const { answer, send } = caller(host, shown)
  await base((address, value) => set(host, address, value))
  const { end, next } = events(await send({ path: pathOf("/data/shop/0"), init: { headers: { accept: "text/event-stream" } } }))
  const seen: Array<readonly [asked: string, answer: unknown]> = [["first event", await next()]]
  const [draw, own] = [Random.make(seed), Random.make(seed + (isOther ? 1000 : 0))]
  await acted(host, { draw, own, hidden })
  await set(host, "/data/shop/0", 7)
  seen.push(["next event", await next()])
  await end()
  const { address } = JSON.parse(await operated(host, `${SHOP}/blobs`, { method: "PUT", body: "content" })) as { readonly address: string }
  const content = address.replace("/cas/", "")
  // Signals first, so that their receipts are among the answers.
  const endpoints = host.endpoints.filter(({ access }) => access === "reader").toSorted((a, b) => b.method.localeCompare(a.method))
  for (const endpoint of endpoints) {
    const of = asks[nameOf(endpoint)] ?? assert.fail(`give the requests of ${nameOf(endpoint)}`)
    for (const asked of of({ events: [...owned, ...minted], content })) seen.push([JSON.stringify(asked), await answer(asked)])
  }
  return { seen, secret: await operated(host, pathOf("/data?below&values"), {}) }
}

/** Compares two worlds of one seed. */
export const compare = (one: Awaited<ReturnType<typeof world>>, other: Awaited<ReturnType<typeof world>>, told: string): void => {
  assert.strictEqual(other.seen.length, one.seen.length)
  for (const [at, answer] of one.seen.entries()) assert.deepStrictEqual(other.seen[at], answer, told)
  assert.notStrictEqual(other.secret, one.secret, "the worlds differ")
  const statuses = one.seen.map(([, answer]) => (answer as { readonly status?: number }).status)
  assert.includeMembers(statuses, [200, 403], "the credential is answered and refused")
}
