/**
 * The refusals and failures of a space.
 *
 * @module
 */
import * as Data from "effect/Data"
import { TOPIC } from "../../diagnostic/Topic.ts"
import { PersistenceError } from "../../persistence/PersistenceError.ts"

/** A caller's id was used before with other content. */
export class IdReused extends Data.TaggedError("IdReused")<{ readonly id: string }> {
  readonly code = "signal/id-reused"
  override get message() {
    return `The id "${this.id}" was used before for this signal and target with another payload. Send a new id, or the first payload again`
  }
}

/** An event that an own id names. */
export interface NamedEvent {
  readonly id: string
  readonly status: string
  readonly handlings: ReadonlyArray<{ readonly enzyme: string }>
}

/** An own id names several events. */
export class IdAmbiguous extends Data.TaggedError("IdAmbiguous")<{ readonly id: string; readonly events: ReadonlyArray<NamedEvent> }> {
  readonly code = "id/ambiguous"
  override get message() {
    const told = ({ handlings, id, status }: NamedEvent) => `${id} (${[status, ...handlings.map(({ enzyme }) => enzyme)].join(", ")})`
    return `The id "${this.id}" names ${this.events.length} events: ${this.events.map(told).join("; ")}. Give the id of one of them, ` +
      "which is 32 digits long"
  }
}

/** The inbox is full. */
export class InboxFull extends Data.TaggedError("InboxFull")<{ readonly space: string; readonly limit: string }> {
  readonly code = "inbox/full"
  override get message() {
    return `The inbox of space "${this.space}" is full (${this.limit}). Nothing of this signal was taken; send it again in a moment`
  }
}

/** A signal waited so long for another space that its next delivery could be a second one, unnoticed. */
export class OutboxExpired extends Data.TaggedError("OutboxExpired")<{ readonly space: string; readonly millis: number }> {
  readonly code = "outbox/expired"
  override get message() {
    return `Space "${this.space}" confirmed no delivery of the signal within ${this.millis} ms, seven tenths of retention.receiptMillis. ` +
      "After that time it may have forgotten that it took the signal. Look there whether it was handled, and send it again if it was not"
  }
}

/** The release of a detached space dropped a signal to another space. */
export class OutboxDropped extends Data.TaggedError("OutboxDropped")<{ readonly space: string }> {
  readonly code = "outbox/dropped"
  override get message() {
    return `The signal for space "${this.space}" was dropped when its own space was released. Send it again if that space should have it`
  }
}

/** Another history session of the space is open. */
export class HistoryBusy extends Data.TaggedError("HistoryBusy")<{ readonly space: string }> {
  readonly code = "history/busy"
  override get message() {
    return `Space "${this.space}" is being verified, replayed or explained for somebody else, which is done for one at a time. Ask ` +
      "again in a moment"
  }
}

/** A write from outside is refused. */
export class WriteRefused extends Data.TaggedError("WriteRefused")<{ readonly address: string; readonly reason: string }> {
  readonly code = "cell/refused"
  override get message() {
    return `${this.address} cannot be written: ${this.reason}`
  }
}

/** The value at an address is not the one that a conditional write expects. */
export class CellChanged extends Data.TaggedError("CellChanged")<{ readonly address: string; readonly isAbsent: boolean }> {
  readonly code = "cell/changed"
  override get message() {
    return `${this.address} ${this.isAbsent ? "holds nothing" : "holds another value"} than the request expects, so it was not written. ` +
      "Read it again with its ETag, decide anew, and write with that tag"
  }
}

/** A lifecycle request is refused. */
export class ControlRefused extends Data.TaggedError("ControlRefused")<{ readonly verb: string; readonly reason: string }> {
  readonly code = "control/refused"
  override get message() {
    return `The space cannot do "${this.verb}" now: ${this.reason}`
  }
}

/** A hold of the space kept a command from its beat. */
export class SpaceHeld extends Data.TaggedError("SpaceHeld")<{ readonly space: string; readonly millis: number }> {
  readonly code = "space/held"
  override get message() {
    return `Space "${this.space}" is held, and no step ran the command within ${this.millis} ms. It was withdrawn and changed nothing. ` +
      "Release the space and send the command again, or step the space while the command waits"
  }
}

/** The handling has no dead letter. */
export class DeadAbsent extends Data.TaggedError("DeadAbsent")<{ readonly space: string; readonly id: string; readonly enzyme: string }> {
  readonly code = "dead/absent"
  override get message() {
    return `Space "${this.space}" has no dead letter of "${this.id.slice(0, 200)}" by "${this.enzyme.slice(0, 200)}": no such handling ` +
      "failed, or it was sent again already. List the letters there are"
  }
}

