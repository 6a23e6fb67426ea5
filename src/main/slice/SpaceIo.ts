/**
 * The requests of an open space to the world, as the outside uses them.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import { face } from "../../reactor/Face.ts"
import { outside } from "../../reactor/Outside.ts"
import * as RequestRow from "../../reactor/RequestRow.ts"
import * as Journal from "../../kernel/journal/Journal.ts"
import type { ListedStore } from "../../kernel/view/CountedRows.ts"
import { MAX_ROWS } from "../../kernel/view/PageTurns.ts"
import type { SpaceIo } from "../../kernel/view/Space.ts"
import type { Access } from "../../kernel/api/Access.ts"
import * as SpaceFace from "../../kernel/api/SpaceFace.ts"
import type { SpacePart } from "../../kernel/api/SpacePart.ts"

/** The most beat numbers that one page of drains examines. */
const MAX_EXAMINED = 10_000

const drains = (rows: ListedStore, { before, limit }: Parameters<SpaceIo["drains"]>[0]): RequestRow.DrainPage => {
  const first = Math.min(before ?? Infinity, rows.head().beat + 1)
  const last = Math.max(0, first - MAX_EXAMINED)
  const drains: Array<RequestRow.Drain> = []
  let beat = first - 1
  for (let looked = 0; beat >= last && drains.length < limit && looked < MAX_ROWS; beat--) {
    const row = rows.entry(beat)
    if (row === undefined) continue
    looked++
    const drain = RequestRow.drainOf(beat, Journal.inputOf(Journal.parse(row.text), "io"))
    if (drain !== undefined) drains.push(drain)
  }
  return { drains, next: beat < 0 ? undefined : beat + 1 }
}

const make = (access: Access): SpaceIo => ({
  ...SpaceFace.of(outside, access),
  channels: access.use((space) => Effect.sync(() => (space.publication.view(RequestRow.CHANNELS) ?? []) as never)),
  drains: (page) => access.use(({ reads }) => reads.page((rows) => drains(rows, page)))
})

/**
 * The part of the API of a space for requests.
 */
export const part: SpacePart = { name: face.records.segment, make }
