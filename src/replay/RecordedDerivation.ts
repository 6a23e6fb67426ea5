/**
 * The derivation of a replay: the nodes that the journal says ran, in the order
 * in which their runs ended.
 *
 * Which nodes ran is taken as it was; what they read and made of it is done
 * again, and has to come out the same. (Architecture, section 9.)
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import type { Document } from "../cell/Document.ts"
import * as Codec from "../cell/Document.ts"
import * as Value from "../cell/Value.ts"
import type { BeatWork } from "../kernel/BeatWork.ts"
import type { Delivery, Derivation, NodeLine } from "../kernel/Derivation.ts"
import * as Derivations from "../kernel/Derivation.ts"
import type { NodeRunLine, Parsed } from "../kernel/Journal.ts"
import * as Run from "../kernel/Run.ts"
import type { Definition } from "../scheduler/Definition.ts"
import { Draft } from "../stage/Draft.ts"
import type { View } from "../stage/Moment.ts"
import { TransactionRefused } from "../stage/TransactionRefused.ts"
import type { Startable } from "../stage/Transaction.ts"
import type { Code } from "./Code.ts"
import { NotReplayable } from "./NotReplayable.ts"

/** What a node made of a document, before it joins the stage. */
interface Made {
  readonly document: Document | undefined
  readonly line: number
}

/**
 * Runs what an entry says that ran.
 *
 * @category models
 * @since 0.1.0
 */
export class RecordedDerivation implements Derivation {
  private readonly code: Pick<Code, "node">
  private recorded: ReadonlyArray<NodeRunLine> = []
  /** Nodes that failed before handlings, which is told of after all is merged. */
  private readonly failed: Array<{ readonly name: string; readonly line: NodeLine }> = []
  restless: ReadonlyArray<string> = []
  private work: BeatWork | undefined
  private made = new Map<string, Made>()
  private readonly children = new Map<string, Definition>()
  lines: Array<NodeLine> = []

  constructor(code: Pick<Code, "node">) {
    this.code = code
  }

  /** The entry whose beat is to run next. */
  load({ nodes = [], restless = [] }: Parsed): void {
    this.recorded = nodes
    this.restless = restless
  }

  begin(work: BeatWork): void {
    this.work = work
    this.lines = []
    this.made.clear()
  }

  before(run: number): void {
    this.failed.push(...this.runAll(run))
    for (const [key, { document, line }] of this.take()) this.work!.stage.gate(Address.ofKey(key), document, Derivations.writerOf(this.work!, line))
  }

  parked(): undefined {
    return undefined
  }

  settle(work: BeatWork): void {
    for (let round = 0; round < Derivations.MAX_ROUNDS; round++) {
      const failed = [...this.failed.splice(0), ...this.runAll(Derivations.PASS - round)]
      for (const [key, { document, line }] of this.take()) work.stage.put(Address.ofKey(key), document, Derivations.writerOf(work, line))
      for (const { line, name } of failed) work.diagnose(Derivations.failure(name, this.definitionOf(line)?.output, line.error!.code))
      if (round === 0 && this.restless.length > 0) work.diagnose(Derivations.restlessness(this.restless, this.code.node(this.restless[0]!)?.output))
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

  /** Runs the lines of one place, and answers those that failed. */
  private runAll(at: number): ReadonlyArray<{ readonly name: string; readonly line: NodeLine }> {
    const failed: Array<{ readonly name: string; readonly line: NodeLine }> = []
    for (let next = this.recorded[this.lines.length]; next !== undefined && next[1] === at; next = this.recorded[this.lines.length]) {
      const [name, , parent = 0] = next
      const line = this.run({ name, at, parent: parent === 0 ? undefined : parent, error: undefined })
      if (line.error !== undefined) failed.push({ name, line })
    }
    return failed
  }

  private run(line: NodeLine): NodeLine {
    const definition = this.definitionOf(line)
    if (definition === undefined) throw new NotReplayable({ beat: this.work!.moment.beat, code: "replay/code", reason: `node "${line.name}" ran in it and is not registered. Bring back its code` })
    const draft = new NodeDraft(this.view, this.work!.moment, { run: Derivations.writerOf(this.work!, this.lines.length), envelope: definition.envelope, serializable: false, labels: this.work!.labels, surface: definition })
    this.work!.nodeDrafts.push(draft)
    let error: unknown
    try {
      const value = definition.run(draft)
      if (draft.refusal !== undefined) throw draft.refusal
      if (definition.output !== undefined) this.put(definition.output, value === undefined ? undefined : Codec.encode(value))
      draft.own?.keys.forEach((key, i) => this.put(key, draft.own!.documents[i]))
    } catch (raised) {
      error = draft.refusal ?? raised
    }
    if (error !== undefined && this.work!.labels !== undefined && definition.output !== undefined) this.put(definition.output, undefined)
    for (const [name, child] of draft.started) this.children.set(name, child)
    const ended = { ...line, error: Derivations.errorOf(error === undefined ? undefined : Run.failure(error)) }
    this.lines.push(ended)
    return ended
  }

  private put(key: string, document: Document | undefined): void {
    if (Value.equals(Codec.read(this.visible(key), []), Codec.read(document, []))) return
    this.made.set(key, { document, line: this.lines.length })
  }

  /** What was made since this was asked last, as far as it is not what is there. */
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
    return {
      committed: stage.committed,
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

  /** A module's node; or one that another started, which is run aside to say what it starts. */
  private definitionOf({ name, parent }: Pick<NodeLine, "name" | "parent">): Definition | undefined {
    if (parent === undefined) return this.code.node(name)
    const known = this.children.get(name)
    if (known !== undefined) return known
    const slash = parent.lastIndexOf("/")
    const creator = this.definitionOf({ name: parent.slice(slash + 1), parent: slash < 0 ? undefined : parent.slice(0, slash) })
    if (creator === undefined) return undefined
    const draft = new NodeDraft(this.view, this.work!.moment, { run: 0, envelope: creator.envelope, serializable: false })
    try {
      creator.run(draft)
    } catch {
      // What it started until then is known all the same.
    }
    for (const [name, child] of draft.started) this.children.set(name, child)
    return this.children.get(name)
  }
}

/** The transaction of a node that is run again. */
class NodeDraft extends Draft {
  readonly started = new Map<string, Definition>()

  override start(node: Startable | string): string {
    if (typeof node === "string") return super.start(node)
    this.started.set(node.name, node as Definition)
    return node.name
  }

  override random(): number {
    throw this.forbidden()
  }

  override id(): string {
    throw this.forbidden()
  }

  override blob(): string {
    throw this.forbidden()
  }

  override signal(): string {
    throw this.forbidden()
  }

  override bind(): void {
    throw this.forbidden()
  }

  override unbind(): void {
    throw this.forbidden()
  }

  override get op(): never {
    throw this.forbidden()
  }

  override get rv(): never {
    throw this.forbidden()
  }

  override get io(): never {
    throw this.forbidden()
  }

  private forbidden(): unknown {
    return this.refusal ??= new TransactionRefused({ reason: "a node may run any number of times, and does not do this" })
  }
}
