/**
 * Access to the open space behind a handle, for tests of its internal state.
 *
 * @module
 */
import type { Space } from "systole"

/** The open space of a handle, typed as the part that the test reads. */
export const of = <A>(space: Space): A => (space as unknown as { readonly door: { readonly space: A } }).door.space
