/**
 * Cells and signals alone: all of `systole/cells`, which the declarations of a project import if pages use them, too.
 *
 * `Schema` is that of Effect, and leaves no code in a page: see `Page.ts`.
 *
 * @module
 */
export * as Cell from "./Cell.ts"
export * as Link from "./Link.ts"
export * as Schema from "effect/Schema"
export * as Signal from "./Signal.ts"
