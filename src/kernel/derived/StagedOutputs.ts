/**
 * The documents that nodes read and derive in the beat in progress.
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import type { Document } from "../../cell/Document.ts"
import type { BaseState } from "../../scheduler/graph/Locations.ts"
import type { NodeRun } from "../../scheduler/graph/Node.ts"
import type { SpaceScheduler } from "../../scheduler/SpaceScheduler.ts"
import type { CommittedState } from "../../stage/BeatClock.ts"
import type { Stage } from "../../stage/Stage.ts"
import type { NodeLine } from "../journal/NodeLine.ts"
import * as Derivation from "./DerivationPort.ts"
import { type DerivedBeat, isInPass, PASS, writerOf } from "./DerivationPort.ts"

const noLines: ReadonlyArray<NodeLine> = []

/**
 * The outputs of the nodes of one space, one beat after another.
 */
export class StagedOutputs {
  /** The beat in progress, if there is one. */
  work: DerivedBeat | undefined
  /** The part of the beat in which nodes run now, as {@link NodeLine.at} has it. */
  at = PASS
  /** Every run of the beat, in the order of completion. */
  lines: Array<NodeLine> = noLines as Array<NodeLine>
  private readonly committed: CommittedState
  private stage: Stage | undefined
  /** Keys that runs changed since the last call of `flush`, each with its line. */
  private written = new Map<string, number>()

  constructor(committed: CommittedState) {
    this.committed = committed
  }

  /** A beat begins. */
  begin(work: DerivedBeat): void {
    this.work = work
    this.stage = work.stage
    this.lines = []
  }

  /** The beat is over, committed or aborted. */
  end(): void {
    this.work = undefined
    this.stage = undefined
    this.lines = noLines as Array<NodeLine>
    if (this.written.size > 0) this.written = new Map()
  }

  /** The state below the graph: committed documents, with the changes of the beat so far. */
  readonly base: BaseState = {
    read: (key) => this.read(key),
    content: (hash) => this.stage === undefined ? this.committed.blob(hash) : this.stage.blob(hash),
    children: (scope, id) => this.stage === undefined ? this.committed.children(scope, id) : this.stage.merged(scope, id),
    holds: true
  }

  private read(key: string): Document | undefined {
    const staged = this.stage?.documents.get(key)
    return staged === undefined ? this.committed.read(key) : staged.after
  }

  /** A node ran. */
  note({ changed, error, node, recalled }: NodeRun, { gates }: SpaceScheduler): void {
    for (const key of changed) this.written.set(key, this.lines.length)
    const { name } = node.definition
    const failed = error === undefined ? undefined : Derivation.errorOf(error, gates.isLastAttempt(node))
    this.lines.push({ name, at: this.at, parent: Derivation.lineage(node), made: Derivation.madeIn(node), recalled, error: failed })
  }

  /** Stages the documents that nodes changed: for later reads of handlings, and for the batch. */
  flush({ graph: { locations } }: SpaceScheduler, work: DerivedBeat): void {
    if (this.written.size === 0) return
    for (const [key, line] of this.written) {
      const document = locations.document(locations.root(key))
      if (document?.text === this.read(key)?.text) continue
      const address = Address.ofKey(key)
      if (isInPass(this.at)) work.stage.put(address, document, writerOf(work, line))
      else work.stage.gate(address, document, writerOf(work, line))
    }
    this.written = new Map()
  }
}
