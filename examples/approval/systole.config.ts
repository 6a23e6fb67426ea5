/**
 * How the runtime serves this example: its own enzymes and those that come with
 * the runtime.
 *
 * @module
 */
import { defineConfig } from "systole"

export default defineConfig({
  enzymes: ["enzymes", "../../enzymes"],
  system: ["inst_ing", "mr_init", "mr_route", "rv_init"],
  persistence: "sqlite",
  spaces: { create: "on-demand" }
})
