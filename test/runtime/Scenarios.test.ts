import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { build } from "esbuild"
import { Miniflare } from "miniflare"
import { readdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import * as Conformance from "../conformance/Conformance.ts"
import { modulesOf, root } from "./Bundle.ts"
import { COMPATIBILITY_DATE } from "./Edge.ts"
import type { Outcome } from "./scenarios/worker.ts"

const text = (file: string): string => readFileSync(join(root, file), "utf8")

/** The files and the tests that do not run here, each with the reason. */
const leftOut = JSON.parse(text("test/runtime/scenarios/left-out.json")) as Readonly<Record<string, string>>

/** The tests of times, which a host has of its own, and of own ids, which a store keeps. */
const others = ["beat/Schedules", "beat/SlowSchedules", "beat/TimedRetry", "space/OwnIds"].map((name) => `test/kernel/${name}.test.ts`)

/** All files with tests of scenarios, and others that run over each store. */
const all = [
  ...readdirSync(join(root, "test", "conformance")).filter((file) => file.endsWith(".test.ts")).map((file) => `test/conformance/${file}`),
  "test/flow/Flows.test.ts",
  "test/frame/Frame.test.ts",
  "test/archive/Content.test.ts",
  "test/archive/Copy.test.ts",
  "test/archive/Kills.test.ts",
  "test/federation/Selection.test.ts",
  "test/plugins/Frame.test.ts",
  "test/plugins/connection/Pipe.test.ts",
  "test/plugins/connection/SocketChannel.test.ts",
  "test/main/InboundSignals.test.ts",
  ...others
]

const files = all.filter((file) => !Object.hasOwn(leftOut, file))

const chai = createRequire(createRequire(import.meta.url).resolve("vitest/package.json")).resolve("chai")

/** Bundles the tests over the store of objects. Helpers of tests may use modules of Node, which the runtime may not. */
const script = async (): Promise<string> => {
  const imports = files.map((file) => `"${file}": () => import("./${file}")`)
  const contents = `import { make } from "./test/runtime/scenarios/worker.ts"
    const { Test, handler } = make({ ${imports.join(", ")} })
    export { Test }
    export default handler`
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root, loader: "ts" },
    alias: {
      "@effect/vitest": join(root, "test", "runtime", "scenarios", "collect.ts"),
      "vitest": chai,
      "systole": join(root, "src", "index.ts"),
      "systole/cli": join(root, "src", "cli", "index.ts"),
      "systole/time": join(root, "src", "time", "index.ts"),
      "systole/testing": join(root, "src", "main", "testing", "index.ts")
    },
    plugins: [{
      name: "the store of objects",
      setup: ({ onResolve }) =>
        onResolve({ filter: /\/MemoryStore\.ts$/ }, () => ({ path: join(root, "test", "runtime", "scenarios", "ObjectStores.ts") }))
    }],
    bundle: true,
    conditions: ["workerd", "worker"],
    define: { "import.meta.dirname": "\"/\"" },
    external: ["cloudflare:workers", "node:*"],
    format: "esm",
    logLevel: "silent",
    mainFields: ["module", "main"],
    platform: "neutral",
    target: "es2024",
    write: false
  })
  return outputFiles[0]!.text
}

/** The titles that are left out of a file. */
const omittedOf = (file: string): ReadonlyArray<string> =>
  Object.keys(leftOut).filter((key) => key.startsWith(`${file}: `)).map((key) => key.slice(file.length + 2))

/** The ids of scenarios in the titles of a file. */
const idsIn = (file: string): ReadonlyArray<string> =>
  [...text(file).matchAll(/"((?:[A-Z]\d+(?:, )?)+ [^"]*)"/g)].flatMap(([, title = ""]) => Conformance.idsOf(title))

describe("The scenarios over the store of durable objects", () => {
  let worker: Miniflare
  const known = new Map<string, Promise<ReadonlyArray<Outcome>>>()

  const outcomesOf = (file: string): Promise<ReadonlyArray<Outcome>> => {
    const run = async () => {
      const body = JSON.stringify({ file, omitted: omittedOf(file) })
      const answer = await worker.dispatchFetch("http://worker/", { method: "POST", body })
      assert.strictEqual(answer.status, 200, answer.statusText)
      return await answer.json() as ReadonlyArray<Outcome>
    }
    const outcomes = known.get(file) ?? run()
    known.set(file, outcomes)
    return outcomes
  }

  beforeAll(async () => {
    worker = new Miniflare({
      ...modulesOf(await script()),
      compatibilityDate: COMPATIBILITY_DATE,
      // For helpers of tests alone.
      compatibilityFlags: ["nodejs_compat"],
      cf: false,
      bindings: { TRIALS: "ok" },
      durableObjects: { TESTS: { className: "Test", useSQLite: true } }
    })
  })

  afterAll(() => worker.dispose())

  it.each(files)("pass in workerd: %s", async (file) => {
    const outcomes = await outcomesOf(file)
    assert.deepStrictEqual(outcomes.filter(({ failure }) => failure !== undefined), [])
    assert.isAbove(outcomes.length, 0)
  })

  it("are all run there, except those that are left out with a reason", { timeout: 600_000 }, async () => {
    const results = await Promise.all(files.map(async (file) => ({
      name: file,
      status: "passed",
      assertionResults: (await outcomesOf(file)).map(({ failure, title }) =>
        ({ title, fullName: title, status: failure === undefined ? "passed" : "failed" }))
    })))
    const ids = Conformance.scenarioIds(text("test/conformance/scenarios.md"))
    const { ranges } = JSON.parse(text("test/conformance/finished.json")) as { readonly ranges: ReadonlyArray<string> }
    const deviations = Conformance.deviations(text("test/conformance/deviations.md"))
    const elsewhere = all.filter((file) => Object.hasOwn(leftOut, file)).flatMap(idsIn)
    const spaces = (await Promise.all(files.map(outcomesOf))).flat().map((outcome) => outcome.spaces)
    assert.isAbove(spaces.filter((count) => count > 0).length, 150)
    const rows = Conformance.table(ids, { testResults: results }, deviations)
    assert.deepStrictEqual(Conformance.gaps(rows, Conformance.expand(ranges, ids)).filter(({ id }) => !elsewhere.includes(id)), [])
  })

  it("are left out only where they exist", () => {
    for (const [key, reason] of Object.entries(leftOut)) {
      const [file = "", title = ""] = key.split(": ")
      assert.include(all, file)
      assert.include(text(file), title)
      assert.isNotEmpty(reason)
    }
  })
})
