/**
 * A process that imports a frame into a folder, and ends at a write: `FOLDER FRAME WRITE`.
 *
 * @module
 */
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import process from "node:process"
import * as Kills from "./Kills.ts"

const [folder = "", file = "", write = ""] = process.argv.slice(2)
let left = Number(write)

const tell = (): void => {
  if (left-- === 0) process.kill(process.pid, "SIGKILL")
}

await Effect.runPromise(Kills.inFolder(folder, (kernel) => Kills.send(kernel, readFileSync(file)), Kills.tellingWrites(tell)))
