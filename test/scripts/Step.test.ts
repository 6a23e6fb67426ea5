import { assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { root } from "./Host.ts"
import type { Step } from "./Step.ts"
import { busy, line, runAll, tests } from "./Step.ts"
import type { Report, VitestRun } from "./Vitest.ts"
import { runVitest } from "./Vitest.ts"

const printed: Array<string> = []

beforeEach(() => {
  printed.length = 0
  const log = vi.spyOn(console, "log").mockImplementation((text: string) => void printed.push(text))
  return () => log.mockRestore()
})

const path = (name: string) => join(root, name)

/** A run of vitest over files, each with its tests. */
const ended = (files: Readonly<Record<string, ReadonlyArray<string>>>, output = ""): VitestRun => {
  const testResults: Report["testResults"] = Object.entries(files).map(([name, statuses]) => ({
    name: path(name),
    status: statuses.includes("failed") ? "failed" : "passed",
    assertionResults: statuses.map((status) => ({ title: "t", fullName: "t", status }))
  }))
  return { code: testResults.some((file) => file.status === "failed") ? 1 : 0, output, millis: 0, report: { testResults } }
}

/** A step of tests whose runs end as given, one after the other, and the arguments of each. */
const scripted = (name: string, runs: ReadonlyArray<VitestRun>, files: ReadonlyArray<string> = []) => {
  const calls: Array<ReadonlyArray<string>> = []
  const step = tests(name, "node", {
    files,
    without: ["x"],
    runTests: async (_, args) => runs[calls.push(args) - 1]!
  })
  return { calls, step }
}

describe("line", () => {
  it("prints the result of a step", () => {
    assert.strictEqual(
      line("types", { passed: 1, failed: 0, millis: 1234 }),
      "ok   types                          1 passed    0 failed     1.2 s"
    )
    assert.match(line("types", { passed: 0, failed: 1, millis: 0 }), /^FAIL types/)
  })
})

describe("runAll", () => {
  it("runs the lanes of a stage side by side, the stages in turn, and tells whether all passed", async () => {
    const order: Array<string> = []
    const step = (name: string, failed: number, isShown = false): Step => ({
      name,
      isShown,
      run: async () => {
        order.push(`${name} begins`)
        await Promise.resolve()
        order.push(`${name} ends`)
        return { passed: 1, failed, failures: failed === 0 ? [] : [name], millis: 0, output: `output of ${name}\n` }
      }
    })
    assert.isTrue(await runAll([[[step("a", 0)], [step("b", 0, true)]], [[step("c", 0)]]]))
    assert.deepStrictEqual(order, ["a begins", "b begins", "a ends", "b ends", "c begins", "c ends"])
    assert.deepStrictEqual(printed.filter((text) => text.startsWith("output")), ["output of b"])
    assert.strictEqual(printed.at(-1), "3 passed, 0 failed")
    assert.isFalse(await runAll([[[step("d", 1)]], [[step("e", 0)]]]))
    assert.include(printed, "output of d")
  })

  it("runs the steps of a lane one after another beside the other lane, and the failures when both have ended", async () => {
    const order: Array<string> = []
    const step = (name: string, turns: number, isFirst = true): Step => ({
      name,
      run: async () => {
        order.push(name)
        for (let left = turns; left > 0; left--) await Promise.resolve()
        const failures = isFirst && name === "b" ? [name] : []
        return { passed: 1, failed: failures.length, failures, millis: 0, output: "", again: step(`${name} again`, 0, false).run }
      }
    })
    assert.isTrue(await runAll([[[step("a", 100)], [step("b", 0), step("c", 0)]], [[step("d", 0)]]]))
    assert.deepStrictEqual(order, ["a", "b", "c", "b again", "d"])
    assert.strictEqual(printed.at(-1), "4 passed, 0 failed")
  })

  it("counts a file that failed while others ran as it ends alone, and names it", async () => {
    const { calls, step } = scripted("core", [
      ended({ "a.test.ts": ["passed"], "b.test.ts": ["passed", "failed"], "c.test.ts": ["failed"] }, "why b failed"),
      ended({ "b.test.ts": ["passed", "passed"], "c.test.ts": ["passed"] })
    ])
    assert.isTrue(await runAll([[[step]]]))
    assert.deepStrictEqual(calls, [["--exclude", "x"], [path("b.test.ts"), path("c.test.ts"), "--exclude", "x", "--maxWorkers=1"]])
    assert.include(printed, "why b failed")
    assert.include(printed, "failed while others ran, and passed alone: 2: b.test.ts, c.test.ts")
    assert.strictEqual(printed.at(-1), "4 passed, 0 failed")
  })

  it("fails if a file fails alone, too", async () => {
    const { step } = scripted("core", [
      ended({ "a.test.ts": ["passed"], "b.test.ts": ["failed"], "c.test.ts": ["failed"] }),
      ended({ "b.test.ts": ["passed"], "c.test.ts": ["failed"] })
    ])
    assert.isFalse(await runAll([[[step]]]))
    assert.include(printed, "failed while others ran, and passed alone: 1: b.test.ts")
    assert.strictEqual(printed.at(-1), "2 passed, 1 failed")
  })

  it("fails if a file does not run the second time", async () => {
    const { step } = scripted("core", [ended({ "a.test.ts": ["failed"] }), { ...ended({}), code: 0 }])
    assert.isFalse(await runAll([[[step]]]))
    assert.strictEqual(printed.at(-1), "0 passed, 1 failed")
  })

  it("runs again when the other steps of the stage have ended", async () => {
    const order: Array<string> = []
    const { step } = scripted("core", [ended({ "a.test.ts": ["failed"] }), ended({ "a.test.ts": ["passed"] })])
    const core: Step = {
      ...step,
      run: async () => {
        const first = await step.run()
        return { ...first, again: () => (order.push("again"), first.again!()) }
      }
    }
    const beside: Step = {
      name: "beside",
      run: async () => {
        await new Promise((resolve) => setImmediate(resolve))
        order.push("beside ends")
        return { passed: 1, failed: 0, failures: [], millis: 0, output: "" }
      }
    }
    assert.isTrue(await runAll([[[core], [beside]]]))
    assert.deepStrictEqual(order, ["beside ends", "again"])
  })

  it("runs all files again after an unexplained exit, and those during which an error was thrown", async () => {
    const passed = ended({ "a.test.ts": ["passed"], "b.test.ts": ["passed"] })
    const unexplained = scripted("core", [{ ...passed, code: 1 }, passed], ["test/cell/"])
    const thrown = `This error originated in "b.test.ts" test file. It doesn't mean`
    const uncaught = scripted("host", [{ ...passed, code: 1, output: thrown }, ended({ "b.test.ts": ["passed"] })])
    assert.isTrue(await runAll([[[unexplained.step]], [[uncaught.step]]]))
    assert.deepStrictEqual(unexplained.calls[1], ["test/cell/", "--exclude", "x", "--maxWorkers=1"])
    assert.deepStrictEqual(uncaught.calls[1], [path("b.test.ts"), "--exclude", "x", "--maxWorkers=1"])
    assert.include(printed, "failed while others ran, and passed alone: 2: core, b.test.ts")
    assert.strictEqual(printed.at(-1), "4 passed, 0 failed")
  })

  it("does not repeat a run over its time", async () => {
    const { calls, step } = scripted("core", [{ code: undefined, output: "", millis: 0, report: undefined }])
    assert.isFalse(await runAll([[[step]]]))
    assert.strictEqual(calls.length, 1)
  })
})

describe("A step", () => {
  const folder = (files: Readonly<Record<string, string>>): string => {
    const made = mkdtempSync(join(tmpdir(), "systole-step-"))
    mkdirSync(join(made, "test"))
    for (const [name, text] of Object.entries(files)) writeFileSync(join(made, name), text)
    return made
  }
  /** Code that throws as long as its mark is missing, and leaves the mark. */
  const once = `import { existsSync, writeFileSync } from "node:fs"
const mark = new URL(import.meta.url + ".mark")
const isFirst = !existsSync(mark)
writeFileSync(mark, "")
`

  it("of tests repeats files that fail once, with vitest", async () => {
    const at = folder({
      "test/vitest.config.ts": `export default { test: { globals: true, include: ["test/*.test.ts"] } }`,
      "test/once.test.ts": `${once}it("passes later", () => expect(isFirst).toBe(false))`,
      "test/threw.test.ts": `${once}it("is over", async () => {
  if (isFirst) void Promise.reject(new Error("nobody catches it"))
  await new Promise((resolve) => setImmediate(resolve))
})`,
      "test/sound.test.ts": `it("passes", () => {})`
    })
    const step = tests("once", "node", { runTests: (host, args) => runVitest(host, args, { cwd: at }) })
    assert.isTrue(await runAll([[[step]]]), printed.join("\n"))
    const starved = printed.find((text) => text.startsWith("failed while others ran, and passed alone: 2: "))
    for (const name of ["once", "threw"]) assert.include(starved, `${name}.test.ts`)
    assert.strictEqual(printed.at(-1), "3 passed, 0 failed")
    rmSync(at, { recursive: true })
  })

  it("of a command that starts hosts is repeated", async () => {
    const at = folder({ "once.mjs": `${once}process.exitCode = isFirst ? 1 : 0` })
    assert.isTrue(await runAll([[[busy("attack", [process.execPath, join(at, "once.mjs")])]]]))
    assert.include(printed, "failed while others ran, and passed alone: 1: attack")
    assert.isFalse(await runAll([[[busy("attack", [process.execPath, join(at, "missing.mjs")])]]]))
    rmSync(at, { recursive: true })
  })

  it("of a command repeats the parts alone that its output names", async () => {
    const at = folder({ "parts.mjs": "console.log('again: b'); process.exitCode = process.argv.includes('b') ? 0 : 1" })
    const step = busy("attack", [process.execPath, join(at, "parts.mjs"), "a"], (output) => output.trim().split(" ").slice(1))
    assert.isTrue(await runAll([[[step]]]))
    rmSync(at, { recursive: true })
  })
})
