/**
 * A program that exchanges a folder for a link out of the root, and back, again and again.
 *
 * @module
 */
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { setPriority } from "node:os"
import { join } from "node:path"
import process from "node:process"

const [root = "", outside = ""] = process.argv.slice(2)

/** The exchanges between two pauses, and the length of a pause in milliseconds. */
const BATCH = 50
const PAUSE = 2

// It shares the processors with the server, which a program of another machine would not.
setPriority(19)
const [door, inside, link] = [join(root, "door"), join(root, "inside"), join(root, "link")]
process.once("disconnect", () => process.exit())

/** Makes both again: requests create folders, and move and delete files. */
const restore = (): void => {
  rmSync(door, { recursive: true, force: true })
  mkdirSync(inside, { recursive: true })
  for (const name of ["secret", "victim"]) writeFileSync(join(inside, name), "own")
  if (!existsSync(link)) symlinkSync(outside, link)
}

const flip = (): void => {
  try {
    restore()
    for (let i = 0; i < BATCH; i++) {
      for (const one of [inside, link]) {
        renameSync(one, door)
        renameSync(door, one)
      }
    }
  } catch {
    // A request made a folder in this place.
  }
  setTimeout(flip, PAUSE)
}
flip()
