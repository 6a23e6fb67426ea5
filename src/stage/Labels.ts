/**
 * Labels of a space: the atoms of each address, and the check of a run's results.
 *
 * The rules assign a label to each address, independent of its value, so a label reveals no value. A run's label is the
 * union of the labels of its event, of all that it reads or overwrites, and of its triggers. Every address that it
 * writes must have all these atoms. A name to which the rules grant atoms may declassify them [S2 §10].
 *
 * @module
 */
import * as Data from "effect/Data"
import * as Address from "../cell/Address.ts"
import type { Document } from "../cell/Document.ts"
import * as Codec from "../cell/Document.ts"
import * as Label from "../cell/Label.ts"
import * as Pattern from "../cell/Pattern.ts"
import { TextCache } from "../cell/TextCache.ts"
import type { BindingChange, OutgoingSignal } from "./Launch.ts"
import type { Sink } from "./Launches.ts"
import * as Envelope from "./Envelope.ts"

/** The confidentiality rules of a project. */
export interface Rules {
  /** The atoms of the cells that match a pattern, by pattern. */
  readonly cells: { readonly [pattern: string]: ReadonlyArray<string> }
  /** The atoms that an enzyme or a node may declassify, by its name. */
  readonly declassify: { readonly [name: string]: ReadonlyArray<string> }
}

/** The cell with the rules of a space. */
export const ADDRESS = Address.make("/sys/labels")

/** The maximum number of rules of one space. */
export const MAX_RULES = 1000

/** The maximum number of addresses with a cached label. */
const MAX_KNOWN = 10_000

/** The cells in which the runtime records runs of any label, and its indexes. */
const folders = ["/data/mailbox", "/sys/index"]
const tellings = ["/rt/dead", ...folders]

/** The folder of the types of a space, each below the path of its cells. An open segment is `{name}` there. */
export const SCHEMA = "/sys/schema"

/** The cells of the runtime. A rule must name one of them to make it readable. */
const runtime = ["/rt", "/sys", "/net"]

const atom = /^[\w.:-]{1,64}$/

/**
 * The label rules are invalid. `reason` names the first problem.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidLabels extends Data.TaggedError("InvalidLabels")<{ readonly reason: string }> {
  readonly code = "label/invalid"
  override get message() {
    return `The labels cannot be kept: ${this.reason}`
  }
}

/**
 * The run's label exceeds the label of `left`, a result of the run. `label` lists the run's atoms.
 *
 * @category errors
 * @since 0.1.0
 */
export class LabelBelow extends Data.TaggedError("LabelBelow")<{ readonly left: string; readonly label: string }> {
  readonly code = "label/below"
  override get message() {
    return `A run that knows ${this.label} leaves ${this.left}, which is open to readers who may not know that. ` +
      "Give the address these atoms in the configuration's labels, or grant the name to declassify them"
  }
}

/** The write surface of a node: whole documents by their keys beside an output, patterns without one. */
export interface Surface {
  readonly name: string
  readonly output: string | undefined
  readonly writes: ReadonlyArray<string>
}

/** The results of a run. */
export interface RunResults {
  readonly keys: ReadonlyArray<string>
  readonly emissions?: ReadonlyArray<Pick<OutgoingSignal, "space">> | undefined
  readonly bindings?: ReadonlyArray<BindingChange> | undefined
  readonly blobs?: ReadonlyMap<string, unknown> | undefined
  readonly sinks?: ReadonlyArray<Sink> | undefined
}

/**
 * The labels of one space.
 */
export class Labels {
  /** The union of all atoms in the rules. */
  readonly top: Label.Label
  private readonly rules: ReadonlyArray<readonly [Envelope.Envelope, Label.Label]>
  /** The rules that name cells of the runtime. */
  private readonly named: ReadonlyArray<Envelope.Envelope>
  private readonly granted: ReadonlyMap<string, Label.Label>
  private readonly known = new TextCache<Label.Label>(MAX_KNOWN)
  private readonly bounds = new WeakMap<Surface, Label.Label>()
  private readonly levels = new WeakMap<Surface, Label.Label>()
  /** The rules as text: equal rules have equal texts. */
  readonly text: string

