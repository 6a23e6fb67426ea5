/**
 * `npm run demo:agent`: two hours of the example of the watchman in fast-forward, with the control file before and after as a diff.
 *
 * @module
 */
import * as Options from "./Options.ts"
import * as Watchman from "./Watchman.ts"

Options.read({
  script: "demo:agent",
  about: "Two hours of the example of the watchman in fast-forward, with its control file before and after as a diff.",
  options: {}
})
const { after, before, heard, ran } = await Watchman.fastForward()
for (const { at, id, status, told } of ran) console.log(`${at}  ${id.padEnd(7)} ${status.padEnd(10)} ${told}`)
console.log("\nthe site heard:")
for (const message of heard) console.log(`  ${message}`)
console.log("\nheartbeat.md, before and after:\n")
console.log(Watchman.difference(before, after).join("\n"))
