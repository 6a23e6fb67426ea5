/**
 * Kills a server while its schedule writes a backup, and checks the folder of the backups after each restart.
 *
 * @module
 */
import { Effect } from "effect"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, watch, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as BackupName from "../../src/archive/BackupName.ts"
import { FrameReader } from "../../src/frame/FrameReader.ts"
import { hash } from "../frame/Frames.ts"
import type { Host } from "../scripts/Host.ts"
import { type Server, start } from "../scripts/Server.ts"
import * as Random from "../support/Random.ts"

/** The cells of the space, and the characters of each: a backup of them is written for long enough to be met. */
const CELLS = 12
const VALUE = 200_000

/** The most changes of a file before its writer is killed. */
const CHANGES = 8

/** Older than a file that its process still writes, in seconds. */
const LEFT = 3 * 3600

/** The parameters of the test. */
export interface Plan {
  readonly kills: number
  /** The seed of the moments of the kills. */
  readonly seed: number
  readonly host?: Host
}

/** The result of the test. */
export interface Tally {
  /** The kills that left a file which was not whole. */
  readonly met: number
  /** The backups of the folder, which are all whole. */
  readonly whole: number
  readonly faults: ReadonlyArray<string>
}

const config = `export default { spaces: { create: "on-demand" }, backup: { every: "10s", full: "10s", to: "backups" } }\n`

/** Writes cells, so that a backup is due and large. */
const fill = async ({ url }: Server, round: number, cells = CELLS): Promise<void> => {
  for (let n = 0; n < cells; n++) {
    const body = JSON.stringify(`${round} ${"x".repeat(VALUE)}`)
    const { status } = await fetch(`${url}/v1/spaces/home/cells/data/${n}`, {
      method: "PUT", headers: { "content-type": "application/json" }, body
    })
    if (status >= 300) throw new Error(`the cell ${n} was answered ${status}`)
  }
}

/** Waits until the names of changed files in a folder satisfy a predicate. */
const changed = (folder: string, isOver: (file: string) => boolean): Promise<void> =>
  new Promise((resolve) => {
    const watcher = watch(folder, (_, file) => {
      if (file === null || !isOver(file)) return
      watcher.close()
      resolve()
    })
  })

/** The refusal of a file that has the name of a backup; `undefined` for a whole one. */
const faultOf = (path: string): Promise<string | undefined> => {
  const reader = new FrameReader(hash)
  const read = Effect.andThen(reader.feed(new Uint8Array(readFileSync(path))), reader.sealed())
  return Effect.runPromise(Effect.match(read, { onSuccess: () => undefined, onFailure: ({ message }) => `${path}: ${message}` }))
}

/** Kills a server the given number of times while it writes a backup. After the last one, it goes on. */
export const run = async ({ host = "node", kills, seed }: Plan): Promise<Tally> => {
  const project = mkdtempSync(join(tmpdir(), "systole-backup-kills-"))
  const folder = join(project, "backups", "home")
  const draw = Random.make(seed)
  const begin = (): Promise<Server> => start(project, join(project, ".data"), { host })
  const partial = (): ReadonlyArray<string> => readdirSync(folder).filter((file) => file.endsWith(BackupName.PARTIAL))
  writeFileSync(join(project, "systole.config.ts"), config)
  mkdirSync(folder, { recursive: true })
  let met = 0
  let server: Server | undefined
  try {
    for (let round = 0; round < kills; round++) {
      server = await begin()
      let left = 1 + draw(CHANGES)
      const before = partial().length
      const killed = changed(folder, (file) => file.endsWith(BackupName.PARTIAL) && --left === 0)
      await fill(server, round, round === 0 ? CELLS : 1)
      await killed
      await server.end("SIGKILL")
      if (partial().length > before) met++
    }
    for (const file of partial()) utimesSync(join(folder, file), Date.now() / 1000 - LEFT, Date.now() / 1000 - LEFT)
    server = await begin()
    const done = changed(folder, (file) => BackupName.read(file) !== undefined)
    await fill(server, kills, 1)
    await done
    await server.end("SIGTERM")
    const known = BackupName.all(readdirSync(folder))
    const faults = (await Promise.all(known.map(({ file }) => faultOf(join(folder, file))))).filter((fault) => fault !== undefined)
    for (const file of partial()) faults.push(`${file} is left`)
    return { met, whole: known.length, faults }
  } finally {
    await server?.end("SIGKILL")
    rmSync(project, { recursive: true, force: true })
  }
}
