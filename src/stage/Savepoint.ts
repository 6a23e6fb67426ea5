/**
 * Savepoints: states of a draft that can be restored.
 *
 * The capture applies all control input to one draft. A refused piece of control input is rolled back and leaves no
 * change. The journal therefore contains only applied input, and a replay applies the same. The cost is proportional to
 * the writes since the savepoint.
 *
 * @module
 */
import type { Draft } from "./Draft.ts"

/** A state to restore or keep, once; either call ends the savepoint. */
export interface Savepoint {
  /** Keeps the changes since the savepoint. */
  readonly keep: () => void
  /** Reverts the changes since the savepoint. */
  readonly restore: () => void
}

/**
 * Creates a savepoint at the current state of a draft.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (draft: Draft): Savepoint => {
  const { launched, launches, minted, operated, own, refusal, shown, writes, written } = draft
  const [asked, wrote] = [launches.length, writes.length]
  own?.note()
  shown?.note()
  return {
    keep: () => {
      own?.keep()
      shown?.keep()
    },
    restore: () => {
      own?.restore()
      shown?.restore()
      launches.length = asked
      writes.length = wrote
      Object.assign(draft, { launched, launches, minted, operated, own, refusal, shown, writes, written })
    }
  }
}
