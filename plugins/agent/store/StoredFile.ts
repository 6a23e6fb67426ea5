/**
 * The control file on a disk.
 *
 * A write replaces the whole file, and loses no save of a person. It compares the file with the bytes that the write was
 * made from, moves the file aside, and links the new bytes to the name. The link fails if a person saved meanwhile. The
 * version aside is compared again. If it differs, a person saved between both comparisons, and it becomes a conflict copy.
 * A rename over the file would be shorter, but would drop such a save.
 *
 * A version aside stays for {@link ASIDE_MILLIS}, because an editor may have it open. {@link tend} removes it, and restores
 * the file after a crash between the move and the link.
 *
 * @module
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Hash } from "systole"
import { copying, Disk, type DiskFailed } from "systole/cli"
import { type Place as AnyPlace, type WriteResult, type RestoreResult, stamp } from "./ControlStore.ts"
import { isSame } from "../text/Bytes.ts"

/** The time for which a replaced version stays on the disk, in milliseconds. */
export const ASIDE_MILLIS = 60_000

/** The most versions aside. The oldest ones beyond leave before their time. */
export const MAX_ASIDE = 32

/** The most backups of a file. */
export const BACKUPS = 10

/**
 * The place of a control file.
 */
export interface Place extends AnyPlace {
  readonly folder: string
  /** The name, such as `heartbeat.md`. */
  readonly name: string
  /** The name without its extension, and the extension. */
  readonly stem: string
  readonly extension: string
}

/**
 * The place of a file. An absent file has the path of its folder without links.
 */
export const place = Effect.fn("StoredFile.place")(function*(path: string) {
  const disk = yield* Disk
  const hash = yield* Hash
  const found = yield* disk.realPath(path)
  const [folder, name] = disk.split(found ?? path)
  const real = found ?? disk.join((yield* disk.realPath(folder)) ?? folder, name)
  const dot = name.lastIndexOf(".")
  const [stem, extension] = dot <= 0 ? [name, ""] : [name.slice(0, dot), name.slice(dot)]
  return { path: real, folder: disk.split(real)[0], name, stem, extension, key: hash.hex(real).slice(0, 32) } satisfies Place as Place
})

/**
 * Whether a path is one that the agent itself writes: the file, its lock, its unfinished versions, copies and backups.
 */
export const isOwn = ({ folder, name, stem }: Place, [parent, base]: readonly [folder: string, name: string]): boolean =>
  parent === folder && (base === name || base === HISTORY ||
    [`.${name}.`, `${name}.lock`, `${stem}.conflict-`, `${stem}.damaged-`].some((own) => base.startsWith(own)))

/** The name of the folder of backups. */
const HISTORY = "history"

/** The first free name among `NAME.md`, `NAME-2.md`, … that a call takes. */
const firstFree = <E>(
  names: (suffix: string) => string,
  take: (name: string) => Effect.Effect<boolean, E>
): Effect.Effect<string, E> =>
  Effect.gen(function*() {
    for (let i = 1;; i++) {
      const name = names(i === 1 ? "" : `-${i}`)
      if (yield* take(name)) return name
    }
  })

/** Gives a file a further, visible name such as `heartbeat.conflict-20240115-103000.md`; `undefined` if it is absent. */
const nameAs = Effect.fnUntraced(function*(place: Place, from: string, kind: "conflict" | "damaged") {
  const disk = yield* Disk
  const at = stamp(yield* Clock.currentTimeMillis)
  for (let i = 1;; i++) {
    const name = `${place.stem}.${kind}-${at}${i === 1 ? "" : `-${i}`}${place.extension}`
    if (yield* disk.link(from, disk.join(place.folder, name))) return name
    if ((yield* disk.version(from)) === undefined) return undefined
  }
})

/** Gives a version aside a visible name, and drops its present one. */
const keepAs = Effect.fnUntraced(function*(place: Place, from: string) {
  const disk = yield* Disk
  const name = yield* nameAs(place, from, "conflict")
  yield* disk.remove(from)
  yield* disk.syncFolder(place.folder)
  return name
})

