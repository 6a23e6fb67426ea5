/**
 * `npm run faults [-- SCENARIO]`: injects each kind of fault into each call of the store, and
 * some again during recovery, under each of the kernel's reference
 * scenarios. With `--frames` it changes each byte of a frame of 64 KiB instead, and ends it at each length: an import refuses each.
 *
 * @module
 */
import { Effect } from "effect"
import process from "node:process"
import { MemoryStore } from "systole"
import * as FrameFaults from "../archive/FrameFaults.ts"
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

const { others: [wanted = ""], values: { frames } } = Options.read({
  script: "faults",
  about: "Breaks each call of the store, in each way, under the scenarios with this text in their names; without one, under all.",
  others: "[SCENARIO]",
  options: { frames: Options.flag("Offers each frame to an import that is one byte or one end away from a frame of 64 KiB instead") }
})

/** Offers bad frames, and prints the result. */
const offered = async (): Promise<never> => {
  const told = ({ kind, offered }: FrameFaults.Tally): void => void process.stderr.write(`${kind}: ${offered}\n`)
  const tallies = await Effect.runPromise(FrameFaults.run(told))
  for (const { failures } of tallies) for (const failure of failures.slice(0, 20)) console.error(failure)
  const rows = tallies.map(({ failures, kind, offered }) => [kind, String(offered), String(failures.length)])
  console.log(render(["frames", "offered", "taken or left"], rows))
  process.exit(tallies.some(({ failures }) => failures.length > 0) ? 1 : 0)
}

if (frames) await offered()
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
