/**
 * Parts of the API of a space, which its slices make.
 *
 * @module
 */
import type { Access } from "./Access.ts"

/**
 * A part of the API of a space.
 */
export interface SpacePart {
  /** Its name in the API. */
  readonly name: string
  /** Makes the part over the access to a space. */
  readonly make: (access: Access) => object
}
