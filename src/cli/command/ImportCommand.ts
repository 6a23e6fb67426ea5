/**
 * `systole import` and `restore`: files become spaces.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as BackupName from "../../archive/BackupName.ts"
import * as Chain from "../../archive/Chain.ts"
import { concat } from "../../cell/Bytes.ts"
import * as Printable from "../../diagnostic/Printable.ts"
import type { AbsentContent } from "../../kernel/model/Arrived.ts"
import type * as Header from "../../frame/Header.ts"
import { hash } from "../../persistence/PureSha256.ts"
import type { Verification } from "../../replay/Verify.ts"
import { CliFailure, exits } from "../CliFailure.ts"
import { Client } from "../Client.ts"
import * as Output from "../Output.ts"
import * as SpaceArgument from "../SpaceArgument.ts"
import * as FrameFile from "./FrameFile.ts"
import * as SpaceCommand from "./SpaceCommand.ts"

/** The seconds for one part of a frame. */
const SECONDS = 300

/** The most seconds of the check of a whole space. */
const CHECKED = 3600

const file = Argument.String("file").pipe(Argument.withDescription("The file of the frame"))

/** The answer to a part of an import. */
interface Taken {
  readonly frame?: number
  readonly next?: number
  readonly root?: string
  readonly beat?: number
  readonly absent?: AbsentContent
}

/** The lines about content that an import found nowhere. */
const without = (space: string, { count, hashes }: AbsentContent = { count: 0, hashes: [] }): ReadonlyArray<string> => count === 0 ? [] : [
  `${Printable.count(count, "content")} came by reference and ${count === 1 ? "was" : "were"} found nowhere. Send the bytes with PUT ` +
    `${SpaceArgument.path(space)}/blobs, or import a frame with --content inline:`,
  ...hashes,
  ...count > hashes.length ? [`and ${count - hashes.length} more`] : []
]

/** An import: the files of its chain, the name of the new space, and its reason. */
interface Wanted {
  readonly files: ReadonlyArray<string>
  readonly space: string
  readonly why: "copy" | "restore"
  /** A sentence for the refusal of a file: what to do without it. */
  readonly remedy?: ((file: string) => string) | undefined
}

/** A failure with the name of its file. */
const named = (file: string, { message }: CliFailure): string => message.includes(file) ? message : `${file}: ${message}`

/** A failure in other words. */
const reworded = ({ code, exit, places }: CliFailure, message: string): CliFailure => new CliFailure({ exit, code, message, places })

/** The refusal of a file, by its name. */
const ofFile = (file: string, { remedy }: Wanted) => (failure: CliFailure): CliFailure => {
  if (!failure.code.startsWith("frame/")) return failure
  const rest = remedy?.(file)
  return reworded(failure, rest === undefined ? named(file, failure) : `${named(file, failure)}. ${rest}`)
}

/** The id of an import. The same import has the same id, so one that was broken off goes on. */
const idOf = Effect.fnUntraced(function*({ files, why }: Wanted) {
  const openings = yield* Effect.forEach(files, (file) => Effect.scoped(Effect.map(FrameFile.open(file), ({ opening }) => opening.bytes)))
  return hash.hex(concat([new TextEncoder().encode(why), ...openings])).slice(0, 32)
})

/** Sends the files of a chain to a new space, which is detached then. A file that ends early leaves no space. */
export const bring = Effect.fnUntraced(function*(wanted: Wanted) {
  const { files, space, why } = wanted
  const { ask } = yield* Client
  const id = yield* idOf(wanted)
  const tell = FrameFile.progress("imported")
  const path = (frame: number, from: number): string =>
    `${SpaceArgument.path(space)}/import/${id}?why=${why}&frame=${frame}&frames=${files.length}&from=${from}`
  const send = Effect.fnUntraced(function*(file: string, number: number) {
    const frame = yield* FrameFile.open(file)
    let part: FrameFile.Part | undefined = frame.opening
    for (let taken: Taken; ;) {
      if (part === undefined) {
        yield* ask(SpaceArgument.path(space), { method: "DELETE" })
        return yield* FrameFile.early(file)
      }
      taken = yield* ask<Taken>(path(number, part.from), { method: "PUT", bytes: part.bytes, seconds: SECONDS })
      yield* tell(part.bytes.length)
      if (taken.root !== undefined || (taken.frame ?? 0) > number) return taken
      part = yield* frame.next(taken.next ?? 1)
    }
  }, Effect.scoped)
  let taken: Taken = { frame: 0 }
  for (let number = 0; number < files.length && taken.root === undefined; number++) {
    const file = files[number] ?? ""
    if ((taken.frame ?? 0) <= number) taken = yield* Effect.mapError(send(file, number), ofFile(file, wanted))
  }
  return taken
})

/** A frame in a file, with its header. */
interface Known extends Chain.Placed {
  readonly header: Header.Header
}

const known = Effect.fnUntraced(function*(path: string) {
  const header = yield* FrameFile.headerOf(path)
  const { basename } = yield* Path.Path
  return { path, header, made: BackupName.read(basename(path))?.at } satisfies Known
})

