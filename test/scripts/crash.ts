/**
 * `npm run crash [-- --kills 200] [--seed 1] [--host node|deno|bun]`: kills a
 * server over SQLite repeatedly, in which two events also end the process, and
 * counts lost and repeated handlings.
 *
 * @module
 */
import process from "node:process"
import { parseArgs } from "node:util"
import * as Crash from "../crash/Crash.ts"
import type { Host } from "./Host.ts"
import { render } from "./Table.ts"

const { values } = parseArgs({
  options: { kills: { type: "string", default: "200" }, seed: { type: "string", default: "1" }, host: { type: "string", default: "node" } }
})
const [kills, seed] = [Number(values.kills), Number(values.seed)]
const hosts: ReadonlyArray<string> = ["node", "deno", "bun"] satisfies ReadonlyArray<Host>

const refuse = (message: string): never => {
  console.error(message)
  process.exit(2)
}

if (!Number.isInteger(kills) || kills < 1) refuse(`--kills is "${values.kills}"; give a whole number from 1 up`)
if (!Number.isInteger(seed)) refuse(`--seed is "${values.seed}"; give a whole number`)
if (!hosts.includes(values.host)) refuse(`There is no host "${values.host}"; there are ${hosts.join(", ")}`)

const onRestart = (kill: number, acknowledged: number): void =>
  void process.stderr.write(`killed ${kill} times, ${acknowledged} acknowledged\n`)
const tally = await Crash.run({ kills, seed, host: values.host as Host, onRestart })
const columns = ["acknowledged", "handled", "lost", "duplicated", "poisoned", "cancelled"] as const
console.log(render(["kills", ...columns], [[kills, ...columns.map((name) => tally[name])].map(String)]))
const { duplicated, faults, lost } = tally
for (const fault of faults) console.error(fault)
if (lost > 0 || duplicated > 0 || faults.length > 0) process.exitCode = 1
