/**
 * The state machine of flows: runs the steps of an instance until it waits or
 * ends.
 *
 * All consecutive steps are one run, and so one transaction. Their rendezvous, the
 * state of the instance and its subscriptions commit together or not at all.
 *
 * @module
 */
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import type { Value } from "../cell/Value.ts"
import * as Values from "../cell/Value.ts"
import * as Address from "../cell/Address.ts"
import * as Name from "../cell/Name.ts"
import { codeOf, isTagged, Retry } from "../registry/Outcome.ts"
import type { Draft } from "../stage/Draft.ts"
import * as Due from "../stage/Due.ts"
import * as Duration from "../time/Duration.ts"
import * as Write from "../stage/write/Write.ts"
import { InvalidFlowRequest } from "./FlowError.ts"
import * as Instance from "./Instance.ts"
import type * as Step from "./Step.ts"

/** A compiled flow. */
export interface Plan {
  readonly name: string
  readonly first: string
  readonly steps: ReadonlyMap<string, Step.CompiledStep>
  readonly input: Schema.Decoder<unknown> | undefined
}

/** The result of a step: its outcome and the next goal. Without a goal, the instance waits. */
interface Taken {
  readonly outcome: string
  readonly result?: unknown
  readonly goal: string | undefined
  readonly change?: Partial<Instance.Instance>
}

interface StepContext {
  readonly inst: string
  readonly draft: Draft
  readonly input: unknown
}

/**
 * Continues the instance at a target; returns its state, or `absent`.
 *
 * @throws InvalidFlowRequest
 */
export const run = (plan: Plan, draft: Draft, target: string): string => {
  const inst = Instance.idOf(target)
  const found = inst === undefined ? undefined : Instance.read(draft.get(target))
  if (inst === undefined || found === undefined || found.flow !== plan.name) return "absent"
  if (found.state !== "ready") return found.state
  const savepoint = draft.savepoint()
  let instance = found
  while (instance.state === "ready") instance = taken(plan, instance, { draft, inst })
  try {
    keep(draft, inst, instance)
    savepoint.keep()
  } catch (error) {
    // The steps made the instance too large, so their effects are dropped; only its position is kept.
    savepoint.restore()
    instance = failed({ ...found, pc: instance.pc }, { draft, error })
    keep(draft, inst, instance)
  }
  return instance.state
}

/** Runs one step. A failure is deterministic, so it ends the instance. This run records it and does not fail itself. */
const taken = (plan: Plan, instance: Instance.Instance, { draft, inst }: Pick<StepContext, "draft" | "inst">): Instance.Instance => {
  try {
    return advance(plan, instance, { draft, inst, input: decoded(plan, instance.input) })
  } catch (error) {
    if (isTagged(error, "Retry") || isTagged(error, "Fatal")) throw error
    return failed(instance, { draft, error })
  }
}

const failed = (instance: Instance.Instance, { draft, error }: { readonly draft: Draft; readonly error: unknown }): Instance.Instance => {
  draft.refusal = undefined
  return { ...instance, state: "error", note: `step "${instance.pc}" failed: ${codeOf(error)}` }
}

const advance = (plan: Plan, instance: Instance.Instance, context: StepContext): Instance.Instance => {
  const { draft } = context
  const spent = Instance.overdrawn(instance, draft.moment)
  if (spent !== undefined) return { ...instance, state: "error", note: spent }
  const placed = plan.steps.get(instance.pc)
  if (placed === undefined) return { ...instance, state: "error", note: `the flow has no step "${instance.pc}" any more` }
  const { change, goal, outcome, result } = take[placed.kind](placed, instance, context)
  if (goal === undefined) return { ...instance, ...change, state: "waiting" }
  const passed: Instance.FinishedStep = { step: placed.name, kind: placed.kind, beat: draft.beat, outcome }
  return {
    ...instance,
    ...change,
    until: 0,
    until_ms: 0,
    steps_used: instance.steps_used + 1,
    results: { ...instance.results, [placed.name]: Values.canonical(result ?? outcome).value },
    history: [...instance.history, passed],
    ...goal === "done" || goal === "error"
      ? { state: goal, ...(goal === "error" ? { note: `step "${placed.name}": ${outcome}` } : {}) }
      : { pc: goal }
  }
}