  /** @throws InvalidLabels */
  constructor({ cells, declassify }: Rules) {
    this.text = JSON.stringify([cells, declassify])
    const entries = Object.entries(cells)
    if (entries.length > MAX_RULES) throw new InvalidLabels({ reason: `there are ${entries.length} rules, and the limit is ${MAX_RULES}` })
    const rules = entries.map(([pattern, atoms]) => ({ pattern, envelope: cellsOf(pattern), atoms: atomsOf(atoms) }))
    this.rules = rules.map(({ atoms, envelope }) => [envelope, atoms])
    this.named = rules.filter(({ pattern }) => isRuntime(`/${pattern.split("/")[1]}`)).map(({ envelope }) => envelope)
    this.granted = new Map(Object.entries(declassify).map(([name, atoms]) => [name, atomsOf(atoms)]))
    this.top = this.rules.reduce((all, [, label]) => Label.join(all, label), Label.none)
  }

  /** Returns the label of a document. */
  of(address: Address.Address): Label.Label {
    const known = this.known.get(address.key)
    if (known !== undefined) return known
    const label = isTelling(address.id) || address.id === SCHEMA
      ? this.top
      : Label.join(this.joined((envelope) => Envelope.touches(envelope, address)), this.described(address.id))
    this.known.set(address.key, label)
    return label
  }

  /** Tests whether a rule names this cell of the runtime by its first segment; `/**` does not. */
  names(address: Address.Address): boolean {
    return this.named.some((envelope) => Envelope.touches(envelope, address))
  }

  /** Returns the label of the cells that a type describes; no atom for any other cell. */
  private described(id: string): Label.Label {
    if (!id.startsWith(`${SCHEMA}/`)) return Label.none
    const [root = "", ...open] = id.slice(SCHEMA.length).split("/{")
    if (open.length > 0) return this.joined((envelope) => Envelope.mayTouch(envelope, root))
    return this.joined((envelope) => Envelope.touches(envelope, Address.ofKey(root)))
  }

  /** Returns the label of the names directly below a cell: the union of the labels of all possible children. */
  below(address: Address.Address): Label.Label {
    const isParent = (folder: string): boolean => Address.parent(folder) === address.id
    if (Address.isWithin(SCHEMA, address.id) || isTelling(address.id) || folders.some(isParent)) return this.top
    return this.joined((envelope) => Envelope.touchesBelow(envelope, address))
  }

  /** Returns the label of a node's read: of a document, or of the names below a cell. */
  at(address: Address.Address, depth: "deep" | "shallow" | "children"): Label.Label {
    return depth === "children" ? this.below(address) : this.of(address)
  }

  /**
   * Returns the reason why a node may not receive a label, or `undefined` if it may.
   *
   * The write surface of a node is fixed, and so is its maximum label. A node stops before a read above that label, and
   * its output never depends on such a read. No change above the label of its output can therefore run it [S2 §2].
   */
  above(surface: Surface, label: Label.Label): LabelBelow | undefined {
    if (label.length === 0 || isSilent(surface)) return undefined
    if (Label.isWithin(label, this.boundOf(surface))) return undefined
    return new LabelBelow({ left: surface.output ?? surface.writes.join(", "), label: label.join(", ") })
  }

  /** Tests whether other labels follow from the same rules. */
  isSame(other: Labels): boolean {
    return this.text === other.text
  }

  /** Returns the reason why a node may not start another: the existence of the child reveals information of the parent. */
  starting(parent: Surface, child: Surface): LabelBelow | undefined {
    return this.above(child, this.leaving(isSilent(parent) ? this.top : this.boundOf(parent), parent.name))
  }

  /** Returns the part of a label that remains after this name's declassification. */
  leaving(label: Label.Label, name: string): Label.Label {
    const granted = this.granted.get(name)
    return granted === undefined ? label : Label.make(label.filter((atom) => !granted.includes(atom)))
  }

