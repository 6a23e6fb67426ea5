/**
 * The lineage of a replay: the runs that lost through a derived cell, because another run had written one of its
 * sources.
 *
 * A replay has no graph to compute this, so the journal records it; likewise the durable runs that were stale.
 *
 * @module
 */
import type { Address, Path } from "../cell/Address.ts"
import type { Entry } from "../kernel/journal/Journal.ts"
import type { EarlierChange, Lineage, Origins } from "../stage/write/ReadLog.ts"
import { codeOf, ownRunsOf } from "../kernel/journal/JournalRecords.ts"
import { STALE, UNDO_LOST } from "../durable/RunCode.ts"

const whole: Path = []

/**
 * The runs of a beat, from its entry.
 */
export class RecordedLineage implements Lineage {
  private readonly losses = new Map<number, Origins>()
  private readonly stale = new Set<number>()
  readonly writers = 0

  constructor(entry: Entry) {
    ownRunsOf(entry).forEach((run, number) => {
      const code = codeOf(run)
      // The undoing of a cancelled run may be lost by a stale read, too. Whatever else lost it has the same outcome.
      if (code === STALE || code === UNDO_LOST) this.stale.add(number)
      if (run.kind !== "conflict" || !run.isDerived) return
      this.losses.set(number, { places: new Map([[run.document, [whole]]]), lists: new Set() })
    })
  }

  origins(_read: Address, _depth: "deep" | "children", run: number): Origins | undefined {
    return this.losses.get(run)
  }

  isDerived(): boolean {
    return false
  }

  noticed(): ReadonlyArray<EarlierChange> {
    return []
  }

  covers(): boolean {
    return false
  }

  recorded(run: number): "stale" | "lost" | "current" {
    if (this.stale.has(run)) return "stale"
    return this.losses.has(run) ? "lost" : "current"
  }
}
