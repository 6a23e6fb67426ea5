/**
 * The outside of requests: their cancellation as a command, and their records.
 *
 * @module
 */
import type { KindsOf, PageRequest } from "../contract/Face.ts"
import * as CellRecords from "../ledger/CellRecords.ts"
import type { Command } from "../ledger/Command.ts"
import type { Outside, Page, PageStore, Search } from "../ledger/Outside.ts"
import { face } from "./Face.ts"
import { RequestFinished } from "./ReactorError.ts"
import * as Requests from "./Request.ts"
import * as RequestRow from "./RequestRow.ts"
import type { RequestDetails, RequestRow as Row } from "./Schemas.ts"

/** The most operations among which the owner of a request is looked for. */
const MAX_PASSED = 10_000

/** A request, or an operation without further requests. */
interface Found {
  /** `<rid>`, `<oid>/<rid>`, or `<oid>/`. */
  readonly cursor: string
  readonly oid: string
  readonly rid: string | undefined
}

const open = CellRecords.pages<Row>({ folder: Requests.OPEN, isDeep: false, rowOf: (store, rid) => RequestRow.rowOf(store, rid) })

/** A page of the requests of ordinary runs in the order of their ids, and then of those of durable runs by operation. */
const all = (store: PageStore, { after, limit }: PageRequest): Page<Row> => {
  const rows: Array<Row> = []
  let last = after
  for (const { cursor, oid, rid } of requestsAfter(store, after)) {
    if (rid !== undefined && rows.length >= limit || store.isSpent) return { rows, next: last }
    last = cursor
    const row = rid === undefined ? undefined : RequestRow.rowOf(store, rid, oid)
    if (row !== undefined) rows.push(row)
  }
  return { rows, next: undefined }
}

/** The requests after a cursor. */
function* requestsAfter(store: PageStore, after: string | undefined): Iterable<Found> {
  const { oid, rid } = after?.includes("/") === true ? Requests.ofName(after) : { oid: Requests.SHARED, rid: after }
  // An operation whose requests were all listed has the empty one as its last.
  if (rid !== "") yield* ofOperation(store, oid, rid)
  const from = oid === Requests.SHARED ? undefined : oid
  for (const other of names(store, Requests.DOSSIERS, from)) {
    if (other !== Requests.SHARED) yield* ofOperation(store, other, undefined)
  }
}

/** The requests of one operation. */
function* ofOperation(store: PageStore, oid: string, after: string | undefined): Iterable<Found> {
  const isShared = oid === Requests.SHARED
  for (const rid of names(store, Requests.folderOf(oid), after)) yield { cursor: isShared ? rid : `${oid}/${rid}`, oid, rid }
  yield { cursor: `${oid}/`, oid, rid: undefined }
}

function* names(store: PageStore, folder: string, after: string | undefined): Iterable<string> {
  for (let from = after; ;) {
    const [name] = CellRecords.namesBelow(store, { folder, isDeep: true }, { after: from, limit: 1 })
    if (name === undefined) return
    yield name
    from = name
  }
}

const find = (store: PageStore, rid: string): RequestDetails | undefined => {
  const found = RequestRow.find(store, rid)
  const oid = found === undefined ? ownerOf(store, rid) : undefined
  return typeof oid === "string" ? RequestRow.find(store, rid, oid) : found
}

/**
 * The run that made a request, by the entry of the beat: `null` where no beat made one. It is `undefined` once the journal has been
 * pruned, which may be before the dossier of the run expires.
 */
const ownerOf = (store: PageStore, rid: string): string | null | undefined => {
  const [beat] = Requests.placesOf(String(rid))
  if (!Number.isSafeInteger(beat) || beat > store.head().beat) return null
  return store.changed(beat)?.map((key) => Requests.placeOf(key)).find((place) => place?.rid === rid)?.oid
}

/** The search for a finished request of a durable run, among the first {@link MAX_PASSED} operations. */
function* search(store: PageStore, rid: string): Search<RequestDetails> {
  let passed = 0
  for (const oid of names(store, Requests.DOSSIERS, undefined)) {
    const found = RequestRow.find(store, rid, oid)
    if (found !== undefined || ++passed >= MAX_PASSED) return found
    if (store.isSpent) yield
  }
  return undefined
}

/**
 * The outside of requests. The beat knows the open ones and those of ordinary runs, so a finished one of a durable run is closed.
 */
export const outside: Outside<KindsOf<typeof face>> = {
  face,
  commands: { cancel: (_, rid): Command & { readonly rid: string } => ({ verb: "cancel", rid }) },
  page: (store, { open: isOpen = false, ...page }) => isOpen ? open(store, page) : all(store, page),
  find,
  search: (store, rid) => ownerOf(store, rid) === undefined ? search(store, rid) : undefined,
  closed: (rid, { state }) => new RequestFinished({ rid, state })
}
