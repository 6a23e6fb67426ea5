/**
 * Requests and channels as cells of a dossier [S3 §Control-plane directories].
 *
 *     /rt/ops/<oid>/io_req/<rid>           { state, channel, opcode, beats_budget?, deadline_beat?, deadline_unix_ns?, … }
 *     /rt/ops/<oid>/io_req/<rid>/payload   the arguments
 *     /rt/ops/<oid>/io_req/<rid>/value     the value of the result
 *     /rt/ops/<oid>/io_chan/<cid>          { target_path?, provider_id, reactor_id, caps, shim, opcodes, … }
 *     /rt/ops/<oid>/io_chan/<cid>/watchers { <enzyme>: { signal, depth } }
 *     /rt/ops/<oid>/io_reactor             { draining?, paused?, shutting_down?, deadline_beats? }
 *     /sys/index/io/<rid>                  the dossier of an open request
 *
 * Requests that send a signal lie in one dossier of the space, `OPS:io`; those that a durable run awaits lie in the
 * dossier of the run. The id of a request begins with its channel, so that rules on labels can name the requests of a
 * channel.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Document from "../cell/Document.ts"
import * as Link from "../cell/Link.ts"
import * as Name from "../cell/Name.ts"
import type { Value } from "../cell/Value.ts"
import { DEAD } from "../ledger/RunState.ts"
import type { CommittedState } from "../stage/BeatClock.ts"
import type { IoResult } from "../stage/Io.ts"
import type { LaunchRecord } from "../stage/Launches.ts"
import * as SpaceClock from "../stage/SpaceClock.ts"

/** The dossier of the requests of ordinary runs. */
export const SHARED = "OPS:io"

/** The folder of dossiers. */
export const DOSSIERS = "/rt/ops"

/** The folder of the requests of ordinary runs. */
export const FOLDER = `${DOSSIERS}/${SHARED}/io_req`

/** The folder of the channels to which ordinary runs make requests. */
export const CHANNELS = `${DOSSIERS}/${SHARED}/io_chan`

/** The folder of the index of open requests. */
export const OPEN = "/sys/index/io"

/** The topic of a missed deadline, unless the request names another one. */
export const MISSED = "op/tmo"

/** The states of a request. */
export type State = "pending" | "pending_retry" | "complete" | "fail" | "cnl"

/** A request, as its cell holds it. */
export interface Request {
  readonly state: State
  readonly channel: string
  readonly opcode: string
  /** The budget in beats, and the deadlines that follow: a beat, and nanoseconds since 1970. */
  readonly beats_budget?: number
  readonly deadline_beat?: number
  readonly deadline_unix_ns?: bigint
  readonly bytes_expected: number
  readonly bytes_done: number
  readonly errno?: number
  /** A link to the counters of its channel. An earlier version recorded the name of the counters alone. */
  readonly telemetry_id: Telemetry
  /** The idempotency key, equal in all attempts and re-executions. */
  readonly key: string
  /** The signal of the result, and the enzyme that receives it. */
  readonly signal: string
  readonly enzyme: string
  /** The length of the signal chain of the result. */
  readonly depth: number
  /** The number of the attempt, 0 while none has begun, and the maximum. */
  readonly attempt: number
  readonly attempts: number
  /** The topic of the diagnostic for a missed deadline. */
  readonly topic: string
  readonly issued_beat: number
  readonly issued_ms: number
  /** The due time of the next attempt, in the state `pending_retry`. */
  readonly retry_beat?: number
  readonly retry_ms?: number
  /** The stable code of the failure. */
  readonly code?: string
  /** The reason that the channel gave for the newest failed attempt. */
  readonly note?: string
  /** The wait in milliseconds that the other side requested with the failure. */
  readonly retry_after_ms?: number
  /** Whether an attempt ended without an answer, as by a time-out, so that it may have had its effect. No success has it. */
  readonly uncertain?: boolean
}

/** A channel, as its cell holds it: a declaration of the configuration. */
export interface DeclaredChannel {
  readonly target_path?: string
  readonly provider_id: string
  readonly reactor_id: string
  readonly caps: ReadonlyArray<string>
  readonly shim: boolean
  /** The opcodes, and whether each may be executed again after a restart. */
  readonly opcodes: { readonly [opcode: string]: boolean }
  /** The default budget of a request, in beats or as a time such as `"10s"`. */
  readonly budget?: number | string
  /** The atoms that data on the channel may have. */
  readonly clearance: ReadonlyArray<string>
  /** The atoms of its answers; a completion also has those of the clearance. */
  readonly label: ReadonlyArray<string>
  readonly telemetry_id: Telemetry
}

/** The counters of a channel: a link to their view, or their name. */
export type Telemetry = Link.Link | string

/** The address of a request, or of a cell below it. */
export const address = (oid: string, rid: string, ...below: ReadonlyArray<string>): Address.Address =>
  Address.make(below.length === 0 ? `${DOSSIERS}/${oid}/io_req/${rid}` : [DOSSIERS, oid, "io_req", rid, ...below].join("/"))

/** The date at which a request was made, in milliseconds since 1970. Its other times are by the clock of the space. */
export const dateOf = ({ issued_beat, issued_ms }: Request, documents: Pick<CommittedState, "read">): number =>
  issued_ms - SpaceClock.shiftAt(SpaceClock.read(documents.read(SpaceClock.ADDRESS.key)), issued_beat)