/** A run returned fatal: the beat was not committed, and the next one gets its number. */
export class BeatAborted extends Data.TaggedError("BeatAborted")<{
  readonly beat: number
  readonly enzyme: string
  readonly signal: string
  readonly reason: string
}> {
  readonly code = "beat/aborted"
  override get message() {
    return `Beat ${this.beat} was aborted by enzyme "${this.enzyme}" on ${this.signal}: ${this.reason}. The next beat runs its input ` +
      "again without that handling"
  }
}

/** The space stopped. Accepted signals that are not durable are lost and must be sent again. */
export class SpaceStopped extends Data.TaggedError("SpaceStopped")<{
  readonly space: string
  readonly reason: string
  /** True if stored data is damaged, so that sending again does not help. */
  readonly isDamaged?: boolean
  /** True if a caller removed the space, so that it does not open again. */
  readonly isRemoved?: boolean
}> {
  readonly [TOPIC] = "space/stopped"
  get code(): "space/stopped" | "store/damaged" {
    return this.isDamaged === true ? "store/damaged" : "space/stopped"
  }
  override get message() {
    const isFinal = this.isDamaged === true || this.isRemoved === true
    const remedy = isFinal ? "" : ". Send the request again; the space opens from what is durable"
    return `Space "${this.space}" stopped: ${this.reason}${remedy}`
  }
}

/**
 * An error as the failure that stops a space.
 *
 * @category constructors
 * @since 0.1.0
 */
export const asStopped = (space: string, error: unknown): SpaceStopped => {
  if (error instanceof SpaceStopped) return error
  const reason = error instanceof Error ? error.message : String(error)
  const isDamaged = error instanceof PersistenceError && error.code === "store/damaged"
  return new SpaceStopped({ space, reason, ...(isDamaged && { isDamaged }) })
}

/** Rows cannot be carried over to a format that the store does not have. */
export class StoreUnfinished extends Data.TaggedError("StoreUnfinished")<{ readonly space: string; readonly format: number }> {
  readonly code = "store/unfinished"
  override get message() {
    return `The store of space "${this.space}" has format ${this.format}, which an earlier version can take back, so no row is ` +
      "rewritten. Finish the upgrade first, with systole upgrade finish"
  }
}

/** Old beats cannot be removed, because an export reads them. */
export class StorePinned extends Data.TaggedError("StorePinned")<{ readonly space: string }> {
  readonly code = "store/pinned"
  override get message() {
    return `No beat of space "${this.space}" is removed while an export of it is in progress. Try again when it is over`
  }
}

/** A flush exceeded its time limit, so it is unknown whether its group is durable. */
export class FlushTimedOut extends Data.TaggedError("FlushTimedOut")<{ readonly space: string; readonly millis: number }> {
  readonly code = "flush/timeout"
  override get message() {
    return `a flush of space "${this.space}" took longer than the ${this.millis} ms of limits.flushMillis. Check the disk or the database`
  }
}

/** The label of an address exceeds the reader's clearance. */
export class Withheld extends Data.TaggedError("Withheld")<{
  readonly address: string
  /** The name of the reader; `undefined` for a request without a credential. */
  readonly reader: string | undefined
}> {
  readonly code = "label/withheld"
  override get message() {
    const from = this.reader === undefined ? "requests without a credential" : `reader "${this.reader}"`
    return `${this.address} is withheld from ${from}, whatever is there. Ask with the token of a reader that is cleared ` +
      "for it"
  }
}

/** A reader sends a signal that only the runtime and the operator may send. */
export class SignalReserved extends Data.TaggedError("SignalReserved")<{ readonly signal: string; readonly reader: string }> {
  readonly code = "label/withheld"
  override get message() {
    return `${this.signal.slice(0, 200)} is reserved, and reader "${this.reader}" cannot send it. Send one of another name, report ` +
      "on a rendezvous with its token, or ask with the operator's token"
  }
}

/** A sender with some addresses sends a signal to another one. */
export class SignalBeyond extends Data.TaggedError("SignalBeyond")<{ readonly address: string; readonly reader: string }> {
  readonly code = "access/prefix"
  override get message() {
    return `The signal is for ${this.address.slice(0, 200)}, which is under no prefix of ${this.reader}. Send it to a target under one`
  }
}

/** A cell is not settled, and the wait of its pull is over. */
export class CellHeld extends Data.TaggedError("CellHeld")<{
  readonly address: string
  /** When to ask again: a time in milliseconds since 1970, and a delay in milliseconds. */
  readonly at: number
  readonly after: number
}> {
  readonly code = "cell/held"
  override get message() {
    return `${this.address} is not up to date: a debounce, a throttle or a backoff holds a node that it is derived from, or no beat ` +
      `came to run it. Ask again in ${this.after} ms, or wait longer`
  }
}
