/**
 * Advances the requests of one beat.
 *
 * At the capture, completions and due times change the cells of requests. At the merge, launches become cells. At the
 * commit, each finished request sends its one result [S3 §Reactor lifecycle & scheduling].
 *
 * @module
 */
import * as Document from "../cell/Document.ts"
import type { Value } from "../cell/Value.ts"
import * as Diagnostic from "../diagnostic/Diagnostic.ts"
import type { Launcher, OutwardWork } from "../ledger/Ledger.ts"
import type { CommittedState } from "../stage/BeatClock.ts"
import * as Due from "../stage/Due.ts"
import type { RequestLaunch } from "../stage/Launches.ts"
import * as Semantics from "../stage/Semantics.ts"
import { CAPTURE } from "../stage/Stage.ts"
import type { Beat, Output } from "./Kinds.ts"
import * as OpenRequests from "./OpenRequests.ts"
import { BROKEN_OFF, ETIMEDOUT, HELD, INTERRUPTED } from "./Failures.ts"
import * as Requests from "./Request.ts"
import * as Watchers from "./Watchers.ts"
import { type FinishedRequest, workOf } from "./Work.ts"

/** The longest wait between attempts, in beats. */
const MAX_BACKOFF = 64

/** The verb and the target of the shared dossier. */
const SHARED = { verb: "op/io", target: "/rt/async" }

/** The numbers of the failures of attempts without an answer of the other side, which may have had their effect. */
const DOUBTFUL: ReadonlySet<number> = new Set([ETIMEDOUT.errno, INTERRUPTED.restarted.errno, ...BROKEN_OFF])

/**
 * Processes completions and due times.
 */
export const atCapture = (beat: Beat): void => {
  const { due, input, state } = beat
  if (input !== undefined && input.completions.length > 0) {
    beat.useInput()
    for (const completion of input.completions) complete(beat, completion)
  }
  Watchers.fire(beat)
  for (const key of due) {
    const open = state.get(OpenRequests.ofTimer(key))
    if (open !== undefined) elapse(beat, open)
  }
}

const newest = ({ stage }: Beat, { oid, rid }: Pick<OpenRequests.Open, "oid" | "rid">): Requests.Request | undefined =>
  Requests.read(stage.newest(Requests.address(oid, rid).key))

/** The end of one attempt: the result, or a wait for the next attempt. */
const complete = (beat: Beat, completion: OpenRequests.Completion): void => {
  const { bytes, failure, rid, shim, value } = completion
  const open = beat.state.get(rid)
  const request = open === undefined ? undefined : newest(beat, open)
  if (shim) unsupported(beat, Requests.channelOf(rid))
  // The abort of the first job of a shim reports the shim alone.
  if (shim && open === undefined) return
  if (open !== undefined && request === undefined) return clear(beat, open)
  if (open === undefined || request === undefined || request.state !== "pending" || request.attempt !== completion.attempt) {
    return beat.diagnose(Diagnostic.of("io/late", {
      note: `request ${rid} completed when it was over`,
      origin: { kind: "runtime", name: "reactor" },
      subject: undefined
    }))
  }
  if (failure === undefined) {
    const { code: _code, errno: _errno, note: _note, uncertain: _, ...rest } = request
    const done = { ...rest, state: "complete", bytes_done: bytes ?? request.bytes_expected } as const
    return finish(beat, { open, request: done, value }, CAPTURE)
  }
  if (failure.code === HELD.code) return hold(beat, open, request)
  const { retryAfterMs, retryable, ...reason } = failure
  const isDoubtful = DOUBTFUL.has(failure.errno) && Semantics.follows(beat.moment, "doubtIsRecorded")
  const failed = { ...request, ...reason, bytes_done: bytes ?? 0, ...isDoubtful ? { uncertain: true } : {} }
  if (retryable && request.attempt < request.attempts) return postpone(beat, open, { failed, retryAfterMs })
  const asked = retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }
  const end = { ...failed, ...asked, state: "fail" } as const
  finish(beat, { open, request: end, value: undefined }, CAPTURE)
}

