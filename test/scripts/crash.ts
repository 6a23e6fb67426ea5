/**
 * `npm run crash [-- --kills 200] [--seed 1] [--host node|deno|bun]`: kills a
 * server over SQLite repeatedly, in which two events also end the process, and
 * counts lost and repeated handlings.
 *
 * @module
 */
import process from "node:process"
import * as Crash from "../crash/Crash.ts"
import { hosts } from "./Host.ts"
import * as Options from "./Options.ts"
import { render } from "./Table.ts"

const { values: { host, kills, seed } } = Options.read({
  script: "crash",
  about: "Kills a server over SQLite again and again, in which two events also end the process, and counts lost and repeated handlings.",
  options: {
    kills: Options.whole("How often it is killed", 200, 1),
    seed: Options.whole("Draws the load and the moments", 1),
    host: Options.choice("HOST", "The host of the server", { among: hosts, absent: "node" })
  }
})

const onRestart = (kill: number, acknowledged: number): void =>
  void process.stderr.write(`killed ${kill} times, ${acknowledged} acknowledged\n`)
const tally = await Crash.run({ kills, seed, host, onRestart })
const columns = ["acknowledged", "handled", "lost", "duplicated", "poisoned", "cancelled"] as const
console.log(render(["kills", ...columns], [[kills, ...columns.map((name) => tally[name])].map(String)]))
const { duplicated, faults, lost } = tally
for (const fault of faults) console.error(fault)
if (lost > 0 || duplicated > 0 || faults.length > 0) process.exitCode = 1
