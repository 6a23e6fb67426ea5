/**
 * A request to each endpoint by the client. It runs on each host, so it imports the client alone.
 *
 * @module
 */
import { type Client, connect, type Key, type Platform, RequestFailed, type SpaceClient } from "../../src/client/index.ts"

/** The client under test, and the ids that earlier requests gave. */
interface Given {
  readonly client: Client
  readonly shop: SpaceClient
  readonly ids: Record<"event" | "dead" | "hash" | "oid" | "key" | "token", string>
}

type Trip = (given: Given) => Promise<unknown>

/** Keeps an id of an answer. */
const keep = async <A>(ids: Given["ids"], name: keyof Given["ids"], asked: readonly [Promise<A>, (answer: A) => string]): Promise<A> => {
  const answer = await asked[0]
  ids[name] = asked[1](answer)
  return answer
}

const isOf = (error: unknown, code: string): boolean => error instanceof RequestFailed && error.code === code

/** Passes for a request that is refused with a code, since the test's space has no such record. */
const refused = async (code: string, request: Promise<unknown>): Promise<undefined> => {
  const error = await request.then((answer) => `the answer ${JSON.stringify(answer)}`, (error: unknown) => error)
  if (!isOf(error, code)) throw new Error(`${String(error)} in place of ${code}`, { cause: error })
}

/** A request that begins a change of a space, or is refused while an earlier one is under way. */
const begun = (request: Promise<unknown>): Promise<unknown> =>
  request.catch((error: unknown) => {
    if (!isOf(error, "control/refused")) throw error
  })

const params = { space: "shop" }

/** The keys of the runtime: other tests add a ledger. */
export type Own = Exclude<Key, `${string} /v1/spaces/:space/toys${string}`>

