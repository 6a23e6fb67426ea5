/**
 * The results with which a segment begins: of its sleeps, requests, signals and events, or the failures of a cancelled run.
 *
 * @module
 */
import * as Document from "../../cell/Document.ts"
import * as Label from "../../cell/Label.ts"
import type { Value } from "../../cell/Value.ts"
import type { Continuation } from "../../durable/Continuation.ts"
import type { HandleResult } from "../../durable/Handle.ts"
import type * as Note from "../../durable/Note.ts"
import { RunCancelled } from "../../durable/RunError.ts"
import * as SentEvent from "../../durable/SentEvent.ts"
import * as Requests from "../../reactor/Request.ts"
import type { Draft } from "../../stage/Draft.ts"
import { cancellation } from "../../stage/Launches.ts"
import type { Heard } from "../model/Signal.ts"
import * as Hearing from "./Hearing.ts"

/** A run that goes on: its draft, its operation, and the note for its segment. */
interface Resumed {
  readonly draft: Draft
  readonly oid: string
  readonly note: Note.Note
}

/** The results with which a segment begins, and the note for the next one. */
export interface Results {
  readonly settled: ReadonlyArray<HandleResult>
  readonly note: Note.Note | undefined
}

/** Second copies of results, by the numbers of their handles. */
export type Copies = Map<number, HandleResult>

/** The results of a cancelled run that arrived before come first. The next segment then fails all open handles. */
export const of = (continuation: Continuation, context: Resumed, copies: Copies): Results => {
  const { cancel, isLate } = context.note
  if (cancel !== undefined && isLate === true) return { settled: cancelledOf(continuation, context), note: undefined }
  const settled = settledOf(continuation, context, copies)
  if (cancel === undefined) return { settled, note: undefined }
  if (settled.length > 0) return { settled, note: { cancel, isLate: true } }
  return { settled: cancelledOf(continuation, context), note: undefined }
}

/** Failures of all open handles. Their requests are cancelled with the merge of the segment. */
const cancelledOf = (continuation: Continuation, { draft, oid }: Resumed): ReadonlyArray<HandleResult> => {
  const { _tag, code, message } = new RunCancelled({ oid })
  return Array.from(continuation.tx.handles.all(), ([number, awaited]) => {
    if (awaited.kind === "request") draft.operate([], cancellation(awaited.rid))
    return [number, "failed", _tag, code, message]
  })
}

/**
 * The results of handles that this beat has, in the order of their calls. The body may change a rich one, and the log keeps its
 * own, so there is a copy of each for the body.
 */
const settledOf = (continuation: Continuation, { draft, oid }: Resumed, copies: Copies): ReadonlyArray<HandleResult> => {
  const ok = (number: number, document: Document.Document | undefined, make: () => Value): HandleResult => {
    if (document !== undefined && Document.isRich(document)) copies.set(number, [number, "ok", make()])
    return [number, "ok", make()]
  }
  return continuation.tx.handles.settled({
    now: draft.moment,
    answered: (number, awaited) => awaited.kind === "event"
      ? told(number, awaited.id, { draft, oid })
      : answered(number, awaited.rid, { draft, oid, ok }),
    heard: (number, wait) => heard(number, { oid, ...wait }, { draft, ok })
  })
}

/** The draft of a segment, and the result of a handle from its document. */
interface Settling extends Pick<Resumed, "draft" | "oid"> {
  readonly ok: (number: number, document: Document.Document | undefined, make: () => Value) => HandleResult
}

/** A signal that the run has heard. The run then has the label of the signal. */
const heard = (number: number, by: Omit<Heard, "isAwaited">, { draft, ok }: Omit<Settling, "oid">): HandleResult | undefined => {
  const found = Hearing.read(by, (key) => draft.stage.visible(key))
  if (found === undefined) return undefined
  draft.label = Label.join(draft.label, found.label)
  return ok(number, found.payload, found.value)
}

/** The end of an event, if it has ended. The run then has the labels of its handlings. */
const told = (number: number, id: string, { draft, oid }: Pick<Settling, "draft" | "oid">): HandleResult | undefined => {
  const { end, label = Label.none } = SentEvent.read(draft.stage.visible(SentEvent.addressOf(oid, id).key)) ?? {}
  if (end === undefined) return undefined
  draft.label = Label.join(draft.label, label)
  return [number, "ok", end as unknown as Value]
}

/** The result of a request, if it has one. The run then knows the label of the request. */
const answered = (number: number, rid: string, { draft, oid, ok }: Settling): HandleResult | undefined => {
  const { key } = Requests.address(oid, rid)
  const request = Requests.read(draft.stage.visible(key))
  if (request === undefined || !Requests.isFinished(request)) return undefined
  draft.rise(key)
  if (request.state === "complete") {
    const value = draft.stage.visible(Requests.address(oid, rid, "value").key)
    return ok(number, value, () => Requests.resultOf(rid, request, value) as unknown as Value)
  }
  const { channel, code = "io/failed", note, opcode, retry_after_ms: wait, state, uncertain = false } = request
  const reason = note === undefined ? "" : `: ${note}`
  const doubt = uncertain ? "; an attempt may have had its effect" : ""
  const message = `request ${rid} (${channel} ${opcode}) ended with ${state} (${code})${reason}${doubt}`
  const failed = [number, "failed", "RequestFailed", code, message] as const
  return wait === undefined ? failed : [...failed, wait]
}
