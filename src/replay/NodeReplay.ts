/**
 * The node runs of one replayed beat, in the order in which they ended.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import type { Document } from "../cell/Document.ts"
import * as Codec from "../cell/Document.ts"
import * as Value from "../cell/Value.ts"
import type { DerivedBeat, FactSink } from "../kernel/derived/DerivationPort.ts"
import * as Derivation from "../kernel/derived/DerivationPort.ts"
import type { Handling } from "../kernel/model/InFlight.ts"
import type { NamedNode } from "../kernel/journal/Journal.ts"
import type { NodeLine } from "../kernel/journal/NodeLine.ts"
import * as Pieces from "../kernel/derived/Pieces.ts"
import * as Stuck from "../kernel/watchdog/Stuck.ts"
import { checkAnswer, type Definition, ignore, InvalidNode, NodeTaken, errorOf, TAKEN } from "../scheduler/definition/Definition.ts"
import { frozen } from "../scheduler/run/Runner.ts"
import { UNENDED } from "../scheduler/graph/Node.ts"
import * as Piece from "../scheduler/definition/Piece.ts"
import { MAX_NESTING } from "../scheduler/run/ReadSet.ts"
import type { Standpoint } from "../scheduler/definition/Standpoint.ts"
import type { Pieces as Face } from "../stage/RunGrant.ts"
import { Draft } from "../stage/Draft.ts"
import { WriteSet } from "../stage/write/WriteSet.ts"
import type { Startable } from "../stage/Transaction.ts"
import type { View } from "../stage/BeatClock.ts"
import type { Code } from "./Code.ts"
import { alone, IsolatedRun, type How } from "./IsolatedRun.ts"
import type { CellRecord } from "../kernel/journal/CellLine.ts"
import { documentOf } from "../kernel/journal/JournalRecords.ts"
import { NotReplayable } from "../kernel/history/NotReplayable.ts"
import { RecordedRun } from "./RecordedRun.ts"

/** The derivation of a beat, from its entry. */
export interface RecordedNodes {
  readonly nodes: ReadonlyArray<NodeLine>
  /** The node runs that only one handling, or one run of a node, sees. */
  readonly isolated: ReadonlyArray<NodeLine>
  /** The standpoints that runs adopted, by their lines. */
  readonly recalled: ReadonlyMap<number, Standpoint>
  readonly cells: ReadonlyArray<CellRecord>
  readonly refused: ReadonlyArray<NamedNode>
  readonly restless: ReadonlyArray<NamedNode>
}

/** The nodes of a replay. */
export interface KnownNodes {
  readonly code: Pick<Code, "node">
  /** The definitions of started nodes, in all beats of the replay. */
  readonly children: Map<string, Definition>
}

/** The result of a node for a document, before it joins the stage. */
interface Made {
  readonly document: Document | undefined
  readonly line: number
}

/** A started node, as a line names it. */
type Started = Pick<NodeLine, "name" | "parent" | "made">

/** The details of a failed run. */
interface Failed {
  readonly name: string
  readonly output: string | undefined
  readonly error: NonNullable<NodeLine["error"]>
}

/**
 * One beat's node runs in progress.
 */
export class NodeReplay {
  /** The runs until now, in the order of completion. */
  readonly lines: Array<NodeLine> = []
  /** The transactions of these runs, by their lines. */
  readonly drafts: Array<Draft> = []
  private readonly work: DerivedBeat
  private readonly recorded: RecordedNodes
  private readonly code: Pick<Code, "node">
  /** Failed nodes, reported after all runs are merged. */
  private readonly failed: Array<Failed> = []
  private made = new Map<string, Made>()
  /** Whether the outputs of runs now are for one run alone. */
  private isIsolating = false
  /** The definitions of started nodes; and the destination of the current run's children. */
  private readonly children: Map<string, Definition>
  private started: Map<string, Definition>
  /** Isolated runs in progress, by their parents' names. */
  private readonly isolatedRuns = new Map<string, IsolatedRun>()
  /** The index of the lines that run; and the line of an isolated parent that did not define the child, or -1. */
  private at = 0
  private missed = -1

