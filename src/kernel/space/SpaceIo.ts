/**
 * The requests of an open space to the world, as the outside uses them.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Command as LedgerCommand } from "../../ledger/Command.ts"
import * as Dossier from "../../operation/Dossier.ts"
import type { KindsOf, SwitchedPage } from "../../contract/Face.ts"
import { face } from "../../reactor/Face.ts"
import { RequestAbsent, RequestFinished } from "../../reactor/ReactorError.ts"
import * as Requests from "../../reactor/Request.ts"
import * as RequestRow from "../../reactor/RequestRow.ts"
import type { RequestDetails, RequestRow as Row } from "../../reactor/Schemas.ts"
import * as Journal from "../model/Journal.ts"
import { CellList, type DurableStore, namesBelow, type Page, type PageRequest } from "../view/CellList.ts"
import type { ControlError, ReadError } from "../view/Expected.ts"
import { MAX_ROWS } from "../view/PageTurns.ts"
import type { SpaceIo } from "../view/Space.ts"
import type { FaceHost, SpacePart } from "./SpacePart.ts"
import * as SpaceFace from "./SpaceFace.ts"

/** The most beat numbers that one page of drains examines. */
const MAX_EXAMINED = 10_000

/**
 * The requests of a space.
 *
 * @category models
 * @since 0.1.0
 */
export class RequestReads implements SpaceFace.RecordReads<Kinds>, Pick<SpaceIo, "channels" | "drains"> {
  readonly channels: SpaceIo["channels"]
  private readonly host: FaceHost
  private readonly all: RequestList
  private readonly open: CellList<Row>

  constructor(host: FaceHost) {
    const rowOf = (store: Parameters<typeof RequestRow.rowOf>[0], rid: string) => RequestRow.rowOf(store, rid)
    this.host = host
    this.all = new RequestList(host)
    this.open = new CellList(host, { folder: Requests.OPEN, isDeep: false, rowOf })
    this.channels = Effect.sync(() => (host.view(RequestRow.CHANNELS) ?? []) as unknown as ReadonlyArray<RequestRow.ChannelRow>)
  }

  list({ open = false, ...page }: SwitchedPage<Kinds>): Effect.Effect<Page<Row>, ReadError> {
    return open ? this.open.list(page) : this.all.list(page)
  }

  get(rid: string): Effect.Effect<RequestDetails | undefined, ReadError> {
    return Effect.flatMap(
      this.host.durably(() => RequestRow.find(this.host.store, rid) ?? this.ofRun(rid)),
      (found) => found === "unknown" ? this.all.find(rid) : Effect.succeed(found)
    )
  }

  /** A finished request of a durable run. Its run is unknown once the journal has been pruned, which may be before the dossier expires. */
  private ofRun(rid: string): RequestDetails | "unknown" | undefined {
    const { store } = this.host
    const [beat] = Requests.placesOf(String(rid))
    if (!Number.isSafeInteger(beat) || beat > store.head().beat) return undefined
    const oid = this.ownerOf(beat, rid)
    return oid === undefined ? "unknown" : RequestRow.find(store, rid, oid)
  }

  /** The run that made a request, by the entry of the beat. */
  private ownerOf(beat: number, rid: string): string | undefined {
    const row = this.host.store.entry(beat)
    if (row === undefined) return undefined
    for (const [key] of Journal.parse(row.text).cells) {
      const place = Requests.placeOf(key)
      if (place?.rid === rid) return place.oid
    }
    return undefined
  }

  /** The refusal of a cancellation: a finished request of a durable run is over, and any other is absent. */
  refused(rid: string, absent: RequestAbsent): Effect.Effect<never, ControlError> {
    return Effect.matchEffect(this.get(rid), {
      onSuccess: (found) => Effect.fail(found === undefined ? absent : new RequestFinished({ rid, state: found.state })),
      onFailure: () => Effect.fail(absent)
    })
  }

  drains({ before, limit }: Parameters<SpaceIo["drains"]>[0]): Effect.Effect<RequestRow.DrainPage, ReadError> {
    return this.host.page(() => {
      const { store } = this.host
      const first = Math.min(before ?? Infinity, store.head().beat + 1)
      const last = Math.max(0, first - MAX_EXAMINED)
      const drains: Array<RequestRow.Drain> = []
      let beat = first - 1
      for (let looked = 0; beat >= last && drains.length < limit && looked < MAX_ROWS; beat--) {
        const row = store.entry(beat)
        if (row === undefined) continue
        looked++
        const drain = RequestRow.drainOf(beat, Journal.inputOf(Journal.parse(row.text), "io"))
        if (drain !== undefined) drains.push(drain)
      }
      return { drains, next: beat < 0 ? undefined : beat + 1 }
    })
  }
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

/** The requests of ordinary runs in the order of their ids, and then those of durable runs by operation. */
class RequestList {
  private readonly source: DurableStore

