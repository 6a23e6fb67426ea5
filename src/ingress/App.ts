/**
 * The HTTP interface of the runtime: the route table, authentication and error responses.
 *
 * It is a Hono application behind the `fetch` interface, so every host serves the same routes.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Sessions } from "../access/Sessions.ts"
import type { TokenAdmin } from "../access/TokenAdmin.ts"
import type { TokenSet } from "../access/TokenSet.ts"
import { REFERENCE } from "../contract/Paths.ts"
import * as Spaces from "../contract/Spaces.ts"
import type { Reporter } from "../diagnostic/Reporter.ts"
import type { Signer } from "../frame/Signature.ts"
import type { Kernel } from "../kernel/space/Kernel.ts"
import type { Hold } from "../kernel/model/Fibers.ts"
import * as Limits from "../kernel/model/Limits.ts"
import type { Stop } from "../kernel/model/Stops.ts"
import type { PersistenceError } from "../persistence/PersistenceError.ts"
import { face as operations } from "../operation/Face.ts"
import type { Render } from "../loader/Page.ts"
import type { Hash } from "../persistence/Hash.ts"
import * as Access from "./access/Access.ts"
import * as Beats from "./route/Beats.ts"
import * as Blobs from "./route/Blobs.ts"
import * as Cells from "./route/Cells.ts"
import * as Control from "./route/Control.ts"
import * as Stores from "./route/Stores.ts"
import * as Cors from "./access/Cors.ts"
import * as FaceRoutes from "./route/FaceRoutes.ts"
import * as ConfiguredAccess from "./access/ConfiguredAccess.ts"
import * as Json from "./wire/Json.ts"
import * as RuntimeLists from "./route/RuntimeLists.ts"
import * as Pages from "./Pages.ts"
import * as PublicAccess from "./access/PublicAccess.ts"
import * as RateLimit from "./access/RateLimit.ts"
import { SpaceTable } from "./route/SpaceTable.ts"
import * as SignalRequest from "./signal/SignalRequest.ts"
import * as SignalResponse from "./signal/SignalResponse.ts"
import * as Signals from "./route/Signals.ts"
import { SessionAccess } from "./access/SessionAccess.ts"
import * as SessionRoutes from "./route/SessionRoutes.ts"
import * as ReaderRoutes from "./route/ReaderRoutes.ts"
import type * as Reference from "./Reference.ts"
import * as Slice from "./route/Slice.ts"
import type * as Webhooks from "./Webhooks.ts"
import * as Sse from "./wire/Sse.ts"
import { StreamQuota } from "./wire/StreamQuota.ts"
import * as TokenRoutes from "./route/TokenRoutes.ts"
import { CallerStreams } from "./access/CallerStreams.ts"
import type { RouteContext } from "./wire/RouteContext.ts"
import { Transfers } from "./wire/Transfers.ts"
import * as WrittenSpace from "./access/WrittenSpace.ts"
import { type Telemetry, unheard } from "../diagnostic/Telemetry.ts"
import { HttpTelemetry, type ServedRequest } from "./wire/HttpTelemetry.ts"
import { Runner } from "./wire/Runner.ts"

/** The services that the routes use. */
export interface Services {
  readonly kernel: Kernel["Service"]
  readonly hash: Hash["Service"]
  /** The key that signs the frames of this host, if it has one. */
  readonly signer?: Signer | undefined
  /** The slices of the kernel. */
  readonly slices: ReadonlyArray<Slice.Slice>
}

/** The settings of the application. */
export interface Options extends ConfiguredAccess.Rules {
  /** Receives each failure of the runtime. The response body omits its details. */
  readonly reporter: Reporter
  /** Receives the spans and metrics of requests, and has the context of their Effects; without it, they have no listener. */
  readonly telemetry?: Telemetry | undefined
  /** Holds the fibers of requests, and ends the rest with the scope of the runtime. Without it, each ends by itself. */
  readonly hold?: Hold | undefined
  /** Aborted when the server closes. It ends every open stream. */
  readonly closing: AbortSignal
  /** The open streams that are counted, with those of other channels of the host; streams of the application alone unless given. */
  readonly quota?: StreamQuota | undefined
  /** HTML pages, by path. */
  readonly pages: Readonly<Record<string, Render>>
  /** Makes the answers of webhooks. A Worker makes them in front of its objects. */
  readonly webhooks?: ((parts: Webhooks.Parts) => Webhooks.Answer) | undefined
  /** Loads the reference of the interface, on hosts that have it. */
  readonly reference?: (() => Promise<Pick<typeof Reference, "part">>) | undefined
  /** The refusal of requests that add data, while the host is full. */
  readonly full?: (() => Error | undefined) | undefined
  /** The tokens of the host and its sessions, and their administration on a host that has its routes. */
  readonly tokens?: Tokens | undefined
  /** Decides on JSON Web Tokens, on a host that accepts them. */
  readonly bearer?: Access.Bearer | undefined
  /** The reads that need no credential, see `contract/PublicReads.ts`; none unless given. */
  readonly public?: ReadonlyArray<string> | undefined
  /** The limits of the rate of requests, on a host that has some. */
  readonly rates?: Pick<RateLimit.Parts, "addressOf" | "rates"> | undefined
  /** The rates of the further signals of batches, on a host that counts requests before. */
  readonly charges?: Pick<RateLimit.Parts, "addressOf" | "rates"> | undefined
  /** The address of a caller, on a host that limits rates elsewhere. */
  readonly addressOf?: RateLimit.AddressOf | undefined
  /** Whether the platform takes the host out of memory when it is idle. */
  readonly isEvicted?: boolean | undefined
  /** Enables the routes that step through a space. */
  readonly debug?: boolean | undefined
}

