/**
 * The queue of a pass: invalid nodes by level, then by ordinal.
 *
 * A level is a list linked through its nodes. Each writer has a lower level than its
 * readers, so the lowest level first runs writers before readers. A clean reader is in
 * no list. It is queued when a value that it read changes.
 *
 * @module
 */
import * as Flag from "./Flag.ts"
import type { Node } from "./Node.ts"

const { MATERIALIZER, QUEUED } = Flag

/** The nodes of one level. */
class Level {
  first: Node | undefined = undefined
  last: Node | undefined = undefined
  /** Whether the list is out of order. */
  mixed = false
}

/**
 * Nodes by level; materializers follow all levels.
 */
export class Queue {
  private readonly levels: Array<Level> = []
  /** The only node of the queue, if there is just one: most changes follow a single path. */
  private alone: Node | undefined = undefined
  /** All levels below this one are empty. */
  private lowest = 0
  /** Number of nodes in the levels. */
  private count = 0
  private readonly idle: Array<Node> = []

  /** Adds a node to its level. */
  push(node: Node): void {
    const { flags } = node
    if ((flags & QUEUED) !== 0) return
    node.flags = flags | QUEUED
    if ((flags & MATERIALIZER) !== 0) this.idle.push(node)
    else if (this.count === 0 && this.alone === undefined) this.alone = node
    else this.enter(node)
  }

  /** Removes the first node; materializers only when all levels are empty. */
  pop(): Node | undefined {
    const { alone } = this
    if (alone !== undefined) {
      this.alone = undefined
      alone.flags &= ~QUEUED
      return alone
    }
    while (this.count > 0) {
      const level = this.levels[this.lowest]!
      const { first } = level
      if (first === undefined) {
        this.lowest++
        continue
      }
      const node = level.mixed ? this.sorted(level) : first
      const next = node.nextQueued
      this.count--
      level.first = next
      if (next === undefined) level.last = undefined
      else node.nextQueued = undefined
      if (node.level === this.lowest) {
        node.flags &= ~QUEUED
        return node
      }
      // It was raised while it was queued.
      this.insert(node)
    }
    return this.popIdle()
  }

  /** Whether a level and all below it are empty. */
  isPast(level: number): boolean {
    return this.alone === undefined ? this.count === 0 || this.lowest > level : this.alone.level > level
  }

  get isEmpty(): boolean {
    return this.count === 0 && this.alone === undefined && this.idle.length === 0
  }

  private enter(node: Node): void {
    const { alone } = this
    if (alone !== undefined) {
      this.alone = undefined
      this.insert(alone)
    }
    this.insert(node)
  }

  private insert(node: Node): void {
    const at = node.level
    while (this.levels.length <= at) this.levels.push(new Level())
    const level = this.levels[at]!
    const { last } = level
    if (last === undefined) level.first = node
    else {
      if (last.ordinal > node.ordinal) level.mixed = true
      last.nextQueued = node
    }
    level.last = node
    if (this.count++ === 0 || at < this.lowest) this.lowest = at
  }

  /** Sorts a level, and returns its first node. */
  private sorted(level: Level): Node {
    level.mixed = false
    const first = inOrder(level.first!)
    level.first = first
    let last = first
    while (last.nextQueued !== undefined) last = last.nextQueued
    level.last = last
    return first
  }

  private popIdle(): Node | undefined {
    let [node] = this.idle
    if (node === undefined) return undefined
    for (const other of this.idle) if (other.ordinal < node.ordinal) node = other
    this.idle.splice(this.idle.indexOf(node), 1)
    node.flags &= ~QUEUED
    return node
  }
}

/** Sorted lists of 1, 2, 4 and more runs, during {@link inOrder}. */
const bins: Array<Node | undefined> = []

/** Sorts a list by ordinal. It merges sorted runs pairwise, and allocates no memory. */
const inOrder = (list: Node): Node => {
  let rest: Node | undefined = list
  let size = 0
  while (rest !== undefined) {
    let run: Node = rest
    let last = run
    while (last.nextQueued !== undefined && last.nextQueued.ordinal > last.ordinal) last = last.nextQueued
    rest = last.nextQueued
    last.nextQueued = undefined
    let bin = 0
    for (let other = bins[0]; other !== undefined; other = bins[++bin]) {
      run = merged(other, run)
      bins[bin] = undefined
    }
    bins[bin] = run
    if (bin >= size) size = bin + 1
  }
  let whole: Node | undefined
  for (let bin = 0; bin < size; bin++) {
    const run: Node | undefined = bins[bin]
    bins[bin] = undefined
    if (run !== undefined) whole = whole === undefined ? run : merged(run, whole)
  }
  return whole!
}

/** Merges two sorted lists. */
const merged = (left: Node, right: Node): Node => {
  let a: Node | undefined = left
  let b: Node | undefined = right
  const first: Node = a.ordinal < b.ordinal ? a : b
  if (first === a) a = a.nextQueued
  else b = b.nextQueued
  let last = first
  while (a !== undefined && b !== undefined) {
    if (a.ordinal < b.ordinal) {
      last = last.nextQueued = a
      a = a.nextQueued
    } else {
      last = last.nextQueued = b
      b = b.nextQueued
    }
  }
  last.nextQueued = a ?? b
  return first
}
