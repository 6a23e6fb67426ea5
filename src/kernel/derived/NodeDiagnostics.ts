/**
 * Diagnostics of nodes: failed runs, and nodes that do not come to rest.
 *
 * A failure is reported once for each run that has no further attempt. Restlessness is
 * reported once for each episode. [S2 §7.4, §10]
 *
 * @module
 */
import type { Node } from "../../scheduler/graph/Node.ts"
import type { SpaceScheduler } from "../../scheduler/SpaceScheduler.ts"
import type { NamedNode } from "../journal/Journal.ts"
import * as Derivation from "./DerivationPort.ts"
import type { FactSink } from "./DerivationPort.ts"
import { isWatch } from "./WatchNodes.ts"

const none: ReadonlyArray<Node> = []

/**
 * The reports on the nodes of one space.
 */
export class NodeDiagnostics {
  /** The nodes that became restless in this beat. */
  restless: ReadonlyArray<NamedNode> = []
  /** The restless nodes of this beat, and those of the newest committed beat with their episodes. */
  private tiring: ReadonlyArray<Node> = none
  private told: ReadonlyMap<Node, number | undefined> = new Map()

  /** Reports failed runs. Returns whether there were any. */
  report(scheduler: SpaceScheduler, facts: FactSink): boolean {
    const failures = scheduler.takeFailures().filter(({ node }) => !isWatch(node))
    for (const { error, node } of failures) {
      const { code, message } = Derivation.errorOf(error, true)
      facts.diagnose(Derivation.failure(node.definition.name, node.output?.key, { code, message, thrown: error }))
    }
    return failures.length > 0
  }

  /** Reports nodes that have become restless. Returns whether there were any. */
  tire(restless: ReadonlyArray<Node>, facts: FactSink): boolean {
    const isFresh = (node: Node): boolean => node.gate?.streak === 1 && this.told.get(node) !== node.gate.episodes
    const fresh = restless.filter((node) => !isWatch(node) && isFresh(node)).sort((a, b) => a.ordinal - b.ordinal)
    this.tiring = restless
    if (fresh.length === 0) return false
    this.restless = fresh.map(({ definition: { name }, output }) => output === undefined ? [name] : [name, output.key])
    facts.diagnose(Derivation.restlessness(this.restless))
    return true
  }

  /** The beat is in the store. */
  committed(): void {
    if (this.tiring.length > 0 || this.told.size > 0) this.told = new Map(this.tiring.map((node) => [node, node.gate?.episodes]))
  }

  /** The beat is over, however it ended. */
  end(): void {
    if (this.restless.length > 0) this.restless = []
  }
}