/** The tokens and the sessions of a host. */
export interface Tokens {
  readonly set: TokenSet
  readonly sessions: Sessions
  /** The administration on a host that has its routes. */
  readonly admin?: TokenAdmin | undefined
  /** The duration of a session in milliseconds. */
  readonly sessionMillis?: number | undefined
}

/** The application: `fetch` authenticates a request and dispatches it to its routes. */
export interface App {
  readonly fetch: (request: Request, address?: () => string | undefined) => Response | Promise<Response>
  /** Takes a signal that a webhook verified. */
  readonly take: Webhooks.Take
  readonly table: SpaceTable
}

/**
 * Creates the application over a kernel.
 */
export const make = (services: Services, options: Options): App => {
  const { kernel, slices } = services
  const { telemetry = unheard } = options
  const runner = new Runner(telemetry.context, options.hold)
  const http = new HttpTelemetry(telemetry, runner)
  const tokens = options.tokens?.set
  const sessions = options.tokens === undefined
    ? undefined
    : new SessionAccess(options, services.hash, { sessions: options.tokens.sessions, tokens: options.tokens.set })
  // The host that administers tokens counts their refusals: before an object, that is the Worker in front.
  const counting = options.tokens?.admin === undefined ? undefined : tokens
  const table = new SpaceTable(kernel, { ...options, tokens: counting, absent: (path) => Slice.absentAt(slices, path) })
  const quota = options.quota ?? StreamQuota.of(options)
  const counts = (by: number): void => telemetry.add("systole.streams", by)
  const stream = Sse.make(options.closing, { quota, report: table.report, runner, counts })
  const context = {
    ...services, signer: services.signer, runner, stream, transfers: new Transfers({ runner }), isDebugged: options.debug === true,
    isEvicted: options.isEvicted === true
  }
  runtimeRoutes(table, services, ConfiguredAccess.make(options))
  spaceRoutes(table, context, slices)
  const reading = Pages.reading({ ...services, runner })
  for (const [path, page] of Object.entries(options.pages)) table.page(path, ({ signal }) => Pages.send(page, reading, signal))
  if (options.tokens?.admin !== undefined) TokenRoutes.routes(table, options.tokens.admin)
  if (options.tokens?.admin !== undefined && sessions !== undefined) {
    const { sessionMillis: millis = Limits.defaults.sessionMillis } = options.tokens
    SessionRoutes.routes(table, { access: sessions, millis, hasHome: Object.hasOwn(options.pages, "/") })
  }
  if (options.reference !== undefined) referenceRoutes(table, options.reference)
  const take = taking(kernel, { full: options.full, runner })
  const hooks = options.webhooks?.({ take, report: table.report, now: () => runner.now() })
  const { bearer, public: open = [] } = options
  const known = { bearer, reads: PublicAccess.make(open) }
  const accessOf = Access.make(options, services.hash, tokens === undefined ? known : { ...known, set: tokens, sessions })
  const streams = new CallerStreams(quota, tokens, sessions?.sessions)
  const limits = options.rates && { ...options.rates, tokens: counting }
  const charges = limits ?? options.charges
  const answer = (request: Request, access: Access.Access, { address, served }: Caller): Response | Promise<Response> => {
    const { kind, refused, session, token } = access
    if (refused !== undefined) {
      Access.counted(counting, access)
      return table.refused(refused, served)
    }
    const charge = kind === "credential" && request.method === "POST" ? chargeOf(charges, request, access) : undefined
    const given = (): Response | Promise<Response> => table.fetch(request, { ...access, charge, served })
    const isBound = token !== undefined || session !== undefined || kind === "public"
    if (!isBound || !Sse.isWanted(request)) return given()
    const network = kind === "public" ? RateLimit.networkAt(limits ?? options, request, address()) : undefined
    return streams.answered(request, { by: access, network }, given)
  }
  // Access is decided before Hono, not by middleware: Hono dispatches a route without middleware on a faster path.
  const limited = (request: Request, access: Access.Access, caller: Caller): Response | Promise<Response> => {
    const given = () => Access.respond(access, (access) => answer(request, access, caller))
    return limits === undefined ? given() : RateLimit.respond(limits, { request, access, connection: caller.address() }, given)
  }
  const served = (request: Request, caller: Caller): Response | Promise<Response> => {
    const { address } = caller
    const hooked = hooks?.(request)
    if (hooked !== undefined) {
      caller.served.route = WEBHOOK
      return hooked.catch((failure: unknown) => table.failed(failure, caller.served))
    }
    const access = limits === undefined ? accessOf(request) : accessOf(request, RateLimit.spentBy(limits, request, address))
    return access instanceof Promise ? access.then((access) => limited(request, access, caller)) : limited(request, access, caller)
  }
  const own: App["fetch"] = (request, address = nowhere) => http.observed(request, (each) => served(request, { address, served: each }))
  const cors = Cors.make(options.origins ?? [])
  return { fetch: cors === undefined ? own : Cors.wrap(cors, own), take, table }
}

