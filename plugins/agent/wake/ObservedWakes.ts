/**
 * The observations of an agent: facts that it saw in wakes, and that no event holds. They are one cell.
 *
 * @module
 */
import * as Schema from "effect/Schema"

const Times = Schema.Record(Schema.String, Schema.Int)

const Shape = Schema.Struct({
  /** The times at which actions were first seen, by id. None lies ahead of a look. */
  first: Times,
  /** The times of occurrences that were skipped, and their keys. */
  skipped: Times,
  occurrences: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  /**
   * The watched paths: the digest, and the number of changes since the first look, with its time. Observations of earlier versions
   * lack that. `counted` is the digest after the latest of these changes, if others came since that count for none.
   */
  changes: Schema.Record(Schema.String, Schema.Struct({
    digest: Schema.String,
    count: Schema.Int,
    since: Schema.optionalKey(Schema.Int),
    counted: Schema.optionalKey(Schema.String)
  })),
  /** The times at which records without an action in the file were first seen. */
  removed: Schema.optionalKey(Times),
  /** The day of the last reset of "Completed Today". */
  day: Schema.String,
  /** The hash of the settings at the last wake. */
  settings: Schema.String
})

/**
 * The observations of one control file.
 */
export type ObservedWakes = typeof Shape.Type

const decode = Schema.decodeUnknownOption(Shape)

/** No observations. */
export const none: ObservedWakes = { first: {}, skipped: {}, changes: {}, day: "", settings: "" }

/**
 * Decodes the cell of observations.
 */
export const read = (value: unknown): ObservedWakes => {
  const found = decode(value)
  return found._tag === "Some" ? found.value : none
}

/** The cell of the observations of a file. */
export const cell = (file: string): string => `/data/agent/${file}/observed`

/** An occurrence that was skipped. */
export interface SkippedOccurrence {
  readonly action: string
  readonly occurrence: string
  readonly now: number
}

/** The observations after an occurrence was skipped. */
export const skip = (observed: ObservedWakes, { action, now, occurrence }: SkippedOccurrence): ObservedWakes => ({
  ...observed,
  skipped: { ...observed.skipped, [action]: now },
  occurrences: { ...observed.occurrences, [action]: occurrence }
})

const kept = <A>(entries: Readonly<{ [id: string]: A }>, ids: ReadonlySet<string>): { [id: string]: A } =>
  Object.fromEntries(Object.entries(entries).filter(([id]) => ids.has(id)))

/**
 * The observations after a look at watched paths whose changes count for none, such as the output of the action that watches them.
 * Equal observations are the same object.
 */
export const pass = (observed: ObservedWakes, digests: ReadonlyMap<string, string>): ObservedWakes => {
  const passed = [...digests].flatMap(([id, digest]) => {
    const before = observed.changes[id]
    return before === undefined || before.digest === digest ? [] : [[id, { counted: before.digest, ...before, digest }] as const]
  })
  return passed.length === 0 ? observed : { ...observed, changes: { ...observed.changes, ...Object.fromEntries(passed) } }
}

/** A look at the file and the paths that it watches. */
export interface Look {
  readonly now: number
  readonly ids: ReadonlySet<string>
  /** The ids of records without an action in the file. */
  readonly removed: ReadonlyArray<string>
  /** The digests of watched paths by the ids of actions. */
  readonly digests: ReadonlyMap<string, string>
}

/** The time for which the records of an action are kept that a person removed from the file, in milliseconds. */
export const KEPT_MILLIS = 30 * 86_400_000

/** The most removed actions whose records one wake deletes. */
const MAX_EXPIRED = 100

/** The removed actions whose records have been kept long enough, at most {@link MAX_EXPIRED}. */
export const expiredActions = ({ removed = {} }: ObservedWakes, now: number): ReadonlyArray<string> =>
  Object.keys(removed).filter((id) => now - (removed[id] ?? now) >= KEPT_MILLIS).slice(0, MAX_EXPIRED)

/** The time from which on records of removed actions are to be deleted; infinite without any. */
export const expiry = ({ removed = {} }: ObservedWakes): number => Math.min(...Object.values(removed), Infinity) + KEPT_MILLIS

/** The observations with the times of removed actions. Equal ones are the same object. */
const withRemoved = (observed: ObservedWakes, removed: Readonly<{ [id: string]: number }>): ObservedWakes => {
  const { removed: before = {}, ...rest } = observed
  const ids = Object.keys(removed)
  if (ids.length === Object.keys(before).length && ids.every((id) => before[id] === removed[id])) return observed
  return ids.length === 0 ? rest : { ...rest, removed }
}

/** The observations without some removed actions. */
export const forget = (observed: ObservedWakes, ids: ReadonlyArray<string>): ObservedWakes =>
  withRemoved(observed, Object.fromEntries(Object.entries(observed.removed ?? {}).filter(([id]) => !ids.includes(id))))

/**
 * The observations after a look. Removed actions are forgotten. Equal observations are the same object.
 */
export const look = (observed: ObservedWakes, { removed, ...seen }: Look): ObservedWakes => {
  const times = removed.map((id) => [id, observed.removed?.[id] ?? seen.now] as const)
  return withRemoved(lookAt(observed, seen), Object.fromEntries(times))
}

const lookAt = (observed: ObservedWakes, { digests, ids, now }: Omit<Look, "removed">): ObservedWakes => {
  const first = kept(observed.first, ids)
  const changes = kept(observed.changes, ids)
  let isChanged = Object.keys(first).length !== Object.keys(observed.first).length
  for (const id of ids) {
    // A first sight that lies ahead would go with the clock, which was set back, and its action would never be due.
    if ((first[id] ?? Number.POSITIVE_INFINITY) <= now) continue
    first[id] = now
    isChanged = true
  }
  for (const [id, digest] of digests) {
    const before = changes[id]
    if (before?.digest === digest) continue
    const { count = -1, since = now } = before ?? {}
    changes[id] = { digest, count: count + 1, ...before !== undefined && before.since === undefined ? {} : { since } }
    isChanged = true
  }
  if (!isChanged) return observed
  const { occurrences = {}, skipped } = observed
  return { ...observed, first, changes, skipped: kept(skipped, ids), occurrences: kept(occurrences, ids) }
}
