/**
 * Node modules: what is registered with a runtime, for each of its spaces to take
 * in at its next capture.
 *
 * @module
 */
import type { Code } from "../registry/Registry.ts"
import type { Definition } from "./Definition.ts"
import { InvalidNode } from "./Definition.ts"

/** A node with the module it came from, where it came from one. */
export interface NodeModule {
  readonly definition: Definition
  readonly code: Code | undefined
}

/** A name that was given a definition, or lost it. */
export interface ModuleChange {
  readonly name: string
  readonly module: NodeModule | undefined
}

/**
 * The node modules of a runtime.
 *
 * @category models
 * @since 0.1.0
 */
export class Modules {
  private readonly active = new Map<string, NodeModule>()
  private readonly outputs = new Map<string, string>()
  /** All that ever came and went, in order: each space knows how far it has come. */
  readonly changes: Array<ModuleChange> = []

  get(name: string): NodeModule | undefined {
    return this.active.get(name)
  }

  all(): ReadonlyArray<NodeModule> {
    return [...this.active.values()]
  }

  /**
   * Takes a node in, from the next capture of each space on.
   *
   * @throws InvalidNode
   */
  register(definition: Definition, code?: Code): void {
    const { name } = definition
    if (this.active.has(name)) throw new InvalidNode({ name, reason: "there is a node of this name already; withdraw it first, or give this one another name" })
    const outputs = outputsOf(definition)
    for (const output of outputs) {
      const writer = this.outputs.get(output)
      if (writer !== undefined) throw new InvalidNode({ name, reason: `${output} is written by node "${writer}" already; a cell has one writer, so derive another` })
    }
    for (const output of outputs) this.outputs.set(output, name)
    const module = { definition, code }
    this.active.set(name, module)
    this.changes.push({ name, module })
  }

  /** Takes a node out, from the next capture of each space on; answers whether it was there. */
  unregister({ name }: Definition): boolean {
    const module = this.active.get(name)
    if (module === undefined) return false
    this.active.delete(name)
    for (const output of outputsOf(module.definition)) this.outputs.delete(output)
    this.changes.push({ name, module: undefined })
    return true
  }
}

/** The cells that a module's node writes; one that is started has none before. */
const outputsOf = ({ _tag, inputs, output, writes }: Definition): ReadonlyArray<string> =>
  _tag === "Computation" && inputs === undefined ? [output!, ...writes] : []
