/**
 * The file `server.json` in the data folder, by which commands find the running server.
 *
 * It contains a token that the process draws at its start, so only its owner may read it. The configured token is in no file.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import * as Redacted from "../cell/Redacted.ts"
import type { Config } from "../loader/Config.ts"
import { CliFailure, exits } from "./CliFailure.ts"
import { Host } from "./Host.ts"

const Note = Schema.Struct({ url: Schema.String, pid: Schema.Int, token: Schema.String })

/**
 * The address, the process id and the drawn token of a running server.
 */
export interface Note extends Omit<typeof Note.Type, "token"> {
  readonly token: Redacted.Redacted
}

const decodeNote = Schema.decodeUnknownOption(Schema.fromJsonString(Note))

const noteOf = ({ token, ...note }: typeof Note.Type): Note => ({ ...note, token: Redacted.make(token) })

const place = (config: Config) =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    const { root } = yield* Host
    return path.resolve(root, config.data, "server.json")
  })

const read = (file: string) =>
  FileSystem.FileSystem.use((fs) =>
    Effect.map(Effect.option(fs.readFileString(file)), (text) => Option.map(Option.flatMap(text, decodeNote), noteOf)))

/** The time-out of the liveness check. A slower server is busy and still owns its data. */
const LIVENESS_TIMEOUT = "2 seconds"

/** Whether a Systole server answers at the noted address. A process with the noted id may be another program. */
const answers = ({ url }: Note): Effect.Effect<boolean> =>
  Effect.tryPromise(async (signal) => {
    const response = await fetch(`${url}/livez`, { signal })
    return response.ok && (await response.json() as { readonly status?: unknown }).status === "live"
  }).pipe(
    Effect.catch(() => Effect.succeed(false)),
    Effect.timeoutOrElse({ duration: LIVENESS_TIMEOUT, orElse: () => Effect.succeed(true) })
  )

/**
 * The running server of a project, if there is one.
 */
export const find = Effect.fn("ServerFile.find")(function*(config: Config) {
  const { isAlive, pid } = yield* Host
  const note = Option.filter(yield* read(yield* place(config)), (note) => note.pid !== pid && isAlive(note.pid))
  return Option.isSome(note) && (yield* answers(note.value)) ? note : Option.none<Note>()
})

/**
 * Writes the file, and removes it when the scope closes unless another server has replaced it.
 */
export const leave = Effect.fn("ServerFile.leave")(function*(config: Config, note: Note) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = yield* place(config)
  const draft = `${file}.${note.pid}`
  const write = Effect.gen(function*() {
    yield* fs.makeDirectory(path.dirname(file), { recursive: true, mode: 0o700 })
    yield* fs.remove(draft, { force: true })
    yield* fs.writeFileString(draft, `${JSON.stringify({ ...note, token: Redacted.value(note.token) })}\n`, { mode: 0o600 })
    yield* fs.rename(draft, file)
  })
  const remove = Effect.gen(function*() {
    const left = yield* read(file)
    if (Option.isSome(left) && left.value.pid === note.pid && left.value.url === note.url) yield* fs.remove(file, { force: true })
  })
  yield* Effect.acquireRelease(write, () => Effect.ignore(remove)).pipe(
    Effect.mapError((error) => new CliFailure({
      exit: exits.usage,
      code: "data/unwritable",
      message: `${file} cannot be written: ${error.message}. Make the data folder writable`
    }))
  )
})
