/**
 * The changes of a transaction, and savepoints of them.
 *
 * The capture applies all control input to one draft. A refused piece of control input is rolled back and leaves no
 * change. The journal therefore contains only applied input, and a replay applies the same.
 *
 * @module
 */
import type { LaunchRecord } from "./Launches.ts"
import { Calls } from "./Calls.ts"
import type * as Write from "./write/Write.ts"
import type { WriteSet } from "./write/WriteSet.ts"

/** The shared empty list. */
const none: Array<never> = []

/** A state to restore or keep, once; either call ends the savepoint. */
export interface Savepoint {
  /** Keeps the changes since the savepoint. */
  readonly keep: () => void
  /** Reverts the changes since the savepoint. */
  readonly restore: () => void
}

/**
 * The changes of a transaction that a savepoint covers: writes, launches, minted ids and the refusal. Signals, bindings,
 * reports and content are left out, since neither commands nor the steps of flows make them.
 *
 * A base class, so that a draft is one object and its fields are read without an indirection.
 */
export abstract class Changes extends Calls {
  /** Lists are created on first use, because most runs need few of them. */
  writes: Array<Write.Write> = none
  launches: Array<LaunchRecord> = none
  /** The documents that this run wrote. */
  own: WriteSet | undefined
  /** Documents that only this run sees, because the merge creates them anew. */
  shown: WriteSet | undefined
  /** The number of characters of signals, bindings and the result. */
  launched = 0
  /** The number of characters of the written documents, before and after. */
  written = 0
  /** The number of minted ids. */
  minted = 0
  /** The number of writes to ledgers. */
  operated = 0
  /** The first refusal. It persists when the run catches the error. */
  refusal: unknown

  /** Creates a savepoint at the current state. Its cost is proportional to the changes since. */
  savepoint(): Savepoint {
    const { launched, launches, minted, operated, own, refusal, shown, writes, written } = this
    const [launchCount, writeCount] = [launches.length, writes.length]
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
        launches.length = launchCount
        writes.length = writeCount
        Object.assign(this, { launched, launches, minted, operated, own, refusal, shown, writes, written })
      }
    }
  }
}
