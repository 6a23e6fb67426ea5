/**
 * Dead letters: handlings that will never be well by themselves.
 *
 * A letter is the cell `/rt/dead/<id>/<enzyme>` and takes the place of the
 * handling's receipt. Sent again, it is deleted, and its enzyme runs anew for
 * the event, once; the receipt of that run then stands where the letter did. A
 * signal that no enzyme was asked to take, because the chain that led to it was
 * too long, is sent again as a signal, at the beginning of a chain of its own.
 * (Architecture, section 5, "Retry".)
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import * as Document from "../../cell/Document.ts"
import type { Label } from "../../cell/Label.ts"
import * as Link from "../../cell/Link.ts"
import * as Name from "../../cell/Name.ts"
import type { Value } from "../../cell/Value.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"
import { CAPTURE, COMMIT, type Stage } from "../../stage/Stage.ts"
import type { BeatWork } from "./BeatWork.ts"
import type { Body } from "./Body.ts"
import { letterPlace, type Redelivery } from "../model/Command.ts"
import { below } from "../../persistence/Below.ts"
import type { Handling, Outcome } from "../model/Flight.ts"
import * as Signal from "../model/Signal.ts"
import { DeadAbsent } from "../model/SpaceError.ts"

/** The cells that hold the letters. */
const FOLDER = "/rt/dead"

/** Stands for the enzyme in the letter of a signal whose chain was too long. */
export const STORM = { key: "storm", code: "signal/storm" } as const

/** Most letters of one page. */
export const MAX_PAGE = 1000

/**
 * A handling that was given up.
 *
 * @category models
 * @since 0.1.0
 */
export interface DeadLetter {
  readonly id: string
  readonly enzyme: string
  readonly signal?: string
  readonly target?: string
  /** The space that did not take the signal, where it was for another one. */
  readonly space?: string
  /** How long it has to wait there. */
  readonly wait?: Signal.Wait
  /** The enzyme that awaited it, where a watcher of an operation had it sent. */
  readonly awaits?: string
  /** What its event tells, and what the handling was told by, where that is confidential. */
  readonly label?: Label
  readonly learned?: Label
  readonly attempt: number
  /** The beat that gave it up, and the one that captured its event. */
  readonly beat: number
  readonly captured: number
  readonly tag: string
  readonly code: string
}

/** A letter with what it was about, and what was said of the failure while the journal knows that. */
export interface OpenLetter extends DeadLetter {
  readonly payload: Value
  readonly message: string | undefined
}

/** Letters in the order of the beats that gave them up, and where to go on; `undefined` at the end. */
export interface DeadPage {
  readonly letters: ReadonlyArray<DeadLetter>
  readonly next: string | undefined
}

/**
 * Puts a letter and its payload, which may be as large as a document can be, onto the stage.
 *
 * @category constructors
 * @since 0.1.0
 */
export const put = (stage: Stage, handling: Handling, outcome: Extract<Outcome, { readonly code: string }>): void => {
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

/** A letter's key has an id and an enzyme below the folder; its payload lies one deeper, and is not looked at here. */
const isLetter = (key: string): boolean => key.slice(FOLDER.length + 1).split("/").length === 2

/** The place of a letter in the list: the beat that gave it up, its id with numbers as such, and the enzyme. */
type Place = Pick<DeadLetter, "beat" | "id" | "enzyme">

const inOrder = (a: Place, b: Place): number => a.beat - b.beat || byNumbers(a.id, b.id) || byText(a.enzyme, b.enzyme)

const byText = (a: string, b: string): number => a < b ? -1 : a > b ? 1 : 0

/** Ids such as `x.10.2` by their numbers; whatever else they hold by its text. */
const byNumbers = (a: string, b: string): number => {
  const [left, right] = [a.split("."), b.split(".")]
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const [mine, other] = [left[i]!, right[i]!]
    const order = /^\d+$/.test(mine) && /^\d+$/.test(other) ? Number(mine) - Number(other) : byText(mine, other)
    if (order !== 0) return order
  }
  return left.length - right.length
}

/** A place as text, `<beat>/<id>/<enzyme>`, and back. */
const cursor = ({ beat, enzyme, id }: Place): string => `${beat}/${id}/${enzyme}`

const placeIn = (text: string): Place => {
  const [beat = "", id = "", enzyme = ""] = text.split("/")
  return { beat: Number(beat), id, enzyme }
}

/**
 * The letters after a cursor. All are looked at, and no more of them are held than are answered.
 *
 * @category getters
 * @since 0.1.0
 */
