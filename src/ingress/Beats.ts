/**
 * HTTP routes for beats: the list, the ledgers of one beat, and the stream of new beats.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as CellValue from "../contract/CellValue.ts"
import * as Stream from "effect/Stream"
import type { ReadError } from "../kernel/view/Expected.ts"
import type { Space } from "../kernel/view/Space.ts"
import * as SpaceClock from "../stage/SpaceClock.ts"
import * as Body from "./Body.ts"
import * as Json from "./Json.ts"
import * as PageQuery from "./PageQuery.ts"
import { RequestRefused } from "./Problem.ts"
import type { Frame } from "./Sse.ts"

const ledgers = ["inbox", "agenda", "stage", "meta"] as const

/**
 * One page of beats before `before`, newest first, with the cursor of the next page.
 *
 * @category combinators
 * @since 0.1.0
 */
export const list = async (
  space: Space,
  query: { readonly before: string | undefined; readonly limit: string | undefined },
  signal: AbortSignal
): Promise<Response> => {
  const head = await Effect.runPromise(space.head)
  const { shifts } = await Effect.runPromise(space.control.clock)
  const before = query.before === undefined ? head + 1 : Math.min(Body.count(query.before), head + 1)
  const { next, rows } = await Effect.runPromise(space.beatsBefore(before, PageQuery.limit(query.limit)), { signal })
  const beats = rows.map(({ beat, clock, hash }) => ({ beat, clock: clock - SpaceClock.sumBefore(shifts, beat), hash }))
  return Json.answer({ head, beats, next: next ?? null }, Json.noStore)
}

/**
 * A stream of the ledgers of each beat that becomes durable.
 *
 * It starts with the next beat, with beat `from`, or after beat `last`, the last one that the client received.
 * It is a cursor on the journal: a beat is read after the client took the previous one. A slow client misses none and buffers one.
 *
 * @category combinators
 * @since 0.1.0
 */
export const follow = (
  space: Space,
  since: { readonly from: string | undefined; readonly last: string | null }
): Stream.Stream<Frame, unknown> => {
  const first = since.last !== null ? Body.count(since.last) + 1 : since.from !== undefined ? Body.count(since.from) : undefined
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
    const made: Frame = { id: beat, event: "beat", data: JSON.stringify(yield* shown(space, beat)) }
    frames.set(beat, made)
    if (frames.size > MAX_KEPT) frames.delete(frames.keys().next().value!)
    return made
  })

/**
 * The ledgers of one beat: its inbox, agenda, stage and journal metadata.
 *
 * @category combinators
 * @since 0.1.0
 */
export const show = async (space: Space, text: string): Promise<Response> => {
  const beat = Body.count(text)
  const found = await Effect.runPromise(shown(space, beat))
  if (ledgers.some((ledger) => found[ledger] !== undefined)) return Json.answer(found, Json.noStore)
  const head = await Effect.runPromise(space.head)
  throw new RequestRefused({
    code: "beat/absent",
    reason: `Space "${space.name}" shows no beat ${beat}; its newest is ${head}. It was empty, is trimmed, or is still to come`
  })
}

const shown = (space: Space, beat: number): Effect.Effect<Readonly<Record<string, unknown>>, ReadError> =>
  Effect.map(
    Effect.forEach(ledgers, (ledger) => space.get(`/rt/beat/${beat}/${ledger}`)),
    (values) => ({ beat, ...Object.fromEntries(ledgers.map((ledger, i) => [ledger, CellValue.toJson(values[i])])) })
  )

