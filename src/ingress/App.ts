/**
 * The HTTP interface of the runtime: the route table, authentication and error responses.
 *
 * It is a Hono application behind the `fetch` interface, so every host serves the same routes.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import { type Context, Hono } from "hono"
import * as UnexpectedFailure from "../diagnostic/UnexpectedFailure.ts"
import type { Reporter } from "../diagnostic/Reporter.ts"
import type { Kernel } from "../kernel/space/Kernel.ts"
import { MAX_ROWS } from "../kernel/view/PageTurns.ts"
import type { Space } from "../kernel/view/Space.ts"
import type { Stop } from "../kernel/model/Stops.ts"
import type { PersistenceError } from "../persistence/PersistenceError.ts"
import { face as operations } from "../operation/Face.ts"
import type { Page } from "../loader/Config.ts"
import type { Hash } from "../persistence/Hash.ts"
import * as Access from "./Access.ts"
import * as Beats from "./Beats.ts"
import * as Blobs from "./Blobs.ts"
import * as Body from "./Body.ts"
import * as Cells from "./Cells.ts"
import * as Control from "./Control.ts"
import * as Dead from "./Dead.ts"
import * as FaceRoutes from "./FaceRoutes.ts"
import * as Guard from "./Guard.ts"
import * as Json from "./Json.ts"
import * as Lists from "./Lists.ts"
import * as PageQuery from "./PageQuery.ts"
import * as Pages from "./Pages.ts"
import * as Problem from "./Problem.ts"
import * as ReaderRoutes from "./ReaderRoutes.ts"
import * as SignalRequest from "./SignalRequest.ts"
import * as SignalResponse from "./SignalResponse.ts"
import * as Slice from "./Slice.ts"
import * as Sse from "./Sse.ts"
import { StreamQuota } from "./StreamQuota.ts"
import { Transfers } from "./Transfers.ts"
import * as WaitingList from "./WaitingList.ts"
import * as Wire from "./Wire.ts"

/** The services that the routes use. */
export interface Services {
  readonly kernel: Kernel["Service"]
  readonly hash: Hash["Service"]
  /** The slices of the kernel. */
  readonly slices: ReadonlyArray<Slice.Slice>
}

/** The settings of the application. */
export interface Options extends Guard.Rules {
  /** Receives each failure of the runtime. The response body omits its details. */
  readonly reporter: Reporter
  /** Aborted when the server closes. It ends every open stream. */
  readonly closing: AbortSignal
  /** The open streams that are counted, with those of other channels of the host; streams of the application alone unless given. */
  readonly quota?: StreamQuota | undefined
  /** HTML pages, by path. */
  readonly pages: Readonly<Record<string, Page>>
  /** Enables the routes that step through a space. */
  readonly debug?: boolean | undefined
}

/** The application: `fetch` authenticates a request and dispatches it to `routes`. */
export interface App {
  readonly fetch: (request: Request) => Response | Promise<Response>
  readonly routes: Hono
}

/**
 * Creates the application over a kernel.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (services: Services, options: Options): App => {
  const report = failureReporter(options)
  const context = {
    stream: Sse.make(options.closing, { quota: options.quota ?? new StreamQuota(options.readers?.length ?? 0), report }),
    report,
    transfers: new Transfers(),
    getPath: Access.pathOf
  }
  const routes = routesOf(services, options, context)
  const accessOf = Access.make(options, services.hash)
  const readerRoutes = ReaderRoutes.make(services.kernel, context)
  // The guard runs before Hono, not as middleware: Hono dispatches a route without middleware on a faster path.
  const fetch: App["fetch"] = (request) => {
    const { reader, refused } = accessOf(request)
    if (refused !== undefined) return Problem.response(refused)
    return reader === undefined ? routes.fetch(request) : readerRoutes(request, reader)
  }
  return { fetch, routes }
}

const routesOf = (services: Services, options: Options, { getPath, stream, report, transfers }: ReaderRoutes.ResponseContext): Hono => {
  const app = new Hono({ getPath })
  app.onError((failure) => {
    report(failure)
    return Problem.response(failure)
  })
  app.notFound((c) => nothing(app, services.slices, c.req))
  app.get("/livez", () => Json.answer({ status: "live" }))
  const refusal = Guard.make(options, services.hash)
  app.get("/readyz", async (c) => {
    await Effect.runPromise(services.kernel.ready)
    return readiness(await Effect.runPromise(services.kernel.stops), refusal(c.req.raw) === undefined)
  })
  runtimeRoutes(app, services)
  signalRoutes(app, services.kernel)
  const find = (name: string) => Effect.runPromise(services.kernel.space(name, { create: false }))
  stateRoutes(app, services, { stream, transfers })
  Dead.routes(app, find)
  WaitingList.routes(app, find)
  app.get("/v1/spaces/:space/denials", async (c) => {
    const space = await find(c.req.param("space"))
    return Json.answer({ denials: await Effect.runPromise(space.denials) }, Json.noStore)
  })
  Control.routes(app, find)
  FaceRoutes.routes(app, operations, { find, stream, wantsStream })
  const { hash, kernel, slices } = services
  const shared = { find, hash, kernel, stream, wantsStream, isDebugged: options.debug === true }
  for (const { routes } of slices) routes?.(app, shared)
  const reading = Pages.reading(services)
  for (const [path, page] of Object.entries(options.pages)) app.get(path, (c) => Pages.send(page, reading, c.req.raw.signal))
  return app
}

/** The maximum number of stopped spaces that the readiness probe lists. */
const MAX_NAMED = 100

