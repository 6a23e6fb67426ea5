/**
 * Queries: reads of the committed state from outside.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Address from "../../cell/Address.ts"
import * as Document from "../../cell/Document.ts"
import type { Label } from "../../cell/Label.ts"
import * as Link from "../../cell/Link.ts"
import * as Value from "../../cell/Value.ts"
import * as LargeContent from "../../persistence/LargeContent.ts"
import type { JournalRow } from "../../persistence/Persistence.ts"
import { PersistenceError } from "../../persistence/PersistenceError.ts"
import { Draft } from "../../stage/Draft.ts"
import * as Envelope from "../../stage/Envelope.ts"
import type { CommittedState } from "../../stage/BeatClock.ts"
import { Stage } from "../../stage/Stage.ts"
import { isView } from "../../stage/View.ts"
import type { LiveState } from "../beat/loop/LiveState.ts"
import type { Disclosure } from "./Disclosure.ts"
import { expect } from "./Expected.ts"
import type { ReadError } from "./Expected.ts"
import * as BeatView from "./BeatView.ts"
import { behind, type CountedRows } from "./CountedRows.ts"
import { MAX_ROWS } from "./PageTurns.ts"
import type { BeatPage, CellPage, ListedCell, Page } from "./Pages.ts"
import type { Space } from "./Space.ts"
import { IdAmbiguous } from "../model/SpaceError.ts"
import * as Titles from "../model/Titles.ts"

/** The members of the state of a space that queries use. */
export type State = Pick<
  LiveState,
  "clock" | "documents" | "durable" | "handshake" | "hash" | "lostBeats" | "reporter" | "settings" | "space" | "store"
>

const CONTENT = "/cas/"

/** The fewest beat numbers that are looked at together. */
const WINDOW = 100

const reader = Envelope.make([], false)

/**
 * The value at an address: of a document, of content, or of a view rendered now. A link may lead to a view.
 *
 * @throws InvalidAddress, LinkLoop
 */
export const read = (state: State, text: string, live: BeatView.LiveSources): Value.Value => {
  const address = Address.parse(text)
  // Content is readable from outside once it is durable; runs see it from the next capture on.
  if (address.id.startsWith(CONTENT)) {
    const hash = address.id.slice(CONTENT.length)
    return LargeContent.read(hash, state.store.blob(hash))
  }
  if (isView(address.id)) return view(state, address, live)
  const value = draft(state).get(text)
  if (value !== undefined) return value
  const end = [...hops(state, address)].at(-1) ?? address
  return isView(end.id) ? view(state, end, live) : undefined
}

/** An address, and those to which the links along it lead in order. */
export const hops = function*({ documents }: Pick<LiveState, "documents">, from: Address.Address): Generator<Address.Address> {
  let address = from
  for (let hop = 0; ; hop++) {
    yield address
    const document = documents.read(address.key)
    const found = document === undefined ? undefined : Link.along(Document.along(document, address.path), address.path)
    if (found === undefined || hop >= Link.MAX_HOPS) return
    address = Address.into(Link.target(found.link), address.path.slice(found.depth))
  }
}

/** The value at the address of a view, rendered now. */
const view = (state: State, address: Address.Address, live: BeatView.LiveSources): Value.Value => {
  const label = (enzyme: string, beat: number): string => Titles.titleAt(state.documents, enzyme, beat)
  const { handshake, lostBeats, reporter, settings, space, store } = state
  const value = BeatView.read({
    store,
    durable: state.durable,
    hash: state.hash,
    shown: settings.ledgers,
    label,
    ...live,
    counts: () => reporter.counts(space),
    metrics: () => handshake.metrics,
    clock: () => state.clock,
    loss: () => lostBeats.of(space)
  }, address.id)
  return Value.at(value, address.path)
}

/**
 * Whether a read waits for no flush: the metrics of the commit show no state of the space, and are needed while a flush hangs.
 */
export const isImmediate = (text: string): boolean => text.split("#", 1)[0] === BeatView.METRICS

/**
 * A page of the cells below one, with their values if `size` is given. A value costs a row, as each link to it does.
 *
 * @throws InvalidAddress
 */
export const cells = (
  state: Listed,
  rows: CountedRows,
  { after, id, isOwn = false, limit, size }: Parameters<Space["cells"]>[1] & { readonly id: string }
): CellPage => {
  const most = Math.min(limit, size === undefined ? MAX_ROWS : MAX_ROWS / 2)
  const request = { after, limit: most + 1 }
  const keys = isOwn && Envelope.reservedFolder(id) === undefined ? ownKeys(rows, id, request) : keysBelow(rows, id, request)
  const found: Array<ListedCell> = []
  const { clock, hash, settings, store } = state
  const counted = { clock, hash, settings, store, documents: rows.documents(state.documents) }
  let left = size ?? Infinity
  for (const key of keys.slice(0, most)) {
    if (left <= 0 || size !== undefined && rows.isSpent) break
    const value = size === undefined ? undefined : valueOf(counted, key)
    if (size !== undefined) left -= Document.encode(value ?? null).text.length
    found.push(value === undefined ? { key } : { key, value })
  }
  return { cells: found, next: found.length < keys.length ? found.at(-1)?.key : undefined }
}