/** The frame in a file that is given alone: a range follows another one. */
const snapshotIn = Effect.fnUntraced(function*(path: string) {
  const frame = yield* known(path)
  const { anchor, kind } = frame.header
  if (kind !== "range") return frame
  const message = `${path} is a range, with what came after beat ${anchor.beat} alone. Give the folder of its chain to systole restore, ` +
    "which takes the snapshot and the ranges before it"
  return yield* new CliFailure({ exit: exits.usage, code: "frame/order", message })
})

const imported = Command.make("import", {
  file,
  space: SpaceArgument.name,
  key: FrameFile.key,
  identity: FrameFile.identity,
  json: Output.json
}, ({ file, identity, json, key, space }) =>
  FrameFile.decrypting(identity, Effect.gen(function*() {
    yield* snapshotIn(file)
    yield* FrameFile.areSignedBy(key, [file])
    const { absent, beat, root } = yield* bring({ files: [file], space, why: "copy" })
    yield* Output.data(json, { space, file, beat, root, absent }, [
      `imported ${file} as ${space}, at beat ${beat}`,
      ...without(space, absent),
      `It is detached: systole space release ${space} lets its requests and signals out`
    ])
  }))).pipe(
    Command.withDescription(
      "Make a new space from a file. It runs detached: no request, delivery, timer or signal to another space goes out"
    ),
    Command.withExamples([{ command: "systole import home.frame copy", description: "Makes the space copy" }]),
    Command.provide(Client.layer)
  )

/** Checks all rows of a restored space. */
const checked = Effect.fnUntraced(function*(space: string) {
  const { ask } = yield* Client
  const { fault } = yield* ask<Verification>(`${SpaceArgument.path(space)}/journal/verification`, { seconds: CHECKED })
  if (!fault) return
  const message = `Space "${space}" is not what was backed up: ${fault.reason}. It stays detached: restore another backup with another ` +
    "--data. Its removal deletes large content below its name, which that backup may need"
  return yield* new CliFailure({ exit: exits.differs, code: fault.code, message })
})

/** The point up to which backups are taken: the number of a beat, or a date. */
const untilOf = (at: string): Effect.Effect<Chain.Until, CliFailure> => {
  if (/^\d{1,15}$/.test(at)) return Effect.succeed({ beat: Number(at) })
  const time = Date.parse(at)
  if (!Number.isNaN(time)) return Effect.succeed({ time })
  const message = `--at takes a beat or a date such as 2026-11-28T09:00:00Z, and not ${JSON.stringify(at.slice(0, 100))}`
  return Effect.fail(new CliFailure({ exit: exits.usage, code: "backup/at", message }))
}

/** A file that cannot be read, and its description, if it has the name of a backup. */
interface Unread {
  readonly file: string
  readonly failure: CliFailure
  readonly named: BackupName.Known | undefined
}

/** The most files that cannot be read of which each is told. */
const TOLD = 5

/** The frames of a space among the files of a folder, and the files that cannot be read, the first of which are told. */
const ofSpace = Effect.fnUntraced(function*(place: string, space: string, { files, others: folders }: FrameFile.Within) {
  const { basename } = yield* Path.Path
  const found: Array<Known> = []
  const unread: Array<Unread> = []
  for (const file of files) {
    yield* Effect.matchEffect(known(file), {
      onFailure: (failure) => Effect.sync(() => unread.push({ file, failure, named: BackupName.read(basename(file)) })),
      onSuccess: (frame) => Effect.sync(() => found.push(frame))
    })
  }
  for (const { failure: { code, message }, file } of unread.slice(0, TOLD)) yield* Output.note(`left out ${file}: ${message} [${code}]`)
  if (unread.length > TOLD) yield* Output.note(`left out ${Printable.count(unread.length - TOLD, "further file")} that cannot be read`)
  const own = found.filter(({ header }) => header.space === space)
  const others = [...new Set([...folders, ...found.map(({ header }) => header.space)])].toSorted()
  if (own.length > 0 || others.length === 0) return { frames: own, unread }
  return yield* new CliFailure({
    exit: exits.absent,
    code: "backup/space",
    message: `${place} has no frame of "${space}", but of ${others.slice(0, 10).map((name) => `"${name}"`).join(", ")}. ` +
      `Restore under that name, or give the file of a snapshot itself to restore it as "${space}"`
  })
})

/** Fails if a backup that cannot be read is newer than all others up to the end: they are another point than the wanted one. */
const readable = ({ frames, unread }: Found, until: Chain.Until | undefined): Effect.Effect<void, CliFailure> => {
  const newest = Chain.reachable(frames, until)
  const after = newest === undefined ? -Infinity : Chain.pointOf(newest).at
  const hidden = unread.flatMap(({ named, ...rest }) => named === undefined ? [] : { ...rest, at: named.at, beat: named.end.beat })
  const [found] = hidden.filter((each) => each.at > after && Chain.isUntil(each, until)).sort((one, other) => other.at - one.at)
  if (found === undefined) return Effect.void
  const { failure, file } = found
  const rest = newest === undefined ? "No other one up to this point can be restored" : `Without it, ${Chain.told(newest)}`
  const message = `A backup of the newest state up to this point cannot be read. ${named(file, failure)}. ${rest}`
  return Effect.fail(reworded(failure, message))
}

