import { assert, describe, it, vi } from "@effect/vitest"
import { line, runAll } from "./Step.ts"
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

describe("line", () => {
  it("prints the result of a step", () => {
    assert.strictEqual(
      line("types", { passed: 1, failed: 0, millis: 1234, output: "" }),
      "ok   types                        1 passed    0 failed     1.2 s"
    )
    assert.match(line("types", { passed: 0, failed: 1, millis: 0, output: "" }), /^FAIL types/)
  })
})

describe("runAll", () => {
  it("runs the steps of a stage side by side, the stages in turn, and tells whether all passed", async () => {
    const printed: Array<string> = []
    const log = vi.spyOn(console, "log").mockImplementation((text: string) => void printed.push(text))
    try {
      const order: Array<string> = []
      const step = (name: string, failed: number, isShown = false) => ({
        name,
        isShown,
        run: async () => {
          order.push(`${name} begins`)
          await Promise.resolve()
          order.push(`${name} ends`)
          return { passed: 1, failed, millis: 0, output: `output of ${name}\n` }
        }
      })
      assert.isTrue(await runAll([[step("a", 0), step("b", 0, true)], [step("c", 0)]]))
      assert.deepStrictEqual(order, ["a begins", "b begins", "a ends", "b ends", "c begins", "c ends"])
      assert.deepStrictEqual(printed.filter((text) => text.startsWith("output")), ["output of b"])
      assert.strictEqual(printed.at(-1), "3 passed, 0 failed")
      assert.isFalse(await runAll([[step("d", 1)], [step("e", 0)]]))
      assert.include(printed, "output of d")
    } finally {
      log.mockRestore()
    }
  })
})

describe("render", () => {
  it("aligns columns, numbers to the right", () => {
    assert.strictEqual(render(["id", "n"], [["a", "1"], ["bcd", "20"]]), "id    n\n---  --\na     1\nbcd  20")
  })
})
