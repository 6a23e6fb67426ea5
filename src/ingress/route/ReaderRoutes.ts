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
import * as Cell from "../../contract/Cells.ts"
import * as Signal from "../../contract/Signals.ts"
import type { Reader, Seen, ShownReceipt } from "../../kernel/view/Space.ts"
import * as Blobs from "./Blobs.ts"
import * as Cells from "./Cells.ts"
import * as Json from "../wire/Json.ts"
import * as Problem from "../wire/Problem.ts"
import type { RouteContext } from "../wire/RouteContext.ts"
import type { SpaceTable } from "./SpaceTable.ts"
import * as SignalRequest from "../signal/SignalRequest.ts"
import * as SignalPost from "../signal/SignalPost.ts"
import * as SignalResponse from "../signal/SignalResponse.ts"
import type { Runner } from "../wire/Runner.ts"
import * as Sse from "../wire/Sse.ts"
import type { Frame } from "../wire/Sse.ts"
import * as Types from "../wire/Types.ts"
import * as Wire from "../wire/Wire.ts"

/**
 * Adds the routes to a table.
 */
export const routes = (table: SpaceTable, { hash, stream, transfers }: Pick<RouteContext, "hash" | "stream" | "transfers">): void => {
  table.toReaders(Cell.read, async (reader, { request, runner }, viewer) => {
    const place = Cells.place(request.url, Cell.read)
    if (!Sse.isWanted(request)) return read(reader, place, { hash, request, runner })
    const address = Cells.address(place)
    // Refuse before the stream starts: a browser reconnects to a stream that ends, but not after an error status.
    await runner.promise(reader.admit(address))
    return stream(follow(reader, address, Sse.lastOf(request)), viewer)
  })
  table.toReaders(Cell.types, (reader, { query }) => Types.ofReader(reader, query))
  table.toReaders(Cell.content, (reader, { params, request, runner }) =>
    Blobs.send({ name: params.space, blobPart: (hash, part) => reader.blobPart(hash, part) }, params.hash, { request, runner, transfers }))
  table.toReaders(Signal.receipt, (reader, { params: { id } }, { name }) =>
    Effect.filterOrFail(reader.receipt(id), (receipt) => receipt !== undefined, () => new Problem.RequestRefused({
      code: "receipt/absent",
      reason: `There is no receipt of "${id.slice(0, 200)}" for reader "${name}"`
    })))
  table.toReaders(Signal.waiting, (reader, { query }) => {
    const { after } = query
    if (after === undefined || /^[0-9a-f]{16}$/.test(after)) return reader.waiting(query)
    return Effect.fail(new Problem.RequestRefused({
      code: "query/invalid",
      reason: `after is ${JSON.stringify(after.slice(0, 200))}. Give it as the answer before gave next`
    }))
  })
  table.toReaders(Signal.post, (reader, { by: { charge }, params: { space }, request, runner }) =>
    SignalPost.answer(request, { charge, open: () => post(reader, space, runner), report: table.report, runner }))
}

const read = async (reader: Reader, place: Cells.Place, { hash, request, runner }: Cells.Reading): Promise<Response> => {
  const { signal } = request
  if (Cells.isSet(place, "list")) {
    const { names, next = null } = await runner.promise(reader.names(Cells.folder(place), Cells.page(place)), { signal })
    return Json.answer({ names, next }, Json.noStore)
  }
  if (Cells.isSet(place, "below")) {
    if (Cells.isSet(place, "values")) throw new Problem.RequestRefused({
      code: "query/invalid",
      reason: "The query has \"values\", which readers do not have. Read the cells one by one"
    })
    const { keys, next } = await runner.promise(reader.below(Cells.folder(place), Cells.ownPage(place)), { signal })
    return Json.answer({ cells: keys, next: next ?? null }, Json.noStore)
  }
  const text = Cells.address(place)
  const value = await runner.promise(reader.get(text, SignalRequest.waits(request)), { signal })
  if (value === undefined) throw new Problem.RequestRefused({ code: "cell/absent", reason: `${text} holds nothing` })
  return Wire.response(value, request, hash)
}

/**
 * The frames of an address as a reader sees it, after the cursor `last`.
 */
export const follow = (reader: Reader, text: string, last: string | null): Stream.Stream<Frame, unknown> =>
  framesOf(reader.watch(text, last ?? undefined))

const framesOf = Sse.frames(({ cursor, isReset, text, value }: Seen) => {
  const frame = { id: cursor, event: value === undefined ? "absent" : "value", data: text }
  return isReset
    ? [{ id: undefined, event: "reset", data: JSON.stringify({ reason: "what happened since cannot be told" }) }, frame]
    : [frame]
})

/** Posts a signal, and waits for its receipt at most so long. One that is withheld is answered as if it came late. */
const post = (reader: Reader, name: string, runner: Runner): SignalPost.Send => (signal, seconds, { answered, fail }) => {
  let late: SignalResponse.Answer | undefined
  const receiver: SignalResponse.Receiver<ShownReceipt | undefined> = {
    name,
    post: (request, { accepted, ...hears }) => reader.post(request, {
      ...hears,
      accepted: (taken) => {
        late = SignalResponse.acceptedAnswer(name, taken)
        accepted(taken)
      }
    })
  }
  const end = (receipt: ShownReceipt | undefined): void => {
    if (receipt !== undefined) SignalResponse.answerEnd(name, Wire.shownReceipt(receipt), { answered, fail })
    else if (late !== undefined) answered(late)
  }
  SignalResponse.post(receiver, signal, { runner, seconds, end, answered, fail })
}
