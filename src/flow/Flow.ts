/**
 * Flows: pipelines of named steps that start work outside the beat and continue
 * with its result.
 *
 * A flow is declared in a module and is an enzyme. Each instance is one cell under
 * `/data/flow/inst`, and each handling of it runs its next steps. A restart
 * between two handlings therefore loses no progress [S1 §Technical Details].
 *
 * @module
 */
import type * as Schema from "effect/Schema"
import * as Name from "../cell/Name.ts"
import * as Values from "../cell/Value.ts"
import * as Enzyme from "../registry/Enzyme.ts"
import type { Draft } from "../stage/Draft.ts"
import { MAX_WAIT } from "../stage/Due.ts"
import * as Duration from "../time/Duration.ts"
import { InvalidFlow } from "./FlowError.ts"
import * as Instance from "./Instance.ts"
import * as Machine from "./Machine.ts"
import {
  type Clamp, type CompiledStep, type Decide, goals, type Guard, type Kind, kinds, type Step, type Transform, type Wait
} from "./Step.ts"

export type { Completion, Goal, View } from "./Step.ts"
export type { Clamp, Decide, Guard, Step, Transform, Wait }

/** The most steps of a flow. */
export const MAX_STEPS = 1000

/** A flow definition. Each step continues at the one after it, unless it names another. */
export interface Definition<Input = unknown, Name extends string = string> {
  /** Unique among enzymes. */
  readonly name: string
  /** The schema of its input. */
  readonly input?: Schema.Decoder<Input>
  readonly steps: { readonly [Key in Name]: Step<Input, NoInfer<Name>> }
}

/**
 * A flow from its definition.
 *
 * @throws InvalidFlow, InvalidEnzyme
 * @example Work that a person has to agree to
 * ```ts
 * import { Flow } from "systole"
 *
 * export default Flow.make({
 *   name: "publish",
 *   steps: {
 *     ask: { transform: ({ input }) => ({ due_off: 100, max_grace: 2, grace_delta: 50, telemetry: { input } }) },
 *     answer: { wait: "ask" },
 *     agreed: { guard: ({ results }) => (results["answer"] as { readonly outcome: string }).outcome === "applied" }
 *   }
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <Input = unknown, const Name extends string = string>(definition: Definition<Input, Name>): Enzyme.Enzyme => {
  const { name, steps: given } = definition as unknown as Definition
  const refuse = (reason: string) => new InvalidFlow({ name: String(name), reason })
  if (typeof given !== "object" || given === null) throw refuse("it has no steps")
  if (typeof name !== "string" || Name.refusal(name) !== undefined) throw refuse("its name is not one name, such as approval")
  const names = Object.keys(given)
  const [first] = names
  if (first === undefined || names.length > MAX_STEPS) throw refuse(`it has ${names.length} steps, and can have 1 to ${MAX_STEPS}`)
  const steps = new Map(Object.entries(given).map(([step, own], i) => [step, placed(step, own, names[i + 1] ?? "done")]))
  const reason = missing(steps) ?? circle(steps) ?? unspawned(steps)
  if (reason !== undefined) throw refuse(reason)
  const plan: Machine.Plan = { name, first, steps, input: definition.input as Schema.Decoder<unknown> | undefined }
  const run: Enzyme.Definition["run"] = (tx, { target = "" }) => Machine.run(plan, tx as Draft, target)
  return Enzyme.make({
    name,
    query: `${Instance.SIGNALS}/${name}`,
    bind: [Instance.FOLDER],
    lane: "target",
    writes: [],
    // A loader recreates enzymes but keeps `run`.
    run: Object.assign(run, { plan })
  })
}

/** A flow for display: its steps in order, each with its goals. */
export interface Described {
  readonly name: string
  readonly steps: ReadonlyArray<{ readonly step: string; readonly kind: Kind; readonly goals: ReadonlyArray<string> }>
}

/** The description of an enzyme that is a flow; `undefined` for any other. */
export const describe = (enzyme: Enzyme.Enzyme): Described | undefined => {
  const plan = planOf(enzyme)
  if (plan === undefined) return undefined
  const steps = [...plan.steps.values()].map((placed) => ({ step: placed.name, kind: placed.kind, goals: goals(placed) }))
  return { name: plan.name, steps }
}

/** The plan of an enzyme that is a flow; `undefined` for any other. */
export const planOf = ({ run }: Enzyme.Enzyme): Machine.Plan | undefined => (run as { readonly plan?: Machine.Plan }).plan

const placed = (name: string, step: Step, following: string): CompiledStep => {
  const [kind, ...others] = kinds.filter((kind) => typeof step === "object" && step !== null && Object.hasOwn(step, kind))
  const { next = following, otherwise = "error" } = step as { readonly next?: string; readonly otherwise?: string }
  return { name, kind: kind === undefined || others.length > 0 ? "none" as Kind : kind, next, otherwise, step }
}

