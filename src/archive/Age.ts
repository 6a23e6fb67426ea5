/**
 * The library `age-encryption`, which is loaded when it is first needed.
 *
 * @module
 */
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from "age-encryption"

/** Makes other bytes of a stream. */
export type Change = (bytes: ReadableStream<Uint8Array>) => Promise<ReadableStream<Uint8Array>>

/**
 * Encrypts to recipients.
 *
 * @throws Error for a text that is no recipient
 */
export const encrypter = (recipients: ReadonlyArray<string>): Change => {
  const age = new Encrypter()
  for (const recipient of recipients) age.addRecipient(recipient)
  return (bytes) => age.encrypt(bytes)
}

/**
 * Decrypts with identities.
 *
 * @throws Error for a text that is no identity
 */
export const decrypter = (identities: ReadonlyArray<string>): Change => {
  const age = new Decrypter()
  for (const identity of identities) age.addIdentity(identity)
  return (bytes) => age.decrypt(bytes)
}

/** Makes an identity, and its recipient. */
export const generated = async (): Promise<{ readonly identity: string; readonly recipient: string }> => {
  const identity = await generateX25519Identity()
  return { identity, recipient: await identityToRecipient(identity) }
}
