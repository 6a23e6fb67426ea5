/**
 * The routes of cells: read, list, watch, set and delete.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import * as Address from "../../cell/Address.ts"
import * as Document from "../../cell/Document.ts"
import * as JsonParser from "../../cell/JsonParser.ts"
import * as Name from "../../cell/Name.ts"
import * as Value from "../../cell/Value.ts"
import * as Endpoints from "../../contract/Cells.ts"
import type { Endpoint } from "../../contract/Endpoint.ts"
import type { CellRequest, ListedCell, Observation, Space } from "../../kernel/view/Space.ts"
import { WriteRefused } from "../../kernel/model/SpaceError.ts"
import { textOf } from "../../kernel/view/Observed.ts"
import { MAX_ROWS } from "../../kernel/view/PageTurns.ts"
import * as Envelope from "../../stage/Envelope.ts"
import * as Body from "../wire/Body.ts"
import * as CellPath from "../wire/CellPath.ts"
import * as EntityTag from "../wire/EntityTag.ts"
import * as Json from "../wire/Json.ts"
import { RequestRefused } from "../wire/Problem.ts"
import type { RouteContext } from "../wire/RouteContext.ts"
import type { SpaceTable } from "./SpaceTable.ts"
import * as SignalRequest from "../signal/SignalRequest.ts"
import * as Sse from "../wire/Sse.ts"
import type { Frame } from "../wire/Sse.ts"
import * as Types from "../wire/Types.ts"
import * as Wire from "../wire/Wire.ts"
import * as WrittenSpace from "../access/WrittenSpace.ts"
import type { Runner } from "../wire/Runner.ts"

/** A cell id from the path of a request after `/cells`, with the query. */
export interface Place {
  readonly id: string
  readonly query: URLSearchParams
}

/** An endpoint whose path ends with a cell. */
type AtCell = Pick<Endpoint, "query">

const parameters = new WeakMap<AtCell, ReadonlyArray<string>>()

/** The parameters that the query of an endpoint may have. */
const queries = (endpoint: AtCell): ReadonlyArray<string> => {
  let names = parameters.get(endpoint)
  if (names === undefined) parameters.set(endpoint, names = Object.keys(endpoint.query?.().fields ?? {}))
  return names
}

/**
 * Adds the routes to a table.
 */
export const routes = (table: SpaceTable, { hash, kernel, stream }: Pick<RouteContext, "hash" | "kernel" | "stream">): void => {
  table.serve(Endpoints.read, async ({ params, request, runner }) => {
    const at = place(request.url, Endpoints.read)
    const space = await runner.promise(table.space(params.space))
    return Sse.isWanted(request) ? stream(follow(space, address(at), Sse.lastOf(request))) : read(space, at, { hash, request, runner })
  })
  table.ofSpace(Endpoints.types, (space, { query }) => Types.of(space, query))
  table.serve(Endpoints.write, async ({ params, request, runner, token }) => {
    const write = await writeOf(place(request.url, Endpoints.write), { hash, request, runner })
    return write(await WrittenSpace.find(kernel, params.space, { runner, token }))
  })
  table.serve(Endpoints.remove, ({ params, request }) => {
    const at = place(request.url, Endpoints.remove)
    const condition = EntityTag.conditionOf(request)
    return Effect.flatMap(table.space(params.space), (space) =>
      Effect.map(space.set(address(at), undefined, { condition }), (beat) => ({ beat })))
  })
}

/** The size of the values on one page, in characters. The value that exceeds it is the last one. */
const MAX_VALUES = 1_048_576

/**
 * Parses the cell id and the query of a URL, which has only parameters of the endpoint. The path is percent-decoded once.
 *
 * @throws RequestRefused
 */
export const place = (url: string, endpoint: AtCell): Place => {
  const { pathname, searchParams } = new URL(url)
  const names = queries(endpoint)
  for (const name of searchParams.keys()) {
    if (!names.includes(name)) throw new RequestRefused({
      code: "query/invalid",
      reason: `The query has ${JSON.stringify(name.slice(0, 100))}. What may be there is ${names.join(", ") || "nothing"}`
    })
  }
  const id = CellPath.idIn(pathname)
  if (id === undefined) throw new RequestRefused({ code: "route/absent", reason: `There is nothing at ${pathname.slice(0, 200)}` })
  return { id, query: searchParams }
}

/** Whether a switch of the query is set, as the contract defines it: it is there, and not as `false`. */
export const isSet = ({ query }: Place, name: string): boolean => (query.get(name) ?? "false") !== "false"

/**
 * The address of a cell: `?scope=user:42` selects a scope, `?path=/a/b` a path inside the document.
 *
 * @throws InvalidAddress
 */
