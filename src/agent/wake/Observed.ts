/**
 * The observations of an agent: facts that it saw in wakes, and that no event holds. They are one cell.
 *
 * @module
 */
import * as Schema from "effect/Schema"

const Times = Schema.Record(Schema.String, Schema.Int)

const Shape = Schema.Struct({
  /** The times at which actions were first seen, by id. */
  first: Times,
  /** The times of occurrences that were skipped, and their keys. */
  skipped: Times,
  occurrences: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  /** The watched paths: the digest, and the number of changes since the first look. */
  changes: Schema.Record(Schema.String, Schema.Struct({ digest: Schema.String, count: Schema.Int })),
  /** The day of the last reset of "Completed Today". */
  day: Schema.String,
  /** The hash of the settings at the last wake. */
  settings: Schema.String
})

/**
 * The observations of one control file.
 *
 * @category models
 * @since 0.1.0
 */
export type Observed = typeof Shape.Type

const decode = Schema.decodeUnknownOption(Shape)

/** No observations. */
export const none: Observed = { first: {}, skipped: {}, changes: {}, day: "", settings: "" }

/**
 * Decodes the cell of observations.
 *
 * @category constructors
 * @since 0.1.0
 */
export const read = (value: unknown): Observed => {
  const found = decode(value)
  return found._tag === "Some" ? found.value : none
}

/** The cell of the observations of a file. */
export const cell = (file: string): string => `/data/agent/${file}/observed`

/** An occurrence that was skipped. */
export interface Skipped {
  readonly action: string
  readonly occurrence: string
  readonly now: number
}

/** The observations after an occurrence was skipped. */
export const skip = (observed: Observed, { action, now, occurrence }: Skipped): Observed => ({
  ...observed,
  skipped: { ...observed.skipped, [action]: now },
  occurrences: { ...observed.occurrences, [action]: occurrence }
})

const kept = <A>(entries: Readonly<{ [id: string]: A }>, ids: ReadonlySet<string>): { [id: string]: A } =>
  Object.fromEntries(Object.entries(entries).filter(([id]) => ids.has(id)))

/** A look at the file and the paths that it watches. */
export interface Look {
  readonly now: number
  readonly ids: ReadonlySet<string>
  /** The digests of watched paths by the ids of actions. */
  readonly digests: ReadonlyMap<string, string>
}

/**
 * The observations after a look. Removed actions are forgotten. Equal observations are the same object.
 *
 * @category combinators
 * @since 0.1.0
 */
export const look = (observed: Observed, { digests, ids, now }: Look): Observed => {
  const first = kept(observed.first, ids)
  const changes = kept(observed.changes, ids)
  let isChanged = Object.keys(first).length !== Object.keys(observed.first).length
  for (const id of ids) {
    if (first[id] !== undefined) continue
    first[id] = now
    isChanged = true
  }
  for (const [id, digest] of digests) {
    const before = changes[id]
    if (before?.digest === digest) continue
    changes[id] = { digest, count: before === undefined ? 0 : before.count + 1 }
    isChanged = true
  }
  if (!isChanged) return observed
  const { occurrences = {}, skipped } = observed
  return { ...observed, first, changes, skipped: kept(skipped, ids), occurrences: kept(occurrences, ids) }
}
