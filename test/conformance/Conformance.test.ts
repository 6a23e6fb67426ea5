import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as Conformance from "./Conformance.ts"

const text = (name: string) => readFileSync(join(import.meta.dirname, name), "utf8")
const ids = Conformance.scenarioIds(text("scenarios.md"))
const report = (...tests: ReadonlyArray<readonly [title: string, status: string]>) => ({
  testResults: [{ name: "x", status: "passed", assertionResults: tests.map(([title, status]) => ({ title, fullName: title, status })) }]
})

describe("Conformance", () => {
  it("finds each scenario once", () => {
    assert.strictEqual(ids.length, 310)
    assert.strictEqual(new Set(ids).size, ids.length)
    assert.deepStrictEqual(ids.slice(0, 3), ["B1", "B2", "B3"])
  })

  it("reads the ids at the beginning of a title", () => {
    assert.deepStrictEqual(Conformance.idsOf("B1 orders by after"), ["B1"])
    assert.deepStrictEqual(Conformance.idsOf("C12, C13 writes its lines"), ["C12", "C13"])
    assert.deepStrictEqual(Conformance.idsOf("orders B1 first"), [])
    assert.deepStrictEqual(Conformance.idsOf("B1"), [])
  })

  it("expands letters and ranges", () => {
    assert.deepStrictEqual(Conformance.expand(["C1-C3", "D1"], ids), ["C1", "C2", "C3", "D1"])
    assert.isTrue(Conformance.expand(["B"], ids).includes("B33"))
    assert.throws(() => Conformance.expand(["C1-D3"], ids), "\"C1-D3\" is no range of scenarios")
  })

  it("calls a scenario passed only when all of its tests pass", () => {
    const rows = Conformance.table(
      ["B1", "B2", "B3", "B4"],
      report(["B1 a", "passed"], ["B1, B2 b", "failed"], ["B3 c", "passed"]),
      new Map()
    )
    assert.deepStrictEqual(rows.map((row) => row.result), ["failed", "failed", "passed", "missing"])
  })

  it("accepts a deviation instead of a test, but not beside a failing one", () => {
    const deviating = Conformance.deviations("- **B1** one reason\n- **B2** another\n- **B3**\n")
    assert.deepStrictEqual([...deviating.keys()], ["B1", "B2"])
    const rows = Conformance.table(["B1", "B2"], report(["B2 x", "failed"]), deviating)
    assert.deepStrictEqual(rows.map((row) => row.result), ["deviation", "failed"])
  })

  it("finds gaps in finished scenarios alone", () => {
    const rows = Conformance.table(["B1", "B2", "C1"], report(["B1 a", "passed"]), new Map())
    assert.deepStrictEqual(Conformance.gaps(rows, ["B1", "B2"]).map((row) => row.id), ["B2"])
  })

  it("never lists fewer finished scenarios", () => {
    const finished = Conformance.expand((JSON.parse(text("finished.json")) as { ranges: ReadonlyArray<string> }).ranges, ids)
    const least = Conformance.expand(["B", "C1-C18"], ids)
    assert.deepStrictEqual(least.filter((id) => !finished.includes(id)), [])
  })

  it("has deviations of existing scenarios only", () => {
    assert.deepStrictEqual([...Conformance.deviations(text("deviations.md")).keys()].filter((id) => !ids.includes(id)), [])
  })
})
