/**
 * Dead letters: handlings that were given up.
 *
 * A letter is the cell `/rt/dead/<id>/<enzyme>` and replaces the handling's
 * receipt. Redelivery deletes the letter and runs its enzyme once more for the
 * event; the receipt of that run replaces the letter. A signal at the hop limit
 * has a letter without a handling. Its redelivery sends the signal anew, at the
 * start of its own chain.
 *
 * @module
 */
import * as Address from "../../../cell/Address.ts"
import * as Document from "../../../cell/Document.ts"
import type { Label } from "../../../cell/Label.ts"
import * as Link from "../../../cell/Link.ts"
import * as Name from "../../../cell/Name.ts"
import type { Value } from "../../../cell/Value.ts"
import type { CodePlace } from "../../../diagnostic/CodePlace.ts"
import type { SpaceStore } from "../../../persistence/Persistence.ts"
import type { Draft } from "../../../stage/Draft.ts"
import { CAPTURE, COMMIT, type Stage } from "../../../stage/Stage.ts"
import type { Refusal } from "../../../ledger/LedgerError.ts"
import * as Cells from "../../../durable/Cells.ts"
import type { LedgerBeats } from "../LedgerBeats.ts"
import type { BeatTransaction } from "../BeatTransaction.ts"
import * as OwnId from "../../model/OwnId.ts"
import type { Next, RunExecutor } from "../RunExecutor.ts"
import { letterPlace, type Redelivery } from "../../model/Command.ts"
import type { RunFailure, Handling } from "../../model/InFlight.ts"
import * as Signal from "../../model/Signal.ts"
import { DeadAbsent } from "../../model/SpaceError.ts"

/** The folder of the letters. */
const FOLDER = "/rt/dead"

/** Replaces the enzyme in the letter of a signal at the hop limit. */
export const STORM = { key: "storm", code: "signal/storm" } as const

/** The most letters of one page. It looks at twice as many names, since a letter may have a payload, at each letter and its receipt. */
export const MAX_LETTERS = 100

/**
 * A letter of a handling that was given up.
 *
 * @category models
 * @since 0.1.0
 */
export interface DeadLetter {
  readonly id: string
  /** The id as the event's caller gave it, until the receipt is pruned. */
  readonly own?: string
  readonly enzyme: string
  readonly signal?: string
  readonly target?: string
  /** The other space that refused the signal, if it was for one. */
  readonly space?: string
  /** The delay of the signal in that space. */
  readonly wait?: Signal.Wait
  /** The enzyme of the continuation, if the signal completes an awaited operation. */
  readonly awaits?: string
  /** The label of the event, if it is not empty. */
  readonly label?: Label
  /** The label of the handling, if it is not empty. */
  readonly learned?: Label
  readonly attempt: number
  /** The number of the segment that a durable run has to make. Sent again, the run goes on there. */
  readonly segment?: number
  /** Whether the run ended by its cancellation, and its last segment undid its effects. It can only start over. */
  readonly undone?: true
  /** The beat that gave the handling up. */
  readonly beat: number
  /** The beat that captured the event. */
  readonly captured: number
  readonly tag: string
  readonly code: string
}

/** A letter with its payload, and with the message and the place of the failure until the journal prunes them. */
export interface OpenLetter extends DeadLetter, Partial<CodePlace> {
  readonly payload: Value
  readonly message: string | undefined
}

/** A page of letters, ordered by beat, with the cursor of the next page; `undefined` at the end. */
export interface DeadPage {
  readonly letters: ReadonlyArray<DeadLetter>
  readonly next: string | undefined
}

/**
 * Stages a letter, and its payload as a second document, because a payload may have the size limit of a document.
 */
