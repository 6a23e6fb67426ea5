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
    if ((taken.frame ?? 0) <= number) taken = yield* send(files[number] ?? "", number)
  }
  return taken
})

const imported = Command.make("import", {
  file,
  space: SpaceArgument.name,
  identity: FrameFile.identity,
  json: Output.json
}, ({ file, identity, json, space }) =>
  FrameFile.decrypting(identity, Effect.gen(function*() {
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
    Command.provide(Client.layer)
  )

/** Checks all rows of a restored space. */
const checked = Effect.fnUntraced(function*(space: string) {
  const { ask } = yield* Client
  const { fault } = yield* ask<Verification>(`${SpaceArgument.path(space)}/journal/verification`, { seconds: CHECKED })
  if (!fault) return
  const message = `Space "${space}" is not what was backed up: ${fault.reason}. It stays detached: delete it, and restore another backup`
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

/** A frame in a file, with its header. */
interface Known extends Chain.Placed {
  readonly header: Header.Header
}

const known = Effect.fnUntraced(function*(path: string) {
  const header = yield* FrameFile.headerOf(path)
  const { basename } = yield* Path.Path
  return { path, header, made: BackupName.read(basename(path))?.at } satisfies Known
})

/** The frames of a space among the files of a folder, and the number of the files that cannot be read, each of which is told. */
const ofSpace = Effect.fnUntraced(function*(place: string, space: string, files: ReadonlyArray<string>) {
  const found: Array<Known> = []
  for (const file of files) {
    yield* Effect.matchEffect(known(file), {
      onFailure: ({ code, message }) => Output.note(`left out ${file}: ${message} [${code}]`),
      onSuccess: (frame) => Effect.sync(() => found.push(frame))
    })
  }
  const own = found.filter(({ header }) => header.space === space)
  if (own.length > 0 || found.length === 0) return { frames: own, unread: files.length - found.length }
  const others = [...new Set(found.map(({ header }) => header.space))].toSorted()
  return yield* new CliFailure({
    exit: exits.absent,
    code: "backup/space",
    message: `${place} has no frame of "${space}", but of ${others.slice(0, 10).map((name) => `"${name}"`).join(", ")}. ` +
      `Restore under that name, or give the file of a snapshot itself to restore it as "${space}"`
  })
})

/** The files that lead to a point: those of the space in a folder of backups, or one file, whatever the name of its space. */
const chainOf = Effect.fnUntraced(function*(place: string, space: string, at: string | undefined) {
  const until = at === undefined ? undefined : yield* untilOf(at)
  const { files, isFolder } = yield* FrameFile.within(place, space)
  const { frames, unread } = isFolder ? yield* ofSpace(place, space, files) : { frames: [yield* known(place)], unread: 0 }
  return yield* Effect.try({
    try: () => Chain.choose(frames, until).map(({ path }) => path),
    catch: (error) => {
      if (!(error instanceof Chain.NoChain)) throw error
      const rest = unread === 0 ? "" : `. ${Printable.count(unread, "file")} could not be read. Decrypt with --identity FILE, or ` +
        "with age --decrypt -i KEY"
      return new CliFailure({ exit: exits.absent, code: error.code, message: `${error.message}${rest}` })
    }
  })
})

const restored = Command.make("restore", {
  from: Argument.String("from").pipe(Argument.withDescription("A file, or the folder of the backups")),
  space: SpaceArgument.name,
  at: Flag.String("at").pipe(Flag.withDescription("The newest backup up to a beat, or a date such as 2026-11-28T09:00:00Z"), Flag.optional),
  detached: Flag.Boolean("detached").pipe(
    Flag.withDescription("Let nothing go out of the space until systole space release"),
    Flag.withDefault(false)
  ),
  identity: FrameFile.identity,
  json: Output.json
}, ({ at, detached, from, identity, json, space }) =>
  FrameFile.decrypting(identity, Effect.gen(function*() {
    const files = yield* chainOf(from, space, Option.getOrUndefined(at))
    const { absent, beat, root } = yield* bring({ files, space, why: "restore" })
    yield* checked(space)
    yield* SpaceCommand.listed(space)
    if (!detached) yield* SpaceCommand.released(space)
    yield* Output.data(json, { space, files, beat, root, absent, detached }, [
      `restored ${space} at beat ${beat}, from ${files.join(", ")}`,
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
    Command.provide(Client.layer)
  )

/**
 * The commands that bring spaces in.
 */
export const commands = [imported, restored]
