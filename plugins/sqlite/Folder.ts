/**
 * The folder with the files of the spaces.
 *
 * @module
 */
import { type Dir, existsSync, opendirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** The files of spaces: their extension, the test of their names, and the guard of each read of the folder. */
export interface Files {
  readonly extension: string
  readonly isSpace: (name: string) => boolean
  readonly attempt: <A>(read: () => A) => A
}

/** The names of the spaces in a folder, in no order. The folder is read while they are taken; an absent one has none. */
export function* files(folder: string, { attempt, extension, isSpace }: Files): Iterable<string> {
  const opened = attempt(() => open(folder))
  if (opened === undefined) return
  try {
    for (;;) {
      const entry = attempt(() => opened.readSync())
      if (entry === null) return
      const name = entry.name.endsWith(extension) ? entry.name.slice(0, -extension.length) : ""
      if (isSpace(name)) yield name
    }
  } finally {
    opened.closeSync()
  }
}

const open = (folder: string): Dir | undefined => {
  try {
    return opendirSync(folder)
  } catch (cause) {
    if ((cause as { readonly code?: string }).code === "ENOENT") return undefined
    throw cause
  }
}

/** The bytes that a probe writes. A disk without room for them is full. */
const PROBE = new Uint8Array(65_536)

/** Writes a file of its own into the folder and removes it: only then a disk tells whether it takes data. */
export const probe = (folder: string): void => {
  if (!existsSync(folder)) return
  const file = join(folder, "probe.tmp")
  try {
    writeFileSync(file, PROBE)
  } finally {
    rmSync(file, { force: true })
  }
}