/** Fails if the newest point is that of a space which was made anew under its name, unless a point was asked for. */
const alone = (frames: ReadonlyArray<Known>, last: Known): Effect.Effect<void, CliFailure> => {
  const rival = Chain.rivalOf(frames, last)
  if (rival === undefined) return Effect.void
  const message = `The backups are of two spaces of that name, ${last.header.origin} and ${rival.header.origin}, and the newest one ` +
    `has fewer beats. Choose with --at: ${Chain.told(rival)}; ${Chain.told(last)}`
  return Effect.fail(new CliFailure({ exit: exits.usage, code: "backup/ambiguous", message }))
}

/** The frames of a place, and the files that cannot be read. */
interface Found {
  readonly frames: ReadonlyArray<Known>
  readonly unread: ReadonlyArray<Unread>
}

/** The frames that lead to a point: those of the space in a folder of backups, or one file, whatever the name of its space. */
const chainOf = Effect.fnUntraced(function*(place: string, space: string, at: string | undefined) {
  const until = at === undefined ? undefined : yield* untilOf(at)
  const within = yield* FrameFile.within(place, space)
  const found: Found = within.isFolder ? yield* ofSpace(place, space, within) : { frames: [yield* snapshotIn(place)], unread: [] }
  yield* readable(found, until)
  const chain = yield* Effect.try({
    try: () => Chain.choose(found.frames, until),
    catch: (error) => {
      if (!(error instanceof Chain.NoChain)) throw error
      const count = found.unread.length
      const rest = count === 0 ? "" : `. ${Printable.count(count, "file")} could not be read: see above`
      return new CliFailure({ exit: exits.absent, code: error.code, message: `${error.message}${rest}` })
    }
  })
  const last = chain.at(-1)
  if (last === undefined) return yield* FrameFile.early(place)
  if (until === undefined) yield* alone(found.frames, last)
  /** The way to a point without one of the files. */
  const remedy = (file: string): string => {
    const other = Chain.reachable(found.frames.filter(({ path }) => path !== file), until)
    return other === undefined ? "No other backup leads to this point" : `Without it, ${Chain.told(other)}`
  }
  return { chain, last, remedy }
})

/** The files of a chain in words. */
const filesOf = (chain: ReadonlyArray<Known>): string => {
  const [first, ...ranges] = chain.map(({ path }) => path)
  const [last] = ranges.slice(-1)
  return last === undefined ? String(first) : `${String(first)} and ${Printable.count(ranges.length, "range")} up to ${last}`
}

const restored = Command.make("restore", {
  from: Argument.String("from").pipe(Argument.withDescription("A file, or the folder of the backups")),
  space: SpaceArgument.name,
  at: Flag.String("at").pipe(Flag.withDescription("The newest backup up to a beat, or a date such as 2026-11-28T09:00:00Z"), Flag.optional),
  detached: Flag.Boolean("detached").pipe(
    Flag.withDescription("Let nothing go out of the space until systole space release"),
    Flag.withDefault(false)
  ),
  key: FrameFile.key,
  identity: FrameFile.identity,
  json: Output.json
}, ({ at, detached, from, identity, json, key, space }) =>
  FrameFile.decrypting(identity, Effect.gen(function*() {
    const { chain, last, remedy } = yield* chainOf(from, space, Option.getOrUndefined(at))
    const files = chain.map(({ path }) => path)
    yield* FrameFile.areSignedBy(key, files)
    const { absent, beat, root } = yield* bring({ files, space, why: "restore", remedy })
    yield* checked(space)
    yield* SpaceCommand.listed(space)
    if (!detached) yield* SpaceCommand.released(space)
    const made = new Date(Chain.pointOf(last).at).toISOString()
    yield* Output.data(json, { space, files, beat, made, root, absent, detached }, [
      `restored ${space} at beat ${beat}, from ${filesOf(chain)}`,
      `It is the state of ${made}. Later signals are not in it, and have to be sent again`,
      ...without(space, absent),
      detached
        ? `It is detached: systole space release ${space} lets its requests, timers and signals out`
        : "Its requests, timers and signals to other spaces go on"
    ])
  }))).pipe(
    Command.withDescription(
      "Bring a space back from a file or a folder of backups. What waited in it is listed, and goes on: signals that were delivered " +
        "before are recognized"
    ),
    Command.withExamples([
      { command: "systole restore /backups home", description: "Restores the newest backup" },
      { command: "systole restore /backups home --at 2026-11-28T09:00:00Z", description: "Restores the newest one up to that time" }
    ]),
    Command.provide(Client.layer)
  )

/**
 * The commands that bring spaces in.
 */
export const commands = [imported, restored]
