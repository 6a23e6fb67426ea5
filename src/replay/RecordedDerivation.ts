/**
 * The derivation of a replay: it runs the nodes that the journal lists, in the order in which their runs ended.
 *
 * The list of nodes is taken from the journal. Their reads and results are computed again, and must be equal.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import type { Document } from "../cell/Document.ts"
import * as Codec from "../cell/Document.ts"
import * as Value from "../cell/Value.ts"
import type { Delivery, DerivationPort, DerivedBeat } from "../kernel/derived/DerivationPort.ts"
import * as Derivation from "../kernel/derived/DerivationPort.ts"
import type { Handling } from "../kernel/model/Flight.ts"
import type { CellLine, Parsed, NamedNode } from "../kernel/model/Journal.ts"
import type { NodeLine, NodeRunLine } from "../kernel/model/NodeLine.ts"
import * as Pieces from "../kernel/derived/Pieces.ts"
import * as Stuck from "../kernel/watchdog/Stuck.ts"
import { answered, type Definition, ignore, InvalidNode, NodeTaken, raised, TAKEN } from "../scheduler/Definition.ts"
import { frozen } from "../scheduler/NodeTransaction.ts"
import { UNENDED } from "../scheduler/Node.ts"
import * as Piece from "../scheduler/Piece.ts"
import { MAX_NESTING } from "../scheduler/ReadSet.ts"
import type { Standpoint } from "../scheduler/Standpoint.ts"
import type { Pieces as Face } from "../stage/RunGrant.ts"
import { Draft } from "../stage/Draft.ts"
import { WriteSet } from "../stage/WriteSet.ts"
import type { Startable } from "../stage/Transaction.ts"
import type { View } from "../stage/BeatClock.ts"
import { alone, IsolatedRun, type How } from "./IsolatedRun.ts"
import type { Code } from "./Code.ts"
import { NotReplayable } from "./NotReplayable.ts"
import { RecordedLineage } from "./RecordedLineage.ts"
import { RecordedRun } from "./RecordedRun.ts"

/** The result of a node for a document, before it joins the stage. */
interface Made {
  readonly document: Document | undefined
  readonly line: number
}

/** A started node, as a line names it. */
export type Started = Pick<NodeLine, "name" | "parent" | "made">

/** The details of a failed run. */
interface Failed {
  readonly name: string
  readonly output: string | undefined
  readonly error: NonNullable<NodeLine["error"]>
}

/**
 * Runs the nodes that an entry lists.
 *
 * @category models
 * @since 0.1.0
 */
export class RecordedDerivation implements DerivationPort {
  private readonly code: Pick<Code, "node">
  private recorded: ReadonlyArray<NodeRunLine> = []
  private cells: ReadonlyArray<CellLine> = []
  private recalled: ReadonlyMap<number, Standpoint> = new Map()
  /** Failed nodes, reported after all runs are merged. */
  private readonly failed: Array<Failed> = []
  restless: ReadonlyArray<NamedNode> = []
  refused: ReadonlyArray<NamedNode> = []
  private work: DerivedBeat | undefined
  private made = new Map<string, Made>()
  /** Whether the outputs of runs now are for one run alone. */
  private isSecluding = false
  /** The definitions of started nodes; and the destination of the current run's children. */
  private readonly children = new Map<string, Definition>()
  private started = this.children
  /** Isolated runs in progress, by their parents' names. */
  private readonly isolatedRuns = new Map<string, IsolatedRun>()
  /** The index of the lines that run; and the line of an isolated parent that did not define the child, or -1. */
  private at = 0
  private missed = -1
  lines: Array<NodeLine> = []
  secluded: ReadonlyArray<NodeLine> = []
  private lineage: RecordedLineage | undefined

  constructor(code: Pick<Code, "node">) {
    this.code = code
  }

  /** Loads the entry of the next beat. */
  load(entry: Parsed): void {
    const { aside = [], cells, nodes = [], refused = [], restless = [] } = entry
    this.secluded = aside.map(lineOf)
    this.lineage = new RecordedLineage(entry)
    this.recorded = nodes
    this.recalled = new Map(entry.recalled)
    this.cells = cells
    this.refused = refused
    this.restless = restless
  }

