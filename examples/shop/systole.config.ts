/**
 * The configuration of this example: SQLite as the store, and the dashboard at `/`.
 *
 * @module
 */
import { defineConfig } from "systole"
import { html } from "./html.ts"

export default defineConfig({
  persistence: "sqlite",
  spaces: { create: "on-demand" },
  pages: { "/": { html, module: "page.ts" } }
})
