/**
 * `systole export` and `frame`: spaces as files.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as DocumentCheck from "../../archive/DocumentCheck.ts"
import * as Printable from "../../diagnostic/Printable.ts"
import * as Capability from "../../frame/Capability.ts"
import { FrameReader, type FrameEnd, type FrameRecord } from "../../frame/FrameReader.ts"
import type * as Header from "../../frame/Header.ts"
import { hash } from "../../persistence/PureSha256.ts"
import { CliFailure, exits } from "../CliFailure.ts"
import { Client, foreign } from "../Client.ts"
import { Host } from "../Host.ts"
import * as Output from "../Output.ts"
import * as SpaceArgument from "../SpaceArgument.ts"
import * as FrameFile from "./FrameFile.ts"
import * as HistoryCommand from "./HistoryCommand.ts"
import * as ImportCommand from "./ImportCommand.ts"

const file = Argument.String("file").pipe(Argument.withDescription("The file of the frame"))

const choice = <const Names extends ReadonlyArray<string>>(name: string, names: Names, description: string) =>
  Flag.Literals(name, names).pipe(Flag.withDescription(description), Flag.withDefault(names[0] as Names[number]))

const exported = Command.make("export", {
  space: SpaceArgument.name,
  file,
  history: choice("history", ["all", "none"], "The journal as far as it is kept, or its newest entry alone"),
  content: choice("content", ["inline", "refs"], "Content with its bytes, or by its digest and size"),
  json: Output.json
}, ({ content, file, history, json, space }) =>
  Effect.gen(function*() {
    const { bytes } = yield* Client
    const written = yield* FrameFile.create(file)
    const reader = new FrameReader(hash)
    const tell = FrameFile.progress("exported")
    while (!reader.isSealed) {
      const before = reader.nextSeq
      const from = reader.header === undefined ? "" : `&from=${before}`
      const part = yield* bytes(`${SpaceArgument.path(space)}/export?history=${history}&content=${content}${from}`)
      yield* Effect.mapError(reader.feed(part), FrameFile.refusedFrame)
      if (reader.nextSeq === before && !reader.isSealed) return yield* foreign("without a whole chunk")
      yield* written.write(part)
      yield* tell(part.length)
    }
    const sealed = yield* Effect.mapError(reader.sealed(), FrameFile.refusedFrame)
    yield* written.finish
    const { head: { beat }, root } = sealed
    yield* Output.data(json, { space, file, beat, root, records: sealed.records, bytes: sealed.bytes }, [
      `exported ${space} at beat ${beat} to ${file}`, `root ${root}`
    ])
  }).pipe(Effect.scoped)).pipe(
    Command.withDescription("Write a space at one beat to a file, while it runs. The file holds all labels: keep it like the data"),
    Command.withExamples([{ command: "systole export home home.frame", description: "Writes the space home to a new file" }]),
    Command.provide(Client.layer)
  )

/** The lines of a header. */
const lines = ({ anchor, caps, clock, head, kind, origin, space }: Header.Header): ReadonlyArray<string> => [
  `${kind} of ${space} (${origin})`,
  `beat ${head.beat}, at ${new Date(clock).toISOString()}`,
  `journal after beat ${anchor.beat}`,
  `needs ${Capability.namesOf(caps).join(", ")}`
]

/** The counts of records by type. */
const counting = () => {
  const counts: Record<string, number> = {}
  return {
    counts,
    see: ({ type }: FrameRecord): void => {
      if (type !== "part") counts[type] = (counts[type] ?? 0) + 1
    }
  }
}

/** The lines of a seal. */
const ends = ({ root, signer }: FrameEnd): ReadonlyArray<string> =>
  [`root ${root}`, signer === undefined ? "not signed" : `signed by ${signer}`]

