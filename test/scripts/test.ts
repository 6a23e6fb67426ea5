/**
 * `npm test`: everything.
 *
 * @module
 */
import process from "node:process"
import { all } from "./Checks.ts"
import { runAll } from "./Step.ts"

if (!await runAll(all)) process.exitCode = 1
