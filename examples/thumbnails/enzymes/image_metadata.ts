/**
 * Reads the metadata of an image: its size, its format and its EXIF fields.
 *
 * @module
 */
import { Enzyme } from "systole"
import * as Assets from "../assets.ts"
import * as Images from "../images.ts"

export default Enzyme.make({
  name: "image_metadata",
  label: "Read an image's size, format and EXIF",
  query: "/signals/image/*",
  bind: ["/env/fs/projects"],
  target: "required",
  payload: Assets.ImagePayload,
  writes: [Assets.MetadataOf],
  limitMs: 5_000,
  run: (tx, event) => {
    const image = Assets.load(tx, event)
    const metadata = Images.metadata(image)
    const cell = Assets.MetadataOf.at({ name: image.asset })
    tx.set(cell, { target: image.target, source: image.address, bytes: image.bytes.length, ...metadata })
    return { format: metadata.format, width: metadata.width, height: metadata.height }
  }
})
