/**
 * The requests of an open space to the world, as the outside uses them.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Command as LedgerCommand } from "../../ledger/Command.ts"
import type { CellRecords } from "../../ledger/Outside.ts"
import * as Dossier from "../../operation/Dossier.ts"
import type { KindsOf } from "../../contract/Face.ts"
import { face } from "../../reactor/Face.ts"
import { RequestAbsent, RequestFinished } from "../../reactor/ReactorError.ts"
import * as Requests from "../../reactor/Request.ts"
import * as RequestRow from "../../reactor/RequestRow.ts"
import type { RequestDetails, RequestRow as Row } from "../../reactor/Schemas.ts"
import * as Journal from "../model/Journal.ts"
import * as CellList from "../view/CellList.ts"
import type { Page, PageRequest } from "../view/CellList.ts"
import type { CountedRows, ListedStore } from "../view/CountedRows.ts"
import type { ControlError, ReadError } from "../view/Expected.ts"
import { MAX_ROWS } from "../view/PageTurns.ts"
import type { SpaceIo } from "../view/Space.ts"
import type { Access } from "./Access.ts"
import type { SpacePart } from "./SpacePart.ts"
import * as SpaceFace from "./SpaceFace.ts"

/** The most beat numbers that one page of drains examines. */
const MAX_EXAMINED = 10_000

type Source = SpaceFace.Source

const list: SpaceFace.RecordReads<Kinds>["list"] = ({ reads }, { open = false, ...page }) =>
  reads.page((rows) => open ? CellList.page(rows, OPEN, page) : pageOf(rows, page))

const get: SpaceFace.RecordReads<Kinds>["get"] = ({ reads, state: { store } }, rid) => Effect.flatMap(
  reads.read(() => RequestRow.find(store, rid) ?? ofRun(store, rid)),
  (found) => found === "unknown" ? search(reads, rid) : Effect.succeed(found)
)

/** The open requests. */
const OPEN: CellRecords<Row> = { folder: Requests.OPEN, isDeep: false, rowOf: (store, rid) => RequestRow.rowOf(store, rid) }

/** A finished request of a durable run. Its run is unknown once the journal has been pruned, which may be before the dossier expires. */
const ofRun = (store: ListedStore, rid: string): RequestDetails | "unknown" | undefined => {
  const [beat] = Requests.placesOf(String(rid))
  if (!Number.isSafeInteger(beat) || beat > store.head().beat) return undefined
  const oid = ownerOf(store, beat, rid)
  return oid === undefined ? "unknown" : RequestRow.find(store, rid, oid)
}

/** The run that made a request, by the entry of the beat. */
const ownerOf = (store: ListedStore, beat: number, rid: string): string | undefined => {
  const row = store.entry(beat)
  if (row === undefined) return undefined
  for (const [key] of Journal.parse(row.text).cells) {
    const place = Requests.placeOf(key)
    if (place?.rid === rid) return place.oid
  }
  return undefined
}

/** The refusal of a cancellation: a finished request of a durable run is over, and any other is absent. */
const refused = (space: Source, rid: string, absent: RequestAbsent): Effect.Effect<never, ControlError> =>
  Effect.matchEffect(get(space, rid), {
    onSuccess: (found) => Effect.fail(found === undefined ? absent : new RequestFinished({ rid, state: found.state })),
    onFailure: () => Effect.fail(absent)
  })

const drains = (rows: ListedStore, { before, limit }: Parameters<SpaceIo["drains"]>[0]): RequestRow.DrainPage => {
  const first = Math.min(before ?? Infinity, rows.head().beat + 1)
  const last = Math.max(0, first - MAX_EXAMINED)
  const drains: Array<RequestRow.Drain> = []
  let beat = first - 1
  for (let looked = 0; beat >= last && drains.length < limit && looked < MAX_ROWS; beat--) {
    const row = rows.entry(beat)
    if (row === undefined) continue
    looked++
    const drain = RequestRow.drainOf(beat, Journal.inputOf(Journal.parse(row.text), "io"))
    if (drain !== undefined) drains.push(drain)
  }
  return { drains, next: beat < 0 ? undefined : beat + 1 }
}

/** The most operations among which the owner of a request is looked for. */
const MAX_PASSED = 10_000

