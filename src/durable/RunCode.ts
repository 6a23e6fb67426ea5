/**
 * The codes of failed durable runs by which the beat decides.
 *
 * @module
 */

/** The code of a run whose module is missing. */
export const CODE_MISSING = "run/code-missing"

/** The code of a run that awaits a promise which is not a handle. */
export const FOREIGN = "run/foreign-await"

/** The code of a run that the space has no room for. */
export const FULL = "run/full"

/** The code of a cancelled run. */
export const CANCELLED = "run/cancelled"

/** The code of a run that would write from a value that another writer has changed. */
export const STALE = "run/stale"

/** The code of a run that a rollback took back. */
export const TAKEN_BACK = "run/taken-back"

/** The code of a cancelled run whose last segment, which undoes its effects, is refused. */
export const UNDO_LOST = "run/undo-lost"

/** Marks the errors with these codes. An error of a body has none, whatever code it names. */
export const OWN: unique symbol = Symbol("systole/durable/RunCode")