const ends = new Set(["done", "error"])

/** Whether a text can name a step, and so a field of an instance. */
const isName = (name: string): boolean => {
  try {
    Values.canonical({ [name]: true })
    return !ends.has(name) && Name.refusal(name) === undefined
  } catch {
    return false
  }
}

/** The first fault of a single step: a malformed step or an unknown goal. */
const missing = (steps: ReadonlyMap<string, CompiledStep>): string | undefined => {
  for (const placed of steps.values()) {
    const { kind, name, step } = placed
    if (!isName(name)) return `"${name}" cannot name a step`
    const reason = kinds.includes(kind) ? fault(kind, step as never) : `has to be exactly one of ${kinds.join(", ")}`
    if (reason !== undefined) return `step "${name}" ${reason}`
    const absent = goals(placed).find((goal) => !ends.has(goal) && !steps.has(goal))
    if (absent !== undefined) return `step "${name}" goes on at "${absent}", which is no step of it`
  }
  return undefined
}

const isCount = (value: unknown): boolean => value === undefined || (Number.isSafeInteger(value) && (value as number) > 0)

/** Whether a value is absent, a number of beats, or a time. */
const isWait = (value: unknown): boolean =>
  typeof value === "string" ? Duration.parse(value) !== undefined : isCount(value) && (value === undefined || (value as number) <= MAX_WAIT)

/** The fault of a step, by kind. */
const faults: Readonly<Record<Kind, (step: never) => string | undefined>> = {
  guard: ({ guard }: Guard<unknown, string>) => typeof guard === "function" ? undefined : "has a guard that is no function",
  transform: ({ transform }: Transform<unknown, string>) =>
    typeof transform === "function" ? undefined : "has a transform that is no function",
  wait: ({ wait, within }: Wait<unknown, string>) => {
    if (typeof wait !== "function" && typeof wait !== "string") return "waits neither for a step nor for a signal"
    return isWait(within) ? undefined : `waits within no whole number of beats from 1 to ${MAX_WAIT}, and no time such as "10s"`
  },
  decide: ({ decide, to }: Decide<unknown, string>) => {
    if (typeof decide !== "function") return "has a decide that is no function"
    return Array.isArray(to) && to.length > 0 ? undefined : "does not say in to where it can go on"
  },
  clamp: ({ clamp }: Clamp<string>) => typeof clamp === "object" && clamp !== null && isCount(clamp.steps) && isWait(clamp.beats)
    ? undefined
    : `clamps to no whole numbers of steps from 1 and of beats from 1 to ${MAX_WAIT}, and no time such as "10m"`
}

const fault = (kind: Kind, step: never): string | undefined => faults[kind](step)

/** A cycle of steps, if there is one: an instance would never end. */
const circle = (steps: ReadonlyMap<string, CompiledStep>): string | undefined => {
  const over = new Set<string>()
  const walk = (name: string, path: ReadonlyArray<string>): string | undefined => {
    if (path.includes(name)) return `its steps go round in a circle: ${[...path.slice(path.indexOf(name)), name].join(" → ")}`
    if (over.has(name) || !steps.has(name)) return undefined
    for (const goal of goalsOf(steps, name)) {
      const found = walk(goal, [...path, name])
      if (found !== undefined) return found
    }
    over.add(name)
    return undefined
  }
  for (const name of steps.keys()) {
    const found = walk(name, [])
    if (found !== undefined) return found
  }
  return undefined
}

/** A Wait for a step that no earlier step spawns. */
const unspawned = (steps: ReadonlyMap<string, CompiledStep>): string | undefined => {
  for (const { kind, name, step } of steps.values()) {
    const awaited = kind === "wait" ? (step as Wait<unknown, string>).wait : undefined
    if (typeof awaited !== "string") continue
    const spawning = steps.get(awaited)
    if (spawning?.kind !== "transform") return `step "${name}" waits for "${awaited}", which is no transform of it`
    if (!leads(steps, awaited, name)) return `step "${name}" waits for "${awaited}", which does not come before it`
  }
  return undefined
}

const leads = (steps: ReadonlyMap<string, CompiledStep>, from: string, to: string): boolean => {
  const seen = new Set([from])
  for (const name of seen) for (const goal of goalsOf(steps, name)) seen.add(goal)
  return seen.has(to)
}

/** The goals of a step by its name; none for an end. */
const goalsOf = (steps: ReadonlyMap<string, CompiledStep>, name: string): ReadonlyArray<string> => {
  const placed = steps.get(name)
  return placed === undefined ? [] : goals(placed)
}