/** Clears the entry of a request without a record. */
const clear = (beat: Beat, { rid }: Pick<OpenRequests.Open, "rid">): void => {
  beat.stage.put(Requests.indexAddress(rid), undefined, CAPTURE)
  workOf(beat).cleared.push(rid)
}

/** Reports a channel that works on a thread, once per opening. */
const unsupported = (beat: Beat, channel: string): void =>
  beat.diagnose(Diagnostic.of("tp_async_unsp", {
    note: `channel ${channel} works on a thread`,
    origin: { kind: "runtime", name: "reactor" },
    subject: Requests.channelAddress(Requests.SHARED, channel)
  }))

/** Waits until the space continues: the attempt is counted when it begins. */
const hold = (beat: Beat, open: OpenRequests.Open, request: Requests.Request): void => {
  const next = Due.after(1, beat.moment)
  put(beat, open, { ...request, state: "pending_retry", attempt: request.attempt - 1, retry_beat: next.beat, retry_ms: next.moment })
  workOf(beat).timed.add(open.rid)
}

/** A request with a failed attempt, and the wait that the other side requested. */
interface Failing {
  readonly failed: Requests.Request
  readonly retryAfterMs: number | undefined
}

/** Waits 1, 2, 4 … beats for the next attempt, and as long as the other side requests, at most until the deadline. */
const postpone = (beat: Beat, open: OpenRequests.Open, { failed, retryAfterMs = 0 }: Failing): void => {
  const { attempt, deadline_unix_ns } = failed
  const next = Due.after(Math.min(2 ** (attempt - 1), MAX_BACKOFF), beat.moment)
  const deadline = deadline_unix_ns === undefined ? Infinity : Number(deadline_unix_ns / 1_000_000n)
  const asked = Math.min(beat.moment.clock + retryAfterMs, deadline)
  put(beat, open, { ...failed, state: "pending_retry", retry_beat: next.beat, retry_ms: Math.max(next.moment, asked) })
  workOf(beat).timed.add(open.rid)
}

/** A due time of a request: it misses its deadline, or its next attempt begins. */
const elapse = (beat: Beat, open: OpenRequests.Open): void => {
  const request = newest(beat, open)
  if (request === undefined || Requests.isFinished(request)) return
  const { moment } = beat
  if (OpenRequests.deadlines(request, () => moment.tempo).some((due) => Due.isOver(due, moment))) return timeOut(beat, open, request)
  const { attempt, retry_beat, retry_ms, state, ...rest } = request
  workOf(beat).timed.add(open.rid)
  if (state !== "pending_retry" || !Due.isOver({ beat: retry_beat, moment: retry_ms }, moment)) return
  put(beat, open, { ...rest, state: "pending", attempt: attempt + 1 })
  workOf(beat).repeated.add(open.rid)
}

const timeOut = (beat: Beat, open: OpenRequests.Open, request: Requests.Request): void => {
  missed(beat, open, request)
  workOf(beat).aborted.push(open.rid)
  const { code, errno } = ETIMEDOUT
  finish(beat, { open, request: unanswered(beat, open, { request, end: { state: "fail", errno, code } }), value: undefined }, CAPTURE)
}

/** Reports a missed deadline. */
const missed = (beat: Beat, open: OpenRequests.Open, { channel, enzyme, opcode, topic }: Requests.Request): void => {
  workOf(beat).missed++
  beat.diagnose({
    ...Diagnostic.of(Requests.MISSED, {
      note: `request ${open.rid} (${channel} ${opcode}) missed its deadline`,
      origin: { kind: "enzyme", name: enzyme },
      subject: Requests.address(open.oid, open.rid),
      code: ETIMEDOUT.code
    }),
    topic
  })
}

/** Reports a request in progress that a pause or a shutdown does not await any longer. */
const undone = (beat: Beat, open: OpenRequests.Open, { channel, enzyme, opcode, topic }: Requests.Request): void => {
  workOf(beat).missed++
  const fact = Diagnostic.of("persist.async.tmo", {
    note: `request ${open.rid} (${channel} ${opcode}) was in progress when its space did not wait any longer`,
    origin: { kind: "enzyme", name: enzyme },
    subject: Requests.address(open.oid, open.rid),
    code: INTERRUPTED.cancelled.code
  })
  beat.diagnose(topic === Requests.MISSED ? fact : { ...fact, topic })
}

