import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Document from "../../../src/cell/Document.ts"
import type * as Step from "../../../src/durable/Step.ts"
import * as SpaceRuns from "../../../src/main/slice/SpaceRuns.ts"
import { CountedRows, type ListedStore } from "../../../src/kernel/view/CountedRows.ts"
import { FlushedReads } from "../../../src/kernel/view/FlushedReads.ts"
import { MAX_ROWS } from "../../../src/kernel/view/PageTurns.ts"

const OID = `OPS:${"0".repeat(32)}`

/** A log of so many steps, one a beat from a beat on. */
const logFrom = (beat: number, count: number): ReadonlyArray<Step.Step> =>
  Array.from({ length: count }, (_, i) => ({ beat: beat + i, now: 0, settled: [], calls: [], size: 0 }))

/** The cells of one waiting run. */
class Cells {
  private readonly texts = new Map<string, string>()

  constructor(log: ReadonlyArray<Step.Step>) {
    this.put("", { state: "ist:run" })
    this.put("/envelope", { verb: "op/run", target: "x.0.0 work", issued_beat: 0 })
    this.write(log, 0)
  }

  private put(below: string, value: unknown): void {
    this.texts.set(`/rt/ops/${OID}${below}`, Document.encode(value).text)
  }

  /** Replaces the steps from a segment on. */
  write(log: ReadonlyArray<Step.Step>, from: number): void {
    for (let k = from; this.texts.delete(`/rt/ops/${OID}/step/${k}`);) k++
    log.forEach((step, i) => this.put(`/step/${from + i}`, step))
  }

  get store(): ListedStore {
    const nothing = (): never => { throw new Error("not read") }
    return { read: (key) => this.texts.get(key), waiting: () => [], receipts: () => [], below: nothing, entry: nothing, head: nothing }
  }
}

/** The run as it is shown, if `between` comes between its first two pages. */
const shown = (cells: Cells, between: () => void) => {
  let pages = 0
  const take = (look: () => void): () => void => {
    if (pages++ === 1) between()
    look()
    return () => {}
  }
  const group = { error: undefined, whenDurable: (look: () => void) => look() }
  const reads = new FlushedReads(group, { turns: { take }, rows: new CountedRows(cells.store) })
  const runs = { isWaiting: () => true, isHeld: () => false, isPaused: false, shifted: 0 }
  const space = { look: {}, reads, runs }
  return Effect.map(SpaceRuns.get(space as never, OID), (run) => ({ pages, since: run?.since, beats: run?.steps.map(({ beat }) => beat) }))
}

const lengths = { "longer than a page": MAX_ROWS + 50, "shorter than what was read": 120 }

describe("A run that is shown a page of its log at a time", () => {
  for (const [name, count] of Object.entries(lengths)) {
    it.effect(`is shown by its present log if it started anew between two pages, ${name}`, () => Effect.gen(function*() {
      const cells = new Cells(logFrom(0, 2 * MAX_ROWS))
      const { beats, since } = yield* shown(cells, () => cells.write(logFrom(5000, count), 0))
      assert.deepStrictEqual(beats, logFrom(5000, count).slice(-100).map(({ beat }) => beat))
      assert.strictEqual(since, 5000 + count - 1)
    }))
  }

  it.effect("is shown by its present log if a rollback took it back between two pages", () => Effect.gen(function*() {
    const cells = new Cells(logFrom(0, 2 * MAX_ROWS))
    const { beats } = yield* shown(cells, () => cells.write(logFrom(5000, 350), 50))
    assert.deepStrictEqual(beats, logFrom(5250, 100).map(({ beat }) => beat))
  }))

  it.effect("is read once where its log only grew", () => Effect.gen(function*() {
    const cells = new Cells(logFrom(0, 2 * MAX_ROWS))
    const { beats, pages } = yield* shown(cells, () => cells.write(logFrom(2 * MAX_ROWS, 10), 2 * MAX_ROWS))
    assert.deepStrictEqual(beats, logFrom(2 * MAX_ROWS - 90, 100).map(({ beat }) => beat))
    assert.isAtMost(pages, 4)
  }))
})
