/**
 * How the runtime serves this example.
 *
 * @module
 */
export default {
  enzymes: ["enzymes"],
  persistence: "sqlite",
  spaces: { create: "on-demand" }
}
