/**
 * The HTTP face of the runtime: requests become signals, cells become answers.
 *
 * A Hono application over the `fetch` interface, so each host serves the same.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import { type Context, Hono } from "hono"
import { getPath } from "hono/utils/url"
import * as Accident from "../diagnostic/Accident.ts"
import type { Reporter } from "../diagnostic/Reporter.ts"
import type { Kernel } from "../kernel/space/Kernel.ts"
import type { Space } from "../kernel/view/Space.ts"
import type { Stop } from "../kernel/model/Stops.ts"
import type { Page } from "../loader/Config.ts"
import type { Hash } from "../persistence/Hash.ts"
import type { Enzyme } from "../registry/Enzyme.ts"
import * as Beats from "./Beats.ts"
import * as Blobs from "./Blobs.ts"
import * as Body from "./Body.ts"
import * as Cleared from "./Cleared.ts"
import * as Cells from "./Cells.ts"
import * as Control from "./Control.ts"
import * as Dead from "./Dead.ts"
import * as Debug from "./Debug.ts"
import * as Flows from "./Flows.ts"
import * as Graph from "./Graph.ts"
import * as Guard from "./Guard.ts"
import * as History from "./History.ts"
import * as Json from "./Json.ts"
import * as Ops from "./Ops.ts"
import * as Pages from "./Pages.ts"
import * as Posting from "./Posting.ts"
import * as Problem from "./Problem.ts"
import * as Rv from "./Rv.ts"
import * as SignalRequest from "./SignalRequest.ts"
import * as Sse from "./Sse.ts"
import { Transfers } from "./Transfers.ts"
import * as Waiting from "./Waiting.ts"
import * as Wire from "./Wire.ts"

/** What the application stands on. */
export interface Services {
  readonly kernel: Kernel["Service"]
  readonly hash: Hash["Service"]
}

/** How it is served. */
export interface Options extends Guard.Rules {
  /** Told of each failure of which those outside hear little: one that no one expects, and one of a store or a space. */
  readonly reporter: Reporter
  /** Aborted when the server closes: no stream outlives it. */
  readonly closing: AbortSignal
  /** Pages of HTML by their paths. */
  readonly pages: Readonly<Record<string, Page>>
  /** Whether spaces can be stepped through. */
  readonly debug?: boolean | undefined
}

/** The application: `fetch` answers whoever the guard lets through, by the routes. */
export interface App {
  readonly fetch: (request: Request) => Response | Promise<Response>
  readonly routes: Hono
}

/**
 * The application over the runtime's routes.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (services: Services, options: Options): App => {
  const tell = teller(options)
  const around = { stream: Sse.make(options.closing, { readers: options.readers?.length ?? 0, tell }), tell, transfers: new Transfers(), getPath: pathOf }
  const routes = routesOf(services, options, around)
  const refusal = Guard.make(options, services.hash)
  const readerOf = Guard.readers(options, services.hash)
  const cleared = Cleared.make(services.kernel, around)
  // Before the routes and not among them: Hono runs a route that stands alone without any machinery.
  const fetch: App["fetch"] = (request) => {
    const reader = readerOf(request)
    if (reader !== undefined && !probes.has(pathOf(request))) return cleared(request, reader)
    const refused = refusal(request)
    return refused === undefined || isOpen(request, refused) ? routes.fetch(request) : Problem.response(refused)
  }
  return { fetch, routes }
}

/** What may be asked by anyone: whether the server lives, and whether it is ready. */
const probes: ReadonlySet<string> = new Set(["/livez", "/readyz"])

/** Whether a request that the guard refuses is let through: a probe, and whoever shows a token of its own. */
const isOpen = (request: Request, { code }: Problem.RequestRefused): boolean => {
  const path = pathOf(request)
  return probes.has(path) || (code === "auth/missing" && Rv.isReport(request, path))
}

/** The path of a request, without the dot segments that clients and most hosts take away before anyone sees them, and Deno does not. */
const pathOf = ({ url }: Request): string => getPath({ url: /\/(?:\.|%2e)/i.test(url) ? new URL(url).href : url } as Request)

