/**
 * Access to the open space behind its API, for tests of its internal state.
 *
 * @module
 */
import type { Space } from "systole"
import { Access } from "../../src/kernel/api/Access.ts"

/** The open space of an API, typed as the part that the test reads. A request that is made and never run shows the access. */
export const of = <A>(space: Space): A => {
  const { use } = Access.prototype
  const used: Array<unknown> = []
  Access.prototype.use = function(see) {
    used.push(this)
    return use.call(this, see) as never
  }
  try {
    void space.receipt("x")
  } finally {
    Access.prototype.use = use
  }
  return (used[0] as { readonly space: A }).space
}
