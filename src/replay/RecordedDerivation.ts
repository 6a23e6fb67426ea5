/**
 * The derivation of a replay: it runs the nodes that the journal lists, in the order in which their runs ended.
 *
 * The list of nodes is taken from the journal. Their reads and results are computed again, and must be equal.
 *
 * @module
 */
import type { Delivery, DerivationPort, DerivedBeat, FactSink } from "../kernel/derived/DerivationPort.ts"
import type { Handling } from "../kernel/model/InFlight.ts"
import type { NamedNode, Entry } from "../kernel/journal/Journal.ts"
import type { NodeLine } from "../kernel/journal/NodeLine.ts"
import type { Definition } from "../scheduler/definition/Definition.ts"
import { UNENDED } from "../scheduler/graph/Node.ts"
import type { Draft } from "../stage/Draft.ts"
import type { Code } from "./Code.ts"
import { cellsOf, nodesOf } from "../kernel/journal/JournalRecords.ts"
import { NodeReplay, type RecordedNodes } from "./NodeReplay.ts"
import { RecordedLineage } from "./RecordedLineage.ts"

/** A node that another node started in an earlier beat. */
export interface StartedNode {
  readonly name: string
  /** The nodes that started it, outermost first, with `/` between. */
  readonly parent: string
}

/**
 * Runs the nodes that an entry lists.
 */
export class RecordedDerivation implements DerivationPort {
  readonly hasNodes = true
  private readonly code: Pick<Code, "node">
  private readonly children = new Map<string, Definition>()
  private recorded: RecordedNodes = unloaded
  private lineage: RecordedLineage | undefined
  /** The newest beat, until it is aborted. */
  private beat: NodeReplay | undefined

  constructor(code: Pick<Code, "node">) {
    this.code = code
  }

  get lines(): ReadonlyArray<NodeLine> {
    return this.beat?.lines ?? []
  }

  get isolated(): ReadonlyArray<NodeLine> {
    return this.recorded.isolated
  }

  get refused(): ReadonlyArray<NamedNode> {
    return this.recorded.refused
  }

  get restless(): ReadonlyArray<NamedNode> {
    return this.recorded.restless
  }

  /** Loads the entry of the next beat. */
  load(entry: Entry): void {
    const { refused = [], restless = [] } = entry
    const [nodes, isolated] = [nodesOf(entry.nodes), nodesOf(entry.aside)]
    this.lineage = new RecordedLineage(entry)
    this.recorded = { nodes, isolated, recalled: new Map(entry.recalled), cells: cellsOf(entry), refused, restless }
  }

  /**
   * Returns nodes of an entry that started before the replay began, by the beat of their start. Only nodes that their
   * parents would not start again are included.
   */
  unknown({ beat, nodes }: Entry, names?: ReadonlySet<string>): ReadonlyMap<number, ReadonlyArray<StartedNode>> {
    const started = nodesOf(nodes).flatMap(({ made = UNENDED, name, parent }) => {
      const isEarlier = made !== UNENDED && made < beat && !this.children.has(name) && names?.has(name) !== false
      return isEarlier && parent !== undefined ? [{ name, parent, made }] : []
    })
    return Map.groupBy(started, ({ made }) => made)
  }

  /** Takes over the children that an isolated beat defined. Returns the first node that none of its runs started. */
  learn(earlier: RecordedDerivation, nodes: ReadonlyArray<StartedNode>): StartedNode | undefined {
    for (const { name } of nodes) {
      const definition = earlier.children.get(name)
      if (definition !== undefined) this.children.set(name, definition)
    }
    return nodes.find(({ name }) => !this.children.has(name))
  }

  /** The transactions of the nodes that ran in the newest beat, by their lines. */
  get nodeDrafts(): ReadonlyArray<Draft> {
    return this.beat?.drafts ?? []
  }

  module(name: string): Definition | undefined {
    return this.code.node(name)
  }

  begin(work: DerivedBeat): void {
    this.beat = new NodeReplay(work, { children: this.children, code: this.code }, this.recorded)
    work.stage.lineage = this.lineage
    this.beat.begin()
  }

  before(handling: Pick<Handling, "run">): void {
    this.beat?.before(handling)
  }

  parked(): undefined {
    return undefined
  }

  settle(_: DerivedBeat, facts: FactSink): void {
    this.beat?.settle(facts)
  }

  observations(): [] {
    return []
  }

  committed(): ReadonlyArray<Delivery> {
    return []
  }

  abort(): void {
    this.beat = undefined
  }
}

/** The derivation before the first entry is loaded. */
const unloaded: RecordedNodes = { nodes: [], isolated: [], recalled: new Map(), cells: [], refused: [], restless: [] }
