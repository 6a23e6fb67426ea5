/**
 * The receipts of segments: `/rt/receipts/<event>#/segment/<k>`, as a view of the step logs of an event's durable runs.
 *
 * @module
 */
import * as Document from "../../cell/Document.ts"
import * as Cells from "../../durable/Cells.ts"
import { Log } from "../../durable/Log.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"
import { PendingSignal } from "../model/Signal.ts"
import type { LogStore, SegmentReceipt, SegmentReceipts } from "../beat/RunExecutor.ts"
import type { Receipt } from "../model/Receipt.ts"

/** The most steps that the receipts of one event show. */
const MAX_STEPS = 400

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
  const waiting = store.waiting(id).flatMap((row) => PendingSignal.fromRow(row).again?.enzyme ?? [])
  const found: Record<string, Record<string, SegmentReceipt>> = {}
  let steps = 0
  const put = (segment: number, enzyme: string, receipt: SegmentReceipt): void => {
    (found[segment] ??= {})[enzyme] = receipt
  }
  for (const enzyme of new Set([...handlings.map(({ enzyme }) => enzyme), ...waiting])) {
    const log = new Log()
    if (steps >= MAX_STEPS) break
    for (const step of Cells.stepsOf(Cells.oidOf(id, enzyme, hash), reader(store))) {
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