/** The answer of the readiness probe. Only the operator sees which spaces stopped, where their stores are and why. */
const readiness = (stops: ReadonlyArray<Stop>, isOperator: boolean): Response => {
  if (stops.length === 0) return Json.answer({ status: "ready" })
  return Json.answer(
    { status: "stopped", count: stops.length, ...isOperator ? { stopped: stops.slice(0, MAX_NAMED) } : {} },
    { status: 503, headers: { "cache-control": "no-store" } }
  )
}

/** Reports failures of the runtime to the log and the metrics. */
const failureReporter = ({ reporter }: Options) => (failure: unknown): void => {
  if (Problem.isReported(failure)) reporter.report(UnexpectedFailure.of(failure))
}

const runtimeRoutes = (app: Hono, { kernel, slices }: Services): void => {
  for (const [path, list] of Object.entries(Lists.of(slices))) {
    app.get(path, async (c) => Json.answer(Lists.page(list, await Effect.runPromise(kernel.enzymes), c.req.query())))
  }
  app.get("/v1/spaces", async (c) => {
    const { after, limit } = spacesPage(c.req.query())
    const { names, next = null } = await Effect.runPromise(kernel.names({ after, limit }), { signal: c.req.raw.signal })
    return Json.answer({ spaces: names, next })
  })
  app.delete("/v1/spaces/:space", async (c) => {
    await Effect.runPromise(kernel.remove(c.req.param("space")))
    return Json.answer({ space: c.req.param("space"), removed: true })
  })
  app.put("/v1/spaces/:space", async (c) => {
    const name = c.req.param("space")
    const find = kernel.space(name, { create: false })
    const isUnknown = ({ code }: PersistenceError): boolean => code === "space/unknown"
    const known = await Effect.runPromise(Effect.catchIf(find, isUnknown, () => Effect.undefined))
    const space = known ?? await Effect.runPromise(kernel.space(name, { create: true }))
    // The request to create a space completes after its boot.
    const created = known === undefined
    if (created) await Effect.runPromise(space.idle)
    return Json.answer({ space: space.name, created }, { status: created ? 201 : 200, headers: { location: base(space.name) } })
  })
}

/** The most names of spaces in one answer, and their number without `?limit=`. */
const MAX_SPACES = MAX_ROWS

/**
 * The requested page of the names of spaces.
 *
 * @throws RequestRefused
 * @category getters
 * @since 0.1.0
 */
export const spacesPage = ({ after = "", limit }: { readonly after?: string; readonly limit?: string }) =>
  ({ after, limit: PageQuery.limit(limit, { listed: MAX_SPACES, max: MAX_SPACES }) })

const signalRoutes = (app: Hono, kernel: Kernel["Service"]): void => {
  app.post("/v1/spaces/:space/signals", async (c) => {
    const request = SignalRequest.decode(await Body.json(c.req.raw), c.req.raw.headers.get("idempotency-key"))
    const space = await writable(kernel, c, () => SignalRequest.check(request))
    return SignalResponse.answer(space, request, SignalRequest.waitSeconds(c.req.raw.headers.get("prefer")))
  })
  app.get("/v1/spaces/:space/receipts/:id", async (c) => {
    const space = await readable(kernel, c)
    const id = c.req.param("id")
    const receipt = await Effect.runPromise(space.receipt(id))
    if (receipt === undefined) {
      throw new Problem.RequestRefused({
        code: "receipt/absent",
        reason: `Space "${space.name}" has no receipt of "${id.slice(0, 200)}". It is pruned, or no such signal came`
      })
    }
    const seconds = SignalRequest.waitSeconds(c.req.raw.headers.get("prefer"))
    const waits = seconds !== undefined && receipt.status === "pending"
    const last = waits ? await settled(space, id, seconds) : undefined
    return Json.answer(Wire.receipt(last ?? receipt), Json.noStore)
  })
}

