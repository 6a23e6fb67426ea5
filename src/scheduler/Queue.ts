/**
 * The queue of a pass: nodes that may run, by level and then by ordinal.
 *
 * A level is a list through the nodes themselves. Whoever writes stands on a
 * lower level than whoever reads it, so taking the lowest first runs writers
 * before their readers; a clean reader is in no list at all, and enters its level when a
 * value that it read changes. (Architecture, section 6, "Order".)
 *
 * @module
 */
import { MATERIALIZER, type Node, QUEUED } from "./Node.ts"

/**
 * Nodes by level; materializers stand behind all levels.
 *
 * @category models
 * @since 0.1.0
 */
export class Queue {
  private readonly first: Array<Node | undefined> = []
  private readonly last: Array<Node | undefined> = []
  /** Levels whose list is not in the order of ordinals. */
  private readonly mixed: Array<boolean> = []
  /** No level below this one has a node. */
  private lowest = 0
  /** How many nodes the levels hold. */
  private count = 0
  private readonly idle: Array<Node> = []

  /** Puts a node into its level. */
  push(node: Node): void {
    if ((node.flags & QUEUED) !== 0) return
    node.flags |= QUEUED
    if ((node.flags & MATERIALIZER) !== 0) {
      this.idle.push(node)
      return
    }
    const { level } = node
    this.count++
    while (this.first.length <= level) {
      this.first.push(undefined)
      this.last.push(undefined)
      this.mixed.push(false)
    }
    const last = this.last[level]
    node.nextQueued = undefined
    if (last === undefined) this.first[level] = node
    else {
      if (last.ordinal > node.ordinal) this.mixed[level] = true
      last.nextQueued = node
    }
    this.last[level] = node
    if (level < this.lowest) this.lowest = level
  }

  /** Takes the first node out; materializers only when nothing else is left. */
  pop(): Node | undefined {
    const { first } = this
    while (this.count > 0) {
      const level = this.lowest
      if (first[level] !== undefined) {
        if (this.mixed[level] === true) this.sort(level)
        const node = this.take(level, first[level]!)
        if (node.level === level) return node
        // It was lifted while it stood here.
        this.push(node)
        continue
      }
      this.lowest++
    }
    this.lowest = first.length
    return this.idle.length === 0 ? undefined : this.popIdle()
  }

  get isEmpty(): boolean {
    return this.count === 0 && this.idle.length === 0
  }

  private take(level: number, node: Node): Node {
    this.count--
    this.first[level] = node.nextQueued
    if (node.nextQueued === undefined) this.last[level] = undefined
    node.nextQueued = undefined
    node.flags &= ~QUEUED
    return node
  }

  private sort(level: number): void {
    this.mixed[level] = false
    const nodes: Array<Node> = []
    for (let node = this.first[level]; node !== undefined; node = node.nextQueued) nodes.push(node)
    nodes.sort((a, b) => a.ordinal - b.ordinal)
    for (let i = 0; i < nodes.length; i++) nodes[i]!.nextQueued = nodes[i + 1]
    this.first[level] = nodes[0]
    this.last[level] = nodes.at(-1)
  }

  private popIdle(): Node {
    let least = 0
    for (let i = 1; i < this.idle.length; i++) if (this.idle[i]!.ordinal < this.idle[least]!.ordinal) least = i
    const node = this.idle.splice(least, 1)[0]!
    node.flags &= ~QUEUED
    return node
  }
}
