/**
 * Facts of plans, as the fields of the actions tell them.
 *
 * @module
 */
import type { Action } from "../../plugins/agent/document/Action.ts"
import type { Outcome } from "../../plugins/agent/schedule/Condition.ts"
import type { ActionState, Facts } from "../../plugins/agent/wake/Plan.ts"

const outcomeOf = ({ status }: Action): Outcome =>
  status === "completed" || status === "failed" || status === "skipped" ? status : "open"

const stateOf = (action: Action): ActionState => ({
  status: action.status,
  history: { lastRun: action.record.lastRun, since: 0, startup: undefined, change: undefined, pendings: 1 },
  outcome: outcomeOf(action),
  retry: undefined
})

/** Facts in which each action has the state of its fields, changed by some others. */
export const of = (actions: ReadonlyArray<Action>, changed: Partial<Facts> = {}): Facts => ({
  now: Date.UTC(2026, 0, 1),
  states: new Map(actions.map((action) => [action.id, stateOf(action)])),
  begun: new Set(),
  forced: undefined,
  hasTime: true,
  files: new Set(),
  variables: new Set(),
  ...changed
})

/** Facts in which the state of an action differs. */
export { changed as with }
const changed = (facts: Facts, id: string, change: Partial<ActionState>): Facts => {
  const state = facts.states.get(id)
  if (state === undefined) throw new Error(`There is no action ${id}`)
  return { ...facts, states: new Map([...facts.states, [id, { ...state, ...change }]]) }
}

/** Facts after an action began and ended. */
export const ended = (facts: Facts, id: string, outcome: "completed" | "failed"): Facts =>
  changed({ ...facts, begun: new Set([...facts.begun, id]) }, id, { status: outcome, outcome })
