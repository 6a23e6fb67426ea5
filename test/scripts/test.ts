/**
 * `npm test`: all checks. With `TRIALS=soak`, properties run all of their random trials.
 *
 * @module
 */
import process from "node:process"
import { all } from "./Checks.ts"
import { runAll } from "./Step.ts"

if (!await runAll(all)) process.exitCode = 1
