/**
 * Assets: the cells of this example.
 *
 * An image sent to `/env/fs/projects/p1/img123.jpg` is the asset `img123`:
 *
 *     /data/assets/img123/thumbnail    written by `resize_image`
 *     /data/assets/img123/metadata     written by `image_metadata`
 *     /data/index/assets               every asset, for the gallery
 *
 * @module
 */
import * as Schema from "effect/Schema"
import { Cell, type Event, type Transaction } from "systole"
import { Exif } from "./exif.ts"
import type { Source } from "./headers.ts"

const Size = Schema.Natural
const Address = Schema.String.pipe(Schema.check(Schema.isPattern(/^\/cas\/[0-9a-f]{64}$/)))

/**
 * The payload of a signal about an image: the digest of its content.
 */
export const ImagePayload = Schema.Struct({
  hash: Schema.String.pipe(Schema.check(Schema.isPattern(/^[0-9a-f]{64}$/)))
})

/**
 * The payload of a signal about an image.
 */
export type ImagePayload = typeof ImagePayload.Type

/**
 * The cell `/data/assets/<name>/thumbnail`.
 */
export const Thumbnails = Schema.Struct({
  /** The cell that the image was sent to. */
  target: Schema.String,
  /** The image itself. */
  source: Address,
  sizes: Schema.Array(Schema.Struct({ width: Size, height: Size, bytes: Size, address: Address }))
})

/**
 * The cell `/data/assets/<name>/metadata`.
 */
export const Metadata = Schema.Struct({
  target: Schema.String,
  source: Address,
  bytes: Size,
  format: Schema.Literals(["jpeg", "png"]),
  width: Size,
  height: Size,
  orientation: Size,
  exif: Exif
})

/**
 * An asset in the index. A part is absent if its signal was not sent.
 */
export const Asset = Schema.Struct({
  thumbnail: Schema.optionalKey(Thumbnails),
  metadata: Schema.optionalKey(Metadata)
})

/**
 * An asset in the index.
 */
export type Asset = typeof Asset.Type

/**
 * The cell that lists all assets, by name.
 */
export const Index = Cell.of("/data/index/assets", Schema.Record(Schema.String, Asset))

/**
 * The cells of the thumbnails, by asset.
 */
export const ThumbnailsOf = Cell.family("/data/assets/:name/thumbnail", Thumbnails)

/**
 * The cells of the metadata, by asset.
 */
export const MetadataOf = Cell.family("/data/assets/:name/metadata", Metadata)

/**
 * The space does not contain the content of a signal.
 */
export class NoContent extends Schema.TaggedError<NoContent>()("NoContent", { target: Schema.String, address: Schema.String }) {
  readonly code = "asset/no-content"
  override get message() {
    return `The image for ${this.target} is not there: ${this.address} holds nothing. Put its bytes into this space's blobs first, then ` +
      "send the signal again"
  }
}

/** An image, and the name of its asset. */
export interface Image extends Source {
  readonly target: string
  readonly address: string
  readonly asset: string
}

/**
 * Loads the image of a signal.
 *
 * @throws NoContent
 */
export const load = (tx: Transaction, event: Event<ImagePayload, string>): Image => {
  const { payload: { hash }, target } = event
  const address = `/cas/${hash}`
  const bytes = tx.get(address)
  if (!(bytes instanceof Uint8Array)) throw new NoContent({ target, address })
  return { target, address, bytes, asset: nameOf(target), name: `The image for ${target} (${address})` }
}

/** The last name of the target without its extension: `img123` of `/env/fs/projects/p1/img123.jpg`. */
const nameOf = (target: string): string => target.slice(target.lastIndexOf("/") + 1).replace(/(?<=.)\.[^.]*$/, "")
