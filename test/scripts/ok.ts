/**
 * `npm run ok`: the fast part, for each commit.
 *
 * @module
 */
import process from "node:process"
import { fast } from "./Checks.ts"
import { runAll } from "./Step.ts"

if (!await runAll(fast)) process.exitCode = 1