/** Moves a cut copy of a version out of the way, behind the versions aside. The file of a person who saved since stays. */
const moveCut = Effect.fnUntraced(function*(place: Place, versions: ReadonlyArray<Aside>, temporaries: ReadonlyArray<string>) {
  const disk = yield* Disk
  const hash = yield* Hash
  const found = yield* disk.read(place.path)
  if (found === undefined) return
  const whole = [...versions.map(({ file }) => file), ...temporaries.map((name) => disk.join(place.folder, name))]
  const sources = yield* Effect.forEach(whole, (file) => disk.read(file))
  const isPart = (whole: Uint8Array): boolean => whole.length > found.length && isSame(whole.subarray(0, found.length), found)
  if (!sources.some((bytes) => bytes !== undefined && isPart(bytes))) return
  const [newest] = versions
  const start = `.${place.name}.${hash.hex(found).slice(0, 32)}.${(newest?.at ?? 1) - 1}`
  const to = (suffix: string) => disk.join(place.folder, `${start}${suffix}.old`)
  yield* disk.rename(place.path, yield* firstFree(to, (file) => Effect.map(disk.version(file), (version) => version === undefined)))
  // Without a version aside, the file was absent before.
  const [temporary] = temporaries
  if (newest === undefined && temporary !== undefined) yield* disk.link(disk.join(place.folder, temporary), place.path)
})

/** The names of versions aside: `.heartbeat.md.<digest>.<time>.old`. */
const ASIDE = /^\.(.+)\.([0-9a-f]{32})\.(\d+)(?:-\d+)?\.old$/
const TEMPORARY = /^\.(.+)\.\d+\.tmp$/

/** A version aside: its path, the digest of its bytes at the replacement, and the time of the replacement. */
interface Aside {
  readonly file: string
  readonly digest: string
  readonly at: number
}

/** The versions aside among the names of the folder, the newest first. */
const versionsAside = (disk: Disk["Service"], place: Place, names: ReadonlyArray<string>): ReadonlyArray<Aside> =>
  names
    .flatMap((name) => {
      const [, of, digest = "", at = ""] = ASIDE.exec(name) ?? []
      return of === place.name ? [{ file: disk.join(place.folder, name), digest, at: Number(at) }] : []
    })
    .sort((a, b) => b.at - a.at)

/** Keeps a version aside with a late save as a conflict copy, and returns its name. Removes another one if its time is over. */
const checkAside = Effect.fnUntraced(function*(place: Place, { digest, file }: Aside, isOver: boolean) {
  const disk = yield* Disk
  const hash = yield* Hash
  const bytes = yield* disk.read(file)
  if (bytes === undefined) return undefined
  if (hash.hex(bytes).slice(0, 32) !== digest) return yield* keepAs(place, file)
  if (isOver) yield* disk.remove(file)
  return undefined
})

/** Writes bytes beside the file, with its permissions, and returns the path. */
const writeBeside = Effect.fnUntraced(function*({ folder, name, path }: Place, bytes: Uint8Array) {
  const disk = yield* Disk
  const temporary = disk.join(folder, `.${name}.${disk.process.pid}.tmp`)
  yield* disk.remove(temporary)
  yield* disk.create(temporary, bytes, path)
  return temporary
})

/** Moves the file aside, under a name with the digest of the bytes that it should have. Returns the path; `undefined` if it is absent. */
const moveAside = Effect.fnUntraced(function*({ folder, name, path }: Place, bytes: Uint8Array, names?: ReadonlyArray<string>) {
  const disk = yield* Disk
  const hash = yield* Hash
  const now = yield* Clock.currentTimeMillis
  const digest = hash.hex(bytes).slice(0, 32)
  const taken = new Set(names ?? (yield* disk.list(folder)))
  const aside = disk.join(folder, yield* firstFree(
    (suffix) => `.${name}.${digest}.${now}${suffix}.old`,
    (free) => Effect.succeed(!taken.has(free))
  ))
  return (yield* disk.rename(path, aside)) ? aside : undefined
})

/**
 * Replaces the bytes of a control file. The caller holds the lease.
 */
