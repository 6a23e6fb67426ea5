/**
 * `systole import` and `restore`: files become spaces.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
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
  readonly next?: number
  readonly root?: string
  readonly beat?: number
}

/** An import: its file, the name of the new space, and its reason. */
interface Wanted {
  readonly file: string
  readonly space: string
  readonly why: "copy" | "restore"
}

/** Sends a file to a new space, which is detached then. A file that ends early leaves no space. */
const bring = Effect.fnUntraced(function*({ file, space, why }: Wanted) {
  const { ask } = yield* Client
  const frame = yield* FrameFile.open(file)
  // The same import has the same id, so one that was broken off goes on.
  const id = hash.hex(new Uint8Array([...new TextEncoder().encode(why), ...frame.opening.bytes])).slice(0, 32)
  const put = ({ bytes, from }: FrameFile.Part) =>
    ask<Taken>(`${SpaceArgument.path(space)}/import/${id}?from=${from}&why=${why}`, { method: "PUT", bytes, seconds: SECONDS })
  const tell = FrameFile.progress("imported")
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
  return taken
}, Effect.scoped)

const imported = Command.make("import", { file, space: SpaceArgument.name, json: Output.json }, ({ file, json, space }) =>
  Effect.gen(function*() {
    const { beat, root } = yield* bring({ file, space, why: "copy" })
    yield* Output.data(json, { space, file, beat, root }, [
      `imported ${file} as ${space}, at beat ${beat}`,
      `It is detached: systole space release ${space} lets its requests and signals out`
    ])
  })).pipe(
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

const restored = Command.make("restore", {
  file,
  space: SpaceArgument.name,
  detached: Flag.Boolean("detached").pipe(
    Flag.withDescription("Let nothing go out of the space until systole space release"),
    Flag.withDefault(false)
  ),
  json: Output.json
}, ({ detached, file, json, space }) =>
  Effect.gen(function*() {
    const { beat, root } = yield* bring({ file, space, why: "restore" })
    yield* checked(space)
    yield* SpaceCommand.listed(space)
    if (!detached) yield* SpaceCommand.released(space)
    yield* Output.data(json, { space, file, beat, root, detached }, [
      `restored ${file} as ${space}, at beat ${beat}`,
      detached
        ? `It is detached: systole space release ${space} lets its requests, timers and signals out`
        : "Its requests, timers and signals to other spaces go on"
    ])
  })).pipe(
    Command.withDescription(
      "Bring a space back from a file. What waited in it is listed, and goes on: signals that were delivered before are recognized"
    ),
    Command.provide(Client.layer)
  )

/**
 * The commands that bring spaces in.
 */
export const commands = [imported, restored]
