/**
 * Content by reference: an import looks for it in its own store, in the content store, and at the sender of the frame. Content that
 * is found is stored under its verified digest.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import { concat } from "../cell/Bytes.ts"
import { MAX_WHOLE } from "../frame/Record.ts"
import { PART } from "../persistence/Backend.ts"
import type { Hash } from "../persistence/Hash.ts"
import * as LargeContent from "../persistence/LargeContent.ts"
import * as LargeObjects from "../persistence/LargeObjects.ts"
import type { Batch, BlobWriter, PlacedStore } from "../persistence/Persistence.ts"
import { PersistenceError } from "../persistence/PersistenceError.ts"
import type { ContentReference } from "./ContentRecord.ts"

/** The pieces of content. */
type Pieces = AsyncIterable<Uint8Array>

/**
 * Asks the sender of a frame for content of the space that the frame is of. It rejects where that has none, or before the first piece.
 */
export type Sender = (space: string, hash: string) => Pieces

/** An import that looks for content. */
export interface Seeking {
  readonly contents?: LargeContent.ContentStore | undefined
  readonly sender?: Sender | undefined
  readonly store: Pick<PlacedStore, "append" | "holds" | "space" | "writeBlob">
  readonly hash: Hash["Service"]
  /** The beginning of the names of its own uploads. */
  readonly uploads: string
  /** The name of the space that the frame is of. */
  readonly from: string
}

const nothing: Batch = { entry: undefined, cells: [], receipts: [], queued: [], dequeued: [], blobs: [], observations: [] }

/** The refusal of content that is not as its digest and its size say. */
const differs = (hash: string): Error => new Error(`the content ${hash} differs`)

/** The pieces of content with a size and a digest. It rejects before the end of any other. */
async function* verified(pieces: Pieces, { hash, size }: ContentReference, start: Hash["Service"]["start"]): AsyncGenerator<Uint8Array> {
  const hasher = start()
  let taken = 0
  for await (const piece of pieces) {
    taken += piece.length
    if (taken > size) throw differs(hash)
    hasher.update(piece)
    yield piece
  }
  if (taken !== size || hasher.hex() !== hash) throw differs(hash)
}

/** The places of content, in their order. */
function* placesOf({ contents, from, hash, sender }: Seeking, { descriptor, hash: digest }: ContentReference): Generator<Pieces> {
  if (contents !== undefined && descriptor !== undefined) yield LargeObjects.read(contents, from, { descriptor, hash })
  if (sender !== undefined) yield sender(from, digest)
}

/**
 * Content that an import looks for.
 */
class Sought {
  private readonly seeking: Seeking
  private readonly reference: ContentReference

  constructor(seeking: Seeking, reference: ContentReference) {
    this.seeking = seeking
    this.reference = reference
  }

  /** Whether the content is stored by now. */
  async find(): Promise<boolean> {
    const { reference, seeking } = this
    const { hash, isCode, size } = reference
    if (seeking.store.holds(hash)) return true
    const keep = isCode || size <= MAX_WHOLE ? this.whole : size <= LargeContent.STORED ? this.stored : this.large
    for (const place of placesOf(seeking, reference)) if (await keep(verified(place, reference, seeking.hash.start))) return true
    return false
  }

  private readonly whole = async (pieces: Pieces): Promise<boolean> => {
    const { hash, isCode, size } = this.reference
    if (size > LargeContent.STORED) return false
    const held: Array<Uint8Array> = []
    if (!await all(pieces, (piece) => void held.push(piece))) return false
    this.seeking.store.append({ ...nothing, blobs: [{ hash, bytes: concat(held), code: isCode }] })
    return true
  }

  private readonly stored = async (pieces: Pieces): Promise<boolean> => {
    const writer = this.seeking.store.writeBlob()
    const isWhole = await all(pieces, (piece) => write(writer, piece))
    if (isWhole) writer.finish(this.reference.hash)
    else writer.abort()
    return isWhole
  }

  /** Large content gets objects of its own, since those of another space go with it. */
  private readonly large = async (pieces: Pieces): Promise<boolean> => {
    const { reference: { hash: digest, size }, seeking: { contents, hash, store, uploads } } = this
    if (contents === undefined || size > Math.min(contents.maxBytes, LargeContent.MOST)) return false
    const place = { space: store.space, upload: `${uploads}-${digest.slice(0, 32)}` }
    const written = await LargeObjects.write((run) => run(contents), place, { chunks: pieces, hash }).catch(() => undefined)
    if (written === undefined) return false
    const writer = store.writeBlob()
    write(writer, LargeContent.encode(written.descriptor))
    writer.finish(digest)
    return true
  }
}

const write = (writer: BlobWriter, bytes: Uint8Array): void => {
  for (let at = 0; at < bytes.length; at += PART) writer.write(bytes.subarray(at, at + PART))
}

/** Whether all pieces came. A failure of their source is none of the one that takes them. */
const all = async (pieces: Pieces, take: (piece: Uint8Array) => void): Promise<boolean> => {
  const source = pieces[Symbol.asyncIterator]()
  for (;;) {
    const step = await source.next().catch(() => undefined)
    if (step === undefined) return false
    if (step.done === true) return true
    take(step.value)
  }
}

/**
 * Looks for content by a reference, and stores it. Whether it is there now.
 */
export const find = (seeking: Seeking, reference: ContentReference): Effect.Effect<boolean, PersistenceError> =>
  Effect.callback<boolean, PersistenceError>((resume) => {
    new Sought(seeking, reference).find().then(
      (isThere) => resume(Effect.succeed(isThere)),
      (error: unknown) => resume(error instanceof PersistenceError ? Effect.fail(error) : Effect.die(error))
    )
  })
