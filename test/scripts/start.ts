/**
 * `npm start`: serves the example until it is stopped.
 *
 * @module
 */
import { join } from "node:path"
import process from "node:process"
import { pathToFileURL } from "node:url"
import * as Command from "./Command.ts"
import { root } from "./Host.ts"

process.chdir(join(root, "examples", "thumbnails"))
process.argv.splice(2, 0, "start")
await Command.ensure()
await import(pathToFileURL(Command.file).href)
