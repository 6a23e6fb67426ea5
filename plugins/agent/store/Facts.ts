/**
 * The facts of the host that a wake captures: files of conditions, variables, and watched paths.
 *
 * @module
 */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Glob from "effect/Glob"
import * as Option from "effect/Option"
import { Hash } from "systole"
import { Disk, type DiskFailed } from "systole/cli"
import type { Action } from "../document/Action.ts"
import * as Conditions from "../schedule/Condition.ts"
import type { WakeFacts } from "./ControlStore.ts"
import { isOwn, type Place } from "./StoredFile.ts"

/** The most names of a watched folder whose files are looked at. */
const MOST_NAMES = 10_000

/** The files of a watched folder that are looked at between two yields. */
const YIELD = 250

/** The path of a text that is relative to a folder. */
export const locate = (disk: Disk["Service"], folder: string, path: string): string => path.startsWith("/") ? path : disk.join(folder, path)

/** An operation whose failure, such as one of a path that is too long, has the meaning of absence. */
const orElse = <A, B, R>(effect: Effect.Effect<A, DiskFailed, R>, absent: B): Effect.Effect<A | B, never, R> =>
  Effect.orElseSucceed(effect, () => absent)

/** Whether a path exists. The last segment may be a pattern. */
const exists = Effect.fnUntraced(function*(folder: string, path: string) {
  const disk = yield* Disk
  const [parent, name] = disk.split(locate(disk, folder, path))
  if (!/[*?]/.test(name)) return (yield* orElse(disk.version(disk.join(parent, name)), undefined)) !== undefined
  const names = yield* orElse(disk.list(parent), [])
  // Of the syntax of patterns, only `*` and `?` are signs; names may have the other ones.
  const pattern = Glob.make(name.replaceAll(/[^*?]+/g, Glob.escape))
  return names.some((each) => Glob.match(pattern, each))
})

/**
 * The digest of a path: of the bytes of a file, or of the names and versions below a folder. Only the version counts of a path
 * that has neither, such as a pipe, and of a file or a folder that is too large to be read.
 */
const digestOf = Effect.fnUntraced(function*(place: Place, path: string) {
  const disk = yield* Disk
  const hash = yield* Hash
  const version = yield* orElse(disk.version(path), undefined)
  if (version === undefined) return "absent"
  const bytes = yield* orElse(disk.read(path), undefined)
  if (bytes !== undefined) return hash.hex(bytes).slice(0, 16)
  const below = yield* entriesBelow(place, path)
  return hash.hex(below === undefined ? version : JSON.stringify(below)).slice(0, 16)
})

/**
 * The paths below a folder with their versions, a level after the other; `undefined` for a path that is no folder. The tools of a
 * project write into hidden folders and `node_modules`, so those count as one entry each. What
 * the agent itself writes counts for none.
 */
const entriesBelow = Effect.fnUntraced(function*(place: Place, path: string) {
  const disk = yield* Disk
  const names = yield* orElse(disk.list(path, MOST_NAMES), undefined)
  if (names === undefined) return undefined
  const found: Array<readonly [path: string, version: string | undefined]> = []
  const open = names.map((name) => disk.join(path, name))
  for (let i = 0; i < open.length; i++) {
    // Other work of the thread goes on between the calls of the system.
    if (i % YIELD === YIELD - 1) yield* Effect.yieldNow
    const each = open[i] ?? ""
    const parts = disk.split(each)
    if (isOwn(place, parts)) continue
    found.push([each, yield* orElse(disk.version(each), undefined)])
    const [, name] = parts
    const below = name.startsWith(".") || name === "node_modules" ? [] : yield* orElse(disk.list(each, MOST_NAMES), [])
    for (const child of below) if (open.length < MOST_NAMES) open.push(disk.join(each, child))
  }
  return found
})

/** The folders below a watched folder, and itself; only the path for any other one. */
export const foldersOf = Effect.fnUntraced(function*(path: string) {
  const disk = yield* Disk
  const folders = [path]
  for (let i = 0; i < folders.length && folders.length < MAX_FOLDERS; i++) {
    for (const name of yield* orElse(disk.list(folders[i] ?? "", MOST_NAMES), [])) {
      const each = disk.join(folders[i] ?? "", name)
      const isSkipped = name.startsWith(".") || name === "node_modules" || folders.length >= MAX_FOLDERS
      if (!isSkipped && (yield* orElse(disk.list(each, MOST_NAMES), undefined)) !== undefined) folders.push(each)
    }
  }
  return folders
})

/** The most folders of a watched path that are watched. */
const MAX_FOLDERS = 100

/** The facts that some actions need: those of their conditions, and the paths that they watch. */
interface Needs extends Conditions.Requirements {
  readonly watched: ReadonlyArray<{ readonly id: string; readonly path: string }>
}

/** The needs of lists of actions, each of which belongs to one version of a file. */
const known = new WeakMap<ReadonlyArray<Action>, Needs>()

const needsOf = (actions: ReadonlyArray<Action>): Needs => {
  const found = known.get(actions)
  if (found !== undefined) return found
  const watched = actions.flatMap(({ id, schedule }) => schedule.kind === "on_change" ? [{ id, path: schedule.path }] : [])
  const needs = { ...Conditions.requirementsOf(actions.flatMap(({ condition }) => condition ?? [])), watched }
  known.set(actions, needs)
  return needs
}

/**
 * Captures the facts that the actions of a file depend on. Paths are relative to its folder.
 */
export const capture = Effect.fn("Facts.capture")(function*(place: Place, actions: ReadonlyArray<Action>) {
  const disk = yield* Disk
  const { folder } = place
  const needed = needsOf(actions)
  const files = new Set<string>()
  for (const path of needed.files) if (yield* exists(folder, path)) files.add(path)
  const variables = new Set<string>()
  for (const name of needed.variables) {
    const value = yield* Effect.orElseSucceed(Config.option(Config.NonEmptyString(name)), () => Option.none())
    if (Option.isSome(value)) variables.add(name)
  }
  const digests = new Map<string, string>()
  for (const { id, path } of needed.watched) digests.set(id, yield* digestOf(place, locate(disk, folder, path)))
  return { files, variables, digests } satisfies WakeFacts as WakeFacts
})