  constructor(work: DerivedBeat, { children, code }: KnownNodes, recorded: RecordedNodes) {
    this.work = work
    this.children = children
    this.code = code
    this.recorded = recorded
    this.started = children
  }

  /** Runs the lines that precede all handlings. */
  begin(): void {
    this.before({ run: Derivation.FIRST })
    // Failures of these runs are reported by others.
    this.failed.length = 0
  }

  /** Runs the lines that precede a handling. */
  before({ run }: Pick<Handling, "run">): void {
    const { stage } = this.work
    this.runAll(run)
    for (const [key, { document, line }] of this.take()) stage.gate(Address.ofKey(key), document, Derivation.writerOf(this.work, line))
    stage.isolated = this.isolate(run)
  }

  /** Replays the node runs that only one handling, or one run of a node, sees. */
  private isolate(at: number): WriteSet | undefined {
    const lines = this.recorded.isolated.filter((line) => line.at === at)
    if (lines.length === 0) return undefined
    const { drafts, isIsolating, made, started } = this
    const count = drafts.length
    this.started = new Map()
    this.made = new Map(made)
    this.isIsolating = true
    for (const line of lines) {
      const definition = this.definitionOf(line)
      if (definition === undefined) throw this.unregistered(line.name)
      this.run(definition, { isLast: true, isTaken: false })
    }
    drafts.length = count
    const after = this.made
    Object.assign(this, { isIsolating, made, started })
    const own = new WriteSet()
    for (const [key, entry] of after) {
      if (entry !== made.get(key) && entry.document?.text !== this.visible(key)?.text) own.set(key, entry.document)
    }
    return own
  }

  /** Runs the lines of the pass and stages their results. */
  settle(facts: FactSink): void {
    const { recorded: { refused: refusals, restless }, work } = this
    for (const refused of refusals) facts.diagnose(Derivation.refusal(refused))
    for (let round = 0; round < Derivation.MAX_ROUNDS; round++) {
      this.runAll(Derivation.PASS - round)
      for (const [key, { document, line }] of this.take()) work.stage.put(Address.ofKey(key), document, Derivation.writerOf(work, line))
      for (const { error, name, output } of this.failed.splice(0)) facts.diagnose(Derivation.failure(name, output, error))
      if (round === 0 && restless.length > 0) facts.diagnose(Derivation.restlessness(restless))
    }
  }

  /** Runs the lines of one index. */
  private runAll(at: number): void {
    this.at = at
    for (let line = this.next; line !== undefined; line = this.next) {
      const before = this.lines.length
      const definition = this.definitionOf(line)
      // An isolated run that defines a node may have run it, too.
      if (this.lines.length === before) this.runLine(line, definition)
    }
  }

  /**
   * Before an isolated run reads, runs the known nodes that had ended until then. So a parent sees its children's
   * results, and one isolated run defines all of them.
   */
  private catchUp(isolated: IsolatedRun): void {
    for (let line = this.next; line !== undefined && !isolated.isStale && !this.isolatedRuns.has(line.name); line = this.next) {
      const before = this.lines.length
      if (before === this.missed) return
      const definition = this.definitionOf(line)
      if (this.lines.length > before) continue
      if (definition === undefined) return
      this.runLine(line, definition)
    }
  }

  private get next(): NodeLine | undefined {
    const next = this.recorded.nodes[this.lines.length]
    return next?.at === this.at ? next : undefined
  }

  private runLine(line: NodeLine, definition: Definition | undefined): void {
    const { started } = this
    const isTaken = line.error?.code === TAKEN
    // A refused start must not replace the definition of the node that has the name.
    this.started = isTaken ? new Map() : this.children
    const isRefused = Stuck.isRefused(line.error?.tag, line.error?.code)
    const own = this.isolate(Derivation.isolatedOf(this.lines.length))
    const how = { isLast: Derivation.wasLast(line.error?.tag), isTaken, own }
    const error = definition === undefined
      ? this.adopt(line)
      : this.run(isRefused ? { ...definition, run: Stuck.refuse } : definition, how)
    this.started = started
    const ended = { ...line, recalled: this.recorded.recalled.get(this.lines.length), error }
    this.lines.push(ended)
    if (error !== undefined && Derivation.isTold(ended)) this.failed.push({ name: line.name, output: definition?.output, error })
  }

