/**
 * `npm run soak [-- --minutes 60] [--seed 1]`: a server of 50 spaces under a mixed load and all parts of the attack at a low rate,
 * then a restart and a proof of all spaces. Prints its figures. With `--watchers N`, it is N rounds of watchers of derived cells in
 * workerd instead.
 *
 * @module
 */
import process from "node:process"
import { pack } from "../attack/Targets.ts"
import * as Soak from "../soak/Soak.ts"
import * as Options from "./Options.ts"
import { render } from "./Table.ts"

const { values: { minutes, seed, watchers } } = Options.read({
  script: "soak",
  about: "A server of 50 spaces under a mixed load and all parts of the attack at a low rate; then a restart, and a proof of each space.",
  options: {
    minutes: Options.minutes("How long the load goes on", 60),
    seed: Options.whole("Draws the load and the attack", 1),
    watchers: Options.whole("Rounds of watchers of derived cells in workerd, in place of the load", 0, 0)
  }
})

/** Ends the process with the faults, if there are some. */
const ended = (faults: ReadonlyArray<string>): void => {
  for (const fault of faults) console.error(fault)
  if (faults.length > 0) process.exitCode = 1
}

const watched = async (): Promise<void> => {
  // The other soak needs no workerd.
  const Watchers = await import("../soak/Watchers.ts")
  const onRound = (round: number, faults: number): void =>
    void (round % 50 === 0 && process.stderr.write(`${round} of ${watchers} rounds, ${faults} faults\n`))
  const { evictions, faults, longest, restarts, rounds, watches } = await Watchers.run({ rounds: watchers, seed, onRound })
  const columns = ["rounds", "watches", "evictions", "restarts", "longest (ms)", "faults"]
  console.log(render(columns, [[rounds, watches, evictions, restarts, Math.ceil(longest), faults.length].map(String)]))
  ended(faults)
}

const onSample = ({ descriptors, memory, p50, p99, slowness, work }: Soak.Sample, acknowledged: number): void => {
  const [a, b, c, d] = [p50, p99, slowness, work].map((figure) => figure.toFixed(1))
  const rest = `at rest ${memory} MiB, ${descriptors} descriptors`
  process.stderr.write(`${acknowledged} acknowledged; ${rest}; p50 ${a} ms, p99 ${b} ms; slowed down ${c} times, ${d} ms of work\n`)
}
const soaked = async (): Promise<void> => {
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
    ended(faults)
  } finally {
    await packed.remove()
  }
}

await (watchers > 0 ? watched() : soaked())
