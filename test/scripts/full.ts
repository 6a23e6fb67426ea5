/**
 * `npm run full`: all checks of `npm test`, in their long forms. With `TRIALS=soak`, properties run all of their random trials.
 *
 * @module
 */
import process from "node:process"
import { full } from "./Checks.ts"
import * as Options from "./Options.ts"
import { runAll } from "./Step.ts"

Options.read({
  script: "full",
  about: "Runs all checks in their long forms. TRIALS=soak runs all random trials of each property.",
  options: {}
})
process.env["TRIALS"] ??= "full"
if (!await runAll(full)) process.exitCode = 1
