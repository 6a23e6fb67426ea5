/**
 * The objects of large content in a content store.
 *
 * Below the name of its space and of its upload, content has one object for each part, and one that is named by its digest.
 *
 * @module
 */
import type { Hash } from "./Hash.ts"
import * as LargeContent from "./LargeContent.ts"

/** The beginning of the name of the object with the digest. */
export const CONTENT = "content-"

/** The place of an upload. */
export interface UploadPlace {
  readonly space: string
  readonly upload: string
}

/** Calls a content store. Its failure is one that the caller expects. */
export type Call = <A>(run: (store: LargeContent.ContentStore) => Promise<A>) => Promise<A>

/** The key of a part. Keys are in the order of parts. */
export const partKey = ({ space, upload }: UploadPlace, part: number): string =>
  `${space}/${upload}/part-${String(part).padStart(6, "0")}`

/** Deletes objects. */
export const erase = async (store: Pick<LargeContent.ContentStore, "delete">, keys: ReadonlyArray<string>): Promise<void> => {
  for (let at = 0; at < keys.length; at += LargeContent.KEYS) await store.delete(keys.slice(at, at + LargeContent.KEYS))
}

/** Deletes the objects of an upload, with the one of its digest if that is known. */
export const drop = (call: Call, place: UploadPlace, { hash, parts }: {
  readonly hash: string | undefined
  readonly parts: number
}): Promise<void> => {
  const named = hash === undefined ? [] : [`${place.space}/${place.upload}/${CONTENT}${hash}`]
  return call((store) => erase(store, [...named, ...Array.from({ length: parts }, (_, part) => partKey(place, part))]))
}

/** Written content: its digest, and the descriptor for the store of its space. */
export interface Written {
  readonly hash: string
  readonly descriptor: LargeContent.Descriptor
}

/** Writes the chunks of content, of any size, as objects. After a failure it deletes what it wrote. */
export const write = async (
  call: Call,
  place: UploadPlace,
  { chunks, hash }: { readonly chunks: AsyncIterable<Uint8Array>; readonly hash: Hash["Service"] }
): Promise<Written> => {
  const hasher = hash.start()
  const part = new Uint8Array(LargeContent.OBJECT)
  const parts: Array<string> = []
  let filled = 0
  let size = 0
  const flush = async (): Promise<void> => {
    const bytes = part.subarray(0, filled)
    parts.push(hash.hex(bytes))
    filled = 0
    await call((store) => store.put(partKey(place, parts.length - 1), bytes))
  }
  try {
    for await (const chunk of chunks) {
      hasher.update(chunk)
      size += chunk.length
      for (let at = 0; at < chunk.length;) {
        const taken = chunk.subarray(at, at + LargeContent.OBJECT - filled)
        part.set(taken, filled)
        filled += taken.length
        at += taken.length
        if (filled === LargeContent.OBJECT) await flush()
      }
    }
    if (filled > 0) await flush()
    const digest = hasher.hex()
    await call((store) => store.put(`${place.space}/${place.upload}/${CONTENT}${digest}`, new Uint8Array()))
    return { hash: digest, descriptor: { size, upload: place.upload, parts } }
  } catch (error) {
    // A later collection deletes what cannot be deleted now.
    await drop(call, place, { hash: undefined, parts: parts.length }).catch(() => {})
    throw error
  }
}

/** Reads the parts of content, each of which has its digest. Rejects for one that is absent or has another. */
export async function* read(
  store: Pick<LargeContent.ContentStore, "get">,
  space: string,
  { descriptor: { parts, upload }, hash }: { readonly descriptor: LargeContent.Descriptor; readonly hash: Hash["Service"] }
): AsyncGenerator<Uint8Array> {
  for (const [part, digest] of parts.entries()) {
    const key = partKey({ space, upload }, part)
    const bytes = await store.get(key)
    if (bytes === undefined || hash.hex(bytes) !== digest) throw new Error(`object ${key} is absent or was changed`)
    yield bytes
  }
}