const routesOf = (services: Services, options: Options, { getPath, stream, tell, transfers }: Cleared.Around): Hono => {
  const app = new Hono({ getPath })
  app.onError((failure) => {
    tell(failure)
    return Problem.response(failure)
  })
  app.notFound((c) => nothing(app, c.req))
  app.get("/livez", () => Json.answer({ status: "live" }))
  const refusal = Guard.make(options, services.hash)
  app.get("/readyz", async (c) => {
    await Effect.runPromise(services.kernel.spaces)
    return readiness(await Effect.runPromise(services.kernel.stops), refusal(c.req.raw) === undefined)
  })
  runtimeRoutes(app, services.kernel)
  signalRoutes(app, services.kernel)
  const find = (name: string) => Effect.runPromise(services.kernel.space(name, { create: false }))
  stateRoutes(app, services, { stream, transfers })
  Dead.routes(app, find)
  Waiting.routes(app, find)
  Flows.routes(app, { find, kernel: services.kernel, stream, wantsStream })
  app.get("/v1/spaces/:space/denials", async (c) => {
    const space = await find(c.req.param("space"))
    return Json.answer({ denials: await Effect.runPromise(space.denials) }, { headers: { "cache-control": "no-store" } })
  })
  Graph.routes(app, find)
  if (options.debug === true) Debug.routes(app, find)
  History.routes(app, find)
  Control.routes(app, find)
  Ops.routes(app, { find, stream, wantsStream })
  Rv.routes(app, { find, stream, wantsStream })
  for (const [path, page] of Object.entries(options.pages)) app.get(path, (c) => Pages.send(page, services, c.req.raw.signal))
  return app
}

/** Most spaces that a probe names. */
const MAX_NAMED = 100

/** Whether all that was asked for runs; which space stopped, where its store is and why is told to the operator alone. */
const readiness = (stops: ReadonlyArray<Stop>, isOperator: boolean): Response => {
  if (stops.length === 0) return Json.answer({ status: "ready" })
  return Json.answer({ status: "stopped", count: stops.length, ...isOperator ? { stopped: stops.slice(0, MAX_NAMED) } : {} }, { status: 503, headers: { "cache-control": "no-store" } })
}

/** Tells of failures to the inside. */
const teller = ({ reporter }: Options) => (failure: unknown): void => {
  if (Problem.of(failure).status >= 500) reporter.report(Accident.of(failure))
}

const runtimeRoutes = (app: Hono, kernel: Kernel["Service"]): void => {
  app.get("/v1/enzymes", async () => {
    const enzymes = await Effect.runPromise(kernel.enzymes)
    return Json.answer({ enzymes: enzymes.map(({ enzyme, hash }) => ({ ...describe(enzyme), hash: hash ?? null })) })
  })
  app.get("/v1/spaces", async () => Json.answer({ spaces: await Effect.runPromise(kernel.spaces) }))
  app.put("/v1/spaces/:space", async (c) => {
    const name = c.req.param("space")
    const known = (await Effect.runPromise(kernel.spaces)).includes(name)
    const space = await Effect.runPromise(kernel.space(name, { create: true }))
    // A new space is answered when it has booted.
    if (!known) await Effect.runPromise(space.idle)
    const location = base(space.name)
    return Json.answer({ space: space.name, created: !known }, { status: known ? 200 : 201, headers: { location } })
  })
}

const signalRoutes = (app: Hono, kernel: Kernel["Service"]): void => {
  app.post("/v1/spaces/:space/signals", async (c) => {
    const request = SignalRequest.decode(await Body.json(c.req.raw), c.req.raw.headers.get("idempotency-key"))
    const space = await writable(kernel, c, () => SignalRequest.check(request))
    return Posting.answer(space, request, SignalRequest.waitSeconds(c.req.raw.headers.get("prefer")))
  })
  app.get("/v1/spaces/:space/receipts/:id", async (c) => {
    const space = await readable(kernel, c)
    const id = c.req.param("id")
    const receipt = await Effect.runPromise(space.receipt(id))
    if (receipt === undefined) {
      throw new Problem.RequestRefused({ code: "receipt/absent", reason: `Space "${space.name}" has no receipt of "${id.slice(0, 200)}". It is pruned, or no such signal came` })
    }
    const seconds = SignalRequest.waitSeconds(c.req.raw.headers.get("prefer"))
    const waits = seconds !== undefined && receipt.status === "pending"
    const last = waits ? await settled(space, id, seconds) : undefined
    return Json.answer(Wire.receipt(last ?? receipt), { headers: { "cache-control": "no-store" } })
  })
}

