import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Hash, Kernel, Reporter, Slices } from "systole"
import * as Redacted from "../../src/cell/Redacted.ts"
import * as App from "../../src/ingress/App.ts"
import * as RuntimeLists from "../../src/ingress/route/RuntimeLists.ts"
import { BAR, COUNT, counted, filled, Rows } from "../kernel/view/ListedSpace.ts"
import * as RendezvousSpace from "../rendezvous/RendezvousSpace.ts"
import * as HashLayer from "../support/HashLayer.ts"

const SPACE = "/v1/spaces/:space"

/** A list: what is asked for, and the fewest records on all of its pages. */
interface List {
  readonly ask: string
  readonly fewest?: number
}

const list = (ask = "", fewest = COUNT): List => ({ ask, fewest })

/** One record, whose lists have a limit of their own. */
const one = (ask = ""): List => ({ ask, fewest: 0 })

const views = [
  "?list", "/beat?list", "/beat/20?list", "/beat/20/inbox", "/beat/20/agenda", "/beat/20/stage", "/beat/20/meta", "/beat/20/state",
  "/analytics?list", "/analytics/diag", "/analytics/persist", "/analytics/async", "/receipts?list", "/io_reactors/io/channels",
  "/io_reactors/io/state"
]

const cells = [
  ...["open", "secret", "links"].map((folder) => list(`/data/${folder}?list`)),
  one("/data/deep?list"),
  ...["open", "secret", "links", "deep"].flatMap((folder) => [list(`/data/${folder}?below`), list(`/data/${folder}?below&values`)]),
  ...["/", "/data", "/sys", "/sys/index", "/rt/ops", "/rt/dead", "/data/rv"].map((id) => one(`${id}?list`)),
  ...views.map((view) => one(`/rt${view}`)),
  one("/data/open/1-1")
]

/** The answers of each route that reads. A new route has to be here. */
const routes: Readonly<Record<string, ReadonlyArray<List>>> = {
  "/livez": [one()],
  "/readyz": [one()],
  "/v1/enzymes": [list()],
  "/v1/flows": [one()],
  "/v1/spaces": [list()],
  [`${SPACE}/beats`]: [list(), list("?limit=100")],
  [`${SPACE}/beats/:beat`]: [one("/20")],
  [`${SPACE}/blobs/:hash`]: [],
  [`${SPACE}/cells/*`]: cells,
  [`${SPACE}/clock`]: [one()],
  [`${SPACE}/control`]: [one()],
  [`${SPACE}/dead`]: [list("?limit=100")],
  [`${SPACE}/dead/:id/:enzyme`]: [],
  [`${SPACE}/debug`]: [one()],
  [`${SPACE}/denials`]: [list("", 400)],
  [`${SPACE}/detached`]: [],
  [`${SPACE}/export`]: [],
  [`${SPACE}/flows`]: [one()],
  [`${SPACE}/flows/:inst`]: [],
  [`${SPACE}/graph`]: [list(), list("?limit=10")],
  [`${SPACE}/store`]: [one()],
  [`${SPACE}/graph/trace`]: [list("", 150)],
  [`${SPACE}/io`]: [list("?limit=100"), list("?open&limit=100")],
  [`${SPACE}/io/:rid`]: [one("/bank:3.1.1"), one("/bank:3.900.1")],
  [`${SPACE}/io/channels`]: [one()],
  [`${SPACE}/io/drains`]: [one()],
  [`${SPACE}/ops`]: [list("?limit=100")],
  [`${SPACE}/ops/:oid`]: [],
  [`${SPACE}/receipts/:id`]: [],
  [`${SPACE}/runs`]: [list("?limit=100"), list("?all&limit=100")],
  [`${SPACE}/runs/:oid`]: [],
  [`${SPACE}/rv`]: [list("?limit=100")],
  [`${SPACE}/rv/:key`]: [one("/k1-1")],
  [`${SPACE}/schema`]: [],
  [`${SPACE}/waiting`]: [list()],
  // These look at the history, which is read in turns of its own.
  [`${SPACE}/journal/verification`]: [],
  [`${SPACE}/replay`]: [],
  [`${SPACE}/why`]: [],
  [`${SPACE}/explain`]: []
}

/** The lists of a reader. */
const shown = [list("/waiting", COUNT / 2), list("/cells/data/open?list"), list("/cells/data/open?below"), one("/cells/data/secret?list"),
  one("/cells/data/secret?below"), one("/cells/data?list")]

