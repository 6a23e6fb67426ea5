/**
 * `npm run simulate [-- --seed N] [--seeds COUNT] [--minutes T] [--only ACTION] [--first]`: runs random worlds with every fault, one seed
 * after another, and shrinks each world in which a rule breaks. `--first` ends with the first such world, as it is. `--planted [PART …]`
 * plants one known fault after another, and looks for each up to 30 minutes. `--digests` prints the digest of each world, which is the
 * same on each host.
 *
 * @module
 */
import process from "node:process"
import * as Actions from "../simulation/Actions.ts"
import { Coverage } from "../simulation/Coverage.ts"
import * as Plan from "../simulation/Plan.ts"
import { asTest, shrink } from "../simulation/Shrink.ts"
import * as Trial from "../simulation/Trial.ts"
import * as Options from "./Options.ts"
import * as Planted from "./Planted.ts"
import { render } from "./Table.ts"

const { others, values: { digests, first, minutes = Infinity, only, planted, seed: from, seeds } } = Options.read({
  script: "simulate",
  about: "Runs random worlds with every fault, one seed after another, and shrinks each world in which a rule breaks.",
  others: "[PART …]",
  options: {
    seed: Options.whole("The first seed", 0, 0),
    seeds: Options.whole("The number of seeds", 200, 1),
    minutes: Options.minutes("Goes on for so long, instead of a number of seeds", undefined),
    only: Options.choice("ACTION", `Only this action: ${Actions.kinds.join(", ")}`, { among: Actions.kinds, absent: undefined }),
    first: Options.flag("Ends with the first world in which a rule breaks, as it is"),
    digests: Options.flag("Prints the digest of each world, which is the same on each host"),
    planted: Options.flag("Looks for planted faults with PART in their names")
  }
})
if (!planted && others.length > 0) Options.refuse(`"${others.join(" ")}" is no option`)

/** Looks for each planted fault of these parts of names; ends the process. */
const prove = async (parts: ReadonlyArray<string>): Promise<never> => {
  const chosen = Object.entries(Planted.faults).filter((entry) =>
    parts.length === 0 || parts.some((part) => entry.some((text) => text.includes(part))))
  if (chosen.length === 0) Options.refuse(`No planted fault has ${parts.join(" or ")} in its name`)
  let missed = 0
  for (const [between, name] of chosen) {
    const { note, seconds, seeds } = await Planted.find(name, { seed: from, minutes: Math.min(30, minutes) })
    if (seeds === undefined) missed++
    const result = seeds === undefined ? "MISSED" : `found within ${seeds} seeds`
    console.log(`${result}, ${seconds.toFixed(0)} s: ${name} (${between})\n  ${note}`)
  }
  console.log(`${chosen.length - missed} of ${chosen.length} planted faults found`)
  process.exit(missed > 0 ? 1 : 0)
}
if (planted) await prove(others)

const began = performance.now()
const coverage = new Coverage()
let failures = 0
let steps = 0

/** Tells what was covered; ends the process. */
const conclude = (): never => {
  console.log(render(["kind", "times"], coverage.rows.map(([kind, count]) => [kind, String(count)])))
  const { missing, worlds } = coverage
  console.log(`${missing.length} pairs of kinds met in none of these worlds${["", ...missing.slice(0, 5)].join("\n  ")}`)
  const seconds = (performance.now() - began) / 1000
  const { system, user } = process.cpuUsage()
  const processor = `${((system + user) / 1e6).toFixed(1)} s of a processor`
  console.log(`${worlds} worlds from seed ${from} on, ${steps} steps, ${failures} failed, ${seconds.toFixed(1)} s, ${processor}`)
  process.exit(failures > 0 ? 1 : 0)
}
// A search that is stopped has looked, too.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.prependOnceListener(signal, conclude)

for (let seed = from; seed < (minutes === Infinity ? from + seeds : Infinity); seed++) {
  if (performance.now() - began > minutes * 60_000) break
  const plan = Plan.make(seed, only)
  const { counts, digest, failure } = await Trial.run(plan)
  if (digests) console.log(`digest of seed ${seed}: ${digest ?? "none"}`)
  coverage.add(counts)
  steps += plan.steps.length
  if (failure === undefined) continue
  failures++
  console.log(`seed ${seed}, step ${failure.step}, ${failure.checker}: ${failure.message}\n`)
  if (first) break
  console.log(`${asTest(await shrink(plan, failure))}\n`)
}
conclude()
