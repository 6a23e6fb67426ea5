/**
 * The verbs of flows, over a transaction.
 *
 * @module
 */
import * as Name from "../cell/Name.ts"
import type { Value } from "../cell/Value.ts"
import * as Values from "../cell/Value.ts"
import type { Draft } from "../stage/Draft.ts"
import * as Due from "../stage/Due.ts"
import * as Write from "../stage/write/Write.ts"
import type { FlowAnswer, FlowBudget, FlowRequest, Flows } from "../stage/Launch.ts"
import { FlowsFull, FlowUnknown, InstanceAbsent, InstanceExists, InstanceRefused, InvalidFlowRequest, refusals } from "./FlowError.ts"
import * as Instance from "./Instance.ts"
import * as Machine from "./Machine.ts"

/** The verbs' context: the space. */
export interface VerbContext {
  /** The flow with a name, if one is loaded. */
  readonly find: (name: string) => Machine.Plan | undefined
  /** The limit on open instances, if it is reached. */
  readonly full: () => number | undefined
}

/** The actions on an instance. */
export const actions = ["pause", "resume", "cancel"] as const
export type Action = typeof actions[number]

/**
 * The verbs of flows for a run.
 */
export const make = (draft: Draft, context: VerbContext): Flows => ({
  start: (name, input, options) =>
    draft.guarded(() => start(draft, { flow: name, ...options, input: Values.canonical(input).value }, context)),
  request: (request) =>
    draft.guarded(() => answered(() => start(draft, { ...request, input: Values.canonical(request.input).value }, context))),
  pause: (inst) => draft.guarded(() => attempt(() => act(draft, inst, "pause"))),
  resume: (inst) => draft.guarded(() => attempt(() => act(draft, inst, "resume"))),
  cancel: (inst) => draft.guarded(() => attempt(() => act(draft, inst, "cancel"))),
  budget: (inst, budget) => draft.guarded(() => attempt(() => allow(draft, inst, budget)))
})

/** Turns refusals into `false` for a run; callers from outside get the reason. */
const attempt = (verb: () => void): boolean => {
  try {
    verb()
    return true
  } catch (error) {
    if (error instanceof InstanceAbsent || error instanceof InstanceRefused || error instanceof InvalidFlowRequest) return false
    throw error
  }
}

/** Turns refusals into answers, for a run that acts for a caller and reports the reason. */
const answered = (start: () => string): FlowAnswer => {
  try {
    return { inst: start() }
  } catch (error) {
    if (error instanceof Values.InvalidValue || refusals.some((refusal) => error instanceof refusal)) {
      return { refused: (error as { readonly code: string }).code }
    }
    throw error
  }
}

/**
 * Starts an instance; returns its id.
 *
 * @throws InvalidFlowRequest, FlowUnknown, FlowsFull, InstanceExists, InvalidValue
 */
export const start = (
  draft: Draft,
  { beats, flow, input, inst, steps }: FlowRequest & { readonly input: Value },
  { find, full }: VerbContext
): string => {
  const plan = find(String(flow))
  if (plan === undefined) throw new FlowUnknown({ name: String(flow) })
  const id = inst ?? `FL:${draft.id()}`
  if (!Instance.isId(id)) {
    throw new InvalidFlowRequest({ reason: `its id is ${JSON.stringify(id)?.slice(0, 200)}; give one name such as order17` })
  }
  const longest = Math.max(...[...plan.steps.keys()].map(({ length }) => length))
  if (id.length + 1 + longest > Name.MAX_NAME) throw new InvalidFlowRequest({
    reason: `its id has ${id.length} characters; with the names of its steps, at most ${Name.MAX_NAME - 1 - longest} can be`
  })
  if (draft.get(Instance.address(id).text) !== undefined) throw new InstanceExists({ inst: id })
  Machine.decoded(plan, input)
  const limit = full()
  if (limit !== undefined) throw new FlowsFull({ limit })
  const budget = budgetOf({ steps, beats }, draft)
  const start =
    { flow: plan.name, state: "ready", pc: plan.first, input: input ?? null, started: draft.beat, started_ms: draft.moment.clock } as const
  Machine.keep(draft, id, { ...start, budget, steps_used: 0, results: {}, jobs: {}, until: 0, until_ms: 0, history: [] })
  return id
}

/**
 * Pauses, resumes or cancels an instance. A paused instance keeps its completions; a cancelled one ends its rendezvous.
 *
 * @throws InstanceAbsent, InstanceRefused
 */
export const act = (draft: Draft, inst: string, action: Action): void => {
  const instance = open(draft, inst, action)
  if ((action === "resume") !== (instance.state === "paused") && action !== "cancel") {
    throw new InstanceRefused({ inst, state: instance.state, action })
  }
  // A resumed Wait checks its completions and its time again.
  write(draft, inst, { ...instance, state: action === "pause" ? "paused" : action === "resume" ? "ready" : "cancelled" })
}

/**
 * Replaces the budget of an instance: a total of steps, and beats from now; 0 for no limit. A waiting instance is
 * readied to check it.
 *
 * @throws InvalidFlowRequest, InstanceAbsent, InstanceRefused
 */
export const allow = (draft: Draft, inst: string, budget: FlowBudget): void => {
  const instance = open(draft, inst, "give a budget")
  write(draft, inst, { ...instance, state: instance.state === "waiting" ? "ready" : instance.state, budget: budgetOf(budget, draft) })
}

/** Actions need no check of size: room for them is reserved. */
const write = (draft: Draft, inst: string, instance: Instance.Instance): void =>
  draft.operate([Write.set(Instance.address(inst), instance)])

const budgetOf = ({ beats: wait = 0, steps = 0 }: FlowBudget, { moment }: Draft): Instance.Instance["budget"] => {
  const beats = Due.beatsOf(wait, moment)
  const amounts = [
    ["beats", wait, beats, Due.MAX_WAIT, "a time such as \"10s\", or "], ["steps", steps, steps, Number.MAX_SAFE_INTEGER, ""]
  ] as const
  for (const [name, given, value, most, other] of amounts) {
    if (!Number.isSafeInteger(value) || value < 0 || value > most) throw new InvalidFlowRequest({
      reason: `its budget of ${name} is ${JSON.stringify(given)?.slice(0, 100)}; give ${other}a whole number from 0 to ${most}`
    })
  }
  if (beats === 0) return { steps, deadline: 0, deadline_ms: 0 }
  const end = Due.after(beats, moment)
  return { steps, deadline: end.beat, deadline_ms: end.moment }
}

/** An open instance. */
const open = (draft: Draft, inst: string, action: string): Instance.Instance => {
  const instance = Instance.isId(inst) ? Instance.read(draft.get(Instance.address(inst).text)) : undefined
  if (instance === undefined) throw new InstanceAbsent({ inst: String(inst) })
  if (Instance.isOver(instance)) throw new InstanceRefused({ inst, state: instance.state, action })
  return instance
}
