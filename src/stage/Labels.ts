/**
 * Labels of a space: which atoms the addresses of its cells have, and what may
 * leave a run that knows more.
 *
 * An address has the label that the rules give it, whatever it holds, so that a
 * label tells nothing by itself. A run's label is all that it was told by: its
 * event, what it read, what it wrote upon, and what made it run. What it leaves
 * behind has to be at addresses that have all of it; a name that the rules grant
 * atoms may leave those out. (Architecture, section 10; seed 002, D9.)
 *
 * @module
 */
import * as Schema from "effect/Schema"
import * as Address from "../cell/Address.ts"
import type { Document } from "../cell/Document.ts"
import * as Codec from "../cell/Document.ts"
import * as Label from "../cell/Label.ts"
import * as Pattern from "../cell/Pattern.ts"
import type { BindingChange, Emission } from "./Launch.ts"
import * as Envelope from "./Envelope.ts"

/** What a project says of confidentiality. */
export interface Rules {
  /** The atoms of the cells that match a pattern, by the pattern. */
  readonly cells: { readonly [pattern: string]: ReadonlyArray<string> }
  /** The atoms that an enzyme or a node may take away from what it leaves, by its name. */
  readonly declassify: { readonly [name: string]: ReadonlyArray<string> }
}

/** The cell that holds the rules by which a space's beats run. */
export const ADDRESS = Address.make("/sys/labels")

/** Most rules of one space. */
export const MAX_RULES = 1000

/** Most addresses whose labels are remembered. */
const MAX_KNOWN = 10_000

/** What the runtime itself says of runs, whatever they knew, and how it finds again what it keeps of them. */
const folders = ["/data/mailbox", "/sys/index"]
const tellings = ["/rt/dead", ...folders]

/** The cells that belong to the runtime: readers see those that a rule names. */
const runtime = ["/rt", "/sys", "/net"]

const atom = /^[\w.:-]{1,64}$/

/**
 * Rules that cannot be kept.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidLabels extends Schema.TaggedError<InvalidLabels>()("InvalidLabels", { reason: Schema.String }) {
  readonly code = "label/invalid"
  override get message() {
    return `The labels cannot be kept: ${this.reason}`
  }
}

/**
 * A run was told more than those may know who see what it leaves.
 *
 * @category errors
 * @since 0.1.0
 */
export class LabelBelow extends Schema.TaggedError<LabelBelow>()("LabelBelow", { left: Schema.String, label: Schema.String }) {
  readonly code = "label/below"
  override get message() {
    return `A run that knows ${this.label} leaves ${this.left}, which is open to readers who may not know that. Give the address these atoms in the configuration's labels, or grant the name to declassify them`
  }
}

/** All that a node ever writes: whole documents by their keys beside an output, patterns where there is none. */
export interface Surface {
  readonly name: string
  readonly output: string | undefined
  readonly writes: ReadonlyArray<string>
}

/** What a run leaves behind. */
export interface Left {
  readonly keys: ReadonlyArray<string>
  readonly emissions?: ReadonlyArray<Pick<Emission, "space">> | undefined
  readonly bindings?: ReadonlyArray<BindingChange> | undefined
  readonly blobs?: ReadonlyMap<string, unknown> | undefined
}

/**
 * The labels of one space.
 *
 * @category models
 * @since 0.1.0
 */
export class Labels {
  /** All atoms of the rules together. */
  readonly top: Label.Label
  private readonly rules: ReadonlyArray<readonly [Envelope.Envelope, Label.Label]>
  /** The rules that name cells of the runtime. */
  private readonly named: ReadonlyArray<Envelope.Envelope>
  private readonly granted: ReadonlyMap<string, Label.Label>
  private readonly known = new Map<string, Label.Label>()
  private readonly bounds = new WeakMap<Surface, Label.Label>()

  /** @throws InvalidLabels */
  constructor({ cells, declassify }: Rules) {
    const patterns = Object.keys(cells)
    if (patterns.length > MAX_RULES) throw new InvalidLabels({ reason: `there are ${patterns.length} rules, and the limit is ${MAX_RULES}` })
    this.rules = patterns.map((pattern) => [cellsOf(pattern), atomsOf(cells[pattern]!)])
    this.named = this.rules.flatMap(([envelope], i) => isRuntime(`/${patterns[i]!.split("/")[1]}`) ? [envelope] : [])
    this.granted = new Map(Object.entries(declassify).map(([name, atoms]) => [name, atomsOf(atoms)]))
    this.top = this.rules.reduce((all, [, label]) => Label.join(all, label), Label.none)
  }

  /** The label of a document. */
  of(address: Address.Address): Label.Label {
    const known = this.known.get(address.key)
    if (known !== undefined) return known
    const label = this.isTelling(address.id) ? this.top : this.joined((envelope) => Envelope.touches(envelope, address))
    if (this.known.size >= MAX_KNOWN) this.known.clear()
    this.known.set(address.key, label)
    return label
  }

