import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { transform } from "esbuild"
import { measurePage } from "../language/Language.ts"
import type { Assertion } from "../scripts/Vitest.ts"
import type { Mutant } from "./Mutants.ts"
import * as Mutants from "./Mutants.ts"

const root = join(import.meta.dirname, "..", "..")
const listed = JSON.parse(readFileSync(join(import.meta.dirname, "mutants.json"), "utf8")) as ReadonlyArray<Mutant>
const mutant: Mutant = { name: "swap", file: "a.ts", find: "a < b", replace: "a > b", tests: ["test/a"] }
const run = (code: number | undefined, ...statuses: ReadonlyArray<string>) => ({
  code,
  report: {
    testResults: [{ name: "x", status: "x", assertionResults: statuses.map((status) => ({ title: "t", fullName: "t", status })) }]
  }
})

describe("Mutants", () => {
  describe("apply", () => {
    it("replaces the only occurrence", () => {
      assert.deepStrictEqual(Mutants.apply(mutant, "if (a < b) x()"), { text: "if (a > b) x()" })
    })

    it("inserts the replacement literally", () => {
      assert.deepStrictEqual(Mutants.apply({ ...mutant, replace: "$&$1" }, "a < b"), { text: "$&$1" })
    })

    it("refuses a text that is absent or occurs twice", () => {
      assert.deepStrictEqual(Mutants.apply(mutant, "a > b"), { refused: "a.ts holds what it finds 0 times instead of once" })
      assert.deepStrictEqual(Mutants.apply(mutant, "a < b; a < b"), { refused: "a.ts holds what it finds 2 times instead of once" })
    })

    it("refuses an excerpt of several lines, and a replacement without a change", () => {
      assert.deepStrictEqual(Mutants.apply({ ...mutant, find: "a\nb" }, "a\nb"), { refused: "what it finds is not within one line" })
      assert.deepStrictEqual(Mutants.apply({ ...mutant, replace: mutant.find }, "a < b"), { refused: "it changes nothing" })
    })
  })

  describe("verdict", () => {
    it("is caught if a test failed, or the process of the tests crashed", () => {
      assert.strictEqual(Mutants.verdict(run(1, "passed", "failed")), "caught")
      assert.strictEqual(Mutants.verdict({ code: 1, report: undefined }), "caught")
    })

    it("is hung if tests failed by their time-outs alone, or did not end", () => {
      const test = (...failureMessages: ReadonlyArray<string>) => ({ title: "t", fullName: "t", status: "failed", failureMessages })
      const failed = (...tests: ReadonlyArray<Assertion>) =>
        ({ code: 1, report: { testResults: [{ name: "x", status: "failed", assertionResults: tests }] } })
      const late = test("TestTimeoutError: Test timed out in 60000ms.")
      assert.strictEqual(Mutants.verdict(failed(late)), "hung")
      assert.strictEqual(Mutants.verdict(failed(late, test("AssertionError: expected 1 to equal 2"))), "caught")
      assert.strictEqual(Mutants.verdict({ code: undefined, report: undefined }), "hung")
    })

    it("is survived if all tests passed", () => {
      assert.strictEqual(Mutants.verdict(run(0, "passed")), "survived")
    })

    it("is broken if no test ran", () => {
      assert.strictEqual(Mutants.verdict(run(1)), "broken")
    })
  })

  it("have distinct names, which state the broken behaviour in plain terms", () => {
    const names = listed.map(({ name }) => name)
    assert.deepStrictEqual(names.filter((name, i) => names.indexOf(name) !== i), [])
    assert.deepStrictEqual(names.filter((name) => measurePage(name).indefinite > 0), [])
  })

  it.each(listed)("$name can be made", (listed) => {
    const made = Mutants.apply(listed, readFileSync(join(root, listed.file), "utf8"))
    assert.notProperty(made, "refused")
  })

  it("compile with their replacements", async () => {
    const errors = await Promise.all(listed.map(async (listed) => {
      const made = Mutants.apply(listed, readFileSync(join(root, listed.file), "utf8"))
      if ("refused" in made || !listed.file.endsWith(".ts")) return []
      return transform(made.text, { loader: "ts" }).then(() => [], ({ message }: Error) => [`${listed.name}: ${message}`])
    }))
    assert.deepStrictEqual(errors.flat(), [])
  })
})