const put = ({ stage }: Beat, { oid, rid }: Pick<OpenRequests.Open, "oid" | "rid">, request: Requests.Request): void =>
  stage.put(Requests.address(oid, rid), Requests.write(request), CAPTURE)

/** Writes a result. Its signal follows at the commit; a durable run that awaits it continues. */
const finish = (beat: Beat, finished: FinishedRequest, writer: number): void => {
  const { open, request: { retry_beat: _beat, retry_ms: _ms, ...request } } = finished
  beat.stage.put(Requests.address(open.oid, open.rid), Requests.write(request), writer)
  beat.stage.put(Requests.indexAddress(open.rid), undefined, writer)
  if (open.oid !== Requests.SHARED) {
    // A durable run takes the result from the cells, in this beat or when it is next able to run.
    const at = Requests.address(open.oid, open.rid, "value")
    if (finished.value === undefined) beat.stage.absent(at)
    else beat.stage.create(at, finished.value, writer)
    if (finished.isSilent !== true) beat.resume(open.oid, open.rid)
  }
  const work = workOf(beat)
  work.finished.push({ ...finished, request })
  work.timed.delete(open.rid)
}

/** Merges the launches of a run. */
export const merge = (launches: ReadonlyArray<RequestLaunch>, { run }: Launcher, beat: Beat): void => {
  for (const launch of launches) {
    if (launch.kind === "request") open(beat, launch, run)
    else if (launch.kind === "watch") watch(beat, launch, run)
    else if (launch.kind === "repeat") repeat(beat, launch, run)
    else if (launch.kind === "end") end(beat, launch.oid, run)
    else cancel(beat, launch.rid, { writer: run, isSilent: launch.isSilent ?? false })
  }
}

/** Adds a watcher of a channel, and the channel like a request to it. */
const watch = (beat: Beat, launch: Extract<RequestLaunch, { readonly kind: "watch" }>, run: number): void => {
  declare(beat, launch.channel, run)
  Watchers.add(beat, launch, run)
}

/** Writes the shared dossier, and the cell of a channel that differs from the configuration. */
const declare = (beat: Beat, channel: string, run: number): void => {
  const { input, stage } = beat
  const work = workOf(beat)
  if (work.opened.length === 0) beat.launch("op", { kind: "start", oid: Requests.SHARED, ...SHARED })
  const declared = input?.channels.get(channel)
  if (declared === undefined || work.recorded.has(channel)) return
  work.recorded.add(channel)
  stage.put(Requests.channelAddress(Requests.SHARED, channel), Document.encode(declared), run)
  const watchers = Requests.channelAddress(Requests.SHARED, channel, "watchers")
  if (stage.newest(watchers.key) === undefined) stage.put(watchers, Document.encode({}), run)
}

/** Opens a request: its cells, its channel if the cell differs from the configuration, and the shared dossier. */
const open = (beat: Beat, launch: Extract<RequestLaunch, { readonly kind: "request" }>, run: number): void => {
  const { stage } = beat
  const { channel, documents, oid, rid } = launch
  const work = workOf(beat)
  declare(beat, channel, run)
  for (const [address, document] of documents) stage.create(address, document, run)
  stage.create(Requests.indexAddress(rid), Document.encode(oid), run)
  work.opened.push({ oid, rid, hasPayload: documents.length > 1 })
  work.timed.add(rid)
}

/** Whether a request failed, so that it can be made again. */
export const isRepeatable = (beat: Beat, place: Pick<OpenRequests.Open, "oid" | "rid">): boolean => {
  const request = newest(beat, place)
  return request !== undefined && Requests.isFinished(request) && request.state !== "complete"
}

/** Opens a failed request again, with the same key and its deadlines from now on. */
const repeat = (beat: Beat, place: Pick<OpenRequests.Open, "oid" | "rid">, run: number): void => {
  const { moment, stage } = beat
  const failed = isRepeatable(beat, place) ? newest(beat, place) : undefined
  if (failed === undefined) return
  const work = workOf(beat)
  declare(beat, failed.channel, run)
  stage.put(Requests.address(place.oid, place.rid), Requests.write(renewed(failed, moment)), run)
  stage.put(Requests.indexAddress(place.rid), Document.encode(place.oid), run)
  const hasPayload = stage.newest(Requests.address(place.oid, place.rid, "payload").key) !== undefined
  work.opened.push({ ...place, hasPayload })
  work.timed.add(place.rid)
}

