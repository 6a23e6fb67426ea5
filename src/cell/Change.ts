/**
 * Changes: the only notification of new state.
 *
 * Local commits, integrated foreign changes and reverts are all delivered as changes, and no other channel invalidates
 * a reader [S2 §2]. {@link triggers} is the exact comparison that decides whether a change invalidates a reader [S2
 * §6.1].
 *
 * @module
 */
import type { Address, Path } from "./Address.ts"
import { overlaps } from "./Address.ts"
import type { Document } from "./Document.ts"
import * as Link from "./Link.ts"
import * as Value from "./Value.ts"

/**
 * A write to one document.
 */
export interface Change {
  /** The document, and the path that was written. */
  readonly address: Address
  /** The whole document before the write; `undefined` when it did not exist. */
  readonly before: Document | undefined
  /** The whole document after the write; `undefined` when it was deleted. */
  readonly after: Document | undefined
  /** The writer, compared by identity, so that a node is not invalidated by its own write. */
  readonly source: unknown
}

/** A place in a document that a reader read, and the depth of the read. */
export interface Read {
  readonly path: Path
  /** A shallow read observes a container's kind, length and keys, but not its items. */
  readonly shallow: boolean
}

/** The values of one document before and after a change, and the path that was written. */
export interface Step {
  readonly path: Path
  readonly before: Value.Value
  readonly after: Value.Value
}

/**
 * Tests whether a change invalidates a read.
 *
 * The paths must overlap, and the value at the read path must differ. Where that path was not reachable, the depth to
 * which it leads must differ.
 */
export const triggers = (read: Read, step: Step): boolean => {
  if (!overlaps(read.path, step.path)) return false
  const before = reach(step.before, read.path)
  const after = reach(step.after, read.path)
  const wasReachable = before >= read.path.length
  const isReachable = after >= read.path.length
  if (wasReachable && isReachable) {
    const same = read.shallow ? sameSurface : Value.equals
    return !same(Value.at(step.before, read.path), Value.at(step.after, read.path))
  }
  return wasReachable !== isReachable || before !== after || isRelinked(step, read.path.slice(0, before))
}

/** Tests whether a link at a place was added, removed or changed. */
const isRelinked = (step: Step, path: Path): boolean => {
  const before = Value.at(step.before, path)
  const after = Value.at(step.after, path)
  return (Link.is(before) || Link.is(after)) && !Value.equals(before, after)
}

/** Returns the number of leading containers along `path`. A link ends the count, because the path continues in another document. */
const reach = (value: Value.Value, path: Path): number => {
  let here = value
  let depth = 0
  for (const key of path) {
    if (!Value.isContainer(here) || Link.is(here)) return depth
    here = Value.step(here, key)
    depth++
  }
  return depth
}

/** Tests whether two values are equal to a shallow read: kind, length and keys of containers; links and leaves in full. */
const sameSurface = (a: Value.Value, b: Value.Value): boolean => {
  if (!Value.isContainer(a) || !Value.isContainer(b) || Link.is(a) || Link.is(b)) return Value.equals(a, b)
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && a.length === b.length
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key))
}
