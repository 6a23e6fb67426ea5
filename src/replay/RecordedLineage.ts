/**
 * The lineage of a replay: the runs that lost through a derived cell, because another run had written one of its
 * sources.
 *
 * A replay has no graph to compute this, so the journal records it.
 *
 * @module
 */
import type { Address, Path } from "../cell/Address.ts"
import type { Parsed } from "../kernel/model/Journal.ts"
import type { Lineage, Origins } from "../stage/ReadLog.ts"
import { ownRunsOf } from "../kernel/model/JournalRecords.ts"

const whole: Path = []

/**
 * The runs of a beat, from its entry.
 *
 * @category models
 * @since 0.1.0
 */
export class RecordedLineage implements Lineage {
  private readonly losses = new Map<number, Origins>()

  constructor(entry: Parsed) {
    ownRunsOf(entry).forEach((run, number) => {
      if (run.kind !== "conflict" || !run.isDerived) return
      this.losses.set(number, { places: new Map([[run.document, [whole]]]), lists: new Set() })
    })
  }

  origins(_read: Address, _depth: "deep" | "children", run: number): Origins | undefined {
    return this.losses.get(run)
  }
}
