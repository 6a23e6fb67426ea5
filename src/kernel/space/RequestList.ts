/**
 * The requests of a space: those of ordinary runs in the order of their ids, and then those of durable runs by operation.
 *
 * @module
 */
import type * as Effect from "effect/Effect"
import * as Dossier from "../../operation/Dossier.ts"
import * as Requests from "../../reactor/Request.ts"
import * as RequestRow from "../../reactor/RequestRow.ts"
import { type DurableStore, MAX_PAGE, namesBelow, type PageRequest } from "../view/CellList.ts"
import type { ReadError } from "../view/Expected.ts"

/** The most operations without requests that one page examines. A page may therefore have fewer requests than asked for. */
const MAX_EXAMINED = 10_000

/** A request, or an operation without further requests. */
interface Found {
  /** `<rid>`, `<oid>/<rid>`, or `<oid>/`. */
  readonly cursor: string
  readonly oid: string
  readonly rid: string | undefined
}

/**
 * The list of requests.
 *
 * @category models
 * @since 0.1.0
 */
export class RequestList {
  private readonly source: DurableStore

  constructor(source: DurableStore) {
    this.source = source
  }

  /** A page, of at most {@link MAX_PAGE} requests. */
  list({ after, limit }: PageRequest): Effect.Effect<RequestRow.RequestPage, ReadError> {
    return this.source.durably(() => {
      const most = Math.min(limit, MAX_PAGE)
      const requests: Array<RequestRow.RequestRow> = []
      let last: string | undefined
      let examined = 0
      for (const { cursor, oid, rid } of this.all(after)) {
        if (rid === undefined) {
          if (++examined >= MAX_EXAMINED) return { requests, next: cursor }
          continue
        }
        if (requests.length >= most) return { requests, next: last }
        const row = RequestRow.rowOf(this.source.store, rid, oid)
        if (row !== undefined) requests.push(row)
        last = cursor
      }
      return { requests, next: undefined }
    })
  }

  private *all(after: string | undefined): Iterable<Found> {
    const { oid, rid } = after?.includes("/") === true ? Requests.ofName(after) : { oid: Requests.SHARED, rid: after }
    yield* this.of(oid, rid === "" ? undefined : rid)
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
