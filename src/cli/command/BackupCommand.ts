/**
 * `systole backup` and `systole backups ls`: spaces in a folder, as chains of a snapshot and the ranges after it.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Stream from "effect/Stream"
import * as Backup from "../../archive/Backup.ts"
import * as BackupFolder from "../../archive/BackupFolder.ts"
import type * as BackupName from "../../archive/BackupName.ts"
import * as Encryption from "../../archive/Encryption.ts"
import * as Printable from "../../diagnostic/Printable.ts"
import * as Chunk from "../../frame/Chunk.ts"
import { hash } from "../../persistence/PureSha256.ts"
import { FIRST } from "../../registry/Scheduling.ts"
import { CliFailure, exits, from } from "../CliFailure.ts"
import { Client, foreign } from "../Client.ts"
import * as DataFolder from "../DataFolder.ts"
import { Host } from "../Host.ts"
import * as Output from "../Output.ts"
import * as PageList from "../PageList.ts"
import * as RemoteServer from "../RemoteServer.ts"
import * as SpaceArgument from "../SpaceArgument.ts"
import * as FrameFile from "./FrameFile.ts"

const folder = Argument.String("folder").pipe(Argument.withDescription("The folder of the backups"))

/** A place that is no folder, such as `channel:files` or `s3:bucket`: more than one character stands before its colon. */
const ELSEWHERE = /^[a-z][a-z0-9+.-]+:/

/** The folder of backups at a path of the command line. */
const opened = Effect.fnUntraced(function*(given: string) {
  if (ELSEWHERE.test(given)) {
    return yield* new CliFailure({
      exit: exits.usage,
      code: "backup/place",
      message: `"${given}" is no folder, and backups go to folders alone: a channel has no list of its files, and takes each as one ` +
        "message. Back up to a folder, and copy it with a tool of the other place"
    })
  }
  return yield* BackupFolder.make(yield* FrameFile.resolved(given), hash)
})

/** The number of the chunk after the bytes of a part; `undefined` after the seal. */
const nextOf = (bytes: Uint8Array, isFirst: boolean): Effect.Effect<Option.Option<number>, CliFailure> =>
  Effect.suspend(() => {
    let next: number | undefined
    for (let at = isFirst ? Chunk.OPENING + Chunk.lengthOf(bytes) : 0; at + Chunk.HEAD <= bytes.length;) {
      const { seq, stored, type } = Chunk.numbers(bytes.subarray(at, at + Chunk.HEAD))
      if (type === Chunk.SEAL) return Effect.succeed(Option.none())
      next = seq + 1
      at += Chunk.HEAD + stored + Chunk.DIGEST
    }
    return next === undefined ? Effect.fail(foreign("without a whole chunk")) : Effect.succeed(Option.some(next))
  })

/** The frames of a space of the server. */
const sourceOf = ({ bytes }: Client["Service"], space: string): Backup.Source<CliFailure> => (since) => {
  const query = since === undefined ? "" : `since=${since.beat}-${since.hash}&`
  return Stream.paginate(undefined as number | undefined, (from) =>
    Effect.gen(function*() {
      const part = yield* bytes(`${SpaceArgument.path(space)}/export?${query}${from === undefined ? "" : `from=${from}`}`)
      return [[part], yield* nextOf(part, from === undefined)] as const
    }))
}

/** A line for a backup. */
const lineOf = (space: string, { beat, file, kind, size = 0 }: Backup.Made): ReadonlyArray<string> =>
  [space, kind, `beat ${beat}`, kind === "unchanged" ? "" : Printable.count(size, "byte"), file]

/** A failure with a stable code as that of a command. */
const failed = (error: { readonly code: string; readonly message: string }): CliFailure =>
  error instanceof CliFailure ? error : from({ code: error.code, message: error.message, places: undefined })

/** The public key of the node that makes the frames, where that is this project. */
const ownKey = Effect.gen(function*() {
  if (Option.isSome(yield* RemoteServer.flag)) return undefined
  return (yield* Host.use((host) => Effect.flatMap(DataFolder.config, host.signer)))?.key
})

/** The spaces to back up: the named one, all that are no copies, or the first one of the configuration. */
const spacesOf = Effect.fnUntraced(function*(named: Option.Option<string>, isAll: boolean) {
  if (Option.isSome(named)) return [named.value]
  if (!isAll) return [Option.isSome(yield* RemoteServer.flag) ? FIRST : (yield* DataFolder.config).kernel.first ?? FIRST]
  const { ask } = yield* Client
  const names = yield* PageList.readAll<string>("/v1/spaces", "spaces")
  // A space that does not answer fails by itself, and no other one with it.
  const isOwn = (space: string) =>
    Effect.map(ask<{ readonly detached?: unknown }>(`${SpaceArgument.path(space)}/control`), ({ detached }) => detached === undefined)
  return yield* Effect.filter(names, (space) => Effect.orElseSucceed(isOwn(space), () => true))
})

