/**
 * The development reports on durable runs that a race with other writers or signals could break.
 *
 * A run that reads an address, awaits, and then sets it without a fresh read fails with `run/stale` only if another writer
 * changes the value in between. A run that begins to hear a signal after an await loses it only if it comes in between. A
 * report names the pattern at its first run, while it still succeeds.
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import * as Diagnostic from "../../diagnostic/Diagnostic.ts"
import type { Reporter } from "../../diagnostic/Reporter.ts"
import type { Pair } from "../../durable/Pairs.ts"
import type { Risk } from "../../durable/Reads.ts"
import type { Enzyme } from "../../registry/Enzyme.ts"

/** The topics of advice. */
type Topic = "run/late-hear" | "run/stale-risk"

/**
 * The reports of one space, one of each topic for each enzyme until its module changes.
 */
export class StaleRisks {
  private readonly space: string
  private readonly told: Reporter["report"]
  private readonly reported: Readonly<Record<Topic, WeakSet<Enzyme>>> = { "run/late-hear": new WeakSet(), "run/stale-risk": new WeakSet() }

  constructor(space: string, told: Reporter["report"]) {
    this.space = space
    this.told = told
  }

  /** Reports a write at risk. With `order: "strict"` one run at a time works for a target, so its enzyme has none. */
  stale(enzyme: Enzyme, { at, read, segment }: Risk): void {
    if (enzyme.order === "strict") return
    const note = `segment ${segment} reads ${read}, and a later one writes ${at} without a fresh read`
    this.report("run/stale-risk", enzyme, { at, note })
  }

  /** Reports a signal that a run begins to hear after an await. */
  late(enzyme: Enzyme, [signal, at]: Pair, segment: number): void {
    const note = `segment ${segment} begins to hear ${signal} at ${at}, and misses one that came before`
    this.report("run/late-hear", enzyme, { at, note })
  }

  private report(topic: Topic, enzyme: Enzyme, { at, note }: { readonly at: string; readonly note: string }): void {
    if (this.reported[topic].has(enzyme)) return
    this.reported[topic].add(enzyme)
    const fact = Diagnostic.of(topic, { origin: { kind: "enzyme", name: enzyme.name }, subject: Address.parse(at), note })
    this.told({ ...fact, space: this.space, beat: undefined })
  }
}
