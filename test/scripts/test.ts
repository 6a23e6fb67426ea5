/**
 * `npm test`: all checks. With `TRIALS=soak`, properties run all of their random trials.
 *
 * @module
 */
import process from "node:process"
import { all } from "./Checks.ts"
import * as Options from "./Options.ts"
import { runAll } from "./Step.ts"

Options.read({ script: "test", about: "Runs all checks. TRIALS=soak runs all random trials of each property.", options: {} })
if (!await runAll(all)) process.exitCode = 1
