/**
 * Cells and signals alone: all of `systole/cells`, which the declarations of a project import if pages use them, too.
 *
 * @module
 */
export * as Cell from "./Cell.ts"
export * as Link from "./Link.ts"
export * as Signal from "./Signal.ts"
