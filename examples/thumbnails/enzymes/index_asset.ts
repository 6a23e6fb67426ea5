/**
 * Adds an asset to the index of the gallery, one beat after its cells were written.
 *
 * @module
 */
import { Enzyme } from "systole"
import { INDEX } from "../assets.ts"

export default Enzyme.make({
  name: "index_asset",
  label: "List an asset in the gallery's index",
  query: "/signals/db/write",
  bind: ["/data/assets"],
  target: "required",
  writes: [INDEX],
  run: (tx, event) => {
    const [, , , name = ""] = event.target.split("/")
    const entries = ["thumbnail", "metadata"].map((part) => [part, tx.get(`/data/assets/${name}/${part}`)] as const)
    const asset = Object.fromEntries(entries.filter(([, value]) => value !== undefined))
    // Each asset is a separate field, so several can be added in one beat without a conflict.
    tx.merge(INDEX, { [name]: asset })
    return { name }
  }
})