/** A request as if it was made now. The doubt about an earlier attempt stays. */
const renewed = (failed: Requests.Request, { beat, clock }: Beat["moment"]): Requests.Request => {
  const { code: _code, deadline_beat: _beat, errno: _errno, note: _note, retry_after_ms: _after, ...request } = failed
  const { beats_budget, deadline_unix_ns, issued_ms } = request
  return {
    ...request,
    ...(beats_budget === undefined ? {} : { deadline_beat: beat + beats_budget }),
    ...(deadline_unix_ns === undefined ? {} : { deadline_unix_ns: deadline_unix_ns + BigInt(clock - issued_ms) * 1_000_000n }),
    state: "pending",
    bytes_done: 0,
    attempt: 1,
    issued_beat: beat,
    issued_ms: clock
  }
}

/** The author of a cancellation, and whether nobody hears of it. */
interface Cancelling {
  readonly writer: number
  readonly isSilent?: boolean
}

/** Cancels a request that has no result yet. Returns false for any other. */
export const cancel = (beat: Beat, rid: string, { isSilent = false, writer }: Cancelling): boolean => {
  const { stage } = beat
  const oid = Document.read(stage.newest(Requests.indexAddress(rid).key), []) as string | undefined
  const request = oid === undefined ? undefined : newest(beat, { oid, rid })
  if (oid === undefined || request === undefined || Requests.isFinished(request)) return false
  workOf(beat).aborted.push(rid)
  const { code, errno } = INTERRUPTED.cancelled
  const cancelled = unanswered(beat, { rid }, { request, end: { state: "cnl", errno, code } })
  finish(beat, { open: { oid, rid }, request: cancelled, value: undefined, isSilent }, writer)
  return true
}

/** Cancels the open requests of a durable run that is over. No run hears of it. */
const end = (beat: Beat, oid: string, writer: number): void => {
  for (const { rid } of beat.state.ofRun(oid)) cancel(beat, rid, { writer, isSilent: true })
  for (const opened of beat.work?.opened ?? []) if (opened.oid === oid) cancel(beat, opened.rid, { writer, isSilent: true })
}

/** A request, and its end by the reactor. */
interface Unanswered {
  readonly request: Requests.Request
  readonly end: Pick<Requests.Request, "code" | "errno" | "state">
}

/** The record of a request that ends without an answer of its channel. An attempt of an earlier beat may be on its way. */
const unanswered = ({ moment, work }: Beat, { rid }: Pick<OpenRequests.Open, "rid">, { end, request }: Unanswered): Requests.Request => {
  const isSubmitted = request.state === "pending" && request.issued_beat < moment.beat && work?.repeated.has(rid) !== true
  return { ...request, ...end, ...isSubmitted && Semantics.follows(moment, "doubtIsRecorded") ? { uncertain: true } : {} }
}

/** Cancels all requests in progress, because a pause or a shutdown does not wait longer. */
export const abandon = (beat: Beat): void => {
  // A repeated request is a later one in memory, and not in a space that opens.
  for (const open of [...beat.state.all()].sort((a, b) => Requests.bySubmission(a.rid, b.rid))) {
    const request = newest(beat, open)
    if (request === undefined) clear(beat, open)
    if (request?.state !== "pending") continue
    if (Semantics.follows(beat.moment, "doubtIsRecorded")) undone(beat, open, request)
    else missed(beat, open, request)
    cancel(beat, open.rid, { writer: CAPTURE })
  }
}

/** The open requests, by the dates at which they were made. */
export function* waiting(state: OpenRequests.OpenRequests, documents: Pick<CommittedState, "read">): Generator<OutwardWork> {
  for (const { oid, rid } of state.all()) {
    const request = Requests.read(documents.read(Requests.address(oid, rid).key))
    if (request === undefined) continue
    yield { id: rid, name: `${request.channel} ${request.opcode}`, date: Requests.dateOf(request, documents) }
  }
}

