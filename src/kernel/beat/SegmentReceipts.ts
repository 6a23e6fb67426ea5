/**
 * The receipts of segments: `/rt/receipts/<event>#/segment/<k>`, as a view of the step logs of an event's durable runs.
 *
 * @module
 */
import * as Document from "../../cell/Document.ts"
import * as Cells from "../../durable/Cells.ts"
import { Log } from "../../durable/Log.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"
import { Pending } from "../model/Signal.ts"
import { oidOf } from "./ReadyRuns.ts"
import type { Receipt } from "../model/Receipt.ts"

/** The receipt of one segment. */
export interface SegmentReceipt {
  readonly outcome: "waits" | "ok" | "dead"
  readonly beat: number
  /** The handles that it made and left open. */
  readonly on?: ReadonlyArray<string>
  /** The number of handles that earlier segments had left open, and that still were. */
  readonly before?: number
}

/** The receipts of segments by the number of the segment and by enzyme. */
export type SegmentReceipts = Readonly<Record<string, Readonly<Record<string, SegmentReceipt>>>>

/** The most steps that the receipts of one event show. */
const MAX_STEPS = 400

/** The part of a store that has the logs of durable runs. */
export type LogStore = Pick<SpaceStore, "read">

/** Reads the documents of a store. */
export const reader = (store: LogStore): Cells.Read => (key) => {
  const text = store.read(key)
  return text === undefined ? undefined : Document.decode(text)
}

/**
 * The receipts of the segments of an event's runs; `undefined` if no handling of the event has several.
 */
export const find = (
  store: LogStore & Pick<SpaceStore, "waiting">,
  { handlings, id }: Receipt,
  hash: (text: string) => string
): SegmentReceipts | undefined => {
  const waiting = store.waiting(id).flatMap((row) => Pending.fromRow(row).again?.enzyme ?? [])
  const found: Record<string, Record<string, SegmentReceipt>> = {}
  let steps = 0
  const put = (segment: number, enzyme: string, receipt: SegmentReceipt): void => {
    (found[segment] ??= {})[enzyme] = receipt
  }
  for (const enzyme of new Set([...handlings.map(({ enzyme }) => enzyme), ...waiting])) {
    const log = new Log()
    if (steps >= MAX_STEPS) break
    for (const step of Cells.stepsOf(oidOf(id, enzyme, hash), reader(store))) {
      // A long log is told by the run itself.
      if (++steps > MAX_STEPS) break
      log.add(step)
      const on = log.newest
      const before = log.open.size - on.length
      put(log.segments - 1, enzyme, { outcome: "waits", beat: step.beat, on, ...before === 0 ? {} : { before } })
    }
  }
  for (const { beat, enzyme, outcome, segments } of handlings) {
    if (segments !== undefined && !waiting.includes(enzyme)) put(segments - 1, enzyme, { outcome, beat })
  }
  return Object.keys(found).length === 0 ? undefined : found
}
