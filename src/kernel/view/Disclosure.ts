/**
 * Disclosure: the labels of addresses for readers.
 *
 * Labels give each address its atoms. The runtime's own cells and the texts of modules
 * have one more, the operator's, which no clearance holds. A rule that names such a
 * place by its first name grants it to readers, by the atoms of the rule. Runs are bound
 * by labels alone.
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import * as Label from "../../cell/Label.ts"
import { isRuntime, isTelling, type Labels } from "../../stage/Labels.ts"
import type { LiveState } from "../beat/loop/LiveState.ts"
import * as Modules from "../model/Modules.ts"
import type { Viewer } from "./Space.ts"

/** The parts of a space that it reads. */
type Dependencies = Pick<LiveState, "enzymes" | "labels" | "nodes" | "store">

/** An atom that no rule and no clearance can hold, because of its space character. */
const OPERATOR = Label.make(["the operator"])

const CONTENT = "/cas/"

/**
 * The labels of the addresses of one space, for readers.
 */
export class Disclosure implements Pick<Labels, "of" | "at" | "above"> {
  private readonly deps: Dependencies
  private readonly bounds: Pick<Viewer, "scopes" | "within">

  /** Each address beyond the bounds has the operator's atom. */
  constructor(deps: Dependencies, bounds: Pick<Viewer, "scopes" | "within"> = {}) {
    this.deps = deps
    this.bounds = bounds
  }

  /**
   * Whether an address is beyond the cells or the scopes of the bounds. The records of all runs, such as the problems of the space, tell
   * of each scope and of all cells, so cells of the bounds hold them only by their own names.
   */
  isBeyond({ id, scope }: Pick<Address.Address, "id" | "scope">): boolean {
    const { scopes, within } = this.bounds
    const isRecord = isTelling(id)
    if (scopes !== undefined && isRecord) return true
    if (scopes !== undefined && scope !== Address.SPACE && !scopes.includes(scope)) return true
    return within?.some((cell) => Address.isWithin(cell, id) && (!isRecord || isTelling(cell))) === false
  }

  /** The label of a document or of content. */
  of(address: Address.Address): Label.Label {
    const { labels } = this.deps
    return this.closed(address, labels === undefined ? Label.none : labels.of(address))
  }

  /** The label of a read at an address. */
  at(address: Address.Address, depth: "deep" | "shallow" | "children"): Label.Label {
    const { labels } = this.deps
    return this.closed(address, labels === undefined ? Label.none : labels.at(address, depth))
  }

  /** A reader derives no cells. */
  above(): undefined {
    return undefined
  }

  private closed(address: Address.Address, label: Label.Label): Label.Label {
    const { id } = address
    if (this.isBeyond(address)) return Label.join(label, OPERATOR)
    if (isRuntime(id)) return this.isGranted(address) ? label : Label.join(label, OPERATOR)
    if (!id.startsWith(CONTENT)) return label
    const hash = id.slice(CONTENT.length)
    const module = this.moduleOf(hash)
    if (module !== undefined) return Label.join(label, this.of(Modules.address(module)))
    // The text of a superseded version: no rule names it.
    return this.deps.store.isCode(hash) ? Label.join(label, OPERATOR) : label
  }

  private isGranted(address: Address.Address): boolean {
    return this.deps.labels?.names(address) === true
  }

  /** The module name whose active version has this text. */
  private moduleOf(hash: string): string | undefined {
    const { enzymes, nodes } = this.deps
    const enzyme = enzymes.active().find(({ code }) => code?.hash === hash)
    if (enzyme !== undefined) return enzyme.enzyme.name
    const node = nodes.all().find(({ code }) => code?.hash === hash)
    return node === undefined ? undefined : Modules.NODES + node.definition.name
  }
}
