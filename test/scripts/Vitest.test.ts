import { assert, describe, it } from "@effect/vitest"
import { line } from "./Step.ts"
import { render } from "./Table.ts"
import { tally } from "./Vitest.ts"

const file = (status: string, ...tests: ReadonlyArray<string>) => ({
  name: "x",
  status,
  assertionResults: tests.map((status) => ({ title: "t", fullName: "t", status }))
})

describe("tally", () => {
  it("counts the tests that passed and failed", () => {
    const report = { testResults: [file("passed", "passed", "passed"), file("failed", "passed", "failed")] }
    assert.deepStrictEqual(tally({ code: 1, report }), { passed: 3, failed: 1 })
  })

  it("counts a file that does not load", () => {
    assert.deepStrictEqual(tally({ code: 1, report: { testResults: [file("failed")] } }), { passed: 0, failed: 1 })
  })

  it("counts an exit code that no test explains, and a run without a report", () => {
    assert.deepStrictEqual(tally({ code: 1, report: { testResults: [file("passed", "passed")] } }), { passed: 1, failed: 1 })
    assert.deepStrictEqual(tally({ code: 0, report: undefined }), { passed: 0, failed: 1 })
  })
})

describe("line", () => {
  it("says how a step went", () => {
    assert.strictEqual(line("types", { passed: 1, failed: 0, millis: 1234, output: "" }), "ok   types                        1 passed    0 failed     1.2 s")
    assert.match(line("types", { passed: 0, failed: 1, millis: 0, output: "" }), /^FAIL types/)
  })
})

describe("render", () => {
  it("aligns columns, numbers to the right", () => {
    assert.strictEqual(render(["id", "n"], [["a", "1"], ["bcd", "20"]]), "id    n\n---  --\na     1\nbcd  20")
  })
})
