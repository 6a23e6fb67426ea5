/**
 * `npm run attack [-- --part NAME …] [--seed 1] [--minutes 1]`: attacks packed servers over loopback, and prints the attempts,
 * the latencies of a space that takes no part, and the results.
 *
 * @module
 */
import process from "node:process"
import * as Attack from "../attack/Attack.ts"
import * as Parts from "../attack/Parts.ts"
import { pack } from "../attack/Targets.ts"
import * as Options from "./Options.ts"
import { render } from "./Table.ts"

/** The part of all attacks of clients, which no latency is measured beside. It takes as much time as five others. */
const CALLERS = "callers"
const WEIGHT = 5

const names = [...Parts.all.map(({ name }) => name), CALLERS]

const ABOUT = `Installs the packed package and attacks its servers over loopback. A part holds if each of its properties does,
and if a small signal of another space has to wait for at most three times the work and the time of the same server at rest, plus
the resolution, and if none stalls. Without --part, all of these take part:

${Parts.all.map(({ holds, name }) => `  ${name.padEnd(9)} ${holds}`).join("\n")}
  ${CALLERS.padEnd(9)} bodies, readers, streams, spaces, damaged files, hostile runs and random requests`

const { values: { minutes, part, seed } } = Options.read({
  script: "attack",
  about: ABOUT,
  options: {
    part: Options.choices("PART", "A part to make; more than once for several", names),
    seed: Options.whole("Draws the attack", 1),
    minutes: Options.minutes("The time of all parts together", 1)
  }
})
const chosen = new Set(part)

interface Result extends Attack.Result {
  readonly latency?: Parts.Outcome["latency"]
}

const results: Array<Result> = []
const told = (result: Result): void => {
  results.push(result)
  const { failure, name } = result
  process.stderr.write(`${failure === undefined ? `held: ${name}` : `FAILED: ${name}: ${failure}`}\n`)
}

const parts = Parts.all.filter(({ name }) => chosen.has(name))
const share = minutes * 60 / (parts.length + (chosen.has(CALLERS) ? WEIGHT : 0))
const packed = await pack()
try {
  for (const part of parts) {
    const end = performance.now() + share * 1000
    told(await Parts.run(part, { packed, seed, until: () => performance.now() >= end }))
  }
  if (chosen.has(CALLERS)) await Attack.run({ packed, seconds: share * WEIGHT, seed, told })
} finally {
  await packed.remove()
}

const millis = (value: number | undefined): string => value === undefined ? "" : value.toFixed(1)
const columns = ["attack", "tried", "s", "MiB", "ms at rest", "±", "under it", "held", "what must hold"]
console.log(render(columns, results.map(({ failure, holds, latency, memory, millis: took, name, tried }) => [
  name,
  String(tried),
  (took / 1000).toFixed(1),
  String(memory),
  ...[latency?.processor.rest, latency?.processor.resolution, latency?.processor.under].map(millis),
  failure === undefined ? "yes" : "NO",
  holds
])))
const failed = results.filter(({ failure }) => failure !== undefined)
for (const { failure, name } of failed) console.error(`${name}: ${failure}`)
const isPart = (name: string): boolean => parts.some((part) => part.name === name)
const again = new Set(failed.map(({ name }) => isPart(name) ? name : CALLERS))
if (failed.length > 0) console.error(`again: --seed ${seed} ${[...again].map((name) => `--part ${name}`).join(" ")}`)
process.exitCode = failed.length === 0 ? 0 : 1