  /**
   * Returns nodes of an entry that started before the replay began, by the beat of their start. Only nodes that their
   * parents would not start again are included.
   */
  unknown({ beat, nodes = [] }: Parsed, names?: ReadonlySet<string>): ReadonlyMap<number, ReadonlyArray<Started>> {
    const started = nodes.map(lineOf).filter(({ made = UNENDED, name }) => made !== UNENDED && made < beat && !this.children.has(name) && names?.has(name) !== false)
    return Map.groupBy(started, ({ made }) => made!)
  }

  /** Takes over the children that an isolated beat defined. Returns the first node that none of its runs started. */
  learn(earlier: RecordedDerivation, nodes: ReadonlyArray<Started>): Started | undefined {
    for (const { name } of nodes) {
      const definition = earlier.children.get(name)
      if (definition !== undefined) this.children.set(name, definition)
    }
    return nodes.find(({ name }) => !this.children.has(name))
  }

  module(name: string): Definition | undefined {
    return this.code.node(name)
  }

  begin(work: DerivedBeat): void {
    this.work = work
    this.lines = []
    this.missed = -1
    this.made.clear()
    this.failed.length = 0
    work.stage.lineage = this.lineage
    this.before({ run: Derivation.FIRST })
    // Failures of these runs are reported by others.
    this.failed.length = 0
  }

  before({ run }: Pick<Handling, "run">): void {
    const { stage } = this.work!
    this.runAll(run)
    for (const [key, { document, line }] of this.take()) stage.gate(Address.ofKey(key), document, Derivation.writerOf(this.work!, line))
    stage.aside = this.seclude(run)
  }

  /** Replays the node runs that only one handling, or one run of a node, sees. */
  private seclude(at: number): WriteSet | undefined {
    const lines = this.secluded.filter((line) => line.at === at)
    if (lines.length === 0) return undefined
    const { moment: { beat }, nodeDrafts } = this.work!
    const [drafts, { isSecluding, made, started }] = [nodeDrafts.length, this]
    this.started = new Map()
    this.made = new Map(made)
    this.isSecluding = true
    for (const line of lines) {
      const definition = this.definitionOf(line)
      if (definition === undefined) throw new NotReplayable({ beat, code: "replay/code", reason: `node "${line.name}" ran in it and is not registered. Bring back its code` })
      this.run(definition, { isLast: true, isTaken: false })
    }
    nodeDrafts.length = drafts
    const after = this.made
    Object.assign(this, { isSecluding, made, started })
    const own = new WriteSet()
    for (const [key, entry] of after) {
      if (entry !== made.get(key) && entry.document?.text !== this.visible(key)?.text) own.set(key, entry.document)
    }
    return own
  }

  parked(): undefined {
    return undefined
  }

  settle(work: DerivedBeat): void {
    for (const refused of this.refused) work.diagnose(Derivation.refusal(refused))
    for (let round = 0; round < Derivation.MAX_ROUNDS; round++) {
      this.runAll(Derivation.PASS - round)
      for (const [key, { document, line }] of this.take()) work.stage.put(Address.ofKey(key), document, Derivation.writerOf(work, line))
      for (const { error, name, output } of this.failed.splice(0)) work.diagnose(Derivation.failure(name, output, error))
      if (round === 0 && this.restless.length > 0) work.diagnose(Derivation.restlessness(this.restless))
    }
  }

  observations(): [] {
    return []
  }

  committed(): ReadonlyArray<Delivery> {
    return []
  }

  abort(): void {
    this.work = undefined
  }

  /** Runs the lines of one index. */
  private runAll(at: number): void {
    this.at = at
    for (let next = this.next; next !== undefined; next = this.next) {
      const line = lineOf(next)
      const before = this.lines.length
      const definition = this.definitionOf(line)
      // An isolated run that defines a node may have run it, too.
      if (this.lines.length === before) this.runLine(next, line, definition)
    }
  }

  /**
   * Before an isolated run reads, runs the known nodes that had ended until then. So a parent sees its children's
   * results, and one isolated run defines all of them.
   */
  private catchUp(isolated: IsolatedRun): void {
    for (let next = this.next; next !== undefined && !isolated.isStale && !this.isolatedRuns.has(next[0]); next = this.next) {
      const before = this.lines.length
      if (before === this.missed) return
      const line = lineOf(next)
      const definition = this.definitionOf(line)
      if (this.lines.length > before) continue
      if (definition === undefined) return
      this.runLine(next, line, definition)
    }
  }