export const replace = Effect.fn("StoredFile.replace")(function*(
  place: Place,
  from: Uint8Array,
  to: Uint8Array
): Effect.fn.Return<WriteResult, DiskFailed, Disk | Hash> {
  const disk = yield* Disk
  const { folder, path } = place
  const temporary = yield* writeBeside(place, to)
  const changed = Effect.as(disk.remove(temporary), { _tag: "Changed" } as const)
  if (!isSame(yield* disk.read(path), from)) return yield* changed
  const names = yield* disk.list(folder)
  const aside = yield* Effect.onError(moveAside(place, from, names), () => Effect.ignore(disk.remove(temporary)))
  if (aside === undefined) return yield* changed
  const isLinked = yield* Effect.onError(disk.link(temporary, path), () => Effect.ignore(disk.link(aside, path)))
  // Without the temporary file, which another process may have removed as a leftover, the name is free.
  if (!isLinked) yield* disk.link(aside, path)
  yield* disk.remove(temporary)
  yield* disk.syncFolder(folder)
  const isKept = isSame(yield* disk.read(aside), from)
  let conflict = isKept ? undefined : yield* keepAs(place, aside)
  for (const old of versionsAside(disk, place, names).slice(MAX_ASIDE - 1)) conflict = (yield* checkAside(place, old, true)) ?? conflict
  return isLinked ? { _tag: "Replaced", conflict } : { _tag: "Changed" }
})

/**
 * Removes leftovers of earlier writes, and restores the file after a crash in the middle of one. Returns the conflict
 * copies that it made of versions with a late save.
 *
 * A temporary file is the sign of a crash. Without one, an absent file was removed by a person, and stays removed. A copy that is
 * cut moves aside before another one comes, because a person may have saved into it.
 */
export const tend = Effect.fn("StoredFile.tend")(function*(place: Place) {
  const disk = yield* Disk
  const now = yield* Clock.currentTimeMillis
  const conflicts: Array<string> = []
  const names = yield* disk.list(place.folder)
  const temporaries = names.filter((name) => TEMPORARY.exec(name)?.[1] === place.name)
  const versions = versionsAside(disk, place, names)
  const [newest] = versions
  if (names.includes(copying(place.name))) yield* moveCut(place, versions, temporaries)
  if (newest !== undefined && temporaries.length > 0) yield* disk.link(newest.file, place.path)
  const marks = names.filter((name) => name.startsWith(`.${place.stem}.`) && name.endsWith(copying("").slice(1)))
  for (const name of [...temporaries, ...marks]) yield* disk.remove(disk.join(place.folder, name))
  for (const [i, version] of versions.entries()) {
    const isOver = i >= MAX_ASIDE || Math.abs(now - version.at) >= ASIDE_MILLIS
    const conflict = yield* checkAside(place, version, isOver)
    if (conflict !== undefined) conflicts.push(conflict)
  }
  return conflicts
})

/**
 * The conflict copies and damaged copies beside a control file, in code-unit order.
 */
export const copies = ({ extension, folder, stem }: Place): Effect.Effect<ReadonlyArray<string>, DiskFailed, Disk> =>
  Disk.use((disk) => Effect.map(disk.list(folder), (names) =>
    names.filter((name) => name.endsWith(extension) && (name.startsWith(`${stem}.conflict-`) || name.startsWith(`${stem}.damaged-`)))))

/** The folder of backups, and the file with the latest valid bytes. */
const history = (place: Place) => Disk.useSync((disk) => {
  const folder = disk.join(place.folder, HISTORY)
  return { folder, latest: disk.join(folder, `${place.stem}-latest-valid${place.extension}`) }
})

/**
 * Writes a backup, `history/heartbeat-YYYYMMDD-HHMMSS.md`, and removes the oldest ones beyond {@link BACKUPS}. A second one
 * in a second has a suffix.
 */