/** The longest array anywhere in a body. */
const longest = (body: unknown): number => {
  if (typeof body !== "object" || body === null) return 0
  return Math.max(Array.isArray(body) ? body.length : 0, ...Object.values(body).map(longest))
}

/** The path of a route without its parameters, where each list begins. */
const placeOf = (route: string): string => route.replace(":space", "test").replace(/\/(?:\*|:.*)$/, "")

const serve = Effect.gen(function*() {
  const space = yield* filled
  const services = { slices: Slices.all, kernel: yield* Kernel, hash: yield* Hash }
  const app = App.make(services, {
    token: Redacted.make("operator-operator"), loopback: true, reporter: new Reporter(() => {}), pages: {},
    closing: new AbortController().signal,
    debug: true, readers: [{ name: "web", atoms: [], token: Redacted.make("reader-reader") }]
  })
  return { app, space }
})

describe("Each list over HTTP", () => {
  const rows = new Rows()
  it.effect(`looks at no more than ${BAR} rows between two yields, and its pages have all`, () =>
    Effect.gen(function*() {
      const { app, space } = yield* serve
      const declared = app.table.endpoints.filter(({ method }) => method === "GET").map(({ path }) => path)
      assert.sameMembers([...new Set(declared)], Object.keys(routes))
      const ask = async (path: string, token: string): Promise<Record<string, unknown>> => {
        rows.turn = rows.most = 0
        const response = await app.fetch(new Request(`http://localhost${path}`, { headers: { authorization: `Bearer ${token}` } }))
        const text = await response.text()
        assert.isAtMost(rows.most, BAR, path)
        assert.isAtMost(response.status, 404, `${path} ${text}`)
        const body = JSON.parse(text) as Record<string, unknown>
        // The locks of a space are in memory, and at most 1,001.
        assert.isAtMost(longest(body), path.endsWith("/control") ? 1001 : BAR, path)
        return body
      }
      const follow = async (path: string, { fewest = 0 }: List, token: string): Promise<void> => {
        const cursor = path.includes("/beats") || path.includes("/drains") ? "before" : "after"
        let found = 0
        for (let next: unknown; ;) {
          const from = next === undefined ? "" : `${path.includes("?") ? "&" : "?"}${cursor}=${encodeURIComponent(String(next))}`
          const body = await ask(`${path}${from}`, token)
          found += longest(body)
          if (body["next"] === null || body["next"] === undefined) break
          assert.notStrictEqual(body["next"], next, path)
          next = body["next"]
        }
        assert.isAtLeast(found, fewest, path)
      }
      for (const [route, lists] of Object.entries(routes)) {
        for (const each of lists) yield* Effect.promise(() => follow(`${placeOf(route)}${each.ask}`, each, "operator-operator"))
      }
      for (const each of shown) yield* Effect.promise(() => follow(`/v1/spaces/test${each.ask}`, each, "reader-reader"))
      let oid: string | undefined
      for (let after: string | undefined; oid === undefined;) {
        const { next, runs } = yield* space.runs.list({ after, limit: 400, all: true })
        oid = runs.find(({ enzyme }) => enzyme === "long")?.oid
        assert.isTrue(oid !== undefined || next !== undefined, "the long run is listed")
        after = next
      }
      const run = yield* Effect.promise(() => ask(`/v1/spaces/test/runs/${oid}`, "operator-operator"))
      assert.lengthOf(run["steps"] as ReadonlyArray<unknown>, 100)
    }).pipe(Effect.provide(Layer.mergeAll(counted(rows), HashLayer.layer)), RendezvousSpace.granted))
})

describe("A page of the modules of a runtime", () => {
  it("makes no rows but its own", () => {
    let made = 0
    const row = (registration: object): object => {
      made++
      return registration
    }
    const handlers: Array<(asked: { readonly query: object }) => Effect.Effect<object>> = []
    const table = { serve: (_: unknown, handler: typeof handlers[number]) => handlers.push(handler) }
    const all = Array.from({ length: COUNT }, (_, i) => ({ enzyme: { name: `e${i}` } }))
    const list: RuntimeLists.RuntimeList = { endpoint: {} as never, field: "rows", has: () => true, row }
    RuntimeLists.routes(table as never, [{ lists: [list] }], Effect.succeed(all as never))
    const page = Effect.runSync(handlers[1]!({ query: { after: 100, limit: 10 } }))
    assert.deepStrictEqual(page, { rows: all.slice(100, 110), next: 110 })
    assert.strictEqual(made, 10)
  })
})
