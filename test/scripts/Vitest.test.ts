import { assert, describe, it } from "@effect/vitest"
import { render } from "./Table.ts"
import { tally } from "./Vitest.ts"

const file = (status: string, ...tests: ReadonlyArray<string>) => ({
  name: "x",
  status,
  assertionResults: tests.map((status) => ({ title: "t", fullName: "t", status }))
})

describe("tally", () => {
  it("counts passed and failed tests", () => {
    const report = { testResults: [file("passed", "passed", "passed"), file("failed", "passed", "failed")] }
    assert.deepStrictEqual(tally({ code: 1, report }), { passed: 3, failed: 1 })
  })

  it("counts a file that does not load as a failure", () => {
    assert.deepStrictEqual(tally({ code: 1, report: { testResults: [file("failed")] } }), { passed: 0, failed: 1 })
  })

  it("counts an unexplained exit code and a missing report as failures", () => {
    assert.deepStrictEqual(tally({ code: 1, report: { testResults: [file("passed", "passed")] } }), { passed: 1, failed: 1 })
    assert.deepStrictEqual(tally({ code: 0, report: undefined }), { passed: 0, failed: 1 })
  })
})

describe("render", () => {
  it("aligns columns, numbers to the right", () => {
    assert.strictEqual(render(["id", "n"], [["a", "1"], ["bcd", "20"]]), "id    n\n---  --\na     1\nbcd  20")
  })
})