const stateRoutes = (app: Hono, { hash, kernel }: Services, { stream, transfers }: Pick<Cleared.Around, "stream" | "transfers">): void => {
  app.get("/v1/spaces/:space/cells/*", async (c) => {
    const place = Cells.place(c.req.url)
    const space = await readable(kernel, c)
    return wantsStream(c.req.raw) ? stream(Cells.watch(space, place, lastOf(c.req.raw))) : Cells.read(space, place, c.req.raw)
  })
  app.put("/v1/spaces/:space/cells/*", async (c) => {
    const write = await Cells.write(Cells.place(c.req.url), c.req.raw)
    return write(await writable(kernel, c))
  })
  app.delete("/v1/spaces/:space/cells/*", async (c) => Cells.remove(await readable(kernel, c), Cells.place(c.req.url)))
  app.get("/v1/spaces/:space/beats", async (c) => {
    const space = await readable(kernel, c)
    if (wantsStream(c.req.raw)) return stream(Beats.follow(space, { from: c.req.query("from"), last: lastOf(c.req.raw) }))
    return Beats.list(space, { before: c.req.query("before"), limit: c.req.query("limit") })
  })
  app.get("/v1/spaces/:space/beats/:beat", async (c) => Beats.show(await readable(kernel, c), c.req.param("beat")))
  app.put("/v1/spaces/:space/blobs", async (c) => {
    const space = await writable(kernel, c, () => Blobs.check(c.req.raw))
    return Blobs.receive(space, c.req.raw, { base: base(space.name), hash })
  })
  app.get("/v1/spaces/:space/blobs/:hash", async (c) => Blobs.send(await readable(kernel, c), c.req.param("hash"), { request: c.req.raw, transfers }))
}

const base = (space: string) => `/v1/spaces/${space}`

/** The space that a request reads: it has to be there. */
const readable = (kernel: Kernel["Service"], c: Context): Promise<Space> =>
  Effect.runPromise(kernel.space(c.req.param("space") ?? "", { create: false }))

/**
 * The space that a request brings something to: made on demand where the configuration says so.
 *
 * A request that `check` throws at makes no space; where there is one, the space itself looks.
 */
const writable = (kernel: Kernel["Service"], c: Context, check: () => void = () => {}): Space | Promise<Space> => {
  const name = c.req.param("space") ?? ""
  return kernel.opened(name) ?? Effect.runPromise(kernel.space(name, { create: false }).pipe(
    Effect.catchIf((error) => error.code === "space/unknown", () => Effect.andThen(Effect.sync(check), kernel.space(name)))
  ))
}

/** The last event that a reader saw before it lost a stream. */
const lastOf = (request: Request): string | null => request.headers.get("last-event-id")

/** Hono answers HEAD through GET and drops the body: a stream would never be read, and never end. */
const wantsStream = (request: Request): boolean =>
  request.method === "GET" && request.headers.get("accept")?.includes("text/event-stream") === true

/** Why nothing answers: there is no such path, or not for this method. */
const nothing = (app: Hono, { method, path }: { readonly method: string; readonly path: string }): Response => {
  const shown = path.slice(0, 200)
  const allow = methods.filter((other) => app.router.match(other, path)[0].some(([[, route]]) => route.method === other))
  if (allow.length === 0) return Problem.response(new Problem.RequestRefused({ code: "route/absent", reason: `There is nothing at ${method} ${shown}` }))
  const response = Problem.response(new Problem.RequestRefused({ code: "route/method", reason: `${shown} does not take ${method.slice(0, 20)}. It takes ${allow.join(", ")}` }))
  response.headers.set("allow", allow.join(", "))
  return response
}

const methods = ["GET", "PUT", "POST", "DELETE"] as const

/** The receipt once all handlings are over; `undefined` when that takes longer. */
const settled = (space: Space, id: string, seconds: number) =>
  Effect.runPromise(space.settled(id).pipe(Effect.timeoutOrElse({ duration: seconds * 1000, orElse: () => Effect.undefined })))

/** An enzyme's descriptor as JSON, which leaves its functions out. */
const describe = (enzyme: Enzyme): object => ({ ...enzyme, _tag: undefined, writes: enzyme.writes ?? null, payload: enzyme.payload !== undefined })