export const address = ({ id, query }: Place): string => {
  const names = Name.split(id)
  if (typeof names === "string") throw new Address.InvalidAddress({ text: id, reason: names })
  const scope = query.get("scope")
  if (scope !== null && /[#?]/.test(scope)) {
    throw new Address.InvalidAddress({ text: `${id}?scope=${scope}`, reason: "its scope holds # or ?" })
  }
  return Address.parse(`${id}${scope === null ? "" : `?scope=${scope}`}#${query.get("path") ?? ""}`).text
}

/** The request of a read or a write, and the hash of its entity tag. */
export interface Reading extends Pick<RouteContext, "hash"> {
  readonly request: Request
  readonly runner: Runner
}

/**
 * Answers with the value of a cell, or with a list for these query parameters:
 *
 * - `list`: one page of the names directly below the cell
 * - `below`: one page of the addresses of all cells below it, with `values` also of their values
 *
 * With `pull`, the answer is delayed until the derivation of the cell is settled.
 * */
const read = async (space: Space, place: Place, { hash, request: asked, runner }: Reading): Promise<Response> => {
  const { signal } = asked
  if (isSet(place, "list")) {
    const { names, next = null } = await runner.promise(space.names(folder(place), page(place)), { signal })
    return Json.answer({ names, next }, Json.noStore)
  }
  if (isSet(place, "below")) {
    const hasValues = isSet(place, "values")
    const request = { ...ownPage(place), ...hasValues ? { size: MAX_VALUES } : {} }
    const { cells, next = null } = await runner.promise(space.cells(folder(place), request), { signal })
    const keys = cells.map(({ key }) => key)
    return Json.answer({ cells: keys, ...hasValues ? { values: cells.map(shownValue) } : {}, next }, Json.noStore)
  }
  const text = address(place)
  const read = isSet(place, "pull") ? space.pull(text, SignalRequest.waits(asked)) : space.get(text)
  // The wait is cancelled when the client disconnects.
  const value = await runner.promise(read, { signal })
  if (value instanceof Uint8Array && value.byteLength > Value.MAX_INLINE_BYTES) {
    const link = `/v1/spaces/${space.name}/blobs/${Address.name(place.id)}`
    throw new RequestRefused({
      code: "cell/content",
      reason: `${text} is content of ${value.byteLength} bytes, which is more than a value holds. Get it with GET ${link}`
    })
  }
  if (value !== undefined) return Wire.response(value, asked, hash)
  const failed = isSet(place, "pull") ? await runner.promise(failureAt(space, text)) : ""
  throw new RequestRefused({ code: "cell/absent", reason: `${text} holds nothing in space "${space.name}"${failed}` })
}

/** The failure of the node that derives a cell, as a part of a sentence. A build without the graph's views does not tell it. */
const failureAt = (space: Space, text: string): Effect.Effect<string> =>
  Effect.map(Effect.catchCause(space.graph.failed(text), () => Effect.undefined), (failed) => {
    if (failed === undefined) return ""
    const { code, message, name } = failed
    return `: node "${name}", which derives it, failed with ${code} (${message}). It runs again when a value that it read changes`
  })

/** The value of a cell in a list: `null` for content that is too large for a value, and for a cell whose links do not end. */
const shownValue = ({ value }: ListedCell): unknown => {
  if (value === undefined || value instanceof Uint8Array && value.byteLength > Value.MAX_INLINE_BYTES) return null
  return JsonParser.parse(Document.encode(value).text)
}

/**
 * The frames of an address, starting with its current value or after the beat `last`; `absent` for a cell without a value.
 *
 * A client that lost its stream resumes after the beat `last` and receives each value since. If they are no longer
 * available, it receives a `reset` event and the current value.
 *
 * @throws RequestRefused
 */
export const follow = (space: Space, text: string, last: string | null): Stream.Stream<Frame, unknown> => {
  // A value observed before the first beat has the id -1.
  const after = last === null ? undefined : last === "-1" ? -1 : Body.count(last)
  return framesOf(space.watch(text, { after }))
}

/** Validates a write and returns a function that performs it in a space. All checks that need no space run before. */
const writeOf = async (place: Place, { hash, request, runner }: Reading): Promise<(space: Space) => Promise<Response>> => {
  const text = address(place)
  if (Envelope.isReserved(place.id)) {
    throw new WriteRefused({ address: text, reason: "it belongs to the runtime. Use the verb that is made for it" })
  }
  const condition = EntityTag.conditionOf(request)
  const value = Wire.value(await Body.json(request), request.headers.get("content-type"))
  return async (space) => {
    const beat = await runner.promise(space.set(text, value, { condition }))
    return Json.answer({ beat }, { headers: { etag: EntityTag.of(Document.encode(value).text, hash) } })
  }
}

/** The cursor and the size of the requested page. */
export const page = ({ query }: Place): { readonly after?: string; readonly limit: number } => {
  const limit = Math.min(Body.count(query.get("limit") ?? String(MAX_ROWS)), MAX_ROWS)
  const after = query.get("after")
  return after === null ? { limit } : { after, limit }
}

/** The page of the cells below one, with `own` without those of the runtime. */
export const ownPage = (place: Place): CellRequest => ({ ...page(place), isOwn: isSet(place, "own") })

/** The cell whose descendants are listed; `/` is the root. */
export const folder = ({ id }: Place): string => {
  if (id === "/") return id
  const names = Name.split(id)
  if (typeof names === "string") throw new Address.InvalidAddress({ text: id, reason: names })
  return id
}

/** The frames of an observation: its value, preceded by a `reset` if values were missed. */
const framesOf = Sse.frames((observation: Observation) => {
  const { beat, missed, value } = observation
  const frame = { id: beat, event: value === undefined ? "absent" : "value", data: textOf(observation) }
  return missed === undefined ? [frame] : [{ id: undefined, event: "reset", data: JSON.stringify({ reason: missed }) }, frame]
})