const stateRoutes = (
  app: Hono,
  { hash, kernel }: Services,
  { stream, transfers }: Pick<ReaderRoutes.ResponseContext, "stream" | "transfers">
): void => {
  app.get("/v1/spaces/:space/cells/*", async (c) => {
    const place = Cells.place(c.req.url)
    const space = await readable(kernel, c)
    return wantsStream(c.req.raw) ? stream(Cells.watch(space, place, Sse.lastOf(c.req.raw))) : Cells.read(space, place, c.req.raw)
  })
  app.put("/v1/spaces/:space/cells/*", async (c) => {
    const write = await Cells.write(Cells.place(c.req.url), c.req.raw)
    return write(await writable(kernel, c))
  })
  app.delete("/v1/spaces/:space/cells/*", async (c) => Cells.remove(await readable(kernel, c), Cells.place(c.req.url)))
  app.get("/v1/spaces/:space/beats", async (c) => {
    const space = await readable(kernel, c)
    if (wantsStream(c.req.raw)) return stream(Beats.follow(space, { from: c.req.query("from"), last: Sse.lastOf(c.req.raw) }))
    return Beats.list(space, { before: c.req.query("before"), limit: c.req.query("limit") }, c.req.raw.signal)
  })
  app.get("/v1/spaces/:space/beats/:beat", async (c) => Beats.show(await readable(kernel, c), c.req.param("beat")))
  app.put("/v1/spaces/:space/blobs", async (c) => {
    const limit = kernel.contentBytes
    const space = await writable(kernel, c, () => Blobs.check(c.req.raw, limit))
    return Blobs.receive(space, c.req.raw, { base: base(space.name), hash, limit })
  })
  app.get(
    "/v1/spaces/:space/blobs/:hash",
    async (c) => Blobs.send(await readable(kernel, c), c.req.param("hash"), { request: c.req.raw, transfers })
  )
}

const base = (space: string) => `/v1/spaces/${space}`

/** The space that a request reads. Rejects when the space does not exist. */
const readable = (kernel: Kernel["Service"], c: Context): Promise<Space> =>
  Effect.runPromise(kernel.space(c.req.param("space") ?? "", { create: false }))

/**
 * The space that a request writes to. It is created on demand if the configuration allows that.
 *
 * `check` runs before a space is created: if it throws, no space is created. An existing space validates by itself.
 */
const writable = (kernel: Kernel["Service"], c: Context, check: () => void = () => {}): Space | Promise<Space> => {
  const name = c.req.param("space") ?? ""
  return kernel.opened(name) ?? Effect.runPromise(kernel.space(name, { create: false }).pipe(
    Effect.catchIf((error) => error.code === "space/unknown", () => Effect.andThen(Effect.sync(check), kernel.space(name)))
  ))
}

/** Whether a request asks for a stream. HEAD never does: Hono drops its body, so the stream would never end. */
const wantsStream = (request: Request): boolean =>
  request.method === "GET" && request.headers.get("accept")?.includes("text/event-stream") === true

/** The answer for a request without a route: 404, or 405 with the allowed methods. */
const nothing = (app: Hono, slices: Services["slices"], { method, path }: { readonly method: string; readonly path: string }): Response => {
  const allow = methods.filter((other) => app.router.match(other, path)[0].some(([[, route]]) => route.method === other))
  if (allow.length === 0) {
    const reason = `There is nothing at ${method} ${path.slice(0, 200)}`
    return Problem.response(Slice.absentAt(slices, path) ?? new Problem.RequestRefused({ code: "route/absent", reason }))
  }
  return Problem.notAllowed({ method, path }, allow.join(", "))
}

const methods = ["GET", "PUT", "POST", "DELETE"] as const

/** The receipt after the last handling; `undefined` on a time-out. */
const settled = (space: Space, id: string, seconds: number) =>
  Effect.runPromise(space.settled(id).pipe(Effect.timeoutOrElse({ duration: seconds * 1000, orElse: () => Effect.undefined })))
