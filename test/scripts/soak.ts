/**
 * `npm run soak [-- --minutes 60] [--seed 1]`: a server of 50 spaces under a mixed load and all parts of the attack at a low rate,
 * then a restart and a proof of all spaces. Prints its figures.
 *
 * @module
 */
import process from "node:process"
import { pack } from "../attack/Targets.ts"
import * as Soak from "../soak/Soak.ts"
import * as Options from "./Options.ts"
import { render } from "./Table.ts"

const { values: { minutes, seed } } = Options.read({
  script: "soak",
  about: "A server of 50 spaces under a mixed load and all parts of the attack at a low rate; then a restart, and a proof of each space.",
  options: { minutes: Options.minutes("How long the load goes on", 60), seed: Options.whole("Draws the load and the attack", 1) }
})

const onSample = ({ descriptors, memory, p50, p99, slowness, work }: Soak.Sample, acknowledged: number): void => {
  const [a, b, c, d] = [p50, p99, slowness, work].map((figure) => figure.toFixed(1))
  const rest = `at rest ${memory} MiB, ${descriptors} descriptors`
  process.stderr.write(`${acknowledged} acknowledged; ${rest}; p50 ${a} ms, p99 ${b} ms; slowed down ${c} times, ${d} ms of work\n`)
}
const packed = await pack()
try {
  const { acknowledged, attempts, faults, proof, trends } = await Soak.run({ packed, minutes, seed, onSample })
  const columns = ["figure", "unit", "first", "last", "median", "growth", "most", "flat"]
  console.log(render(columns, trends.map(({ first, growth, isFlat, last, median, most, name, unit }) =>
    [name, unit, ...[first, last, median, growth, most].map((value) => value.toFixed(1)), isFlat ? "yes" : "NO"])))
  const counts = ["acknowledged", "attempts", "spaces", "receipts", "calls", "late", "longest (s)", "faults"]
  const { calls, late, longest, receipts, spaces } = proof
  console.log(render(["minutes", ...counts], [
    [minutes, acknowledged, attempts, spaces, receipts, calls, late, (longest / 1000).toFixed(1), faults.length].map(String)
  ]))
  for (const fault of faults) console.error(fault)
  if (faults.length > 0) process.exitCode = 1
} finally {
  await packed.remove()
}
