/**
 * The configuration of this example: its own enzymes and the first-party ones.
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
