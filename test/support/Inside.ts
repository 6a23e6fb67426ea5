/**
 * The open space behind a handle, for tests that look at what it keeps.
 *
 * @module
 */
import type { Space } from "systole"

/** What such a test looks at. */
export const of = <A>(space: Space): A => (space as unknown as { readonly door: { readonly space: A } }).door.space