  private unregistered(name: string): NotReplayable {
    const reason = `node "${name}" ran in it and is not registered. Bring back its code`
    return new NotReplayable({ beat: this.work.moment.beat, code: "replay/code", reason })
  }

  /** Adopts a run that does not have to be repeated: its results are in the entry. */
  private adopt({ error, made, name }: NodeLine): NodeLine["error"] {
    if (made === undefined || made === UNENDED) throw this.unregistered(name)
    const writer = Derivation.writerOf(this.work, this.lines.length)
    for (const { after, key, writers } of this.recorded.cells) if (writers.includes(writer)) this.put(key, documentOf(after))
    return error
  }

  private run(definition: Definition, { isLast, isTaken, own }: How): NodeLine["error"] {
    const draft = this.draft(definition, Derivation.writerOf(this.work, this.lines.length), own)
    this.drafts.push(draft)
    let error: unknown
    let isFrozen = false
    try {
      const { run } = definition
      const tx = new RecordedRun(draft, { standpoint: this.recorded.recalled.get(this.lines.length) })
      let returned: Value.Value
      try {
        returned = run(tx) as Value.Value
        ignore(returned)
      } finally {
        isFrozen = Object.isFrozen(tx)
      }
      const value = checkAnswer(definition, returned)
      if (isFrozen) throw frozen()
      if (draft.refusal !== undefined) throw draft.refusal
      if (isTaken) throw new NodeTaken({ name: definition.name, reason: "it started a node whose name or output another node had then" })
      if (definition.output !== undefined) this.put(definition.output, value === undefined ? undefined : Codec.encode(value))
      const { own } = draft
      own?.keys.forEach((key, i) => this.put(key, own.documents[i]))
    } catch (thrown) {
      error = isFrozen ? frozen() : draft.refusal ?? errorOf(thrown)
    }
    const isConcealed = error !== undefined && this.work.labels !== undefined
    if (isConcealed && definition.output !== undefined) this.put(definition.output, undefined)
    return error === undefined ? undefined : Derivation.errorOf(error, isLast)
  }

  private draft(definition: Definition, run: number, own?: WriteSet): Draft {
    const { labels, moment } = this.work
    const pieces: Face<Draft> = { start: (_, node, inputs) => this.start(definition, node, inputs), stop: () => {} }
    const view = own === undefined ? this.view : alone(this.view, own)
    return new Draft(view, moment, { run, envelope: definition.envelope, serializable: false, pieces, labels, surface: definition })
  }

  /** Registers a child by its name, for its own runs. */
  private start(parent: Definition, node: Startable | string, inputs: unknown): string {
    const definition = typeof node === "string" ? this.piece(node, inputs) : node as Definition
    const above = this.work.labels?.starting(parent, definition)
    if (above !== undefined) throw above
    this.started.set(definition.name, definition)
    return definition.name
  }

  private piece(name: string, inputs: unknown): Definition {
    const module = this.code.node(name)
    if (module?.piece === undefined) {
      throw new InvalidNode({ name, reason: "no node module of this name is registered that declares inputs" })
    }
    return Piece.make(module, inputs, this.work.moment.hash)
  }

  private put(key: string, document: Document | undefined): void {
    if (Value.equals(Codec.read(this.visible(key), []), Codec.read(document, []))) return
    this.made.set(key, { document, line: this.lines.length })
    if (!this.isIsolating) for (const isolated of this.isolatedRuns.values()) isolated.changed(key)
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
    const { stage } = this.work
    const staged = stage.documents.get(key)
    return staged === undefined ? stage.committed.read(key) : staged.after
  }

  private get view(): View {
    const { stage } = this.work
    const { committed } = stage
    return {
      committed: {
        read: (key) => committed.read(key),
        children: (scope, id) => committed.children(scope, id),
        blob: (hash) => stage.blob(hash)
      },
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
    if (started === undefined || module === undefined) return undefined
    return Pieces.nodeOf(name, started, { module, hash: this.work.moment.hash })
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
