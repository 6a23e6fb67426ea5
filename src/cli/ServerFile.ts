/**
 * The note that a running server leaves in the data folder, so that commands find it.
 *
 * It holds the token, so only its owner may read it.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import type { Config } from "../loader/Config.ts"
import { CliFailure, exits } from "./CliFailure.ts"
import { Host } from "./Host.ts"

const Note = Schema.Struct({ url: Schema.String, pid: Schema.Int, token: Schema.NullOr(Schema.String) })

/**
 * Where a server runs.
 *
 * @category models
 * @since 0.1.0
 */
export type Note = typeof Note.Type

const decodeNote = Schema.decodeUnknownOption(Schema.fromJsonString(Note))

const place = (config: Config) =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    const { root } = yield* Host
    return path.resolve(root, config.data, "server.json")
  })

/**
 * The server of a project, if one is alive.
 *
 * @category getters
 * @since 0.1.0
 */
export const find = Effect.fn("ServerFile.find")(function*(config: Config) {
  const fs = yield* FileSystem.FileSystem
  const host = yield* Host
  const text = yield* Effect.option(fs.readFileString(yield* place(config)))
  return Option.flatMap(text, decodeNote).pipe(Option.filter((note) => host.isAlive(note.pid)))
})

/**
 * Leaves the note, and takes it away when the scope closes.
 *
 * @category constructors
 * @since 0.1.0
 */
export const leave = Effect.fn("ServerFile.leave")(function*(config: Config, note: Note) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = yield* place(config)
  const draft = `${file}.${note.pid}`
  const write = Effect.gen(function*() {
    yield* fs.makeDirectory(path.dirname(file), { recursive: true })
    yield* fs.remove(draft, { force: true })
    yield* fs.writeFileString(draft, `${JSON.stringify(note)}\n`, { mode: 0o600 })
    yield* fs.rename(draft, file)
  })
  yield* Effect.acquireRelease(write, () => Effect.ignore(fs.remove(file, { force: true }))).pipe(
    Effect.mapError((error) => new CliFailure({ exit: exits.usage, code: "data/unwritable", message: `${file} cannot be written: ${error.message}. Make the data folder writable` }))
  )
})