  constructor(source: DurableStore) {
    this.source = source
  }

  /** A page. It can be short before the end. */
  list({ after, limit }: PageRequest): Effect.Effect<Page<Row>, ReadError> {
    return this.source.page(() => {
      const rows: Array<Row> = []
      const { store } = this.source
      let last = after
      for (const { cursor, oid, rid } of this.all(after)) {
        if (rid !== undefined && rows.length >= limit || store.isSpent) return { rows, next: last }
        last = cursor
        const row = rid === undefined ? undefined : RequestRow.rowOf(store, rid, oid)
        if (row !== undefined) rows.push(row)
      }
      return { rows, next: undefined }
    })
  }

  /** A request of a durable run, among the first {@link MAX_PASSED} operations, a page of them at a time. */
  find(rid: string): Effect.Effect<RequestDetails | undefined, ReadError> {
    return Effect.gen({ self: this }, function*() {
      for (let search: Search = { passed: 0, last: undefined }; ;) {
        const next = yield* this.source.page(() => this.passed(rid, search))
        if (next === undefined || next.found !== undefined) return next?.found
        search = next
      }
    })
  }

  /** The search after more operations; `undefined` at its end. */
  private passed(rid: string, { last, passed }: Search): Search | undefined {
    const { store } = this.source
    let count = passed
    for (const oid of this.names(Dossier.FOLDER, last)) {
      const found = RequestRow.find(store, rid, oid)
      if (found !== undefined || store.isSpent) return { passed: ++count, last: oid, found }
      if (++count >= MAX_PASSED) break
    }
    return undefined
  }

  private *all(after: string | undefined): Iterable<Found> {
    const { oid, rid } = after?.includes("/") === true ? Requests.ofName(after) : { oid: Requests.SHARED, rid: after }
    // An operation whose requests were all listed has the empty one as its last.
    if (rid !== "") yield* this.of(oid, rid)
    const from = oid === Requests.SHARED ? undefined : oid
    for (const other of this.names(Dossier.FOLDER, from)) {
      if (other !== Requests.SHARED) yield* this.of(other, undefined)
    }
  }

  /** The requests of one operation. */
  private *of(oid: string, after: string | undefined): Iterable<Found> {
    const isShared = oid === Requests.SHARED
    for (const rid of this.names(Requests.folderOf(oid), after)) {
      yield { cursor: isShared ? rid : `${oid}/${rid}`, oid, rid }
    }
    yield { cursor: `${oid}/`, oid, rid: undefined }
  }

  private *names(folder: string, after: string | undefined): Iterable<string> {
    for (let from = after; ;) {
      const [name] = namesBelow(this.source.store, { folder, isDeep: true }, { after: from, limit: 1 })
      if (name === undefined) return
      yield name
      from = name
    }
  }
}

type Kinds = KindsOf<typeof face>

/** The API of the requests of a space. */
const make = (host: FaceHost): SpaceIo => {
  const reads = new RequestReads(host)
  const commands: SpaceFace.BeatCommands<Kinds["Verbs"]> = {
    cancel: (_, rid) => ({ kind: "ledger", ledger: face.ledger, command: { verb: "cancel", rid } as LedgerCommand })
  }
  const client = SpaceFace.make({ face, commands, reads }, host)
  // The beat knows the open requests and those of ordinary runs.
  const cancel: SpaceIo["cancel"] = (rid) =>
    Effect.catch(client.cancel(rid), (error) => error instanceof RequestAbsent ? reads.refused(rid, error) : Effect.fail(error))
  return { ...client, cancel, channels: reads.channels, drains: (page) => reads.drains(page) }
}

/**
 * The part of the API of a space for requests.
 *
 * @category constructors
 * @since 0.2.0
 */
export const part: SpacePart = {
  name: face.records.segment,
  members: { ...SpaceFace.membersOf(face), channels: "effect", drains: "method" },
  make: ({ ledgers }) => make(ledgers)
}
