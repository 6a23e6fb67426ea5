/**
 * Large content: bytes beyond those that the store of a space takes, as objects of a content store.
 *
 * The content is cut into parts, each an object. The store of the space has a *descriptor* in its place, under the digest of
 * the content: the size, and the digest of each part. So references, retention and collection are those of all content. No
 * upload can forge a descriptor, because its own digest differs from the one under which it is stored.
 *
 * @module
 */
import * as Context from "effect/Context"
import { hash as pure } from "./PureSha256.ts"
import type { BlobPart, SpaceStore } from "./Persistence.ts"
import { ContentTooLarge, PersistenceError } from "./PersistenceError.ts"

/** The most bytes of content in the store of a space, and of one body over HTTP: 32 MiB. */
export const STORED = 33_554_432

/** The bytes of one part of large content: 4 MiB. */
export const OBJECT = 4_194_304

/** The most bytes of one content: 32 GiB, whose descriptor has one part in the store of its space. */
export const MOST = 34_359_738_368

/** The most keys of one list or deletion. */
export const KEYS = 1000

/** An object of a content store, in a list. */
export interface ListedObject {
  readonly key: string
  /** The time of its last change, in milliseconds since 1970. */
  readonly modified: number
}

/** A page of a list of objects. */
export interface ObjectPage {
  readonly objects: ReadonlyArray<ListedObject>
  /** Whether there are more after the last. */
  readonly more: boolean
}

/**
 * A content store: objects by keys, which no other program changes. Keys have at most 200 bytes, of `a-z`, `0-9`, `-` and `/`.
 *
 * Each call settles within a time that the store bounds. It may reject with an error of its own, whose message names the failure
 * and its remedy.
 *
 * @category services
 * @since 0.1.0
 */
export interface ContentStore {
  /** The location of the objects, for messages. */
  readonly place: string
  /** The most bytes of one content, up to 32 GiB. */
  readonly maxBytes: number
  /** Stores an object, durable when the promise resolves. */
  readonly put: (key: string, bytes: Uint8Array) => Promise<void>
  /** The bytes of an object; `undefined` if it is absent. */
  readonly get: (key: string) => Promise<Uint8Array | undefined>
  /** Deletes at most 1,000 objects; an absent one is no failure. After a failure, some may be deleted. */
  readonly delete: (keys: ReadonlyArray<string>) => Promise<void>
  /** At most 1,000 objects with keys that begin with `prefix` and come after `after`, in the order of keys. */
  readonly list: (prefix: string, after: string) => Promise<ObjectPage>
}

/**
 * A page of a list that ends: a store with pages out of the order of keys has no more.
 */
export const nextPage = async (store: Pick<ContentStore, "list">, prefix: string, after: string): Promise<ObjectPage> => {
  const { more, objects } = await store.list(prefix, after)
  return { objects, more: more && (objects.at(-1)?.key ?? "") > after }
}

/** The content store of the runtime; `undefined` without one. */
export const CurrentContentStore = Context.Reference<ContentStore | undefined>("systole/persistence/ContentStore", {
  defaultValue: () => undefined
})

/** The place of large content. */
export interface Descriptor {
  readonly size: number
  /** The name of the upload below which its objects are stored. */
  readonly upload: string
  /** The digests of its parts, each of {@link OBJECT} bytes, the last one fewer. */
  readonly parts: ReadonlyArray<string>
}

const MAGIC = "systole/large-content\n"

/** Encodes a descriptor. */
export const encode = ({ parts, size, upload }: Descriptor): Uint8Array =>
  new TextEncoder().encode(`${MAGIC}${JSON.stringify({ size, upload, parts })}`)

/** The descriptor that all bytes under a digest are; `undefined` for plain content. */
export const decode = (hash: string, bytes: Uint8Array): Descriptor | undefined => {
  for (let i = 0; i < MAGIC.length; i++) if (bytes[i] !== MAGIC.charCodeAt(i)) return undefined
  if (pure.hex(bytes) === hash) return undefined
  return JSON.parse(new TextDecoder().decode(bytes.subarray(MAGIC.length))) as Descriptor
}

/**
 * The descriptor that the first part of content is. Longer content may begin with the text of one, but is none.
 */
export const decodePart = (hash: string, { bytes, size }: BlobPart): Descriptor | undefined =>
  bytes.length === size ? decode(hash, bytes) : undefined

/** A part of content in the store of a space, and its descriptor if the content is large. */
export const find = (store: Pick<SpaceStore, "blobPart">, hash: string, part: number): {
  readonly found: BlobPart | undefined
  readonly large?: Descriptor | undefined
} => {
  const found = store.blobPart(hash, part)
  if (found === undefined || part > 0 && found.bytes.length > 0) return { found }
  const first = part === 0 ? found : store.blobPart(hash, 0)
  return { found, large: first === undefined ? undefined : decodePart(hash, first) }
}

/**
 * The bytes of content that a store returned, for a caller that needs all of them.
 *
 * @throws ContentTooLarge if they are a descriptor
 */
export const whole = (hash: string, bytes: Uint8Array | undefined): Uint8Array | undefined => {
  const large = bytes === undefined ? undefined : decode(hash, bytes)
  if (large !== undefined) throw new ContentTooLarge({ hash, bytes: large.size })
  return bytes
}

/**
 * The same for a read from outside.
 *
 * @throws PersistenceError with `ContentTooLarge`
 */
export const read = (hash: string, bytes: Uint8Array | undefined): Uint8Array | undefined => {
  try {
    return whole(hash, bytes)
  } catch (reason) {
    throw reason instanceof ContentTooLarge ? new PersistenceError({ reason }) : reason
  }
}
