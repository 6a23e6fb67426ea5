/**
 * Changes: the one notification through which anything learns of new state.
 *
 * Local commits, integrated foreign changes and reverts all become changes, and
 * nothing else invalidates anything. {@link triggers} is the exact comparison
 * that decides whether a reader has to hear of one. (Seed 002, P1 and section
 * 6.1; semantics, section 7.3.)
 *
 * @module
 */
import type { Address, Path } from "./Address.ts"
import { overlaps } from "./Address.ts"
import type { Document } from "./Document.ts"
import * as Link from "./Link.ts"
import * as Value from "./Value.ts"

/**
 * What happened to one document.
 *
 * @category models
 * @since 0.1.0
 */
export interface Change {
  /** Where: the document, and the path that was written. */
  readonly address: Address
  /** The whole document before; `undefined` when it did not exist. */
  readonly before: Document | undefined
  /** The whole document after; `undefined` when it was deleted. */
  readonly after: Document | undefined
  /** Who wrote it: the object that ran, by identity. */
  readonly source: unknown
}

/** What a reader looked at: a place in a document, and whether its depths count. */
export interface Read {
  readonly path: Path
  /** A shallow read sees a container's kind, length and keys, but not what they hold. */
  readonly shallow: boolean
}

/** One document's values on both sides of a change, and the path that was written. */
export interface Step {
  readonly path: Path
  readonly before: Value.Value
  readonly after: Value.Value
}

/**
 * Whether a change is one that a reader has to hear of.
 *
 * The path must overlap, and then the value that was read must differ: or, where
 * it was not reachable, how far the path leads.
 *
 * @category predicates
 * @since 0.1.0
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

/** Whether another link leads on from a place, or leads on there at all. */
const isRelinked = (step: Step, path: Path): boolean => {
  const before = Value.at(step.before, path)
  const after = Value.at(step.after, path)
  return (Link.is(before) || Link.is(after)) && !Value.equals(before, after)
}

/** How many leading containers exist along `path`; behind a link it goes on elsewhere. */
const reach = (value: Value.Value, path: Path): number => {
  let here = value
  for (let depth = 0; depth < path.length; depth++) {
    if (!Value.isContainer(here) || Link.is(here)) return depth
    here = Value.step(here, path[depth]!)
  }
  return path.length
}

/** Whether two values look the same from outside: kind, length and keys of containers; links and leaves in full. */
const sameSurface = (a: Value.Value, b: Value.Value): boolean => {
  if (!Value.isContainer(a) || !Value.isContainer(b) || Link.is(a) || Link.is(b)) return Value.equals(a, b)
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && a.length === b.length
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key))
}
