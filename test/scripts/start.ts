/**
 * `npm start`: the runtime on the example, until it is stopped.
 *
 * @module
 */
import { join } from "node:path"
import process from "node:process"
import { root } from "./Host.ts"

process.chdir(join(root, "examples", "thumbnails"))
process.argv.splice(2, 0, "start")
await import("../../src/main/systole.ts")
