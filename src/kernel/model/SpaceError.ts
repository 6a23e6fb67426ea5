/**
 * The refusals and failures of a space.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import { PersistenceError } from "../../persistence/PersistenceError.ts"

/** A caller's id was used before with other content. */
export class IdReused extends Schema.TaggedError<IdReused>()("IdReused", { id: Schema.String }) {
  readonly code = "signal/id-reused"
  override get message() {
    return `The id "${this.id}" was used before for this signal and target with another payload. Send a new id, or the first payload again`
  }
}

/** The inbox is full. */
export class InboxFull extends Schema.TaggedError<InboxFull>()("InboxFull", { space: Schema.String, limit: Schema.String }) {
  readonly code = "inbox/full"
  override get message() {
    return `The inbox of space "${this.space}" is full (${this.limit}). Nothing of this signal was taken; send it again in a moment`
  }
}

/** Another history session of the space is open. */
export class HistoryBusy extends Schema.TaggedError<HistoryBusy>()("HistoryBusy", { space: Schema.String }) {
  readonly code = "history/busy"
  override get message() {
    return `Space "${this.space}" is being verified, replayed or explained for somebody else, which is done for one at a time. Ask ` +
      "again in a moment"
  }
}

/** A write from outside is refused. */
export class WriteRefused extends Schema.TaggedError<WriteRefused>()("WriteRefused", { address: Schema.String, reason: Schema.String }) {
  readonly code = "cell/refused"
  override get message() {
    return `${this.address} cannot be written: ${this.reason}`
  }
}

/** A lifecycle request is refused. */
export class ControlRefused extends Schema.TaggedError<ControlRefused>()("ControlRefused", { verb: Schema.String, reason: Schema.String }) {
  readonly code = "control/refused"
  override get message() {
    return `The space cannot do "${this.verb}" now: ${this.reason}`
  }
}

/** The handling has no dead letter. */
export class DeadAbsent extends Schema.TaggedError<DeadAbsent>()(
  "DeadAbsent",
  { space: Schema.String, id: Schema.String, enzyme: Schema.String }
) {
  readonly code = "dead/absent"
  override get message() {
    return `Space "${this.space}" has no dead letter of "${this.id.slice(0, 200)}" by "${this.enzyme.slice(0, 200)}": no such handling ` +
      "failed, or it was sent again already. List the letters there are"
  }
}

/** A run returned fatal: the beat was not committed, and the next one gets its number. */
export class BeatAborted extends Schema.TaggedError<BeatAborted>()("BeatAborted", {
  beat: Schema.Int,
  enzyme: Schema.String,
  signal: Schema.String,
  reason: Schema.String
}) {
  readonly code = "beat/aborted"
  override get message() {
    return `Beat ${this.beat} was aborted by enzyme "${this.enzyme}" on ${this.signal}: ${this.reason}. The next beat runs its input ` +
      "again without that handling"
  }
}

/** The space stopped. Accepted signals that are not durable are lost and must be sent again. */
export class SpaceStopped extends Schema.TaggedError<SpaceStopped>()("SpaceStopped", {
  space: Schema.String,
  reason: Schema.String,
  /** True if stored data is damaged, so that sending again does not help. */
  isDamaged: Schema.optionalKey(Schema.Boolean)
}) {
  readonly topic = "space/stopped"
  get code(): "space/stopped" | "store/damaged" {
    return this.isDamaged === true ? "store/damaged" : "space/stopped"
  }
  override get message() {
    const remedy = this.isDamaged === true ? "" : ". Send the request again; the space opens from what is durable"
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

/** A flush exceeded its time limit, so it is unknown whether its group is durable. */
export class FlushTimedOut extends Schema.TaggedError<FlushTimedOut>()("FlushTimedOut", { space: Schema.String, millis: Schema.Number }) {
  readonly code = "flush/timeout"
  override get message() {
    return `a flush of space "${this.space}" took longer than the ${this.millis} ms of limits.flushMillis. Check the disk or the database`
  }
}

/** The label of an address exceeds the reader's clearance. */
export class Withheld extends Schema.TaggedError<Withheld>()("Withheld", { address: Schema.String, reader: Schema.String }) {
  readonly code = "label/withheld"
  override get message() {
    return `${this.address} is withheld from reader "${this.reader}", whatever is there. Ask with the token of a reader that is cleared ` +
      "for it"
  }
}

/** A cell is not settled, and the wait of its pull is over. */
export class CellHeld extends Schema.TaggedError<CellHeld>()("CellHeld", {
  address: Schema.String,
  /** When to ask again: a time in milliseconds since 1970, and a delay in milliseconds. */
  at: Schema.Number,
  after: Schema.Number
}) {
  readonly code = "cell/held"
  override get message() {
    return `${this.address} is not up to date: a debounce, a throttle or a backoff holds a node that it is derived from, or no beat ` +
      `came to run it. Ask again in ${this.after} ms, or wait longer`
  }
}
