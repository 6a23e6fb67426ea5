/**
 * The folder of the bundles that a host imports, below the project.
 *
 * Each bundle has a file named by its digest, with its source map beside it. A development server writes one after each change
 * of a module, so the oldest are removed. A bundle that is needed again is written again.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** The folder, relative to the project. */
export const FOLDER = join(".systole", "modules")

/**
 * A folder in place of the project's, for a command that leaves nothing there. It ends with the scope.
 */
export const passing: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "systole-modules-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)

/** The most files that stay beside the young ones, and the number of writes after which the others are removed. */
const MAX_FILES = 500
const WRITES = 100

/** The age from which a file may be removed, in milliseconds: another process may be about to import a younger one. */
const AGE = 600_000

/** The number of writes of this process, by folder. */
const writes = new Map<string, number>()

/**
 * Writes a file atomically by a rename, so that another process never reads a partial file. Removes old files before.
 */
export const write = async (root: string, name: string, text: string): Promise<string> => {
  const folder = join(root, FOLDER)
  const place = join(folder, name)
  const draft = `${place}.${randomUUID()}`
  await mkdir(folder, { recursive: true })
  const count = writes.get(folder) ?? 0
  writes.set(folder, count + 1)
  if (count % WRITES === 0) await removeOld(folder, Date.now() - AGE)
  await writeFile(draft, text)
  await rename(draft, place)
  return place
}

/**
 * Removes the oldest files of a folder that were last written before a time, except for the newest {@link MAX_FILES}. A file that
 * another process removes meanwhile is passed over.
 */
export const removeOld = async (folder: string, before: number): Promise<void> => {
  const names = (await readdir(folder)).filter((name) => /^[0-9a-f]{64}\.mjs/.test(name))
  if (names.length <= MAX_FILES) return
  const files: Array<{ readonly file: string; readonly written: number }> = []
  for (const name of names) {
    const file = join(folder, name)
    const found = await stat(file).catch(() => undefined)
    if (found !== undefined) files.push({ file, written: found.mtimeMs })
  }
  const old = files.toSorted((a, b) => b.written - a.written).slice(MAX_FILES).filter(({ written }) => written < before)
  for (const { file } of old) await rm(file, { force: true })
}