export const list = (store: SpaceStore, { after, limit }: { readonly after?: string | undefined; readonly limit: number }): DeadPage => {
  const from = after === undefined ? undefined : placeIn(after)
  const most = Math.min(limit, MAX_PAGE)
  let letters: Array<DeadLetter> = []
  // One more than is answered tells whether there is another page.
  const cut = (): void => void (letters = letters.toSorted(inOrder).slice(0, most + 1))
  for (const key of below(store, FOLDER)) {
    const letter = isLetter(key) ? letterAt(key, store.read(key)) : undefined
    if (letter === undefined || (from !== undefined && inOrder(letter, from) <= 0)) continue
    if (letters.push(letter) > 2 * MAX_PAGE) cut()
  }
  cut()
  const shown = letters.slice(0, most)
  const last = shown.at(-1)
  return { letters: shown, next: last === undefined || letters.length <= most ? undefined : cursor(last) }
}

/**
 * One letter with its payload; `undefined` where there is none.
 *
 * @category getters
 * @since 0.1.0
 */
export const find = (store: SpaceStore, id: string, enzyme: string): (DeadLetter & { readonly payload: Value }) | undefined => {
  const place = placeOf(id, enzyme)
  const letter = place === undefined ? undefined : letterAt(place, store.read(place))
  if (letter === undefined) return undefined
  const payload = store.read(payloadOf(place!).key)
  return { ...letter, payload: payload === undefined ? undefined : Document.read(Document.decode(payload), []) }
}

/**
 * The command that sends a letter again.
 *
 * @throws DeadAbsent
 * @category constructors
 * @since 0.1.0
 */
export const redelivery = (space: string, id: string, enzyme: string): Redelivery => {
  if (placeOf(id, enzyme) === undefined) throw new DeadAbsent({ space, id, enzyme })
  return { kind: "redeliver", id, enzyme }
}

/**
 * Takes a letter out of the beat's state, for its handling, or all that take its signal, to run in the next one; answers why not, where it cannot.
 *
 * @category combinators
 * @since 0.1.0
 */
export const redeliver = ({ enzyme, id }: Redelivery, work: BeatWork, body: Body): DeadAbsent | undefined => {
  const address = Address.make(letterPlace(id, enzyme))
  const letter = letterAt(address.key, work.stage.visible(address.key)?.text)
  if (letter === undefined) return new DeadAbsent({ space: body.space, id, enzyme })
  const { awaits, label, signal, space, target, wait } = letter
  const payloadAddress = payloadOf(address.id)
  const payload = work.stage.visible(payloadAddress.key)
  work.stage.put(address, undefined, CAPTURE)
  if (payload !== undefined) work.stage.put(payloadAddress, undefined, CAPTURE)
  const sent = Signal.make({ id, signal, target, payload, at: undefined }, {
    origin: Signal.originOf(id),
    depth: 0,
    expected: Signal.expectedBy(id),
    to: space === undefined ? undefined : { space, wait },
    awaits,
    label
  })
  work.redelivered.push(new Signal.Pending(body.number(), sent, isStorm(letter) ? { anew: true } : space === undefined ? handlingOf(letter, work) : {}))
  return undefined
}

/** The handling alone. It holds no lane: those behind it have gone on. */
const handlingOf = ({ captured, enzyme, learned }: DeadLetter, { moment }: BeatWork): Pick<Signal.Pending, "again" | "due"> => ({
  again: { enzyme, attempt: 1, why: "redelivery", document: undefined, losses: 0, captured, lane: undefined, loose: true, label: learned },
  due: { beat: moment.beat + 1, moment: undefined }
})

const isStorm = ({ code, enzyme }: DeadLetter): boolean => enzyme === STORM.key && code === STORM.code

const placeOf = (id: string, enzyme: string): string | undefined =>
  Name.refusal(id) === undefined && Name.refusal(enzyme) === undefined ? letterPlace(id, enzyme) : undefined

const payloadOf = (place: string): Address.Address => Address.make(`${place}/payload`)

/** The letter in a cell; `undefined` where that is absent, or holds a letter's payload. */
const letterAt = (key: string, text: string | undefined): DeadLetter | undefined => {
  const [, , , id = "", enzyme = "", part] = key.split("/")
  if (text === undefined || part !== undefined) return undefined
  const { payload: _, ...letter } = Document.read(Document.decode(text), []) as unknown as DeadLetter & { readonly payload?: unknown }
  return { ...letter, id, enzyme }
}
