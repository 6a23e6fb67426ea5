/**
 * The configuration of this example: SQLite as the store, and requests over HTTP to this machine.
 *
 * @module
 */
import { defineConfig } from "systole"

export default defineConfig({
  persistence: "sqlite",
  spaces: { create: "on-demand" },
  channels: { http: { use: "http", options: { allow: ["127.0.0.1"] } } }
})
