/**
 * The ledger of requests to the world.
 *
 * @module
 */
import * as Document from "../cell/Document.ts"
import { type ExpiryRule, nameBelow, whole } from "../ledger/Expiry.ts"
import type { Ledger, LiveHost, LiveLedger, Opening } from "../ledger/Ledger.ts"
import { below } from "../persistence/Below.ts"
import type { CommittedState } from "../stage/BeatClock.ts"
import type { Caller } from "../stage/RunGrant.ts"
import type { Draft } from "../stage/Draft.ts"
import type { Io } from "../stage/Io.ts"
import type { RequestLaunch } from "../stage/Launches.ts"
import { InvalidSignal } from "../stage/OutgoingSignal.ts"
import { CAPTURE } from "../stage/Stage.ts"
import * as Advance from "./Advance.ts"
import * as DelayedRequests from "./DelayedRequests.ts"
import { input } from "./Input.ts"
import type { Beat, IoKinds, Output } from "./Kinds.ts"
import { LiveRequests } from "./LiveRequests.ts"
import { type Open, OpenRequests, payloadOf, TIMERS } from "./OpenRequests.ts"
import type { Reactor } from "./Reactor.ts"
import { ReactorFull, refusals, RequestAbsent, RequestFinished } from "./ReactorError.ts"
import * as Requests from "./Request.ts"
import * as Verbs from "./Verbs.ts"
import * as Watchers from "./Watchers.ts"
import { workOf } from "./Work.ts"

/** The channel with an id: as the configuration declares it, or as its cell holds it if they are equal. */
const channelOf = (beat: Beat, id: string): Requests.DeclaredChannel | undefined => {
  const { input, stage } = beat
  if (input?.channels.has(id) === true) {
    beat.useInput()
    input.asked.channels.add(id)
    return input.channels.get(id)
  }
  return Requests.isName(id) ? Requests.readChannel(stage.committed.read(Requests.channelAddress(Requests.SHARED, id).key)) : undefined
}

/** The limit on open requests, if the space has reached it with the requests of this run. */
const fullOf = (draft: Draft, beat: Beat): number | undefined => {
  const { input, state } = beat
  if (input?.limit === undefined) return undefined
  // The capture may have opened requests again.
  const open = state.size + (beat.work?.opened.length ?? 0) + requestsBefore(draft, beat) + requestsOf(draft)
  if (open < input.limit) return undefined
  beat.useInput()
  input.asked.limit = true
  return input.limit
}

/** The refusal of a letter that makes more requests again than the space has room for. */
const admits = ({ launches }: Draft, beat: Beat): ReactorFull | undefined => {
  const limit = beat.input?.limit
  if (limit === undefined) return undefined
  let repeated = 0
  for (const { launch, ledger } of launches) {
    const request = ledger === "io" ? launch as RequestLaunch : undefined
    if (request?.kind === "repeat" && Advance.isRepeatable(beat, request)) repeated++
  }
  return repeated > 0 && beat.state.size + repeated > limit ? new ReactorFull({ limit }) : undefined
}

const requestsOf = ({ launches }: Pick<Draft, "launches">): number => {
  let count = 0
  for (const { launch, ledger } of launches) if (ledger === "io" && (launch as { readonly kind: string }).kind === "request") count++
  return count
}

/** The requests of earlier runs of the beat. Those of a succeeded run count, even if its merge drops them. */
const requestsBefore = ({ run }: Draft, beat: Beat): number => {
  const { before } = workOf(beat)
  for (; before.runs < run; before.runs++) {
    const draft = beat.draftOf(before.runs)
    if (draft !== undefined) before.requests += requestsOf(draft)
  }
  return before.requests
}

/** The length of the signal chain that a run continues. A replay reads it from the captured input. */
const depthOf = ({ run }: Draft, beat: Beat): number => {
  const { input } = beat
  const event = beat.eventOf(run)
  if (event === undefined || input === undefined) return 0
  const depth = input.depths === undefined ? event.depth : input.depths.get(event.id) ?? 0
  if (depth > 0) {
    beat.useInput()
    input.asked.depths.set(event.id, depth)
  }
  return depth
}

const transaction = (draft: Draft, { name }: Caller, beat: Beat): IoKinds["Face"] =>
  Verbs.make(draft, {
    enzyme: name,
    origin: beat.origin,
    event: beat.eventOf(draft.run)?.id ?? "",
    depth: () => depthOf(draft, beat),
    hash: (text) => beat.hash(text),
    channel: (id) => channelOf(beat, id),
    hears: (signal, target) => beat.hears(signal, target, name),
    full: () => fullOf(draft, beat)
  })