const backup = Command.make("backup", {
  folder,
  space: Argument.String("space").pipe(
    Argument.withDescription("A space; the first one of the configuration unless given"),
    Argument.optional
  ),
  all: Flag.Boolean("all").pipe(
    Flag.withDescription("All spaces, one after the other, without copies that were not released"),
    Flag.withDefault(false)
  ),
  full: Flag.Boolean("full").pipe(
    Flag.withDescription("A snapshot in any case, which begins another chain"),
    Flag.withDefault(false)
  ),
  encrypt: Flag.String("encrypt").pipe(
    Flag.withDescription("A recipient of age, age1…, to whom the files are encrypted; more than once for several"),
    Flag.atLeast(0)
  ),
  json: Output.json
}, ({ all, encrypt: recipients, folder, full, json, space }) =>
  Effect.gen(function*() {
    const encrypt = recipients.length === 0
      ? undefined
      : yield* Effect.mapError(Encryption.encryptTo(recipients, "--encrypt"), failed)
    const place = yield* opened(folder)
    const client = yield* Client
    const signer = yield* ownKey
    const one = (name: string) =>
      Effect.gen(function*() {
        const source = sourceOf(client, name)
        const made = yield* Backup.make(source, { space: name, folder: place, hash }, { isFull: full, signer, encrypt })
        yield* Output.data(json, { space: name, ...made }, Output.table([lineOf(name, made)]))
      }).pipe(Effect.mapError(failed))
    const results = yield* Effect.forEach(yield* spacesOf(space, all), (name) => Effect.result(one(name)).pipe(
      Effect.tap((result) => all && Result.isFailure(result) ? Output.note(`${name}: ${result.failure.message}`) : Effect.void)
    ))
    const failure = results.find(Result.isFailure)
    if (failure !== undefined) return yield* failure.failure
  })).pipe(
    Command.withDescription(
      "Back up a space to a folder, while it runs: a snapshot first, then what came since. The files hold all labels: keep them like " +
        "the data"
    ),
    Command.withExamples([{ command: "systole backup /backups --all", description: "Backs up each space" }]),
    Command.provide(Client.layer)
  )

/** A backup in a list. */
interface Row {
  readonly space: string
  readonly chain: number
  readonly n: number
  readonly kind: "snapshot" | "range"
  readonly beat: number
  readonly at: string
  readonly size: number
  readonly file: string
  /** The state of the file: `whole` and in its chain, the code of the refusal, `unread`, or `encrypted`, which needs an identity. */
  readonly state: string
}

/** Whether a file is the backup that its name tells, and follows one of those before. */
const stateOf = (path: string, { end, n }: BackupName.Known, before: ReadonlyArray<BackupName.Known>) =>
  FrameFile.read(path, () => undefined).pipe(Effect.match({
    onFailure: ({ code }) => code,
    onSuccess: ({ header: { anchor, head, kind } }) => {
      const isNamed = head.beat === end.beat && head.hash.startsWith(end.hash) && kind === (n === 0 ? "snapshot" : "range")
      const follows = n === 0 || before.some(({ end }) => anchor.beat === end.beat && anchor.hash.startsWith(end.hash))
      return !isNamed ? "backup/name" : follows ? "whole" : "backup/gap"
    }
  }))

const list = Command.make("ls", {
  folder,
  quick: Flag.Boolean("quick").pipe(Flag.withDescription("Read the names alone, and check no file"), Flag.withDefault(false)),
  identity: FrameFile.identity,
  json: Output.json
}, ({ folder, identity, json, quick }) =>
  FrameFile.decrypting(identity, Effect.gen(function*() {
    const place = yield* opened(folder)
    let count = 0
    for (const space of yield* Effect.mapError(place.spaces, failed)) {
      const known = yield* Effect.mapError(place.list(space), failed)
      const rows = yield* Effect.forEach(known, (each, i) =>
        Effect.gen(function*() {
          const { at, chain, end, file, n } = each
          const path = place.fileOf(space, file)
          const size = yield* FrameFile.sizeOf(path)
          const isClosed = each.isEncrypted && Option.isNone(identity)
          const unread = quick ? "unread" : isClosed ? "encrypted" : undefined
          const state = unread ?? (yield* stateOf(path, each, known.slice(0, i)))
          const kind = n === 0 ? "snapshot" : "range"
          return { space, chain, n, kind, beat: end.beat, at: new Date(at).toISOString(), size, file, state } satisfies Row
        }))
      count += rows.length
      if (rows.length > 0) yield* Output.data(json, rows, Output.table(rows.map(({ at, beat, chain, file, kind, n, size, state }) =>
        [space, `chain ${chain}.${n}`, kind, `beat ${beat}`, at, Printable.count(size, "byte"), state, file])))
    }
    if (count > 0) return
    const message = `There is no backup below ${place.path}. Give the folder that backup.to or systole backup names`
    return yield* new CliFailure({ exit: exits.absent, code: "backup/absent", message })
  }))).pipe(Command.withDescription("Print the backups in a folder, and whether each is whole and follows one before"))

const backups = Command.make("backups").pipe(
  Command.withDescription("Look at the backups in a folder"),
  Command.withSubcommands([list])
)

/**
 * The commands of backups.
 */
export const commands = [backup, backups]
