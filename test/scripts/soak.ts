/**
 * `npm run soak [-- --minutes 60] [--seed 1]`: a server of 50 spaces under a mixed load and all parts of the attack at a low rate,
 * then a restart and a proof of all spaces. Prints its figures.
 *
 * @module
 */
import process from "node:process"
import { parseArgs } from "node:util"
import { pack } from "../attack/Targets.ts"
import * as Soak from "../soak/Soak.ts"
import { render } from "./Table.ts"

const { values } = parseArgs({ options: { minutes: { type: "string", default: "60" }, seed: { type: "string", default: "1" } } })
const [minutes, seed] = [Number(values.minutes), Number(values.seed)]

const refuse = (message: string): never => {
  console.error(message)
  process.exit(2)
}

if (!(minutes > 0)) refuse(`--minutes is "${values.minutes}"; give a number above 0`)
if (!Number.isInteger(seed)) refuse(`--seed is "${values.seed}"; give a whole number`)

const onSample = ({ descriptors, memory, p50, p99 }: Soak.Sample, acknowledged: number): void =>
  void process.stderr.write(
    `${acknowledged} acknowledged; at rest ${memory} MiB, ${descriptors} descriptors; p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms\n`
  )
const packed = await pack()
try {
  const { acknowledged, attempts, faults, proof, trends } = await Soak.run({ packed, minutes, seed, onSample })
  const columns = ["figure", "unit", "first", "last", "median", "growth", "most", "flat"]
  console.log(render(columns, trends.map(({ first, growth, isFlat, last, median, most, name, unit }) =>
    [name, unit, ...[first, last, median, growth, most].map((value) => value.toFixed(1)), isFlat ? "yes" : "NO"])))
  const counts = ["acknowledged", "attempts", "spaces", "receipts", "calls", "faults"]
  console.log(render(["minutes", ...counts], [
    [minutes, acknowledged, attempts, proof.spaces, proof.receipts, proof.calls, faults.length].map(String)
  ]))
  for (const fault of faults) console.error(fault)
  if (faults.length > 0) process.exitCode = 1
} finally {
  await packed.remove()
}