/** The folder of the requests of a dossier. */
export const folderOf = (oid: string): string => `${DOSSIERS}/${oid}/io_req`

export const channelAddress = (oid: string, cid: string, ...below: ReadonlyArray<string>): Address.Address =>
  Address.make([DOSSIERS, oid, "io_chan", cid, ...below].join("/"))

/** The address of an operation's cell. */
export const dossierAddress = (oid: string): Address.Address => Address.make(`${DOSSIERS}/${oid}`)

export const reactorAddress = (oid: string): Address.Address => Address.make(`${DOSSIERS}/${oid}/io_reactor`)

/** The address of a request in the index of open requests. */
export const indexAddress = (rid: string): Address.Address => Address.make(`${OPEN}/${rid}`)

export const linkTo = (place: Address.Address): Link.Link => Link.make(place.text)

/** A request from its document. */
export const read = (document: Document.Document | undefined): Request | undefined =>
  Document.read(document, []) as unknown as Request | undefined

/** A request as a document. */
export const write = (request: Request): Document.Document => Document.encode(request as unknown as Value)

/** A channel from its document. */
export const readChannel = (document: Document.Document | undefined): DeclaredChannel | undefined =>
  Document.read(document, []) as unknown as DeclaredChannel | undefined

/**
 * The result of a finished request.
 */
export const resultOf = (rid: string, request: Request, value: Document.Document | undefined): IoResult => {
  const { attempt, bytes_done, channel, code, errno, note, opcode, retry_after_ms, state, uncertain } = request
  // In the order of the keys, as the step log and a signal have it.
  return Object.freeze({
    attempt, bytes_done, channel,
    ...(code === undefined ? {} : { code }),
    ...(errno === undefined ? {} : { errno }),
    ...(note === undefined ? {} : { note }),
    opcode,
    ...(retry_after_ms === undefined ? {} : { retry_after_ms }),
    rid,
    state: state as IoResult["state"],
    ...(uncertain === undefined ? {} : { uncertain }),
    ...(value === undefined ? {} : { value: Document.read(value, []) })
  })
}

/** A launch that cancels the open requests of a durable run that is over. */
export const ending = (oid: string): LaunchRecord<"io"> => ({ ledger: "io", launch: { kind: "end", oid }, shows: [] })

/** A launch that repeats a failed request of a durable run. */
export const repetition = (oid: string, rid: string): LaunchRecord<"io"> =>
  ({ ledger: "io", launch: { kind: "repeat", oid, rid }, shows: [] })

/** Whether a request has its result. */
export const isFinished = ({ state }: Pick<Request, "state">): boolean => state !== "pending" && state !== "pending_retry"

/** Whether a durable run is over, by the document of its operation. */
export const isOver = (operation: Document.Document | undefined): boolean => {
  const live = Document.read(operation, []) as { readonly state?: string; readonly status?: string } | undefined
  return live?.status !== undefined || live?.state === DEAD
}

/** The name of a request in its dossier, from the key of its cell; `undefined` for another cell. */
export const placeOf = (key: string): { readonly oid: string; readonly rid: string } | undefined => {
  if (!key.startsWith(`${DOSSIERS}/`)) return undefined
  const [oid, folder, rid, ...rest] = key.slice(DOSSIERS.length + 1).split("/")
  return oid === undefined || folder !== "io_req" || rid === undefined || rest.length > 0 ? undefined : { oid, rid }
}

/** The operation of a dossier, from the key of its cell; "" for another cell. */
export const dossierOf = (key: string): string => key.startsWith(`${DOSSIERS}/`) ? key.slice(DOSSIERS.length + 1) : ""

/** The channel of a request, from its id. */
export const channelOf = (rid: string): string => rid.slice(0, Math.max(0, rid.indexOf(":")))

/** The name of a request in its space. */
export const nameOf = ({ oid, rid }: { readonly oid: string; readonly rid: string }): string => `${oid}/${rid}`

/** The request of a name. */
export const ofName = (name: string): { readonly oid: string; readonly rid: string } => {
  const at = name.indexOf("/")
  return { oid: name.slice(0, at), rid: name.slice(at + 1) }
}

/** The name of the request with a cell; `undefined` for another cell. */
export const nameAt = (key: string): string | undefined => {
  const place = placeOf(key)
  return place === undefined ? undefined : nameOf(place)
}

/** Whether a text is a valid name of a request or a channel. */
export const isName = (text: unknown): text is string => typeof text === "string" && Name.refusal(text) === undefined

/**
 * Compares requests by submission: by beat, run and number.
 */
export const bySubmission = (a: string, b: string): number => {
  const [left, right] = [placesOf(a), placesOf(b)]
  return left[0] - right[0] || left[1] - right[1] || left[2] - right[2]
}

/** The beat, the run and the number of the call that made a request; the run is -1 for a command. */
export const placesOf = (rid: string): readonly [beat: number, run: number, nth: number] => {
  const [beat, run, nth] = rid.slice(rid.indexOf(":") + 1).split(".")
  return [Number(beat), run === "x" ? -1 : Number(run), Number(nth)]
}