/** Ends all open requests of a space that was detached after a beat: its original may have asked those from before. */
export const interrupt = (beat: Beat, since: number): void => {
  const { code, errno } = INTERRUPTED.restarted
  const end = { state: "fail", code, errno } as const
  for (const open of [...beat.state.all()].toSorted((a, b) => Requests.bySubmission(a.rid, b.rid))) {
    const request = newest(beat, open)
    if (request === undefined) clear(beat, open)
    if (request === undefined || Requests.isFinished(request)) continue
    workOf(beat).aborted.push(open.rid)
    const ended = request.issued_beat > since ? { ...request, ...end } : unanswered(beat, open, { request, end })
    finish(beat, { open, request: ended, value: undefined }, CAPTURE)
  }
}

/**
 * Takes requests back: those in progress are cancelled. A request that was open at the beat `to` and has its result since
 * is marked as cancelled, because the handling of its result is undone. A requesting run that is undone hears nothing.
 */
export const takeBack = (beat: Beat, changed: ReadonlyArray<string>, to: number): ReadonlyArray<Value> => {
  const { code, errno } = INTERRUPTED.takenBack
  const places = new Map(changed.map((name) => [name, Requests.ofName(name)]))
  for (const open of beat.state.all()) places.set(Requests.nameOf(open), open)
  return [...places.values()].sort((a, b) => Requests.bySubmission(a.rid, b.rid)).flatMap((place) => {
    const { rid } = place
    const request = newest(beat, place)
    const isOpen = beat.state.get(rid) !== undefined
    const wasOpen = request !== undefined && request.issued_beat <= to
    if (request === undefined && isOpen) clear(beat, place)
    if (request === undefined || (!wasOpen && !isOpen)) return []
    const closed = unanswered(beat, place, { request, end: { state: "cnl", errno, code } })
    if (!isOpen) put(beat, place, closed)
    else {
      workOf(beat).aborted.push(rid)
      finish(beat, { open: place, request: closed, value: undefined, isSilent: !wasOpen }, CAPTURE)
      if (!wasOpen && place.oid !== Requests.SHARED) beat.resume(place.oid)
    }
    const { channel, issued_beat, opcode, state } = request
    return [{ rid, channel, opcode, state, issued_beat }]
  })
}

/**
 * Sends the results of the beat.
 */
export const atCommit = (beat: Beat): void => {
  Watchers.atCommit(beat)
  for (const { isSilent = false, open: { oid, rid }, request, value } of beat.work?.finished ?? []) {
    if (isSilent) continue
    const { depth, enzyme, signal } = request
    if (oid !== Requests.SHARED) continue
    const payload = Document.encode(Requests.resultOf(rid, request, value))
    beat.send({ signal, target: Requests.address(oid, rid).key, payload, depth, awaits: enzyme })
  }
}

/**
 * Updates the open requests once the beat is in the store. Returns the work of the live half.
 */
export const committed = (beat: Beat): Output | undefined => {
  const { input, moment, stage, state, work } = beat
  const drain = { beat: moment.beat, completed: input?.completions.length ?? 0, missed: work?.missed ?? 0 }
  if (work === undefined) return drain.completed === 0 ? undefined : { drain, submitted: [], aborted: [], watched: [] }
  for (const { hasPayload, oid, rid } of work.opened) state.add(oid, rid, hasPayload)
  for (const { open: { rid } } of work.finished) beat.reschedule(state.remove(rid))
  for (const rid of work.cleared) beat.reschedule(state.remove(rid))
  for (const rid of work.timed) {
    const found = state.get(rid)
    const request = found === undefined ? undefined : Requests.read(stage.newest(Requests.address(found.oid, rid).key))
    if (request !== undefined) beat.reschedule(state.see(rid, request, () => moment.tempo))
  }
  for (const channel of work.recorded) state.recorded(channel)
  const submitted = [...work.repeated, ...work.opened.map(({ rid }) => rid)].filter((rid) => state.get(rid) !== undefined)
  const { aborted } = work
  return { drain, submitted, aborted, watched: Watchers.committed(beat) }
}
