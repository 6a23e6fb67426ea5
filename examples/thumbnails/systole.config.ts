/**
 * The configuration of this example: SQLite as the store, and the gallery of the space `photos` as a page.
 *
 * @module
 */
import { defineConfig } from "systole"
import { Index } from "./assets.ts"
import { gallery } from "./gallery.ts"

export default defineConfig({
  enzymes: ["enzymes"],
  persistence: "sqlite",
  spaces: { create: "on-demand" },
  pages: { "/gallery": async ({ get }) => gallery("photos", await get("photos", Index)) }
})
