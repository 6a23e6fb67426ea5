/**
 * The requests of an open space to the world, as the outside uses them.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { IoCommand } from "../../reactor/Kinds.ts"
import { InvalidRequest } from "../../reactor/ReactorError.ts"
import * as Requests from "../../reactor/Request.ts"
import * as RequestRow from "../../reactor/RequestRow.ts"
import * as Journal from "../model/Journal.ts"
import { CellList } from "../view/CellList.ts"
import type { ControlError, ReadError } from "../view/Expected.ts"
import type { SpaceIo } from "../view/Space.ts"
import { LedgerClient, type LedgerHost } from "./LedgerClient.ts"
import { RequestList } from "./RequestList.ts"

/** The maximum number of beats that one page of drains examines. */
const MAX_EXAMINED = 10_000

/** The maximum number of drains of one page. */
const MAX_DRAINS = 100

/**
 * The requests of a space.
 *
 * @category models
 * @since 0.1.0
 */
export class LiveIo implements SpaceIo {
  readonly channels: SpaceIo["channels"]
  private readonly host: LedgerHost
  private readonly client: LedgerClient<IoCommand, string, RequestRow.RequestRow>
  private readonly all: RequestList
  private readonly open: CellList<RequestRow.RequestRow>

  constructor(host: LedgerHost) {
    const rowOf = (store: Parameters<typeof RequestRow.rowOf>[0], rid: string) => RequestRow.rowOf(store, rid)
    this.host = host
    this.all = new RequestList(host)
    this.client = new LedgerClient(host, "io", { folder: Requests.FOLDER, isDeep: true, rowOf })
    this.open = new CellList(host, { folder: Requests.OPEN, isDeep: false, rowOf })
    this.channels = Effect.sync(() => (host.view(RequestRow.CHANNELS) ?? []) as unknown as ReadonlyArray<RequestRow.ChannelRow>)
  }

  list({ open = false, ...page }: Parameters<SpaceIo["list"]>[0]): Effect.Effect<RequestRow.RequestPage, ReadError> {
    return open ? Effect.map(this.open.list(page), ({ next, rows }) => ({ requests: rows, next })) : this.all.list(page)
  }

  get(rid: string): Effect.Effect<RequestRow.RequestDetails | undefined, ReadError> {
    return this.host.durably(() => RequestRow.find(this.host.store, rid) ?? this.ofRun(rid))
  }

  /** A finished request of a durable run. The entry of the beat that made it names the run. */
  private ofRun(rid: string): RequestRow.RequestDetails | undefined {
    const { store } = this.host
    const [beat] = Requests.placesOf(String(rid))
    const row = Number.isSafeInteger(beat) ? store.entry(beat) : undefined
    if (row === undefined) return undefined
    for (const [key] of Journal.parse(row.text).cells) {
      const place = Requests.placeOf(key)
      if (place?.rid === rid) return RequestRow.find(store, rid, place.oid)
    }
    return undefined
  }

  cancel(rid: string): Effect.Effect<number, ControlError> {
    return this.client.tell(() => {
      if (typeof rid !== "string") throw new InvalidRequest({ reason: "the id of a request is a text" })
      return { verb: "cancel", rid }
    })
  }

  drains({ before, limit }: Parameters<SpaceIo["drains"]>[0]): Effect.Effect<RequestRow.DrainPage, ReadError> {
    return this.host.durably(() => {
      const { store } = this.host
      const first = Math.min(before ?? Infinity, store.head().beat + 1)
      const last = Math.max(0, first - MAX_EXAMINED)
      const drains: Array<RequestRow.Drain> = []
      let beat = first - 1
      for (; beat >= last && drains.length < Math.min(limit, MAX_DRAINS); beat--) {
        const row = store.entry(beat)
        const drain = row === undefined ? undefined : RequestRow.drainOf(beat, Journal.inputOf(Journal.parse(row.text), "io"))
        if (drain !== undefined) drains.push(drain)
      }
      return { drains, next: beat < 0 ? undefined : beat + 1 }
    })
  }
}
