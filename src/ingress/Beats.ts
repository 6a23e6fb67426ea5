/**
 * Beats over HTTP: which there are, and the ledgers of one.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Space } from "../kernel/Space.ts"
import * as Body from "./Body.ts"
import { RequestRefused } from "./Problem.ts"
import * as Wire from "./Wire.ts"

/** Most beats that one answer lists. */
export const MAX_LISTED = 100

/** How many numbers are looked at for one answer: numbers of empty beats are skipped and not stored. */
const MAX_LOOKED_AT = 10_000

const ledgers = ["inbox", "agenda", "stage", "meta"] as const

/**
 * The newest beats before `before`, newest first, and where to go on.
 *
 * @category combinators
 * @since 0.1.0
 */
export const list = async (space: Space, query: { readonly before: string | undefined; readonly limit: string | undefined }): Promise<Response> => {
  const head = await Effect.runPromise(space.head)
  const before = query.before === undefined ? head + 1 : Math.min(Body.count(query.before), head + 1)
  const limit = Math.min(query.limit === undefined ? 20 : Body.count(query.limit), MAX_LISTED)
  const last = Math.max(0, before - MAX_LOOKED_AT)
  const beats: Array<{ readonly beat: number; readonly clock: number; readonly hash: string }> = []
  let beat = before - 1
  for (; beat >= last && beats.length < limit; beat--) {
    const row = await Effect.runPromise(space.journal(beat))
    if (row !== undefined) beats.push({ beat: row.beat, clock: row.clock, hash: row.hash })
  }
  return Response.json({ head, beats, next: beat < 0 ? null : beat + 1 }, { headers: { "cache-control": "no-store" } })
}

/**
 * The ledgers of one beat: what came in, what ran, what it left, and its line in the journal.
 *
 * @category combinators
 * @since 0.1.0
 */
export const show = async (space: Space, text: string): Promise<Response> => {
  const beat = Body.count(text)
  const values = await Promise.all(ledgers.map((ledger) => Effect.runPromise(space.get(`/rt/beat/${beat}/${ledger}`))))
  if (values.every((value) => value === undefined)) {
    const head = await Effect.runPromise(space.head)
    throw new RequestRefused({ code: "beat/absent", reason: `Space "${space.name}" shows no beat ${beat}; its newest is ${head}. It was empty, is trimmed, or is still to come` })
  }
  const shown = Object.fromEntries(ledgers.map((ledger, i) => [ledger, Wire.inline(values[i])]))
  return Response.json({ beat, ...shown }, { headers: { "cache-control": "no-store" } })
}

