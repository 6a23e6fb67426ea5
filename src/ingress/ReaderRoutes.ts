/**
 * The routes for readers with a limited clearance.
 *
 * A reader reads and follows cells, sends signals and reads the receipts of its own signals.
 * All other routes expose the whole space and are reserved for the operator.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import { Hono } from "hono"
import * as CellValue from "../contract/CellValue.ts"
import type { Kernel } from "../kernel/space/Kernel.ts"
import type { Clearance, Reader, Seen, ShownReceipt } from "../kernel/view/Space.ts"
import * as Blobs from "./Blobs.ts"
import * as Body from "./Body.ts"
import * as Cells from "./Cells.ts"
import * as Json from "./Json.ts"
import * as Problem from "./Problem.ts"
import * as SignalRequest from "./SignalRequest.ts"
import * as Sse from "./Sse.ts"
import type { Frame } from "./Sse.ts"
import type { Transfers } from "./Transfers.ts"
import * as WaitingList from "./WaitingList.ts"
import * as Wire from "./Wire.ts"

/** The Hono environment of a request: the clearance of its reader. */
type Environment = { readonly Bindings: { readonly reader: Clearance } }

/** The shared functions that produce responses. */
export interface ResponseContext {
  readonly stream: Sse.Answer
  readonly transfers: Transfers
  /** Reports a failure to the log and the metrics. */
  readonly report: (failure: unknown) => void
  /** The normalized path of a request. */
  readonly getPath: (request: Request) => string
}

/**
 * Creates the request handler for readers.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  kernel: Kernel["Service"],
  { getPath, stream, report, transfers }: ResponseContext
): (request: Request, reader: Clearance) => Response | Promise<Response> => {
  const app = new Hono<Environment>({ getPath })
  app.onError((failure) => {
    report(failure)
    return Problem.response(failure)
  })
  app.notFound((c) => Problem.response(closed(c.req.path, c.env.reader)))
  const opened = (name: string, clearance: Clearance): Promise<Reader> =>
    Effect.runPromise(Effect.map(kernel.space(name, { create: false }), (space) => space.reader(clearance)))
  app.get("/v1/spaces/:space/cells/*", async (c) => {
    const place = Cells.place(c.req.url)
    const reader = await opened(c.req.param("space"), c.env.reader)
    const wantsStream = c.req.method === "GET" && c.req.raw.headers.get("accept")?.includes("text/event-stream") === true
    if (!wantsStream) return read(reader, place, c.req.raw)
    const address = Cells.address(place)
    // Refuse before the stream starts: a browser reconnects to a stream that ends, but not after an error status.
    await Effect.runPromise(reader.admit(address))
    return stream(follow(reader, address, Sse.lastOf(c.req.raw)), c.env.reader.name)
  })
  app.get("/v1/spaces/:space/receipts/:id", async (c) => {
    const id = c.req.param("id")
    const receipt = await Effect.runPromise((await opened(c.req.param("space"), c.env.reader)).receipt(id))
    if (receipt === undefined) throw new Problem.RequestRefused({
      code: "receipt/absent",
      reason: `There is no receipt of "${id.slice(0, 200)}" for reader "${c.env.reader.name}"`
    })
    return Json.answer(receiptJson(receipt), Json.noStore)
  })
  app.get(WaitingList.PATH, async (c) => WaitingList.shown(
    await opened(c.req.param("space"), c.env.reader),
    { after: c.req.query("after"), limit: c.req.query("limit") },
    c.req.raw.signal
  ))
  app.get("/v1/spaces/:space/blobs/:hash", async (c) => {
    const reader = await opened(c.req.param("space"), c.env.reader)
    return Blobs.send({ name: c.req.param("space"), blobPart: (hash, part) => reader.blobPart(hash, part) }, c.req.param("hash"), {
      request: c.req.raw,
      transfers
    })
  })
  app.post("/v1/spaces/:space/signals", async (c) => {
    const request = SignalRequest.decode(await Body.json(c.req.raw), c.req.raw.headers.get("idempotency-key"))
    return post(await opened(c.req.param("space"), c.env.reader), request, SignalRequest.waitSeconds(c.req.raw.headers.get("prefer")))
  })
  return (request, reader) => app.fetch(request, { reader })
}

const read = async (reader: Reader, place: Cells.Place, request: Request): Promise<Response> => {
  const { signal } = request
  if (place.query.has("list")) {
    const { names, next = null } = await Effect.runPromise(reader.names(Cells.folder(place), Cells.page(place)), { signal })
    return Json.answer({ names, next }, Json.noStore)
  }
  if (place.query.has("below")) {
    if (place.query.has("values")) throw new Problem.RequestRefused({
      code: "query/invalid",
      reason: "The query has \"values\", which readers do not have. Read the cells one by one"
    })
    const { keys, next } = await Effect.runPromise(reader.below(Cells.folder(place), Cells.page(place)), { signal })
    return Json.answer({ cells: keys, next: next ?? null }, Json.noStore)
  }
  const text = Cells.address(place)
  const value = await Effect.runPromise(reader.get(text, SignalRequest.waits(request)), { signal })
  if (value === undefined) throw new Problem.RequestRefused({ code: "cell/absent", reason: `${text} holds nothing` })
  return Wire.response(value)
}

/**
 * The frames of an address as a reader sees it, after the cursor `last`.
 *
 * @category combinators
 * @since 0.1.0
 */
export const follow = (reader: Reader, text: string, last: string | null): Stream.Stream<Frame, unknown> =>
  framesOf(reader.watch(text, last ?? undefined))

const framesOf = Sse.frames(({ cursor, isReset, text, value }: Seen) => {
  const frame = { id: cursor, event: value === undefined ? "absent" : "value", data: text }
  return isReset
    ? [{ id: undefined, event: "reset", data: JSON.stringify({ reason: "what happened since cannot be told" }) }, frame]
    : [frame]
})

/** Posts a signal and waits at most `seconds` for its receipt. */
const post = async (reader: Reader, request: Parameters<Reader["signal"]>[0], seconds: number | undefined): Promise<Response> => {
  const accepted = await Effect.runPromise(reader.signal(request))
  const settled = seconds === undefined ? undefined : await Effect.runPromise(
    reader.settled(accepted.id).pipe(Effect.timeoutOrElse({ duration: seconds * 1000, orElse: () => Effect.undefined }))
  )
  return settled === undefined ? Json.answer(accepted, { status: 202 }) : Json.answer(receiptJson(settled), Json.noStore)
}

const receiptJson = (receipt: ShownReceipt): object => ({
  ...receipt,
  handlings: receipt.handlings.map((handling) => "value" in handling ? { ...handling, value: CellValue.toJson(handling.value) } : handling)
})

/**
 * The refusal of a path that is reserved for the operator.
 *
 * @category errors
 * @since 0.1.0
 */
export const closed = (path: string, { name }: Clearance) =>
  new Problem.RequestRefused({
    code: "label/withheld",
    reason: `${path.slice(0, 200)} is not for reader "${name}", who reads cells, sends signals and looks at their receipts. Ask with ` +
      "the operator's token"
  })
