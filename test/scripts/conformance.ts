/**
 * `npm run conformance [-- --json]`: each scenario, its test and the result.
 *
 * @module
 */
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import process from "node:process"
import * as Conformance from "../conformance/Conformance.ts"
import { root } from "./Host.ts"
import * as Options from "./Options.ts"
import { render } from "./Table.ts"
import { runVitest } from "./Vitest.ts"

const text = (name: string) => readFile(join(root, "test", "conformance", name), "utf8")

/** Truncates a cell, so that a row fits one line of a terminal. */
const clip = (title: string): string => title.length <= 100 ? title : `${title.slice(0, 99)}…`

const { values: { json } } = Options.read({
  script: "conformance",
  about: "Runs the test of each scenario of test/conformance/scenarios.md, and tells its result.",
  options: { json: Options.flag("Prints the results as JSON") }
})
const ids = Conformance.scenarioIds(await text("scenarios.md"))
const { ranges } = JSON.parse(await text("finished.json")) as { readonly ranges: ReadonlyArray<string> }
const tests = ["test/conformance/", "test/flow/Flows.test.ts", "test/frame/", "test/archive/", "test/plugins/Frame.test.ts"]
const { output, report } = await runVitest("node", tests)
if (report === undefined) {
  console.error(output)
  process.exit(1)
}
const rows = Conformance.table(ids, report, Conformance.deviations(await text("deviations.md")))
if (json) console.log(JSON.stringify(rows))
else console.log(render(["id", "test", "result"], rows.map((row) => [row.id, clip(row.test), row.result])))
const gaps = Conformance.gaps(rows, Conformance.expand(ranges, ids))
for (const gap of gaps) console.error(`${gap.id} is called finished in finished.json, and its test is ${gap.result}`)
if (gaps.length > 0) process.exitCode = 1
