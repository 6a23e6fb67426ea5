/**
 * HTTP routes for beats: the list, the ledgers of one beat, and the stream of new beats.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Value } from "../../cell/Value.ts"
import * as Endpoints from "../../contract/Cells.ts"
import * as Codec from "../../contract/Codec.ts"
import type { ReadError } from "../../kernel/view/Expected.ts"
import type { Space } from "../../kernel/view/Space.ts"
import * as SpaceClock from "../../stage/SpaceClock.ts"
import * as Body from "../wire/Body.ts"
import { RequestRefused } from "../wire/Problem.ts"
import type { RouteContext } from "../wire/RouteContext.ts"
import type { SpaceTable } from "./SpaceTable.ts"
import * as Sse from "../wire/Sse.ts"
import type { Frame } from "../wire/Sse.ts"

const ledgers = ["inbox", "agenda", "stage", "meta"] as const

/**
 * Adds the routes to a table.
 */
export const routes = (table: SpaceTable, { stream }: Pick<RouteContext, "stream">): void => {
  table.ofSpace(Endpoints.beats, (space, { query, request }) =>
    Sse.isWanted(request) ? stream(follow(space, { from: query.from, last: Sse.lastOf(request) })) : list(space, query))
  table.ofSpace(Endpoints.one, (space, { params }) => show(space, Body.count(params.beat)))
}

/** One page of beats before `before`, newest first, with the cursor of the next page. */
const list = Effect.fnUntraced(function*(space: Space, query: { readonly before?: number; readonly limit: number }) {
  const head = yield* space.head
  const { shifts } = yield* space.control.clock
  const { next, rows } = yield* space.beatsBefore(Math.min(query.before ?? Infinity, head + 1), query.limit)
  return { head, beats: rows.map(({ beat, clock, hash }) => ({ beat, clock: clock - SpaceClock.sumBefore(shifts, beat), hash })), next }
})

/**
 * A stream of the ledgers of each beat that becomes durable.
 *
 * It starts with the next beat, with beat `from`, or after beat `last`, the last one that the client received.
 * It is a cursor on the journal: a beat is read after the client took the previous one. A slow client misses none and buffers one.
 */
export const follow = (
  space: Space,
  { from, last }: { readonly from?: number | undefined; readonly last: string | null }
): Stream.Stream<Frame, unknown> => {
  const first = last === null ? from : Body.count(last) + 1
  return Stream.transformPull(space.beats, Effect.fnUntraced(function*(beats) {
    // The subscription exists before the head is read, so that no beat is lost in between.
    let head = yield* space.head
    let next = first ?? head + 1
    return Effect.gen(function*() {
      for (;;) {
        while (next > head) head = Math.max(head, ...yield* beats)
        const made = yield* frame(space, next++)
        if (made !== undefined) return [made] as const
      }
    })
  }))
}

/** The maximum number of cached frames per space. */
const MAX_KEPT = 64

const kept = new WeakMap<Space, Map<number, Frame>>()

/** The frame of a beat, cached for all streams at the head; `undefined` if the beat has no journal row. */
const frame = (space: Space, beat: number): Effect.Effect<Frame | undefined, ReadError> =>
  Effect.gen(function*() {
    const frames = kept.get(space) ?? new Map<number, Frame>()
    kept.set(space, frames)
    const known = frames.get(beat)
    if (known !== undefined) return known
    const row = yield* space.journal(beat)
    if (row === undefined) return undefined
    const made: Frame = { id: beat, event: "beat", data: JSON.stringify(Codec.encode(Endpoints.one.answer, yield* shown(space, beat))) }
    frames.set(beat, made)
    if (frames.size > MAX_KEPT) frames.delete(frames.keys().next().value!)
    return made
  })

/** The ledgers of one beat: its inbox, agenda, stage and journal metadata. */
const show = Effect.fnUntraced(function*(space: Space, beat: number) {
  const found = yield* shown(space, beat)
  if (ledgers.some((ledger) => found[ledger] !== undefined)) return found
  return yield* Effect.fail(new RequestRefused({
    code: "beat/absent",
    reason: `Space "${space.name}" shows no beat ${beat}; its newest is ${yield* space.head}. It was empty, is trimmed, or is still to come`
  }))
})

type Shown = { readonly beat: number } & { readonly [Ledger in typeof ledgers[number]]?: Value }

const shown = (space: Space, beat: number): Effect.Effect<Shown, ReadError> =>
  Effect.map(
    Effect.forEach(ledgers, (ledger) => space.get(`/rt/beat/${beat}/${ledger}`)),
    (values) => ({ beat, ...Object.fromEntries(ledgers.map((ledger, i) => [ledger, values[i]])) })
  )
