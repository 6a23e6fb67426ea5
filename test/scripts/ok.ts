/**
 * `npm run ok`: the fast part, for each commit, with few random trials.
 *
 * @module
 */
import process from "node:process"
import { fast } from "./Checks.ts"
import * as Options from "./Options.ts"
import { runAll } from "./Step.ts"

Options.read({ script: "ok", about: "Runs the fast checks with few random trials, for each commit.", options: {} })
process.env["TRIALS"] ??= "ok"
if (!await runAll(fast)) process.exitCode = 1
