/**
 * `npm run faults [-- SCENARIO]`: injects each kind of fault into each call of the store, and
 * some again during recovery, under each of the kernel's reference
 * scenarios.
 *
 * @module
 */
import { Effect } from "effect"
import process from "node:process"
import { MemoryStore } from "systole"
import { pairs, randoms, singles } from "../faults/FaultyStore.ts"
import * as Scenarios from "../faults/Scenarios.ts"
import * as Trial from "../faults/Trial.ts"
import * as SqliteFolder from "../persistence/SqliteFolder.ts"
import * as Trials from "../support/Trials.ts"
import * as Options from "./Options.ts"
import { render } from "./Table.ts"

const stores = [
  { name: "memory", layer: MemoryStore.layer },
  { name: "sqlite", layer: SqliteFolder.layer }
]
const counts = [{ name: "one", make: singles }, { name: "two", make: pairs }, { name: "random", make: randoms(Trials.seeds(100)) }]

const { others: [wanted = ""] } = Options.read({
  script: "faults",
  about: "Breaks each call of the store, in each way, under the scenarios with this text in their names; without one, under all.",
  others: "[SCENARIO]",
  options: {}
})
const scenarios = Scenarios.all.filter(({ name }) => name.includes(wanted))
if (scenarios.length === 0) {
  Options.refuse(`No scenario has "${wanted}" in its name; there are: ${Scenarios.all.map(({ name }) => name).join(", ")}`)
}
const rows: Array<ReadonlyArray<string>> = []
for (const { layer, name: store } of stores) {
  for (const { make, name: count } of counts) {
    for (const scenario of scenarios) {
      process.stderr.write(`${store}: ${scenario.name}, ${count} at a time\n`)
      const { failures, faults } = await Effect.runPromise(Trial.tryAll(scenario, layer, make))
      for (const failure of failures) console.error(`${store}: ${scenario.name}: ${failure}`)
      if (failures.length > 0) process.exitCode = 1
      rows.push([scenario.name, store, count, String(faults), String(failures.length)])
    }
  }
}
console.log(render(["scenario", "store", "at a time", "faults injected", "failures"], rows))
