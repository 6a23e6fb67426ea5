/**
 * `npm test`: all checks, each rule in its short form. `npm run full` has the long ones.
 *
 * @module
 */
import process from "node:process"
import { all } from "./Checks.ts"
import * as Options from "./Options.ts"
import { runAll } from "./Step.ts"

Options.read({ script: "test", about: "Runs all checks, each rule in its short form; npm run full has the long ones.", options: {} })
if (!await runAll(all)) process.exitCode = 1