const commands: Ledger<IoKinds>["commands"] = {
  cancel: {
    runsWhileHalted: true,
    execute: (_draft, { rid }, beat) => {
      if (Requests.isName(rid) && Advance.cancel(beat, rid, { writer: CAPTURE })) return rid
      const request = Requests.isName(rid) ? Requests.read(beat.stage.newest(Requests.address(Requests.SHARED, rid).key)) : undefined
      throw request === undefined ? new RequestAbsent({ rid: String(rid) }) : new RequestFinished({ rid, state: request.state })
    }
  }
}

/** The open requests of a store, in the order of their submission. */
const open = (channels: Channels, { documents, store, tempo }: Opening): OpenRequests => {
  const state = new OpenRequests()
  const rids = Array.from(below(store, Requests.OPEN), (key) => key.slice(Requests.OPEN.length + 1))
  for (const rid of rids.sort(Requests.bySubmission)) {
    const oid = Document.read(documents.read(Requests.indexAddress(rid).key), []) as string
    const request = Requests.read(documents.read(Requests.address(oid, rid).key))
    const added = state.add(oid, rid)
    if (request === undefined) continue
    state.see(rid, request, () => tempo)
    if (request.state === "pending") delay(state, added, { channels, documents, now: -Infinity })
  }
  for (const channel of Watchers.open({ documents, store })) state.watched.add(channel)
  return state
}

/** The channels of a runtime, by their ids. */
type Channels = Reactor["Service"]["channels"]

/** The channels and the documents that delay requests, and the time up to which requests are executed at once. */
interface Delaying {
  readonly channels: Channels
  readonly documents: Pick<CommittedState, "read">
  readonly now: number
}

/** Notes that a pending request has no job yet, if its channel delays it. */
const delay = (state: OpenRequests, open: Open, { channels, documents, now }: Delaying): void => {
  const { oid, order, rid } = open
  const channel = channels.get(Requests.channelOf(rid))
  const request = channel?.notBefore === undefined ? undefined : Requests.read(documents.read(Requests.address(oid, rid).key))
  if (channel === undefined || request === undefined) return
  const { opcode } = request
  const issued = Requests.dateOf(request, documents)
  const date = DelayedRequests.momentOf(channel, { rid, issued, opcode, payload: payloadOf(open, documents) })
  if (date === undefined) return
  // A channel knows dates alone.
  const moment = date + request.issued_ms - issued
  if (moment > now) state.delayed.add({ rid, order, moment })
}

/** Updates the open requests once the beat is in the store. */
const committed = (channels: Channels, beat: Beat): Output | undefined => {
  const output = Advance.committed(beat)
  const { moment: { clock: now }, stage, state } = beat
  const documents = { read: (key: string) => stage.newest(key) }
  for (const rid of output?.submitted ?? []) {
    const open = state.get(rid)
    if (open !== undefined) delay(state, open, { channels, documents, now })
  }
  return output
}

const isFinished = (document: Document.Document | undefined): boolean => {
  const request = Requests.read(document)
  return request !== undefined && Requests.isFinished(request)
}

/** Requests of the shared dossier expire one by one; others with the dossier of their operation. */
const expiry: ExpiryRule = {
  kind: "io",
  order: 3,
  folders: [Requests.FOLDER],
  ended: ({ address, after, before }) => {
    const rid = nameBelow(Requests.FOLDER, address.key)
    return rid !== undefined && isFinished(after) && !isFinished(before) ? rid : undefined
  },
  find: (rid) => {
    const place = Requests.address(Requests.SHARED, rid)
    return whole(Requests.address(Requests.SHARED, rid, "payload").key, place.key)
  }
}

/**
 * The ledger of requests, over the channels of a reactor.
 */
export const requests = (reactor: Reactor["Service"]): Ledger<IoKinds> => ({
  name: "io",
  folders: [TIMERS],
  refusals: [...refusals, InvalidSignal],
  commands,
  open: (opening) => open(reactor.channels, opening),
  timers: ({ timers }) => timers.all(),
  input,
  atCapture: Advance.atCapture,
  transaction,
  admits,
  merge: Advance.merge,
  atCommit: Advance.atCommit,
  committed: (beat) => committed(reactor.channels, beat),
  expiry,
  holds: (state, key) => state.hasRequests(Requests.dossierOf(key)),
  outward: { waiting: Advance.waiting, drop: Advance.interrupt },
  quiescence: { isQuiet: (state) => state.isQuiet, abandon: Advance.abandon },
  rollback: { listed: ["taken", "requests"], nameOf: Requests.nameAt, takeBack: Advance.takeBack },
  live: (state: OpenRequests, host: LiveHost): LiveLedger<Output> => new LiveRequests(state, host, reactor)
})

declare module "../stage/Ledgers.ts" {
  interface Ledgers {
    /** Requests to the world, through the channels of the configuration. */
    readonly io: Io
  }
}
