/**
 * Makes the thumbnails of an image, and sends a signal to index them.
 *
 * @module
 */
import { Enzyme } from "systole"
import * as Assets from "../assets.ts"
import * as Images from "../images.ts"

/** The widths of the thumbnails, in pixels. */
const WIDTHS = [64, 160, 320]

export default Enzyme.make({
  name: "resize_image",
  label: "Make thumbnails of an image",
  query: "/signals/image/thumbnail",
  bind: ["/env/fs/projects"],
  target: "required",
  payload: Assets.ImagePayload,
  writes: [Assets.ThumbnailsOf],
  limitMs: 10_000,
  run: (tx, event) => {
    const image = Assets.load(tx, event)
    const picture = Images.decode(image)
    const widths = new Set(WIDTHS.map((width) => Math.min(width, picture.width)))
    const sizes = Array.from(widths, (wanted) => {
      const { bytes, width, height } = Images.thumbnail(picture, wanted)
      return { width, height, bytes: bytes.length, address: tx.blob(bytes) }
    })
    const cell = Assets.ThumbnailsOf.at({ name: image.asset })
    tx.set(cell, { target: image.target, source: image.address, sizes })
    tx.signal({ signal: "/signals/db/write", target: `${cell}` })
    return { sizes: sizes.length }
  }
})