type Take = (placed: Step.CompiledStep, instance: Instance.Instance, context: StepContext) => Taken

/** The execution of a step, by kind. */
const take: Readonly<Record<Step.Kind, Take>> = {
  guard: ({ next, otherwise, step }, instance, context) => {
    const holds = told((step as Step.Guard<unknown, string>).guard, instance, context) === true
    return { outcome: holds ? "held" : "refused", result: holds, goal: holds ? next : otherwise }
  },
  transform: ({ name, next, step }, instance, context) =>
    spawn({ name, next }, told((step as Step.Transform<unknown, string>).transform, instance, context), { instance, context }),
  wait: (placed, instance, context) => await_(placed, instance, context),
  decide: ({ name, step }, instance, context) => {
    const { decide, to } = step as Step.Decide<unknown, string>
    const goal = told(decide, instance, context)
    if (!to.includes(goal)) {
      throw new InvalidFlowRequest({ reason: `step "${name}" chose ${JSON.stringify(goal)}, which is none of ${to.join(", ")}` })
    }
    return { outcome: goal, goal }
  },
  clamp: ({ next, otherwise, step }, { started, started_ms, steps_used }, { draft }) => {
    const { beats, steps = Infinity } = (step as Step.Clamp<string>).clamp
    const { moment } = draft
    const isOver = beats !== undefined && Due.isOver(endOf(beats, { beat: started, clock: started_ms, tempo: moment.tempo }), moment)
    const isWithin = steps_used < steps && !isOver
    return { outcome: isWithin ? "within" : "beyond", goal: isWithin ? next : otherwise }
  }
}

/** Calls an author's function. A refusal in it counts even if the function caught it. */
const told = <A>(step: (view: Step.View) => A, instance: Instance.Instance, context: StepContext): A => {
  const answer = step(view(instance, context))
  if (context.draft.refusal !== undefined) throw context.draft.refusal
  return answer
}

const view = ({ results }: Instance.Instance, { draft, input, inst }: StepContext): Step.View => ({
  inst,
  beat: draft.beat,
  input,
  results: Object.fromEntries(
    Object.entries(results).map(([step, result]) => [step, isCompletion(result) ? shown(draft, result) : result])
  ),
  get: (address) => draft.get(address)
})

/** A completion as steps see it. Its event is read only when its telemetry is. */
const shown = (draft: Draft, { key, outcome, link }: Instance.Completion): object => ({
  key,
  outcome,
  get telemetry() {
    return (draft.get(link.$link) as { readonly telemetry?: Value } | undefined)?.telemetry ?? {}
  }
})

const isCompletion = (result: unknown): result is Instance.Completion =>
  typeof result === "object" && result !== null && Object.hasOwn(result, "link")

/** Spawns a step's rendezvous, and subscribes the instance to it. */
const spawn = (
  { name, next }: Pick<Step.CompiledStep, "name" | "next">,
  spec: ReturnType<Step.Transform<unknown, string>["transform"]>,
  { context: { draft, inst }, instance }: { readonly context: StepContext; readonly instance: Instance.Instance }
): Taken => {
  const key = spec.key ?? `${inst}.${name}`
  const read = () => draft.get(`/data/rv/${key}`)
  // A completion with that key gets its event at the end of this beat; until then its entry cannot be replaced.
  if ((read() as { readonly event_flag?: string } | undefined)?.event_flag === "1") {
    throw new Retry({ reason: `rendezvous "${key}" completes in this beat` })
  }
  const inst_id = spec.prof === "spec" ? spec.inst_id ?? `${inst}.${name}` : inst
  draft.rv.spawn({ ...spec, key, inst_id })
  const entry = read() as { readonly prof: string; readonly signal_path: string }
  const job = { key, signal: entry.signal_path, again: entry.prof === "rv-epoch", heard: 0, ...(inst_id === inst ? {} : { inst_id }) }
  subscribe(draft, inst, { heard: job, step: name })
  return { outcome: "spawned", result: key, goal: next, change: { jobs: { ...instance.jobs, [name]: job } } }
}

