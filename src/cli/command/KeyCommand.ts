/**
 * `systole key`: makes and names the key of a node, which signs the frames that it makes, and makes identities of age, which decrypt
 * backups.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Redacted from "../../cell/Redacted.ts"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Encryption from "../../archive/Encryption.ts"
import * as Signature from "../../frame/Signature.ts"
import { CliFailure, exits } from "../CliFailure.ts"
import * as DataFolder from "../DataFolder.ts"
import { Host } from "../Host.ts"
import * as Output from "../Output.ts"

/** Writes a secret into a new file that its owner alone reads. */
const write = Effect.fn("KeyCommand.write")(function*(file: string, secret: Redacted.Redacted) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { root } = yield* Host
  const failed = (code: string, message: string) => new CliFailure({ exit: exits.failed, code, message })
  const at = path.resolve(root, file)
  if (yield* Effect.orElseSucceed(fs.exists(at), () => false)) {
    return yield* failed("file/exists", `${file} is there already, and nothing was written. Choose another name, or move it away`)
  }
  yield* fs.writeFileString(at, `${Redacted.value(secret)}\n`, { flag: "wx", mode: 0o600 }).pipe(
    Effect.mapError(({ message }) => failed("file/unwritable", `${file} cannot be written: ${message}. See to its folder`))
  )
})

/** A new pair of keys: the secret one, the public one, and the places of both, in words. */
interface Made {
  readonly secret: Redacted.Redacted
  readonly key: string
  /** The note where the secret is in a file, and where it is printed. */
  readonly kept: (file: string) => string
  readonly printed: string
}

/** A key that signs frames. */
const signing = Effect.gen(function*() {
  const secret = Signature.secretOf((yield* Host).draw(32))
  const { key } = yield* Effect.orDie(Signature.signer(secret, "the new key"))
  return {
    secret,
    key,
    kept: (file) => `The secret key is in ${file}. Name it in systole.config.ts: key: { file: ${JSON.stringify(file)} }`,
    printed: `The public key is ${key}. Keep the secret in a variable, and name it: key: { env: "NODE_KEY" }`
  } satisfies Made
})

/** An identity of age. */
const decrypting = Effect.gen(function*() {
  const failed = ({ code, message }: Encryption.InvalidAgeKey) => new CliFailure({ exit: exits.failed, code, message })
  const { identity, recipient } = yield* Effect.mapError(Encryption.generate, failed)
  const elsewhere = "away from the hosts whose backups it decrypts"
  const named = `Name the recipient in systole.config.ts: backup: { …, encrypt: "${recipient}" }`
  return {
    secret: identity,
    key: recipient,
    kept: (file) => `The secret identity is in ${file}. Keep it ${elsewhere}. ${named}`,
    printed: `The recipient is ${recipient}. Keep the secret identity ${elsewhere}. ${named}`
  } satisfies Made
})

const create = Command.make("new", {
  file: Argument.String("file").pipe(
    Argument.withDescription("A new file for the secret key, relative to the project; without it, the secret is printed"),
    Argument.optional
  ),
  age: Flag.Boolean("age").pipe(
    Flag.withDescription("An identity of age in its place, which decrypts backups; its public half is the recipient of backup.encrypt"),
    Flag.withDefault(false)
  ),
  json: Output.json
}, ({ age, file, json }) =>
  Effect.gen(function*() {
    const { kept, key, printed, secret }: Made = yield* (age ? decrypting : signing)
    if (Option.isNone(file)) {
      yield* Output.note(printed)
      const text = Redacted.value(secret)
      return yield* Output.data(json, { key, secret: text }, text)
    }
    yield* write(file.value, secret)
    yield* Output.note(kept(file.value))
    return yield* Output.data(json, { key, file: file.value }, key)
  })).pipe(
    Command.withDescription("Make a key for this node, and print its public half, or its secret without a file"),
    Command.withExamples([
      { command: "systole key new node.key", description: "Writes the secret into node.key" },
      { command: "systole key new backup.key --age", description: "Writes a secret that decrypts backups into backup.key" }
    ])
  )

const show = Command.make("show", { json: Output.json }, ({ json }) =>
  Effect.gen(function*() {
    const config = yield* DataFolder.config
    const signer = yield* Host.use((host) => host.signer(config))
    if (signer === undefined) {
      return yield* new CliFailure({
        exit: exits.absent,
        code: "key/absent",
        message: "The configuration names no key. Make one with systole key new node.key, and set key: { file: \"node.key\" }"
      })
    }
    yield* Output.data(json, { key: signer.key }, signer.key)
  })).pipe(Command.withDescription("Print the public key of this node"))

/**
 * The command `key`.
 */
export const command = Command.make("key").pipe(
  Command.withDescription("Make and name the key of this node, which signs frames"),
  Command.withSubcommands([create, show])
)
