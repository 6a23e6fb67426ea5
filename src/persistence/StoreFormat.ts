/**
 * Formats of stores: the number in the row of `meta`, and what each one adds.
 *
 * A version reads a format before any version writes it. A store gets a format beyond {@link SETTLED} only by
 * {@link Formats.raise}, which an operator orders once no host of an earlier version is left. Until then the earlier version
 * can take the store back.
 *
 * @module
 */

/** The oldest format that this version reads. */
export const OLDEST = 10

/** The newest format that this version reads. A store with a newer one is refused (`store/version`, by `sql/SqlOpening.ts`). */
export const NEWEST = 12

/** The newest format that every released version reads. A store gets it by itself where its data needs it. */
export const SETTLED = 11

/** The properties of stores, each with the format since which it holds. */
const since = {
  /** A text of more than 1 MiB is stored in parts. */
  longTexts: 11,
  /**
   * A signal that waits for another space has the origin under which it was sent. An earlier version ignores it, and would send
   * the signal under the present origin of the space, where the receiver does not know it.
   */
  origins: 12
} as const

/** The name of a property of stores. */
export type Property = keyof typeof since

/**
 * The format of a store.
 *
 * @category models
 * @since 0.2.0
 */
export interface Status {
  /** The format in which the store is written. */
  readonly format: number
  /** The newest format whose form all rows have that are no journal rows. It is below `format` until they are carried over. */
  readonly carried: number
}

/**
 * The formats of one store. A backend whose rows have one form alone has none.
 *
 * @category models
 * @since 0.2.0
 */
export interface Formats {
  /** The format, as this handle knows it: a handle that raises it stops all others. */
  readonly status: () => Status
  /**
   * Raises the format, or notes that all rows have its form, in one durable step that takes the same time for each size of the
   * store. It claims the store as a write does, and lowers nothing.
   *
   * @throws PersistenceError
   */
  readonly raise: (to: Status) => void
}

/** The larger of two states of one store. */
export const join = (a: Status, b: Status): Status =>
  ({ format: Math.max(a.format, b.format), carried: Math.max(a.carried, b.carried) })

/** The state of a new store. */
export const initial: Status = { format: OLDEST, carried: OLDEST }

/** The state of a store with long texts. */
export const settled: Status = { format: SETTLED, carried: SETTLED }

/** The state of a store whose upgrade is finished, before its rows are carried over. */
export const newest: Status = { format: NEWEST, carried: SETTLED }

/**
 * Whether a store has a property.
 */
export const has = ({ format }: Pick<Status, "format">, property: Property): boolean => format >= since[property]

/**
 * Whether this version reads a format.
 */
export const isRead = (format: number): boolean => format >= OLDEST && format <= NEWEST