export const backUp = Effect.fn("StoredFile.backUp")(function*(place: Place, bytes: Uint8Array) {
  const disk = yield* Disk
  const { folder } = yield* history(place)
  yield* disk.makeFolder(folder)
  const at = stamp(yield* Clock.currentTimeMillis)
  const names = yield* disk.list(folder)
  for (const name of names.filter((name) => isLeftover(place, name))) yield* disk.remove(disk.join(folder, name))
  const temporary = disk.join(folder, `${place.name}.${disk.process.pid}.tmp`)
  yield* disk.create(temporary, bytes)
  const taken = new Set(names)
  const name = yield* firstFree((suffix) => `${place.stem}-${at}${suffix}${place.extension}`, (free) => Effect.succeed(!taken.has(free)))
  // A file of this name is a whole one: the caller holds the lease, so no other process takes the name.
  yield* disk.rename(temporary, disk.join(folder, name))
  const others = (yield* backups(place)).filter((other) => other !== name).toSorted((a, b) => order(a) < order(b) ? -1 : 1)
  for (const old of others.slice(0, Math.max(0, others.length + 1 - BACKUPS))) yield* disk.remove(disk.join(folder, old))
  yield* disk.syncFolder(folder)
  return name
})

/** Whether a name of the folder of backups is of a write that a crash ended. */
const isLeftover = (place: Place, name: string): boolean => {
  const of = TEMPORARY.exec(`.${name}`)?.[1]
  return of === place.name || of === `${place.stem}-latest-valid${place.extension}`
}

/** The key by which backups are ordered: the time, and the number of the suffix. */
const order = (name: string): string => {
  const [, at = "", suffix = "1"] = /-(\d{8}-\d{6})(?:-(\d{1,9}))?(?:\.[^.]{0,255})?$/.exec(name) ?? []
  return `${at}-${suffix.padStart(9, "0")}`
}

/**
 * The names of the backups of a file, in code-unit order.
 */
export const backups = Effect.fnUntraced(function*(place: Place) {
  const disk = yield* Disk
  const { folder } = yield* history(place)
  const [start, end] = [`${place.stem}-`, place.extension]
  const isBackup = (name: string): boolean =>
    name.startsWith(start) && name.endsWith(end) && /^\d{8}-\d{6}(?:-\d+)?$/.test(name.slice(start.length, name.length - end.length))
  return (yield* disk.list(folder)).filter(isBackup)
})

/**
 * Notes the bytes of a valid file, for {@link restore}.
 */
export const noteValid = Effect.fn("StoredFile.noteValid")(function*(place: Place, bytes: Uint8Array) {
  const disk = yield* Disk
  const { folder, latest } = yield* history(place)
  if (isSame(yield* disk.read(latest), bytes)) return
  const temporary = `${latest}.${disk.process.pid}.tmp`
  yield* disk.makeFolder(folder)
  yield* disk.remove(temporary)
  yield* disk.create(temporary, bytes)
  yield* disk.rename(temporary, latest)
  yield* disk.syncFolder(folder)
})

/**
 * Puts the latest valid bytes in the place of `from`, or of an absent file, and keeps `from` as a damaged copy. The file is moved
 * aside and compared before that, so a save that came meanwhile stays in its place.
 */
export const restore = Effect.fn("StoredFile.restore")(function*(
  place: Place,
  from: Uint8Array | undefined
): Effect.fn.Return<RestoreResult, DiskFailed, Disk | Hash> {
  const disk = yield* Disk
  const { latest } = yield* history(place)
  const valid = yield* disk.read(latest)
  if (valid === undefined) return { _tag: "Unknown" }
  const { folder, path } = place
  const temporary = yield* writeBeside(place, valid)
  // The copy has its name first, so that no end of the process loses it.
  const copy = from === undefined ? undefined : yield* nameAs(place, path, "damaged")
  const aside = from === undefined ? undefined : yield* moveAside(place, from)
  const found = aside === undefined ? undefined : yield* disk.read(aside)
  const isSaved = !isSame(found, from)
  if (aside !== undefined && isSaved && !(yield* disk.link(aside, path))) yield* nameAs(place, aside, "conflict")
  const isLinked = !isSaved && (yield* disk.link(temporary, path))
  yield* disk.remove(temporary)
  if (copy !== undefined && isSaved && isSame(yield* disk.read(disk.join(folder, copy)), found)) {
    yield* disk.remove(disk.join(folder, copy))
  }
  if (aside !== undefined) yield* disk.remove(aside)
  yield* disk.syncFolder(folder)
  return isLinked ? { _tag: "Restored", copy } : { _tag: "Changed" }
})