  /** Whether a rule that names cells of the runtime by their first name holds for this one: `/**` does not name them. */
  names(address: Address.Address): boolean {
    return this.named.some((envelope) => Envelope.touches(envelope, address))
  }

  /** The label of the names directly below a cell: of all that may lie there. */
  below(address: Address.Address): Label.Label {
    if (this.isTelling(address.id) || folders.some((folder) => Address.parent(folder) === address.id)) return this.top
    return this.joined((envelope) => Envelope.touchesBelow(envelope, address))
  }

  /** The label of what a node reads: of a document, or of the names below a cell. */
  at(address: Address.Address, depth: "deep" | "shallow" | "children"): Label.Label {
    return depth === "children" ? this.below(address) : this.of(address)
  }

  /**
   * Why a node may not know of something; `undefined` where it may.
   *
   * What it writes is fixed, and so is what it may know: it stops where it would
   * learn more, and never depends on that. So no change runs it that those may
   * not know of who see what it derives. (Seed 002, D9 and P4.)
   */
  above(surface: Surface, label: Label.Label): LabelBelow | undefined {
    if (label.length === 0 || isSilent(surface)) return undefined
    return Label.isWithin(label, this.boundOf(surface)) ? undefined : new LabelBelow({ left: surface.output ?? surface.writes.join(", "), label: label.join(", ") })
  }

  /** Why a node may not start another: whether that is there tells what the first may know. */
  starting(parent: Surface, child: Surface): LabelBelow | undefined {
    return this.above(child, this.leaving(isSilent(parent) ? this.top : this.boundOf(parent), parent.name))
  }

  /** What is left of a label where this name leaves something. */
  leaving(label: Label.Label, name: string): Label.Label {
    const granted = this.granted.get(name)
    return granted === undefined ? label : Label.make(label.filter((atom) => !granted.includes(atom)))
  }

  /** Why something may not be left by a run with this label. */
  refusal(label: Label.Label, { bindings, blobs, emissions = [], keys }: Left): LabelBelow | undefined {
    if (label.length === 0) return undefined
    const below = (left: string) => new LabelBelow({ left, label: label.join(", ") })
    for (const key of [...keys, ...[...blobs?.keys() ?? []].map((hash) => `/cas/${hash}`)]) {
      if (!Label.isWithin(label, this.of(Address.ofKey(key)))) return below(key)
    }
    if (bindings !== undefined && bindings.length > 0) return below(`a binding at ${bindings[0]!.cell}`)
    const abroad = emissions.find(({ space }) => space !== undefined)
    return abroad === undefined ? undefined : below(`a signal to space "${abroad.space}"`)
  }

  /** The atoms that all have that a node may write, and those that it is granted. */
  private boundOf(surface: Surface): Label.Label {
    const known = this.bounds.get(surface)
    if (known !== undefined) return known
    const { name, output, writes } = surface
    const [first = Label.none, ...rest] = output === undefined ? writes.map((pattern) => this.within(pattern)) : [output, ...writes].map((key) => this.of(Address.ofKey(key)))
    const common = rest.reduce((all, label) => Label.make(all.filter((atom) => label.includes(atom))), first)
    const bound = Label.join(common, this.granted.get(name) ?? Label.none)
    this.bounds.set(surface, bound)
    return bound
  }

  /** The atoms that all documents have which a pattern names. */
  private within(pattern: string): Label.Label {
    const inner = Envelope.make([pattern], false)
    return this.joined((envelope) => Envelope.holds(envelope, inner))
  }

  private isTelling(id: string): boolean {
    return tellings.some((root) => Address.isWithin(root, id))
  }

  private joined(holds: (envelope: Envelope.Envelope) => boolean): Label.Label {
    let label = Label.none
    for (const [envelope, atoms] of this.rules) if (holds(envelope)) label = Label.join(label, atoms)
    return label
  }
}

/** Whether a cell belongs to the runtime. */
export const isRuntime = (id: string): boolean => runtime.some((root) => Address.isWithin(root, id))

/** Whether a node writes nothing, and so may know anything. */
const isSilent = ({ output, writes }: Surface): boolean => output === undefined && writes.length === 0

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
  if (wrong !== undefined) throw new InvalidLabels({ reason: `${JSON.stringify(wrong.slice(0, 100))} is no atom; it has 1 to 64 letters, digits, or . _ : -` })
  return Label.make(atoms)
}

/** The document of rules, or none where they say nothing. */
export const documentOf = ({ cells, declassify }: Rules): Document | undefined =>
  Object.keys(cells).length === 0 ? undefined : Codec.encode({ cells, declassify })

const made = new WeakMap<Document, Labels>()

/** The labels by the rules that a document holds; `undefined` where a space has none. */
export const read = (document: Document | undefined): Labels | undefined => {
  if (document === undefined) return undefined
  let labels = made.get(document)
  if (labels === undefined) {
    labels = new Labels(Codec.read(document, []) as unknown as Rules)
    made.set(document, labels)
  }
  return labels
}