  /** Returns the reason why a run with this label may not leave these results, or `undefined` if it may. */
  refusal(label: Label.Label, { bindings, blobs, emissions = [], keys, sinks = [] }: RunResults): LabelBelow | undefined {
    if (label.length === 0) return undefined
    const below = (left: string) => new LabelBelow({ left, label: label.join(", ") })
    for (const key of [...keys, ...[...blobs?.keys() ?? []].map((hash) => `/cas/${hash}`)]) {
      if (!Label.isWithin(label, this.of(Address.ofKey(key)))) return below(key)
    }
    if (bindings !== undefined && bindings.length > 0) return below(`a binding at ${bindings[0]!.cell}`)
    const sink = sinks.find((sink) => this.isAbove(label, sink))
    if (sink !== undefined) return below(sink.name)
    const abroad = emissions.find(({ space }) => space !== undefined)
    return abroad === undefined ? undefined : below(`a signal to space "${abroad.space}"`)
  }

  private isAbove(label: Label.Label, { cells, clearance }: Sink): boolean {
    return (clearance !== undefined && !Label.isWithin(label, clearance)) || cells.some((cell) => !Label.isWithin(label, this.of(cell)))
  }

  /** Returns the atoms that all of a node's writable cells share, and its granted atoms. */
  private boundOf(surface: Surface): Label.Label {
    const known = this.bounds.get(surface)
    if (known !== undefined) return known
    const bound = Label.join(this.level(surface), this.granted.get(surface.name) ?? Label.none)
    this.bounds.set(surface, bound)
    return bound
  }

  /** Returns the atoms that all outputs of a node share: readers with these may see when it ran. */
  level(surface: Surface): Label.Label {
    const known = this.levels.get(surface)
    if (known !== undefined) return known
    const { output, writes } = surface
    const labels = output === undefined
      ? writes.map((pattern) => this.within(pattern))
      : [output, ...writes].map((key) => this.of(Address.ofKey(key)))
    const [first = Label.none, ...rest] = labels
    const level = rest.reduce((all, label) => Label.make(all.filter((atom) => label.includes(atom))), first)
    this.levels.set(surface, level)
    return level
  }

  /** Returns the atoms that all documents of a pattern share. */
  private within(pattern: string): Label.Label {
    const inner = Envelope.make([pattern], false)
    return this.joined((envelope) => Envelope.holds(envelope, inner))
  }

  private joined(holds: (envelope: Envelope.Envelope) => boolean): Label.Label {
    let label = Label.none
    for (const [envelope, atoms] of this.rules) if (holds(envelope)) label = Label.join(label, atoms)
    return label
  }
}

/** Tests whether a cell belongs to the runtime. */
export const isRuntime = (id: string): boolean => runtime.some((root) => Address.isWithin(root, id))

/** Tests whether a cell is one of those in which the runtime records runs of any label and any scope. */
export const isTelling = (id: string): boolean => tellings.some((root) => Address.isWithin(root, id))

/** Tests whether a node writes no cell, and so may receive any label. */
export const isSilent = ({ output, writes }: Surface): boolean => output === undefined && writes.length === 0

const cellsOf = (pattern: string): Envelope.Envelope => {
  try {
    if (pattern.includes("#")) throw new Error("labels are of whole cells")
    return Envelope.make([pattern], true)
  } catch (error) {
    if (!(error instanceof Pattern.InvalidPattern) && !(error instanceof Address.InvalidAddress) && !(error instanceof Error)) throw error
    throw new InvalidLabels({ reason: `${JSON.stringify(pattern.slice(0, 200))} names no cells: ${error.message}` })
  }
}

const atomsOf = (atoms: ReadonlyArray<string>): Label.Label => {
  const wrong = atoms.find((text) => !atom.test(text))
  if (wrong !== undefined) {
    throw new InvalidLabels({ reason: `${JSON.stringify(wrong.slice(0, 100))} is no atom; it has 1 to 64 letters, digits, or . _ : -` })
  }
  return Label.make(atoms)
}

/** Encodes rules as a document; `undefined` if they are empty. */
export const documentOf = ({ cells, declassify }: Rules): Document | undefined =>
  Object.keys(cells).length === 0 ? undefined : Codec.encode({ cells, declassify })

const made = new WeakMap<Document, Labels>()

/** Decodes the labels from the document of rules; `undefined` if the space has none. */
export const read = (document: Document | undefined): Labels | undefined => {
  if (document === undefined) return undefined
  let labels = made.get(document)
  if (labels === undefined) {
    labels = new Labels(Codec.read(document, []) as unknown as Rules)
    made.set(document, labels)
  }
  return labels
}