/** A request to each endpoint. A later one needs the records of an earlier one. */
export const trips: { readonly [K in Own]: Trip } = {
  "GET /livez": ({ client }) => client.call("GET /livez"),
  "GET /readyz": ({ client }) => client.call("GET /readyz"),
  "GET /v1/enzymes": ({ client }) => client.call("GET /v1/enzymes", { query: { limit: 2 } }),
  "POST /v1/access/tokens": ({ client, ids }) =>
    keep(ids, "token", [client.call("POST /v1/access/tokens", { body: { verbs: ["read"], spaces: ["shop"] } }), ({ id }) => id]),
  "GET /v1/access/tokens": ({ client }) => client.call("GET /v1/access/tokens", { query: { limit: 2 } }),
  "POST /v1/access/tokens/:id/rotation": ({ client, ids: { token: id } }) =>
    client.call("POST /v1/access/tokens/:id/rotation", { params: { id } }),
  "DELETE /v1/access/tokens/:id/rotation": ({ client, ids: { token: id } }) =>
    client.call("DELETE /v1/access/tokens/:id/rotation", { params: { id } }),
  "DELETE /v1/access/tokens/:id": ({ client, ids: { token: id } }) => client.call("DELETE /v1/access/tokens/:id", { params: { id } }),
  "POST /v1/session": ({ client }) => client.call("POST /v1/session", { query: { as: "token" } }),
  "GET /v1/session": ({ client }) => client.call("GET /v1/session"),
  "DELETE /v1/session": ({ client }) => client.call("DELETE /v1/session"),
  "GET /v1/flows": ({ client }) => client.call("GET /v1/flows"),
  "PUT /v1/spaces/:space": ({ client }) => client.call("PUT /v1/spaces/:space", { params }),
  "GET /v1/spaces": ({ client }) => client.call("GET /v1/spaces"),
  "POST /v1/spaces/:space/signals": ({ ids, shop }) =>
    keep(ids, "event", [
      shop.call("POST /signals", { body: { signal: "/signals/count", payload: 1 }, wait: 10 }),
      (answer) => "id" in answer ? answer.id : ""
    ]),
  "GET /v1/spaces/:space/receipts/:id": ({ ids: { event }, shop }) => shop.call("GET /receipts/:id", { params: { id: event } }),
  "GET /v1/spaces/:space/waiting": ({ shop }) => shop.call("GET /waiting", { query: { limit: 5 } }),
  "GET /v1/spaces/:space/dead": async ({ ids, shop }) => {
    const sent = await shop.signal("/signals/broken", { payload: 1 })
    await shop.receipt(sent.id, { wait: 20 })
    return keep(ids, "dead", [shop.call("GET /dead"), ({ letters: [letter] }) => letter?.id ?? ""])
  },
  "GET /v1/spaces/:space/dead/:id/:enzyme": ({ ids: { dead: id }, shop }) =>
    shop.call("GET /dead/:id/:enzyme", { params: { id, enzyme: "broken" } }),
  "POST /v1/spaces/:space/dead/:id/:enzyme/redelivery": ({ ids: { dead: id }, shop }) =>
    shop.call("POST /dead/:id/:enzyme/redelivery", { params: { id, enzyme: "broken" } }),
  "GET /v1/spaces/:space/denials": ({ shop }) => shop.call("GET /denials"),
  "PUT /v1/spaces/:space/cells/*": ({ shop }) => shop.call("PUT /cells/*", { params: { "*": "data/a" }, body: { n: 1 } }),
  "GET /v1/spaces/:space/cells/*": ({ shop }) => shop.call("GET /cells/*", { params: { "*": "data/a" }, query: { path: "/n" } }),
  "DELETE /v1/spaces/:space/cells/*": ({ shop }) => shop.call("DELETE /cells/*", { params: { "*": "data/a" } }),
  "GET /v1/spaces/:space/schema": ({ shop }) => shop.call("GET /schema", { query: { limit: 3 } }),
  "GET /v1/spaces/:space/beats": ({ shop }) => shop.call("GET /beats", { query: { limit: 3 } }),
  "GET /v1/spaces/:space/beats/:beat": ({ shop }) => shop.call("GET /beats/:beat", { params: { beat: "1" } }),
  "PUT /v1/spaces/:space/blobs": ({ ids, shop }) => keep(ids, "hash", [shop.blobs.put(new Uint8Array([1, 2])), ({ hash }) => hash]),
  "GET /v1/spaces/:space/blobs/:hash": ({ ids: { hash }, shop }) =>
    shop.call("GET /blobs/:hash", { params: { hash }, headers: { range: "bytes=1-1" } }),
  "GET /v1/spaces/:space/clock": ({ shop }) => shop.call("GET /clock"),
  "POST /v1/spaces/:space/clock/reset": ({ shop }) => shop.call("POST /clock/reset"),
  "PUT /v1/spaces/:space/locks/*": ({ shop }) => shop.call("PUT /locks/*", { params: { "*": "data/locked" } }),
  "DELETE /v1/spaces/:space/locks/*": ({ shop }) => shop.call("DELETE /locks/*", { params: { "*": "data/locked" } }),
  "PUT /v1/spaces/:space/debug": ({ shop }) => shop.call("PUT /debug", { body: { breakpoints: [] } }),
  "GET /v1/spaces/:space/debug": ({ shop }) => shop.call("GET /debug"),
  "POST /v1/spaces/:space/debug/step": async ({ shop }) => {
    await shop.call("POST /control/hold")
    return shop.call("POST /debug/step")
  },
  "POST /v1/spaces/:space/control/hold": ({ shop }) => shop.call("POST /control/hold"),
  "POST /v1/spaces/:space/control/release": ({ shop }) => shop.call("POST /control/release"),
  "GET /v1/spaces/:space/control": ({ shop }) => shop.call("GET /control"),
  "POST /v1/spaces/:space/ops": ({ ids, shop }) =>
    keep(ids, "oid", [shop.call("POST /ops", { body: { verb: "op/render", target: "/data/scene", ttl: 5 } }), ({ oid }) => oid]),
  "GET /v1/spaces/:space/ops": ({ shop }) => shop.call("GET /ops", { query: { limit: 1 } }),
  "GET /v1/spaces/:space/ops/:oid": ({ ids: { oid }, shop }) => shop.call("GET /ops/:oid", { params: { oid } }),
  "POST /v1/spaces/:space/ops/:oid/state": ({ ids: { oid }, shop }) =>
    shop.call("POST /ops/:oid/state", { params: { oid }, body: { state: "ist:plan", note: "soon" } }),
  "POST /v1/spaces/:space/ops/:oid/await": ({ ids: { oid }, shop }) =>
    refused("ops/unheard", shop.call("POST /ops/:oid/await", { params: { oid }, body: { want: "ist:ok", signal: "/x" } })),
  "POST /v1/spaces/:space/ops/:oid/close": ({ ids: { oid }, shop }) =>
    shop.call("POST /ops/:oid/close", { params: { oid }, body: { status: "sts:ok" } }),
  "POST /v1/spaces/:space/ops/:oid/cancel": ({ ids: { oid }, shop }) =>
    refused("ops/closed", shop.call("POST /ops/:oid/cancel", { params: { oid } })),
  "POST /v1/spaces/:space/rv": async ({ ids, shop }) => {
    await shop.signal("/CEP:sig_sys/init", { wait: 10 })
    return keep(ids, "key", [shop.call("POST /rv", { body: { key: "one", due_off: 500 } }), ({ key }) => key])
  },
  "GET /v1/spaces/:space/rv": ({ shop }) => shop.call("GET /rv"),
  "GET /v1/spaces/:space/rv/:key": ({ ids: { key }, shop }) => shop.call("GET /rv/:key", { params: { key } }),
  "POST /v1/spaces/:space/rv/:key/token": ({ ids: { key }, shop }) => shop.call("POST /rv/:key/token", { params: { key } }),
  "POST /v1/spaces/:space/rv/:key/resched": ({ ids: { key }, shop }) =>
    shop.call("POST /rv/:key/resched", { params: { key }, body: { delta: 5 } }),
  "POST /v1/spaces/:space/rv/:key/release": ({ ids: { key }, shop }) =>
    refused("rv/not-quarantined", shop.call("POST /rv/:key/release", { params: { key } })),
  "POST /v1/spaces/:space/rv/:key/report": ({ ids: { key }, shop }) =>
    shop.call("POST /rv/:key/report", { params: { key }, body: {} }),
  "POST /v1/spaces/:space/rv/:key/kill": ({ ids: { key }, shop }) =>
    refused("rv/finished", shop.call("POST /rv/:key/kill", { params: { key }, body: {} })),
  "POST /v1/spaces/:space/flows": ({ shop }) => refused("flow/unknown", shop.call("POST /flows", { body: { flow: "none" } })),
  "GET /v1/spaces/:space/flows": ({ shop }) => shop.call("GET /flows"),
  "GET /v1/spaces/:space/flows/:inst": ({ shop }) => refused("flow/absent", shop.call("GET /flows/:inst", { params: { inst: "a" } })),
  "POST /v1/spaces/:space/flows/:inst/pause": ({ shop }) =>
    refused("flow/absent", shop.call("POST /flows/:inst/pause", { params: { inst: "a" } })),
  "POST /v1/spaces/:space/flows/:inst/resume": ({ shop }) =>
    refused("flow/absent", shop.call("POST /flows/:inst/resume", { params: { inst: "a" } })),
  "POST /v1/spaces/:space/flows/:inst/cancel": ({ shop }) =>
    refused("flow/absent", shop.call("POST /flows/:inst/cancel", { params: { inst: "a" } })),
  "POST /v1/spaces/:space/flows/:inst/budget": ({ shop }) =>
    refused("flow/absent", shop.call("POST /flows/:inst/budget", { params: { inst: "a" }, body: { steps: 5 } })),
  "GET /v1/spaces/:space/io/channels": ({ shop }) => shop.call("GET /io/channels"),
  "GET /v1/spaces/:space/io/drains": ({ shop }) => shop.call("GET /io/drains"),
  "GET /v1/spaces/:space/io": ({ shop }) => shop.call("GET /io", { query: { open: true } }),
  "GET /v1/spaces/:space/io/:rid": ({ shop }) =>
    refused("io/request-absent", shop.call("GET /io/:rid", { params: { rid: "R1" } })),
  "POST /v1/spaces/:space/io/:rid/cancel": ({ shop }) =>
    refused("io/request-absent", shop.call("POST /io/:rid/cancel", { params: { rid: "R1" } })),
  "GET /v1/spaces/:space/runs": ({ shop }) => shop.call("GET /runs", { query: { all: true } }),
  "GET /v1/spaces/:space/runs/:oid": ({ shop }) =>
    refused("run/absent", shop.call("GET /runs/:oid", { params: { oid: "OPS:9.9.9" } })),
  "POST /v1/spaces/:space/runs/:oid/cancel": ({ shop }) =>
    refused("run/absent", shop.call("POST /runs/:oid/cancel", { params: { oid: "OPS:9.9.9" } })),
  "POST /v1/spaces/:space/runs/:oid/retry": ({ shop }) =>
    refused("run/absent", shop.call("POST /runs/:oid/retry", { params: { oid: "OPS:9.9.9" } })),
  "GET /v1/spaces/:space/journal/verification": ({ shop }) => shop.call("GET /journal/verification"),
  "GET /v1/spaces/:space/replay": ({ shop }) => shop.call("GET /replay", { query: { from: 0, to: 2 } }),
  "GET /v1/spaces/:space/why": ({ shop }) => shop.call("GET /why", { query: { address: "/data/count" } }),
  "GET /v1/spaces/:space/explain": ({ shop }) => shop.call("GET /explain", { query: { beat: 0, enzyme: "count" } }),
  "GET /v1/spaces/:space/graph": ({ shop }) => shop.call("GET /graph", { query: { limit: 10 } }),
  "PUT /v1/spaces/:space/graph/trace": ({ shop }) => shop.call("PUT /graph/trace", { body: { kinds: ["run"] } }),
  "GET /v1/spaces/:space/graph/trace": ({ shop }) => shop.call("GET /graph/trace"),
  "GET /v1/spaces/:space/store": ({ shop }) => shop.call("GET /store"),
  "POST /v1/spaces/:space/store/finish": ({ shop }) => shop.call("POST /store/finish"),
  "DELETE /v1/spaces/:space/store/journal": ({ shop }) => shop.call("DELETE /store/journal", { query: { before: 0 } }),
  "POST /v1/spaces/:space/store/upgrade": ({ shop }) => shop.call("POST /store/upgrade", { query: { limit: 10 } }),
  "GET /v1/spaces/:space/export": ({ shop }) => shop.call("GET /export", { query: { history: "none" } }),
  "PUT /v1/spaces/:space/import/:id": ({ shop }) =>
    refused("space/exists", shop.call("PUT /import/:id", { params: { id: "abcdefgh" }, query: { from: 0 }, body: new Uint8Array([1]) })),
  "GET /v1/spaces/:space/detached": ({ shop }) => refused("control/refused", shop.call("GET /detached")),
  "DELETE /v1/spaces/:space/detached": ({ shop }) => refused("control/refused", shop.call("DELETE /detached")),
  "POST /v1/spaces/:space/control/pause": ({ shop }) => shop.call("POST /control/pause"),
  "POST /v1/spaces/:space/control/rollback": ({ shop }) =>
    refused("control/refused", shop.call("POST /control/rollback", { body: { to: 999_999 } })),
  "POST /v1/spaces/:space/control/resume": ({ shop }) => begun(shop.call("POST /control/resume")),
  "POST /v1/spaces/:space/control/shutdown": ({ shop }) => begun(shop.call("POST /control/shutdown")),
  "POST /v1/spaces/:space/control/restart": ({ shop }) => begun(shop.call("POST /control/restart")),
  "DELETE /v1/spaces/:space": ({ client }) => client.call("DELETE /v1/spaces/:space", { params })
}

/** A trip that a client made: its request, such as `GET /livez`, and the answer or the failure. */
export interface Made {
  readonly key: Own
  readonly asked: string
  /** JSON, or the number of its bytes; `undefined` for none. */
  readonly answer?: unknown
  readonly failure?: string
}

/** The keys of the trips, in their order. */
export const keys = Object.keys(trips) as ReadonlyArray<Own>

/** Makes each trip at a server whose space `shop` is not there yet. The first failure is the last trip. */
export const travel = async (platform: Pick<Platform, "fetch"> & Partial<Platform>): Promise<ReadonlyArray<Made>> => {
  let asked = ""
  const client = connect({ platform: { ...platform, fetch: (path, init) => {
    asked = `${init.method} ${new URL(path, "http://a").pathname}`
    return platform.fetch(path, init)
  } } })
  const given = { client, shop: client.space("shop"), ids: { event: "", dead: "", hash: "", oid: "", key: "", token: "" } }
  const made: Array<Made> = []
  for (const key of keys) {
    try {
      const answer = await trips[key](given)
      made.push({ key, asked, answer: answer instanceof Uint8Array ? answer.length : answer })
    } catch (error) {
      made.push({ key, asked, failure: String(error) })
      break
    }
  }
  return made
}