export const put = (stage: Stage, handling: Handling, outcome: RunFailure): void => {
  const { attempt, beat, flight: { captured, signal }, key } = handling
  const place = letterPlace(signal.id, key)
  const payload = payloadOf(place)
  const letter = {
    attempt,
    beat,
    captured,
    code: outcome.code,
    enzyme: key,
    tag: outcome.tag,
    ...(handling.segment === 0 ? {} : { segment: handling.segment }),
    ...(outcome.undo === "merged" ? { undone: true } : {}),
    ...(signal.signal === undefined ? {} : { signal: signal.signal }),
    ...(signal.target === undefined ? {} : { target: signal.target }),
    ...(signal.to === undefined ? {} : { space: signal.to.space }),
    ...(signal.to?.wait === undefined ? {} : { wait: { at: { ...signal.to.wait.at }, since: signal.to.wait.since } }),
    ...(signal.awaits === undefined ? {} : { awaits: signal.awaits }),
    ...(signal.label === undefined ? {} : { label: signal.label }),
    ...(handling.label.length === 0 ? {} : { learned: handling.label }),
    ...(signal.payload === undefined ? {} : { payload: Link.make(payload.text) })
  }
  stage.put(Address.make(place), Document.encode(letter), COMMIT)
  if (signal.payload !== undefined) stage.put(payload, signal.payload, COMMIT)
}

/** Whether a key is `<id>/<enzyme>` below the folder; a payload lies one level deeper. */
const isLetter = (key: string): boolean => key.slice(FOLDER.length + 1).split("/").length === 2

/**
 * The letters after a cursor, in the order of their cells. It looks at no more than {@link MAX_LETTERS}, so a page can be short
 * before the end.
 */
export const list = (
  store: Pick<SpaceStore, "below" | "read" | "receipts">,
  { after, limit }: { readonly after?: string | undefined; readonly limit: number }
): DeadPage => {
  const from = after === undefined ? undefined : `${FOLDER}/${after}`
  const { keys, next } = keysAfter(store, { after: from, limit: Math.min(Math.max(1, limit), MAX_LETTERS) })
  const letters = keys.flatMap(([id, enzyme]) => {
    const place = letterPlace(id, enzyme)
    return named(store, letterAt(place, store.read(place))) ?? []
  })
  return { letters: letters.slice(0, limit), next: next?.slice(FOLDER.length + 1) }
}

/**
 * One letter with its payload; `undefined` if it does not exist.
 */
export const find = (store: SpaceStore, id: string, enzyme: string): (DeadLetter & { readonly payload: Value }) | undefined => {
  const place = placeOf(id, enzyme)
  if (place === undefined) return undefined
  const letter = named(store, letterAt(place, store.read(place)))
  if (letter === undefined) return undefined
  const payload = store.read(payloadOf(place).key)
  return { ...letter, payload: payload === undefined ? undefined : Document.read(Document.decode(payload), []) }
}

/**
 * The command that redelivers a letter.
 *
 * @throws DeadAbsent
 */
export const redelivery = (space: string, { anew, enzyme, id }: Omit<Redelivery, "kind">): Redelivery => {
  if (placeOf(id, enzyme) === undefined) throw new DeadAbsent({ space, id, enzyme })
  return { kind: "redeliver", id, enzyme, anew }
}

/** The state of a space that redelivers a letter. */
export interface LetterSpace {
  readonly hash: (text: string) => string
  /** Draws the next queue number. */
  readonly number: () => number
  readonly runs: Pick<RunExecutor, "prepare">
  readonly space: string
  readonly store: Pick<SpaceStore, "receipts">
}

/** The capture of a redelivery. */
interface Capturing {
  readonly draft: Draft
  readonly transaction: BeatTransaction
  readonly ledgers: Pick<LedgerBeats, "refusal">
  readonly state: LetterSpace
}

/**
 * Deletes a letter, and queues its handling for the next beat. A letter at the hop limit queues its signal instead.
 */
