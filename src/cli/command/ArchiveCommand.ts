/**
 * `systole export`, `import` and `frame`: spaces as files.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Printable from "../../diagnostic/Printable.ts"
import * as Capability from "../../frame/Capability.ts"
import { FrameReader, type Sealed } from "../../frame/FrameReader.ts"
import type * as Header from "../../frame/Header.ts"
import * as Signature from "../../frame/Signature.ts"
import { hash } from "../../persistence/PureSha256.ts"
import { CliFailure, exits } from "../CliFailure.ts"
import { Client, foreign } from "../Client.ts"
import * as Output from "../Output.ts"
import * as SpaceArgument from "../SpaceArgument.ts"
import * as FrameFile from "./FrameFile.ts"

/** The seconds for one part of a frame. */
const SECONDS = 300

/** The bytes after which a command tells its progress. */
const TOLD = 67_108_864

const file = Argument.String("file").pipe(Argument.withDescription("The file of the frame"))

const choice = <const Names extends ReadonlyArray<string>>(name: string, names: Names, description: string) =>
  Flag.Literals(name, names).pipe(Flag.withDescription(description), Flag.withDefault(names[0] as Names[number]))

/** Tells each 64 MiB of a transfer. */
const progress = (verb: string) => {
  let size = 0
  let told = 0
  return (bytes: number): Effect.Effect<void> => {
    size += bytes
    if (size - told < TOLD) return Effect.void
    told = size
    return Output.note(`${verb} ${Printable.count(Math.round(size / 1_048_576), "MiB", "MiB")}`)
  }
}

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
    const tell = progress("exported")
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
    Command.provide(Client.layer)
  )

/** The answer to a part of an import. */
interface Taken {
  readonly next?: number
  readonly root?: string
  readonly beat?: number
}

const imported = Command.make("import", { file, space: SpaceArgument.name, json: Output.json }, ({ file, json, space }) =>
  Effect.gen(function*() {
    const { ask } = yield* Client
    const frame = yield* FrameFile.open(file)
    // The same frame has the same id, so an import that was broken off goes on.
    const id = hash.hex(frame.opening.bytes).slice(0, 32)
    const put = ({ bytes, from }: FrameFile.Part) =>
      ask<Taken>(`${SpaceArgument.path(space)}/import/${id}?from=${from}`, { method: "PUT", bytes, seconds: SECONDS })
    const tell = progress("imported")
    let taken = yield* put(frame.opening)
    while (taken.root === undefined) {
      const part = yield* frame.next(taken.next ?? 1)
      if (part === undefined) {
        yield* ask(SpaceArgument.path(space), { method: "DELETE" })
        return yield* FrameFile.early(file)
      }
      taken = yield* put(part)
      yield* tell(part.bytes.length)
    }
    yield* Output.data(json, { space, file, beat: taken.beat, root: taken.root }, [
      `imported ${file} as ${space}, at beat ${taken.beat}`,
      `It is detached: systole space release ${space} lets its requests and signals out`
    ])
  }).pipe(Effect.scoped)).pipe(
    Command.withDescription(
      "Make a new space from a file. It runs detached: no request, delivery, timer or signal to another space goes out"
    ),
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
    see: ({ type }: FrameFile.Seen): void => {
      if (type !== "part") counts[type] = (counts[type] ?? 0) + 1
    }
  }
}

/** The lines of a seal. */
const ends = ({ root, signer }: Sealed): ReadonlyArray<string> =>
  [`root ${root}`, signer === undefined ? "not signed" : `signed by ${signer}`]

const verify = Command.make("verify", {
  file,
  key: Flag.String("key").pipe(Flag.withDescription("The public key of the node that made the file"), Flag.optional),
  json: Output.json
}, ({ file, json, key }) =>
  Effect.gen(function*() {
    const wanted = Option.getOrUndefined(key)
    if (wanted !== undefined && !Signature.isPublicKey(wanted)) {
      const message = "--key takes a public key, as systole key show prints it"
      return yield* new CliFailure({ exit: exits.usage, code: "key/invalid", message })
    }
    const { sealed } = yield* FrameFile.read(file, () => undefined)
    const { bytes, chunks, records, root, signer } = sealed
    if (wanted !== undefined && signer !== wanted) {
      const by = signer === undefined ? "is not signed" : `is signed by ${signer}`
      return yield* new CliFailure({
        exit: exits.differs,
        code: "frame/signature",
        message: `The frame in ${file} is whole and ${by}, not by ${wanted}. Take it from a source that you trust`
      })
    }
    const fit = `${Printable.count(records, "record")} in ${Printable.count(chunks, "chunk")} fit the seal`
    yield* Output.data(json, { file, root, signer: signer ?? null, chunks, records, bytes }, [fit, ...ends(sealed)])
  })).pipe(Command.withDescription("Check each chunk of a file against the chain of digests, the seal, and who signed it"))

const show = Command.make("show", { file, json: Output.json }, ({ file, json }) =>
  Effect.gen(function*() {
    const { counts, see } = counting()
    const { header, sealed } = yield* FrameFile.read(file, see)
    const shown = [...lines(header), ...Object.entries(counts).map(([type, count]) => `${type} ${count}`), ...ends(sealed)]
    const { bytes, root, signer = null } = sealed
    yield* Output.data(json, { file, root, signer, header, records: counts, bytes }, shown)
  })).pipe(
    Command.withDescription("Print what a file holds: the space, the beat, the kept journal and the number of records of each type")
  )

const frame = Command.make("frame").pipe(
  Command.withDescription("Look at the file of a space"),
  Command.withSubcommands([verify, show])
)

/**
 * The commands of frames.
 */
export const commands = [exported, imported, frame]