/** Takes the awaited completion, or starts to wait for it. */
const await_: Take = (placed, instance, context) => {
  const { name, next, otherwise, step } = placed
  const { wait, within } = step as Step.Wait<unknown, string>
  const { draft } = context
  const source = typeof wait === "string" ? wait : name
  const job = instance.jobs[source] ?? listen(wait, instance, context)
  if (job === undefined) throw new InvalidFlowRequest({ reason: `step "${name}" waits for "${String(wait)}", which was never spawned` })
  if (job.event !== undefined) {
    const { event, ...rest } = job
    const { outcome } = event
    return { outcome, result: event, goal: next, change: { jobs: { ...instance.jobs, [source]: rest } } }
  }
  if (Instance.isLate(instance, draft.moment)) return { outcome: "late", result: { outcome: "late", telemetry: {} }, goal: otherwise }
  const { beat, moment } =
    instance.until > 0 || within === undefined ? { beat: instance.until, moment: instance.until_ms } : endOf(within, draft.moment)
  return { outcome: "", goal: undefined, change: { until: beat, until_ms: moment, jobs: { ...instance.jobs, [source]: job } } }
}

/** The end of a wait: of beats by both their number and their duration, of a time by the time alone. */
const endOf = (within: number | string, now: Due.Now): { readonly beat: number; readonly moment: number } => {
  const ms = typeof within === "string" ? Duration.parse(within) ?? 0 : undefined
  return ms === undefined ? Due.after(Number(within), now) : { beat: now.beat + 1, moment: now.clock + ms }
}

/** Subscribes to rendezvous that others spawned. */
const listen = (wait: Step.Wait<unknown, string>["wait"], instance: Instance.Instance, context: StepContext): Instance.Job | undefined => {
  if (typeof wait === "string") return undefined
  const signal = pathOf(told(wait, instance, context))
  const job = { key: undefined, signal, again: false, heard: 0 }
  subscribe(context.draft, context.inst, { heard: job, step: instance.pc })
  return job
}

/** The most characters and names of an awaited signal path, which becomes part of an address. */
const MAX_PATH = 1000
const MAX_PATH_NAMES = Name.MAX_NAMES - 5

const pathOf = (path: unknown): string => {
  const names = typeof path === "string" && path.length <= MAX_PATH
    ? Name.split(`/${path.replace(/^\//, "")}`)
    : `give a text of at most ${MAX_PATH} characters`
  const tooMany = `it has ${names.length} names and the limit is ${MAX_PATH_NAMES}`
  const reason = typeof names === "string" ? names : names.length > MAX_PATH_NAMES ? tooMany : undefined
  if (reason !== undefined) {
    throw new InvalidFlowRequest({ reason: `a step waits for the signal path ${JSON.stringify(path)?.slice(0, 200)}: ${reason}` })
  }
  return (names as ReadonlyArray<string>).join("/")
}

const subscribe = (draft: Draft, inst: string, { heard, step }: { readonly heard: Instance.Subscribed; readonly step: string }): void =>
  draft.operate([Write.set(Address.into(Instance.subscription(inst, heard), [step]), true)])

/**
 * Writes an instance, regardless of the run's envelope.
 *
 * @throws InvalidValue if an instance that continues would have no room for its end
 */
export const keep = (draft: Draft, inst: string, instance: Instance.Instance): void => {
  const write = Write.set(Instance.address(inst), instance)
  const size = Write.lengthOf(write.document)
  if (size > Instance.MAX_TEXT && !Instance.isOver(instance)) {
    throw new Values.InvalidValue({ at: write.address.text, reason: tooLarge(size) })
  }
  draft.operate([write])
}

const tooLarge = (size: number): string =>
  `the instance has ${size} characters and the limit is ${Instance.MAX_TEXT}, so that there is room for how it ends; keep what is large ` +
    "in cells of its own, and give it their addresses"

/**
 * A flow's input, decoded by its schema.
 *
 * @throws InvalidFlowRequest
 */
export const decoded = ({ input: schema, name }: Plan, input: Value): unknown => {
  if (schema === undefined) return input
  const exit = Schema.decodeUnknownExit(schema, { errors: "all" })(input)
  if (Exit.isSuccess(exit)) return exit.value
  const mistakes = Cause.squash(exit.cause) as Error
  throw new InvalidFlowRequest({ reason: `the input does not fit what flow "${name}" takes: ${mistakes.message.replaceAll(/\s+/g, " ")}` })
}
