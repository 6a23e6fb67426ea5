/**
 * Adds an asset to the index of the gallery, one beat after its cells were written.
 *
 * @module
 */
import { Enzyme } from "systole"
import { type Asset, Index, MetadataOf, ThumbnailsOf } from "../assets.ts"

export default Enzyme.make({
  name: "index_asset",
  label: "List an asset in the gallery's index",
  query: "/signals/db/write",
  bind: ["/data/assets"],
  target: "required",
  writes: [Index],
  run: (tx, event) => {
    const [, , , name = ""] = event.target.split("/")
    const thumbnail = tx.get(ThumbnailsOf.at({ name }))
    const metadata = tx.get(MetadataOf.at({ name }))
    const asset: Asset = { ...thumbnail && { thumbnail }, ...metadata && { metadata } }
    // Each asset is a separate field, so several can be added in one beat without a conflict.
    tx.merge(Index, { [name]: asset })
    return { name }
  }
})
