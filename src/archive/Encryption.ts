/**
 * The encryption of backups: `age` around a frame, not in it. The root and the signature are those of the frame.
 *
 * A recipient is a public key, `age1…`, and an identity the secret one, `AGE-SECRET-KEY-1…`, as the tool `age-keygen` makes both.
 *
 * @module
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Redacted from "../cell/Redacted.ts"
import type { Change } from "./Age.ts"

/** The first bytes of each encrypted file. */
export const MAGIC = "age-encryption.org/v1\n"

/** The text of `Age.ts` in a build that encrypts nothing, without the library. */
export const NONE = ["encrypter", "decrypter", "generated"].map((name) => `export const ${name} = undefined`).join("\n")

/** A key of an encryption cannot be used. The message has no secret. */
export class InvalidAgeKey extends Data.TaggedError("InvalidAgeKey")<{ readonly place: string; readonly form: string }> {
  readonly code = "backup/key"
  override get message() {
    return `${this.place} has no ${this.form}, as age-keygen makes one. A build has age if its configuration has backup.encrypt`
  }
}

/** A file cannot be decrypted. */
export class NotDecrypted extends Data.TaggedError("NotDecrypted")<{ readonly reason: string }> {
  readonly code = "backup/encrypted"
  override get message() {
    return `It cannot be decrypted: ${this.reason.slice(0, 200)}. Give the identity of one of its recipients, or take the file anew`
  }
}

/** Encrypts the bytes of a frame. */
export type Encrypt = <E>(frame: Stream.Stream<Uint8Array, E>) => Stream.Stream<Uint8Array, E>

/** Decrypts the bytes of a file. */
export type Decrypt = <E>(file: Stream.Stream<Uint8Array, E>) => Stream.Stream<Uint8Array, E | NotDecrypted>

/** The keys in a text: one on each line, beside comments with `#`. */
export const keysIn = (text: string): ReadonlyArray<string> =>
  text.split("\n").map((line) => line.trim()).filter((line) => line !== "" && !line.startsWith("#"))

const age = Effect.promise(() => import("./Age.ts"))

/** Runs a change of the library over a stream. `failed` makes the failure of an error that is not one of the stream. */
const changed = <E, X>(bytes: Stream.Stream<Uint8Array, E>, change: Change, failed: (error: unknown) => X) => {
  let own: { readonly failure: E } | undefined
  const failure = (error: unknown): E | X => own === undefined ? failed(error) : own.failure
  const noted = Stream.tapError(bytes, (failure) => Effect.sync(() => own = { failure }))
  return Stream.unwrap(Effect.gen(function*() {
    const given = yield* Stream.toReadableStreamEffect(noted)
    const made = yield* Effect.tryPromise({ try: () => change(given), catch: failure })
    return Stream.fromReadableStream({ evaluate: () => made, onError: failure })
  }))
}

/** Makes an identity, and the recipient to whom files are encrypted that it decrypts. A build without age makes none. */
export const generate: Effect.Effect<{ readonly identity: Redacted.Redacted; readonly recipient: string }, InvalidAgeKey> =
  Effect.flatMap(age, ({ generated }) =>
    Effect.tryPromise({
      try: async () => {
        const { identity, recipient } = await generated()
        return { identity: Redacted.make(identity), recipient }
      },
      catch: () => new InvalidAgeKey({ place: "This build", form: "identity" })
    }))

/** The encryption to recipients. `place` is told in a refusal. */
export const encryptTo = (recipients: ReadonlyArray<string>, place: string): Effect.Effect<Encrypt, InvalidAgeKey> =>
  Effect.flatMap(age, ({ encrypter }) =>
    Effect.try({
      try: (): Encrypt => {
        if (recipients.length === 0) throw new Error("none")
        const change = encrypter(recipients)
        return (frame) => changed(frame, change, (error): never => {
          throw error
        })
      },
      catch: () => new InvalidAgeKey({ place, form: "recipient" })
    }))

/** The decryption with identities. `place` is told in a refusal. */
export const decryptWith = (identities: Redacted.Redacted, place: string): Effect.Effect<Decrypt, InvalidAgeKey> =>
  Effect.flatMap(age, ({ decrypter }) =>
    Effect.try({
      try: (): Decrypt => {
        const keys = keysIn(Redacted.value(identities))
        if (keys.length === 0) throw new Error("none")
        const change = decrypter(keys)
        return (file) => changed(file, change, (error) =>
          new NotDecrypted({ reason: error instanceof Error ? error.message : String(error) }))
      },
      catch: () => new InvalidAgeKey({ place, form: "identity" })
    }))