  private get next(): NodeRunLine | undefined {
    const next = this.recorded[this.lines.length]
    return next?.[1] === this.at ? next : undefined
  }

  private runLine(next: NodeRunLine, line: NodeLine, definition: Definition | undefined): void {
    const { started } = this
    const isTaken = next[4] === TAKEN
    // A refused start must not replace the definition of the node that has the name.
    this.started = isTaken ? new Map() : this.children
    const isRefused = Stuck.isRefused(next[3], next[4])
    const own = this.seclude(Derivation.asideOf(this.lines.length))
    const how = { isLast: Derivation.wasLast(next[3]), isTaken, own }
    const error = definition === undefined ? this.adopt(line) : this.run(isRefused ? { ...definition, run: Stuck.refuse } : definition, how)
    this.started = started
    const ended = { ...line, recalled: this.recalled.get(this.lines.length), error }
    this.lines.push(ended)
    if (Derivation.isTold(ended)) this.failed.push({ name: line.name, output: definition?.output, error: error! })
  }

  /** Adopts a run that does not have to be repeated: its results are in the entry. */
  private adopt({ error, made, name }: NodeLine): NodeLine["error"] {
    if (made === undefined || made === UNENDED) throw new NotReplayable({ beat: this.work!.moment.beat, code: "replay/code", reason: `node "${name}" ran in it and is not registered. Bring back its code` })
    const writer = Derivation.writerOf(this.work!, this.lines.length)
    for (const [key, writers, , [after]] of this.cells) {
      if ([writers].flat().includes(writer)) this.put(key, after === undefined ? undefined : Codec.decode(JSON.stringify(after)))
    }
    return error
  }

  private run(definition: Definition, { isLast, isTaken, own }: How): NodeLine["error"] {
    const draft = this.draft(definition, Derivation.writerOf(this.work!, this.lines.length), own)
    this.work!.nodeDrafts.push(draft)
    let error: unknown
    let isFrozen = false
    try {
      const { run } = definition
      const tx = new RecordedRun(draft, { standpoint: this.recalled.get(this.lines.length) })
      let returned: Value.Value
      try {
        returned = run(tx) as Value.Value
        ignore(returned)
      } finally {
        isFrozen = Object.isFrozen(tx)
      }
      const value = answered(definition, returned)
      if (isFrozen) throw frozen()
      if (draft.refusal !== undefined) throw draft.refusal
      if (isTaken) throw new NodeTaken({ name: definition.name, reason: "it started a node whose name or output another node had then" })
      if (definition.output !== undefined) this.put(definition.output, value === undefined ? undefined : Codec.encode(value))
      const { own } = draft
      own?.keys.forEach((key, i) => this.put(key, own.documents[i]))
    } catch (thrown) {
      error = isFrozen ? frozen() : draft.refusal ?? raised(thrown)
    }
    if (error !== undefined && this.work!.labels !== undefined && definition.output !== undefined) this.put(definition.output, undefined)
    return error === undefined ? undefined : Derivation.errorOf(error, isLast)
  }

  private draft(definition: Definition, run: number, own?: WriteSet): Draft {
    const { labels, moment } = this.work!
    const pieces: Face<Draft> = { start: (_, node, inputs) => this.start(definition, node, inputs), stop: () => {} }
    const view = own === undefined ? this.view : alone(this.view, own)
    return new Draft(view, moment, { run, envelope: definition.envelope, serializable: false, pieces, labels, surface: definition })
  }

  /** Registers a child by its name, for its own runs. */
  private start(parent: Definition, node: Startable | string, inputs: unknown): string {
    const definition = typeof node === "string" ? this.piece(node, inputs) : node as Definition
    const above = this.work!.labels?.starting(parent, definition)
    if (above !== undefined) throw above
    this.started.set(definition.name, definition)
    return definition.name
  }

  private piece(name: string, inputs: unknown): Definition {
    const module = this.code.node(name)
    if (module?.piece === undefined) throw new InvalidNode({ name, reason: "no node module of this name is registered that declares inputs" })
    return Piece.make(module, inputs, this.work!.moment.hash)
  }

  private put(key: string, document: Document | undefined): void {
    if (Value.equals(Codec.read(this.visible(key), []), Codec.read(document, []))) return
    this.made.set(key, { document, line: this.lines.length })
    if (!this.isSecluding) for (const isolated of this.isolatedRuns.values()) isolated.changed(key)
  }

