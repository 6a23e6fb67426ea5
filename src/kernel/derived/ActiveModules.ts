/**
 * The modules of nodes that are active in a space.
 *
 * All spaces share one list of module changes. Each applies them in its own time, so it has a position in the list.
 *
 * @module
 */
import type { Definition } from "../../scheduler/definition/Definition.ts"
import type { Modules, NodeModule } from "../../scheduler/definition/Modules.ts"
import * as Piece from "../../scheduler/definition/Piece.ts"
import type { Node } from "../../scheduler/graph/Node.ts"

/**
 * The active modules of one space.
 */
export class ActiveModules {
  private readonly modules: Modules
  /** Position in the list of module changes, and the modules active at that position. */
  private known = 0
  private readonly active = new Map<string, NodeModule>()
  /** The position that the beat in progress goes up to. Its commands come before its nodes, and see the same modules. */
  private until: number | undefined

  constructor(modules: Modules) {
    this.modules = modules
  }

  /** Whether there are module changes that the space has not applied. */
  get isBehind(): boolean {
    return this.known < this.modules.changes.length
  }

  /** The end of the list of changes. */
  get newest(): number {
    return this.modules.changes.length
  }

  /** The modules that pending changes add. */
  added(): ReadonlyArray<NodeModule> {
    return this.modules.changes.slice(this.known).flatMap(({ module }) => module ?? [])
  }

  /** All modules, active or pending. */
  all(): ReadonlyArray<NodeModule> {
    return this.modules.all()
  }

  /** The active module of this name. */
  get(name: string): NodeModule | undefined {
    return this.active.get(name)
  }

  /** Applies the pending changes: each ends a module, begins one, or both. */
  apply({ begun, ended }: { readonly ended: (module: NodeModule) => void; readonly begun: (module: NodeModule) => void }): void {
    for (const { module, name } of this.modules.changes.slice(this.known)) {
      this.known++
      const before = this.active.get(name)
      this.active.delete(name)
      if (before !== undefined) ended(before)
      if (module === undefined) continue
      this.active.set(name, module)
      begun(module)
    }
  }

  /** Whether the next beat removes a node because its module was withdrawn. */
  isLeaving(name: string): boolean {
    const { changes } = this.modules
    for (let i = this.known; i < changes.length; i++) if (changes[i]?.name === Piece.moduleOf(name)) return true
    return false
  }

  /** The module of this name, as of the beat in progress or the next one. */
  definition(name: string): Definition | undefined {
    const { changes } = this.modules
    for (let i = (this.until ?? changes.length) - 1; i >= this.known; i--) {
      const change = changes[i]
      if (change?.name === name) return change.module?.definition
    }
    return this.active.get(name)?.definition
  }

  /** The beat has executed its commands: later module changes are of the next one. */
  begin(): void {
    this.until = this.modules.changes.length
  }

  /** The beat is over, committed or aborted. */
  end(): void {
    this.until = undefined
  }

  /** The digest of the module with a node's code. A node defined by a run has the module of that run. */
  hashOf({ definition: { name }, parent }: Node): string | undefined {
    if (parent !== undefined && !Piece.isPiece(name)) return this.hashOf(parent)
    return this.active.get(Piece.moduleOf(name))?.code?.hash
  }
}
