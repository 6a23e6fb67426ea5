/**
 * `npm run ok`: the fast part, for each commit, with few random trials.
 *
 * @module
 */
import process from "node:process"
import { fast } from "./Checks.ts"
import { runAll } from "./Step.ts"

process.env["TRIALS"] ??= "ok"
if (!await runAll(fast)) process.exitCode = 1
