/**
 * Node modules: the nodes registered with a runtime. Each space applies them at its next
 * capture.
 *
 * @module
 */
import type { Code } from "../../registry/Registry.ts"
import type { Definition } from "./Definition.ts"
import { InvalidNode } from "./Definition.ts"

/** A node with its module, if it has one. */
export interface NodeModule {
  readonly definition: Definition
  readonly code: Code | undefined
}

/** A name that got a definition, or lost it. */
export interface ModuleChange {
  readonly name: string
  readonly module: NodeModule | undefined
}

/**
 * The node modules of a runtime.
 */
export class Modules {
  private readonly active = new Map<string, NodeModule>()
  private readonly outputs = new Map<string, string>()
  /** All registrations and withdrawals, in order. Each space knows its position in the list. */
  readonly changes: Array<ModuleChange> = []

  get(name: string): NodeModule | undefined {
    return this.active.get(name)
  }

  all(): ReadonlyArray<NodeModule> {
    return [...this.active.values()]
  }

  /**
   * Registers a node, from the next capture of each space on.
   *
   * @throws InvalidNode
   */
  register(definition: Definition, code?: Code): void {
    const { name } = definition
    if (this.active.has(name)) {
      throw new InvalidNode({ name, reason: "there is a node of this name already; withdraw it first, or give this one another name" })
    }
    const outputs = outputsOf(definition)
    for (const output of outputs) {
      const writer = this.outputs.get(output)
      if (writer !== undefined) {
        throw new InvalidNode({
          name,
          reason: `${output} is written by node "${writer}" already; a cell has one writer, so derive another`
        })
      }
    }
    for (const output of outputs) this.outputs.set(output, name)
    const module = { definition, code }
    this.active.set(name, module)
    this.changes.push({ name, module })
  }

  /** Withdraws a node, from the next capture of each space on. Returns whether it was registered. */
  unregister({ name }: Definition): boolean {
    const module = this.active.get(name)
    if (module === undefined) return false
    this.active.delete(name)
    for (const output of outputsOf(module.definition)) this.outputs.delete(output)
    this.changes.push({ name, module: undefined })
    return true
  }
}

/** The cells that a module's node writes. A module with inputs has none before a start. */
const outputsOf = ({ _tag, inputs, output, writes }: Definition): ReadonlyArray<string> =>
  _tag === "Computation" && inputs === undefined && output !== undefined ? [output, ...writes] : []