/** Reads a frame, once more for each part of its documents that a pass leaves. A range has no documents beside its journal. */
const verified = Effect.fnUntraced(function*(file: string) {
  for (let from = 0; ;) {
    const pass = new DocumentCheck.DocumentCheck(hash, from)
    const check = new DocumentCheck.FrameCheck(pass)
    const read = yield* FrameFile.read(file, (record) => check.see(record))
    if (read.header.kind === "range") return read
    if (pass.differing !== undefined) {
      const { code, message } = DocumentCheck.refusal(pass.differing)
      return yield* new CliFailure({ exit: exits.differs, code, message: `The frame in ${file} is refused: ${message}` })
    }
    if (pass.next === undefined) return read
    from = pass.next
  }
})

const verify = Command.make("verify", {
  file,
  key: FrameFile.key,
  replay: Flag.Int("replay").pipe(Flag.withDescription("The number of its newest beats to run again, in a copy"), Flag.optional),
  identity: FrameFile.identity,
  json: Output.json
}, ({ file, identity, json, key, replay }) =>
  FrameFile.decrypting(identity, Effect.gen(function*() {
    const wanted = yield* FrameFile.keyOf(key)
    const { header, sealed } = yield* verified(file)
    const { bytes, chunks, records, root, signer } = sealed
    yield* FrameFile.isSignedBy(wanted, file, sealed)
    if (Option.isSome(replay)) return yield* replayed({ file, header, json, last: replay.value })
    const fit = `${Printable.count(records, "record")} in ${Printable.count(chunks, "chunk")} fit the seal`
    yield* Output.data(json, { file, root, signer: signer ?? null, chunks, records, bytes }, [fit, ...ends(sealed)])
  }))).pipe(
    Command.withDescription(
      "Check each chunk of a file against the chain of digests and the seal, its documents against its journal, and who signed it. " +
        "With --replay, run beats of it again"
    )
  )

/** The beats of a frame to run again. */
interface Again {
  readonly file: string
  readonly header: Header.Header
  readonly json: boolean
  readonly last: number
}

/** Runs the last beats of a frame again in a detached copy, which is deleted then, and compares. */
const replayed = ({ file, header: { anchor, head }, json, last }: Again) =>
  Effect.gen(function*() {
    if (last < 1) {
      return yield* new CliFailure({ exit: exits.usage, code: "replay/invalid", message: "--replay takes a number of beats from 1" })
    }
    const { ask } = yield* Client
    // Each run has a name of its own: a copy that an ended process left is in no one's way.
    const space = `frame-${hash.hex((yield* Host).draw(32)).slice(0, 24)}`
    const compared = Effect.gen(function*() {
      yield* ImportCommand.bring({ files: [file], space, why: "copy" })
      const from = Math.max(head.beat - last, anchor.beat) + 1
      yield* HistoryCommand.told(yield* HistoryCommand.replayInParts(space, { from, to: head.beat }), { json, of: `the frame in ${file}` })
    })
    yield* Effect.ensuring(compared, Effect.ignore(ask(SpaceArgument.path(space), { method: "DELETE" })))
  }).pipe(Effect.provide(Client.layer))

const show = Command.make("show", { file, identity: FrameFile.identity, json: Output.json }, ({ file, identity, json }) =>
  FrameFile.decrypting(identity, Effect.gen(function*() {
    const { counts, see } = counting()
    const { header, sealed } = yield* FrameFile.read(file, see)
    const shown = [...lines(header), ...Object.entries(counts).map(([type, count]) => `${type} ${count}`), ...ends(sealed)]
    const { bytes, root, signer = null } = sealed
    yield* Output.data(json, { file, root, signer, header, records: counts, bytes }, shown)
  }))).pipe(
    Command.withDescription("Print what a file holds: the space, the beat, the kept journal and the number of records of each type")
  )

const frame = Command.make("frame").pipe(
  Command.withDescription("Look at the file of a space"),
  Command.withSubcommands([verify, show])
)

/**
 * The commands of frames.
 */
export const commands = [exported, frame]