/** A request, or an operation without further requests. */
interface Found {
  /** `<rid>`, `<oid>/<rid>`, or `<oid>/`. */
  readonly cursor: string
  readonly oid: string
  readonly rid: string | undefined
}

/** A search of operations for a request: those that were passed, and the request once it was found. */
interface Search {
  readonly passed: number
  readonly last: string | undefined
  readonly found?: RequestDetails | undefined
}

/** A page of the requests of ordinary runs in the order of their ids, and then of those of durable runs by operation. */
const pageOf = (store: CountedRows, { after, limit }: PageRequest): Page<Row> => {
  const rows: Array<Row> = []
  let last = after
  for (const { cursor, oid, rid } of all(store, after)) {
    if (rid !== undefined && rows.length >= limit || store.isSpent) return { rows, next: last }
    last = cursor
    const row = rid === undefined ? undefined : RequestRow.rowOf(store, rid, oid)
    if (row !== undefined) rows.push(row)
  }
  return { rows, next: undefined }
}

/** A request of a durable run, among the first {@link MAX_PASSED} operations, a page of them at a time. */
const search = (reads: Source["reads"], rid: string): Effect.Effect<RequestDetails | undefined, ReadError> =>
  Effect.gen(function*() {
    for (let search: Search = { passed: 0, last: undefined }; ;) {
      const next: Search | undefined = yield* reads.page((rows) => passed(rows, rid, search))
      if (next === undefined || next.found !== undefined) return next?.found
      search = next
    }
  })

/** The search after more operations; `undefined` at its end. */
const passed = (store: CountedRows, rid: string, { last, passed }: Search): Search | undefined => {
  let count = passed
  for (const oid of names(store, Dossier.FOLDER, last)) {
    const found = RequestRow.find(store, rid, oid)
    if (found !== undefined || store.isSpent) return { passed: ++count, last: oid, found }
    if (++count >= MAX_PASSED) break
  }
  return undefined
}

function* all(store: CountedRows, after: string | undefined): Iterable<Found> {
  const { oid, rid } = after?.includes("/") === true ? Requests.ofName(after) : { oid: Requests.SHARED, rid: after }
  // An operation whose requests were all listed has the empty one as its last.
  if (rid !== "") yield* ofOperation(store, oid, rid)
  const from = oid === Requests.SHARED ? undefined : oid
  for (const other of names(store, Dossier.FOLDER, from)) {
    if (other !== Requests.SHARED) yield* ofOperation(store, other, undefined)
  }
}

/** The requests of one operation. */
function* ofOperation(store: CountedRows, oid: string, after: string | undefined): Iterable<Found> {
  const isShared = oid === Requests.SHARED
  for (const rid of names(store, Requests.folderOf(oid), after)) yield { cursor: isShared ? rid : `${oid}/${rid}`, oid, rid }
  yield { cursor: `${oid}/`, oid, rid: undefined }
}

function* names(store: CountedRows, folder: string, after: string | undefined): Iterable<string> {
  for (let from = after; ;) {
    const [name] = CellList.namesBelow(store, { folder, isDeep: true }, { after: from, limit: 1 })
    if (name === undefined) return
    yield name
    from = name
  }
}

type Kinds = KindsOf<typeof face>
type Channels = ReadonlyArray<RequestRow.ChannelRow>

/** The API of the requests of a space. */
const make = (access: Access): SpaceIo => {
  const commands: SpaceFace.BeatCommands<Kinds["Verbs"]> = {
    cancel: (_, rid) => ({ kind: "ledger", ledger: face.ledger, command: { verb: "cancel", rid } as LedgerCommand })
  }
  const client = SpaceFace.make({ face, commands, list, get }, access)
  // The beat knows the open requests and those of ordinary runs.
  const cancel: SpaceIo["cancel"] = (rid) => Effect.catch(client.cancel(rid), (error) =>
    error instanceof RequestAbsent ? access.use((space) => refused(space, rid, error)) : Effect.fail(error))
  return {
    ...client,
    cancel,
    channels: access.use((space) => Effect.sync(() => (space.view(RequestRow.CHANNELS) ?? []) as unknown as Channels)),
    drains: (page) => access.use(({ reads }) => reads.page((rows) => drains(rows, page)))
  }
}

/**
 * The part of the API of a space for requests.
 *
 * @category constructors
 * @since 0.2.0
 */
export const part: SpacePart = { name: face.records.segment, make }
