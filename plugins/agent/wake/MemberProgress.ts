/**
 * The members of a composite action as an attempt of it finds them: over, or to run, with the facts that their conditions read.
 *
 * @module
 */
import type { Action } from "../document/Action.ts"
import type { Order } from "../order/Order.ts"
import type * as Record from "../order/Record.ts"
import * as Conditions from "../schedule/Condition.ts"
import type { WakeFacts } from "../store/ControlStore.ts"
import type { ActionState } from "./Plan.ts"

/** The attempt of a composite action. */
interface Due {
  readonly action: Action
  readonly occurrence: string
  readonly attempt: number
}

/** The facts of the wake that makes an attempt. */
interface Context {
  readonly byId: ReadonlyMap<string, Action>
  readonly records: ReadonlyMap<string, Record.Record>
  readonly ended: ReadonlyMap<string, Record.Record>
  readonly states: ReadonlyMap<string, ActionState>
  readonly captured: WakeFacts
}

const NONE: Record.Progress = { round: 1, completed: [], skipped: [], failed: [], next: {} }

/** The progress that the attempt before left. Completed members are over, and in the same round also skipped and failed ones. */
const before = ({ action, attempt, occurrence }: Due, { records }: Context): Record.Progress => {
  const record = records.get(action.id)
  const isBefore = record?.occurrence === occurrence && record.attempt === attempt - 1
  const { retry, ...progress } = (isBefore ? record.progress : undefined) ?? { ...NONE, round: attempt, retry: undefined }
  if (retry !== undefined) return progress
  return isBefore && record.progress !== undefined ? { ...NONE, round: progress.round + 1, completed: progress.completed } : progress
}

/**
 * The progress with which an attempt begins. A member that ran in this wake by itself is over, and so is one with a dependency
 * outside of the composite action that is not completed.
 */
export const of = (due: Due, members: ReadonlyArray<string>, context: Context): Record.Progress => {
  const found = before(due, context)
  const over = new Set([...found.completed, ...found.skipped, ...found.failed])
  const open = members.filter((id) => !over.has(id) && found.next[id] === undefined)
  const endOf = (id: string): "completed" | "skipped" | "failed" | undefined => {
    const { status } = context.ended.get(id) ?? {}
    if (status === "completed" || status === "failed") return status
    const dependsOn = context.byId.get(id)?.dependsOn ?? []
    return dependsOn.some((other) => !members.includes(other) && context.states.get(other)?.outcome !== "completed") ? "skipped" : undefined
  }
  const ends = new Map(open.map((id) => [id, endOf(id)]))
  const ended = (end: string): ReadonlyArray<string> => open.filter((id) => ends.get(id) === end)
  return {
    ...found,
    completed: [...found.completed, ...ended("completed")],
    skipped: [...found.skipped, ...ended("skipped")],
    failed: [...found.failed, ...ended("failed")]
  }
}

/** The facts that the conditions of some members read. */
export const factsOf = (members: ReadonlyArray<Action>, { captured, records, states }: Context): NonNullable<Order["facts"]> => {
  const conditions = members.flatMap(({ condition }) => condition ?? [])
  const { files, variables } = Conditions.requirementsOf(conditions)
  const ids = conditions.some(Conditions.readsAll) ? [...states.keys()] : [...new Set(conditions.flatMap(Conditions.actionsOf))]
  return {
    files: [...files].filter((path) => captured.files.has(path)),
    variables: [...variables].filter((name) => captured.variables.has(name)),
    outcomes: Object.fromEntries(ids.map((id) => {
      const event = records.get(id)?.event
      return [id, { outcome: states.get(id)?.outcome ?? "open", ...event === undefined ? {} : { event } }]
    }))
  }
}

/** The fields of a member that its composite action obeys. */
export const fieldsOf = (
  { condition, conditionText, dependsOn, retry, zone }: Action,
  members: ReadonlyArray<string>
): Pick<Order, "condition" | "retry" | "after"> => {
  const after = dependsOn.filter((id) => members.includes(id))
  return {
    ...condition === undefined ? {} : { condition: { text: conditionText, zone } },
    ...retry.attempts > 1 ? { retry: { delay: { base: 0, cap: 0, ...retry.delay }, on: retry.on } } : {},
    ...after.length === 0 ? {} : { after }
  }
}
