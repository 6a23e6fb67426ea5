/**
 * Savepoints: places in a draft that it can be taken back to.
 *
 * The capture puts all control input into one draft. What one piece of it did
 * before it was refused is taken back, so that it leaves nothing: the journal
 * has only what was done, and a replay does no more. The cost is that of what
 * was written since.
 *
 * @module
 */
import type { Draft } from "./Draft.ts"

/** A place to come back to, once: by one of these it ends. */
export interface Savepoint {
  /** Keeps what was done since. */
  readonly keep: () => void
  /** Takes back what was done since. */
  readonly restore: () => void
}

/**
 * A savepoint where a draft stands now.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (draft: Draft): Savepoint => {
  const { launched, minted, operated, ops, own, refusal, shown, writes, written } = draft
  const [asked, wrote] = [ops.length, writes.length]
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
      ops.length = asked
      writes.length = wrote
      Object.assign(draft, { launched, minted, operated, ops, own, refusal, shown, writes, written })
    }
  }
}