/** The routes of spaces: those that each runtime has, and those of its slices. */
const spaceRoutes = (table: SpaceTable, context: RouteContext, slices: ReadonlyArray<Slice.Slice>): void => {
  Signals.routes(table, context)
  Cells.routes(table, context)
  Beats.routes(table, context)
  Blobs.routes(table, context)
  Control.routes(table)
  Stores.routes(table)
  FaceRoutes.routes(table, operations, context)
  for (const { routes } of slices) routes?.(table, context)
  ReaderRoutes.routes(table, context)
}

/** The caller of a request, and the request as its telemetry follows it. */
interface Caller {
  readonly address: () => string | undefined
  readonly served: ServedRequest
}

/** The route of webhooks, whose paths are those of the configuration. */
const WEBHOOK = "webhook"

/** Takes the further signals of a batch of the rate of its caller. */
const chargeOf = (charges: RateLimit.Parts | undefined, request: Request, access: Access.Access) =>
  charges && ((count: number): Response | undefined => RateLimit.chargeBatch(charges, { request, access, connection: undefined }, count))

/** The address of a request that comes from within the process. */
const nowhere = (): undefined => undefined

const taking = (
  kernel: Kernel["Service"],
  { full, runner }: { readonly full: Options["full"]; readonly runner: Runner }
): Webhooks.Take => async (name, signal) => {
  const refused = full?.()
  if (refused !== undefined) throw refused
  const space = await WrittenSpace.find(kernel, name, { check: () => SignalRequest.check(signal), runner })
  return new Promise((resolve, reject) => SignalResponse.post(space, signal, {
    runner,
    seconds: undefined,
    end: () => undefined,
    answered: (answer) => resolve(SignalResponse.response(answer, undefined)),
    fail: reject
  }))
}

/** Adds the OpenAPI document and the page of the reference, which are made when they are first asked for. */
const referenceRoutes = (table: SpaceTable, load: NonNullable<Options["reference"]>): void => {
  for (const path of REFERENCE) {
    table.page(path, async () => {
      const { headers, text } = (await load()).part(table.endpoints, path)
      return new Response(text, { headers })
    })
  }
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

const runtimeRoutes = (table: SpaceTable, { kernel, slices }: Services, refusal: ConfiguredAccess.Check): void => {
  table.serve(Spaces.live, () => Effect.succeed({ status: "live" } as const))
  table.serve(Spaces.ready, ({ request }) =>
    Effect.map(Effect.andThen(kernel.ready, kernel.stops), (stops) => readiness(stops, refusal(request) === undefined)))
  RuntimeLists.routes(table, slices, kernel.enzymes)
  table.serve(Spaces.list, ({ query: { after = "", limit } }) =>
    Effect.map(kernel.names({ after, limit }), ({ names, next }) => ({ spaces: names, next })))
  table.serve(Spaces.remove, ({ params: { space } }) => Effect.as(kernel.remove(space), { space, removed: true }))
  table.serve(Spaces.create, Effect.fnUntraced(function*({ params: { space: name } }) {
    const isUnknown = ({ code }: PersistenceError): boolean => code === "space/unknown"
    const known = yield* Effect.catchIf(table.space(name), isUnknown, () => Effect.undefined)
    const space = known ?? (yield* kernel.space(name, { create: true }))
    // The request to create a space completes after its boot.
    const created = known === undefined
    if (created) yield* space.idle
    return Json.answer({ space: space.name, created }, { status: created ? 201 : 200, headers: { location: `/v1/spaces/${space.name}` } })
  }))
}