  /** Returns the results since the last call that differ from the current documents. */
  private take(): ReadonlyArray<readonly [key: string, made: Made]> {
    const made = [...this.made]
    this.made.clear()
    return made.filter(([key, { document }]) => document?.text !== this.visible(key)?.text)
  }

  private visible(key: string): Document | undefined {
    const made = this.made.get(key)
    if (made !== undefined) return made.document
    const { stage } = this.work!
    const staged = stage.documents.get(key)
    return staged === undefined ? stage.committed.read(key) : staged.after
  }

  private get view(): View {
    const { stage } = this.work!
    const { committed } = stage
    return {
      committed: { read: (key) => committed.read(key), children: (scope, id) => committed.children(scope, id), blob: (hash) => stage.blob(hash) },
      visible: (key) => this.visible(key),
      children: (scope, id) => {
        const names = new Set(stage.merged(scope, id))
        for (const [key, { document }] of this.made) {
          const address = Address.ofKey(key)
          if (address.scope !== scope || Address.parent(address.id) !== id) continue
          if (document === undefined) names.delete(Address.name(address.id))
          else names.add(Address.name(address.id))
        }
        return [...names].sort()
      }
    }
  }

  /** Returns a piece from its cell, while that exists. */
  private pieceOf(name: string): Definition | undefined {
    const started = Pieces.fromCell(Pieces.keyOf(name), this.visible(Pieces.keyOf(name)))?.started
    const module = this.code.node(Piece.moduleOf(name))
    return started === undefined || module === undefined ? undefined : Pieces.nodeOf(name, started, { module, hash: this.work!.moment.hash })
  }

  /**
   * Returns a module's node, or one that another node started. Its parent then runs isolated, if another run would
   * start the same child, or is in progress.
   */
  private definitionOf({ made, name, parent }: Started, isUnderWay = made === UNENDED): Definition | undefined {
    if (parent === undefined) return Piece.isPiece(name) ? this.pieceOf(name) : this.code.node(name)
    const known = this.children.get(name)
    if (made !== UNENDED && (known !== undefined || made !== undefined)) return known
    const slash = parent.lastIndexOf("/")
    const creatorName = parent.slice(slash + 1)
    const isolated = this.isolatedRuns.get(creatorName)
    if (isolated !== undefined) return isolated.isStale ? undefined : isolated.started.get(name)
    if (this.isolatedRuns.size >= MAX_NESTING) return undefined
    const above = slash < 0 ? undefined : parent.slice(0, slash)
    const isStarting = above !== undefined && this.isolatedRuns.has(above.slice(above.lastIndexOf("/") + 1))
    const before = this.lines.length
    const creator = this.definitionOf({ name: creatorName, parent: above, made: isStarting ? UNENDED : undefined }, isUnderWay)
    if (creator === undefined || this.lines.length > before) return undefined
    const started = this.runIsolated(creator, isUnderWay)
    // Children of the run in progress are valid from its end on.
    if (made === undefined) for (const [name, definition] of started) this.children.set(name, definition)
    const definition = started.get(name)
    if (definition === undefined && this.lines.length === before) this.missed = before
    return definition
  }

  /** Returns the children that a run of a node would start now; for a run in progress, its children's lines run with it. */
  private runIsolated(creator: Definition, isUnderWay: boolean): ReadonlyMap<string, Definition> {
    const before = this.started
    const draft = this.draft(creator, 0)
    const isolated = new IsolatedRun(draft)
    this.started = isolated.started
    this.isolatedRuns.set(creator.name, isolated)
    try {
      const { run } = creator
      run(new RecordedRun(draft, { beforeRead: isUnderWay ? () => this.catchUp(isolated) : undefined }))
    } catch {
      // Children started before the failure are known all the same.
    }
    this.isolatedRuns.delete(creator.name)
    this.started = before
    return isolated.started
  }
}

/** Decodes a recorded line, as far as possible before its run. */
const lineOf = ([name, at, above = 0, tag, code]: NodeRunLine): NodeLine => {
  const [parent, made] = typeof above === "object" ? above : [above === 0 ? undefined : above, undefined]
  return { name, at, parent, made, error: tag === undefined ? undefined : { tag, code: code!, message: "" } }
}
