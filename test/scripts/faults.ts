/**
 * `npm run faults [-- SCENARIO]`: breaks each call of the store once, in each way,
 * under each of the kernel's reference scenarios.
 *
 * @module
 */
import { Effect } from "effect"
import process from "node:process"
import { MemoryStore } from "systole"
import * as Scenarios from "../faults/Scenarios.ts"
import * as Trial from "../faults/Trial.ts"
import * as SqliteFolder from "../persistence/SqliteFolder.ts"
import { render } from "./Table.ts"

const stores = [
  { name: "memory", layer: MemoryStore.layer, calls: ["append", "flush", "read"] },
  { name: "sqlite", layer: SqliteFolder.layer, calls: ["append", "flush", "read", "statement"] }
] as const

const [wanted = ""] = process.argv.slice(2)
const scenarios = Scenarios.all.filter(({ name }) => name.includes(wanted))
if (scenarios.length === 0) {
  console.error(`No scenario has "${wanted}" in its name; there are: ${Scenarios.all.map(({ name }) => name).join(", ")}`)
  process.exit(2)
}
const rows: Array<ReadonlyArray<string>> = []
for (const { calls, layer, name: store } of stores) {
  for (const scenario of scenarios) {
    process.stderr.write(`${store}: ${scenario.name}\n`)
    const { failures, faults } = await Effect.runPromise(Trial.tryAll(scenario, layer, calls))
    for (const failure of failures) console.error(`${store}: ${scenario.name}: ${failure}`)
    if (failures.length > 0) process.exitCode = 1
    rows.push([scenario.name, store, String(faults), String(failures.length)])
  }
}
console.log(render(["scenario", "store", "faults injected", "failures"], rows))
