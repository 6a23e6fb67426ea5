/**
 * The parts of a space that an export takes.
 *
 * @module
 */

/** The choice of the parts. Each is the whole unless given. */
export interface Parts {
  /** The journal as far as it is kept, or the row of the head alone. Default: all. */
  readonly history?: "all" | "none" | undefined
  /** Content with its bytes, or by its digest and size. Default: with its bytes. */
  readonly content?: "inline" | "refs" | undefined
}