const keysBelow = (rows: CountedRows, id: string, { after, limit }: Page): ReadonlyArray<string> =>
  rows.below(id, { limit, ...after === undefined ? {} : { after } })

/** The keys outside of the folders of the runtime, each of which is skipped at its first key. */
const ownKeys = (rows: CountedRows, id: string, { after, limit }: Page): ReadonlyArray<string> => {
  const own: Array<string> = []
  for (let last = after; own.length < limit;) {
    const most = limit - own.length
    const keys = keysBelow(rows, id, { after: last, limit: most })
    const end = keys.findIndex((key) => Envelope.reservedFolder(key) !== undefined)
    const key = keys[end]
    if (key === undefined) return [...own, ...keys]
    own.push(...keys.slice(0, end))
    const folder = `${Envelope.reservedFolder(key)}/`
    last = key.startsWith(folder) ? behind(folder) : key
  }
  return own
}

/** The value of a cell; `undefined` if its links do not end. */
const valueOf = (state: Readable, key: string): Value.Value => {
  try {
    return draft(state).get(key)
  } catch (error) {
    if (error instanceof Link.LinkLoop) return undefined
    throw error
  }
}

/** The most beat numbers of one page. Empty beats have no row. */
const MAX_NUMBERS = 10_000

/**
 * The beats before one, newest first.
 */
export const beatsBefore = ({ store }: Pick<LiveState, "store">, before: number, limit: number): BeatPage => {
  const most = Math.min(limit, MAX_ROWS)
  const last = Math.max(0, before - MAX_NUMBERS)
  const rows: Array<JournalRow> = []
  let end = before
  // Windows are small, since the journal is read from its older end.
  while (end > last && rows.length < most) {
    const begin = Math.max(last, end - Math.max(most - rows.length, WINDOW))
    rows.push(...[...store.scanJournal(begin, end - 1)].toReversed())
    end = begin
  }
  const shown = rows.slice(0, most)
  const next = rows.length > most ? shown.at(-1)?.beat : end
  return { rows: shown, next: next === 0 ? undefined : next }
}

/**
 * The address of a document. Its derived value can be pulled, and a clearance may admit it.
 *
 * @throws InvalidAddress
 */
export const watchable = (text: string): Address.Address => {
  const address = Address.parse(text)
  if (!isView(address.id)) return address
  throw new Address.InvalidAddress({
    text,
    reason: "it is a view, which nothing derives and which is the operator's; read or watch it as such"
  })
}

/** The id of the cell in the text of an address; a text that is none as it is. */
export const cellOf = (text: string): string => {
  try {
    return Address.parse(text).id
  } catch {
    return text
  }
}

/** The expected errors of a read. */
export const asReadError = expect<ReadError>(Address.InvalidAddress, IdAmbiguous, PersistenceError, Link.LinkLoop)

/**
 * The failure of a read. An unexpected error fails the read and not the space.
 */
export const refuse = (error: unknown): Effect.Effect<never, ReadError> => Effect.suspend(() => Effect.fail(asReadError(error)))

/**
 * The value at an address, with the label of all reads that it took.
 *
 * @throws InvalidAddress, LinkLoop
 */
export const readWithLabel = (state: Listed, text: string, labels: Disclosure): { readonly label: Label; readonly value: Value.Value } => {
  const reading = draft(state, labels)
  const value = reading.get(text)
  return { label: reading.label, value }
}

/** The members of the state of a space that a read of stored cells uses. */
type Listed = Pick<LiveState, "clock" | "documents" | "hash" | "settings" | "store">

/** A state that a draft reads. */
type Readable = Pick<LiveState, "clock" | "hash" | "settings" | "store"> & { readonly documents: CommittedState }

/** A draft that reads committed state and never writes. */
const draft = (state: Readable, labels?: Disclosure): Draft => {
  const { beat, clock } = state.store.head()
  const { clock: { shifted }, hash, settings: { tempo } } = state
  const moment = { beat, semantics: 0, clock, date: clock - shifted, tempo, seed: "", hash }
  return new Draft(new Stage(state.documents), moment, { run: 0, envelope: reader, serializable: false, labels })
}
