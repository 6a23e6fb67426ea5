/**
 * Cells over HTTP: read, listed, watched, set and deleted.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Address from "../cell/Address.ts"
import * as Name from "../cell/Name.ts"
import * as Value from "../cell/Value.ts"
import type { Observation, Space } from "../kernel/view/Space.ts"
import { WriteRefused } from "../kernel/model/SpaceError.ts"
import { textOf } from "../kernel/view/Watchers.ts"
import * as Envelope from "../stage/Envelope.ts"
import * as Body from "./Body.ts"
import * as Json from "./Json.ts"
import { RequestRefused } from "./Problem.ts"
import * as SignalRequest from "./SignalRequest.ts"
import * as Sse from "./Sse.ts"
import type { Frame } from "./Sse.ts"
import * as Wire from "./Wire.ts"

/** What follows `/cells` in a request's path, and its query. */
export interface Place {
  readonly id: string
  readonly query: URLSearchParams
}

const queries = new Set(["scope", "path", "list", "below", "after", "limit", "pull"])

/** Most addresses that one answer lists. */
export const MAX_LISTED = 1000

/**
 * The place that a URL names: its path is percent-decoded once.
 *
 * @throws RequestRefused
 * @category constructors
 * @since 0.1.0
 */
export const place = (url: string): Place => {
  const { pathname, searchParams } = new URL(url)
  for (const name of searchParams.keys()) {
    if (!queries.has(name)) throw new RequestRefused({ code: "query/invalid", reason: `The query has "${name}". What may be there is scope, path, list, below, after, limit and pull` })
  }
  const cells = /^\/v1\/spaces\/[^/]+\/(?:cells|locks)(\/.*)$/.exec(pathname)
  if (cells === null) throw new RequestRefused({ code: "route/absent", reason: `There is nothing at ${pathname.slice(0, 200)}` })
  return { id: decoded(cells[1]!), query: searchParams }
}

/**
 * The address of a place: `?scope=user:42` names a scope, `?path=/a/b` a place inside the document.
 *
 * @throws InvalidAddress
 * @category getters
 * @since 0.1.0
 */
export const address = ({ id, query }: Place): string => {
  const names = Name.split(id)
  if (typeof names === "string") throw new Address.InvalidAddress({ text: id, reason: names })
  const scope = query.get("scope")
  if (scope !== null && /[#?]/.test(scope)) throw new Address.InvalidAddress({ text: `${id}?scope=${scope}`, reason: "its scope holds # or ?" })
  return Address.parse(`${id}${scope === null ? "" : `?scope=${scope}`}#${query.get("path") ?? ""}`).text
}

/**
 * A cell's value; the names directly below it where the query says `list`; the
 * addresses of all cells below it, a page at a time, where it says `below`. With
 * `pull`, it is answered when all that it is derived from is settled.
 *
 * @category combinators
 * @since 0.1.0
 */
export const read = async (space: Space, place: Place, request: Request): Promise<Response> => {
  if (place.query.has("list")) return Json.answer({ names: await Effect.runPromise(space.list(folder(place))) }, fresh)
  if (place.query.has("below")) {
    const { limit, ...rest } = page(place)
    const cells = await Effect.runPromise(space.below(folder(place), { ...rest, limit }))
    return Json.answer({ cells, next: cells.length < limit ? null : cells.at(-1) ?? null }, fresh)
  }
  const text = address(place)
  const read = place.query.has("pull") ? space.pull(text, SignalRequest.waits(request)) : space.get(text)
  // A caller that goes away ends its wait.
  const value = await Effect.runPromise(read, { signal: request.signal })
  if (value instanceof Uint8Array && value.byteLength > Value.MAX_INLINE_BYTES) {
    const link = `/v1/spaces/${space.name}/blobs/${Address.name(place.id)}`
    throw new RequestRefused({ code: "cell/content", reason: `${text} is content of ${value.byteLength} bytes, which is more than a value holds. Get it with GET ${link}` })
  }
  if (value !== undefined) return Wire.response(value)
  throw new RequestRefused({ code: "cell/absent", reason: `${text} holds nothing in space "${space.name}"` })
}

/**
 * A cell's values from now on: each with its beat, `absent` where there is none.
 *
 * Whoever lost the stream names the beat that it saw last, and is told each value since. Where that cannot be, it is told
 * so by a `reset`, and of what lies there now.
 *
 * @throws InvalidAddress, RequestRefused
 * @category combinators
 * @since 0.1.0
 */
export const watch = (space: Space, place: Place, last: string | null): Stream.Stream<Frame, unknown> => follow(space, address(place), last)

/**
 * The frames of an address, from now on or after the beat that a reader saw last.
 *
 * @throws RequestRefused
 * @category combinators
 * @since 0.1.0
 */
export const follow = (space: Space, text: string, last: string | null): Stream.Stream<Frame, unknown> => {
  // What a watcher saw before the first beat has its number, too.
  const after = last === null ? undefined : last === "-1" ? -1 : Body.count(last)
  return Stream.flatMap(space.watch(text, { after }), (observation) => Stream.fromIterable(framesOf(observation)))
}

/**
 * Reads what a request's body writes to a cell, and answers how to write it: nothing is left to refuse that needs no space.
 *
 * @category combinators
 * @since 0.1.0
 */
export const write = async (place: Place, request: Request): Promise<(space: Space) => Promise<Response>> => {
  const text = address(place)
  if (Envelope.isReserved(place.id)) throw new WriteRefused({ address: text, reason: "it belongs to the runtime. Use the verb that is made for it" })
  const value = Wire.value(await Body.json(request), request.headers.get("content-type"))
  return async (space) => Json.answer({ beat: await Effect.runPromise(space.set(text, value)) })
}

/**
 * Deletes a cell, or the place inside it that the query names.
 *
 * @category combinators
 * @since 0.1.0
 */
export const remove = async (space: Space, place: Place): Promise<Response> =>
  Json.answer({ beat: await Effect.runPromise(space.set(address(place), undefined)) })

const fresh: Json.Init = { headers: { "cache-control": "no-store" } }

/** The page that a query asks for. */
export const page = ({ query }: Place): { readonly after?: string; readonly limit: number } => {
  const limit = Math.min(Body.count(query.get("limit") ?? String(MAX_LISTED)), MAX_LISTED)
  const after = query.get("after")
  return after === null ? { limit } : { after, limit }
}

/** The cell to look below; `/` is all of the tree. */
export const folder = ({ id }: Place): string => {
  if (id === "/") return id
  const names = Name.split(id)
  if (typeof names === "string") throw new Address.InvalidAddress({ text: id, reason: names })
  return id
}

/** One of the values of a cell that is watched; before it, whether some were missed. */
const framesOf = Sse.frames((observation: Observation): ReadonlyArray<Frame> => {
  const { beat, missed, value } = observation
  const frame = { id: beat, event: value === undefined ? "absent" : "value", data: textOf(observation) }
  return missed === undefined ? [frame] : [{ id: undefined, event: "reset", data: JSON.stringify({ reason: missed }) }, frame]
})

const decoded = (path: string): string => {
  if (/%2f/i.test(path)) throw new Address.InvalidAddress({ text: path, reason: "a name holds an encoded slash" })
  try {
    return decodeURIComponent(path)
  } catch {
    throw new Address.InvalidAddress({ text: path, reason: "its percent-encoding is not UTF-8" })
  }
}