export const redeliver = (
  { anew, enzyme, id }: Redelivery,
  { draft, ledgers, state, transaction: work }: Capturing
): Signal.PendingSignal | Refusal => {
  const address = Address.make(letterPlace(id, enzyme))
  const letter = letterAt(address.key, work.stage.visible(address.key)?.text)
  if (letter === undefined) return new DeadAbsent({ space: state.space, id, enzyme })
  const oid = Cells.oidOf(id, enzyme, state.hash)
  const { segment, undone = false } = letter
  const next = state.runs.prepare({ oid, segment, isUndone: undone, anew: anew === true, draft, stage: work.stage })
  if (next instanceof Error) return next
  const refused = ledgers.refusal(draft)
  if (refused !== undefined) return refused
  const { awaits, label, signal, space, target } = letter
  const payloadAddress = payloadOf(address.id)
  const payload = work.stage.visible(payloadAddress.key)
  work.stage.put(address, undefined, CAPTURE)
  if (payload !== undefined) work.stage.put(payloadAddress, undefined, CAPTURE)
  const sent = Signal.make({ id, signal, target, payload, at: undefined }, {
    origin: Signal.originOf(id),
    depth: 0,
    expected: Signal.expectedBy(id),
    to: space === undefined ? undefined : { space, sent: work.moment.clock, wait: letter.wait },
    awaits,
    label,
    own: OwnId.ownOf(state.store, id)
  })
  const { moment } = work
  const kept = isStorm(letter) ? { anew: true } : space === undefined ? handlingOf(letter, moment, next) : {}
  return new Signal.PendingSignal(state.number(), sent, kept)
}

type Repeated = Pick<Signal.PendingSignal, "again" | "due">

/** An attempt of the handling alone. It holds no lane, because later events of the lane have run. */
const handlingOf = (
  { captured, enzyme, learned: label }: DeadLetter,
  moment: BeatTransaction["moment"],
  next: Next
): Repeated => ({
  again: { enzyme, attempt: 1, why: "redelivery", document: undefined, losses: 0, captured, lane: undefined, loose: true, label, ...next },
  due: { beat: moment.beat + 1, moment: undefined }
})

const isStorm = ({ code, enzyme }: DeadLetter): boolean => enzyme === STORM.key && code === STORM.code

const placeOf = (id: string, enzyme: string): string | undefined =>
  Name.refusal(id) === undefined && Name.refusal(enzyme) === undefined ? letterPlace(id, enzyme) : undefined

const payloadOf = (place: string): Address.Address => Address.make(`${place}/payload`)

/** The keys of letters in the order of their cells, at most `limit`, and the cursor of the next ones; `undefined` at the end. */
export const keysAfter = (
  store: Pick<SpaceStore, "below">,
  { after, limit }: { readonly after: string | undefined; readonly limit: number }
): { readonly keys: ReadonlyArray<readonly [id: string, enzyme: string]>; readonly next: string | undefined } => {
  // A letter may have a payload, and one more cell tells whether others follow.
  const most = 2 * limit + 1
  const cells = store.below(FOLDER, { limit: most, ...after === undefined ? {} : { after } })
  const letters = cells.filter(isLetter)
  const shown = letters.slice(0, limit)
  const keys = shown.map((key) => {
    const [id = "", enzyme = ""] = key.slice(FOLDER.length + 1).split("/")
    return [id, enzyme] as const
  })
  if (letters.length > limit) return { keys, next: shown.at(-1) }
  return { keys, next: cells.length < most ? undefined : cells.at(-1) }
}

/** A letter with the own id of its event. */
const named = (store: Pick<SpaceStore, "receipts">, letter: DeadLetter | undefined): DeadLetter | undefined =>
  letter && { ...letter, ...OwnId.ownField(OwnId.ownOf(store, letter.id)) }

/** Tests whether a handling has a letter. */
export const has = (store: Pick<SpaceStore, "read">, id: string, enzyme: string): boolean => {
  const place = placeOf(id, enzyme)
  return place !== undefined && store.read(place) !== undefined
}

/** The letter in a cell; `undefined` if the cell is absent or holds a payload. */
const letterAt = (key: string, text: string | undefined): DeadLetter | undefined => {
  const [, , , id = "", enzyme = "", part] = key.split("/")
  if (text === undefined || part !== undefined) return undefined
  const stored = Document.read(Document.decode(text), []) as unknown as DeadLetter & { readonly payload?: unknown }
  const { payload: _, ...letter } = stored
  return { ...letter, id, enzyme }
}
