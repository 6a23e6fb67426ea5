/**
 * The development report on writes of durable runs that another writer could make stale.
 *
 * A run that reads an address, awaits, and then sets it without a fresh read fails with `run/stale` only if another writer
 * changes the value in between. The report names the pattern at its first run, while it still succeeds.
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import * as Diagnostic from "../../diagnostic/Diagnostic.ts"
import type { Reporter } from "../../diagnostic/Reporter.ts"
import type { Risk } from "../../durable/Reads.ts"
import type { Enzyme } from "../../registry/Enzyme.ts"

/**
 * The reports of one space, one for each enzyme until its module changes.
 *
 * @category models
 * @since 0.1.0
 */
export class StaleRisks {
  private readonly space: string
  private readonly reporter: Reporter
  private readonly reported = new WeakSet<Enzyme>()

  constructor(space: string, reporter: Reporter) {
    this.space = space
    this.reporter = reporter
  }

  /** Reports a write at risk. With `order: "strict"` one run at a time works for a target, so its enzyme has none. */
  report(enzyme: Enzyme, { at, read, segment }: Risk): void {
    if (enzyme.order === "strict" || this.reported.has(enzyme)) return
    this.reported.add(enzyme)
    const fact = Diagnostic.of("run/stale-risk", {
      origin: { kind: "enzyme", name: enzyme.name },
      subject: Address.parse(at),
      note: `segment ${segment} reads ${read}, and a later one writes ${at} without a fresh read`
    })
    this.reporter.report({ ...fact, space: this.space, beat: undefined })
  }
}
