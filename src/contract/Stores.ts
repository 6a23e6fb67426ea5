/**
 * Endpoints of the store of a space: its format, and the upgrade to a newer one.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import * as Endpoint from "./Endpoint.ts"
import { SPACE } from "./Paths.ts"
import * as Query from "./Query.ts"
import { words } from "./Words.ts"

const count = Schema.Number
const STORE = `${SPACE}/store` as const

/** The most rows that a page looks at. */
const PAGE = 1000

/** The format of a store. */
const status = () => Schema.Struct({
  /** The format in which it is written; `null` for a store whose rows have one form. */
  format: Schema.NullOr(count),
  /** The newest format whose form all its rows have that are no journal rows. */
  carried: Schema.NullOr(count),
  /** The oldest and the newest format that this version reads. */
  oldest: count,
  newest: count,
  /** The version of journal entries, and the semantics of beats, that this version writes. */
  journal: count,
  semantics: count
})

/** The format of the store. */
export const state = Endpoint.make("GET", STORE, {
  does: words("The format of the space's store, and the formats, the journal and the semantics of this version."),
  answer: status
})

/** The rise of the format. */
export const finish = Endpoint.make("POST", `${STORE}/finish`, {
  does: words(
    "Raises the format of the store to the newest that this version reads. No earlier version opens the space afterwards. It " +
    "takes as long for each size, runs no beat, and changes nothing the second time."
  ),
  answer: status,
  effect: "controls",
  verb: "admin"
})

/** The removal of old beats. */
export const prune = Endpoint.make("DELETE", `${STORE}/journal`, {
  does: words(
    "Removes the beats before beat `before` from the journal for good, with the receipts that point to them, but never the newest: " +
    "`{ anchor }`, the newest beat that is gone, -1 if none is. State stays as it is."
  ),
  query: () => Schema.Struct({ before: Query.number() }),
  answer: () => Schema.Struct({ anchor: count }),
  refusals: ["store/pinned"],
  effect: "controls",
  verb: "admin"
})

/** The carry-over of rows. */
export const carry = Endpoint.make("POST", `${STORE}/upgrade`, {
  does: words(
    "Rewrites the rows of an older form among the next `limit` ones: their number, and `next`, after which another request goes on. " +
    "Journal rows stay as they are."
  ),
  query: () => Schema.Struct({ after: Query.count(), limit: Query.limit(PAGE, PAGE) }),
  answer: () => Schema.Struct({ rows: count, next: Query.next(count) }),
  refusals: ["store/unfinished"],
  effect: "controls",
  verb: "admin"
})
