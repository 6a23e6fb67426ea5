/**
 * `npm run attack [-- --seconds 20] [--seed 1]`: attacks packed servers over
 * loopback, and prints the attempts and the results.
 *
 * @module
 */
import process from "node:process"
import { parseArgs } from "node:util"
import * as Attack from "../attack/Attack.ts"
import { render } from "./Table.ts"

const { values } = parseArgs({ options: { seconds: { type: "string", default: "20" }, seed: { type: "string", default: "1" } } })
const [seconds, seed] = [Number(values.seconds), Number(values.seed)]

const refuse = (message: string): never => {
  console.error(message)
  process.exit(2)
}

if (!(seconds > 0)) refuse(`--seconds is "${values.seconds}"; give a number above 0`)
if (!Number.isInteger(seed)) refuse(`--seed is "${values.seed}"; give a whole number`)

const results: Array<Attack.Result> = []
const told = (result: Attack.Result): void => {
  results.push(result)
  process.stderr.write(
    `${result.failure === undefined ? "held" : "FAILED"}: ${result.name}${result.failure === undefined ? "" : `: ${result.failure}`}\n`
  )
}
const held = await Attack.run({ seconds, seed, told })
const columns = ["attack", "tried", "s", "MiB", "held", "what must hold"]
console.log(render(columns, results.map(({ failure, holds, memory, millis, name, tried }) =>
  [name, String(tried), (millis / 1000).toFixed(1), String(memory), failure === undefined ? "yes" : "NO", holds])))
for (const { failure, name } of results) if (failure !== undefined) console.error(`${name}: ${failure}`)
if (!held) console.error(`Something did not hold; --seed ${seed} draws the same again`)
process.exitCode = held ? 0 : 1
