/**
 * The lineage of a replay: which runs lost because what they read derives from
 * a document that another run had written.
 *
 * A replay has no graph to find that out again, so the journal says it.
 * (Architecture, sections 3 and 9.)
 *
 * @module
 */
import type { Address, Path } from "../cell/Address.ts"
import { DERIVED, ownRuns, type Parsed } from "../kernel/model/Journal.ts"
import type { Lineage, Origins } from "../stage/ReadLog.ts"

const whole: Path = []

/**
 * The runs of a beat, as its entry says.
 *
 * @category models
 * @since 0.1.0
 */
export class RecordedLineage implements Lineage {
  private readonly losses = new Map<number, Origins>()

  constructor(entry: Parsed) {
    ownRuns(entry).forEach((line, run) => {
      if (line[2] === "conflict" && line[4] === DERIVED) this.losses.set(run, { places: new Map([[line[3], [whole]]]), lists: new Set() })
    })
  }

  origins(_read: Address, _depth: "deep" | "children", run: number): Origins | undefined {
    return this.losses.get(run)
  }
}
