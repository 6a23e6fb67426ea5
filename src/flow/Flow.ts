/**
 * Flows: pipelines of named steps that hand work to the outside and go on when
 * its result is there.
 *
 * A flow is declared in a module and is an enzyme: each of its instances is one
 * cell under `/data/flow/inst`, and a step is one handling of it, so a restart
 * between any two steps finds it where it was. (Seed 001, "Pipeline
 * integration"; semantics, section 5.7.)
 *
 * @module
 */
import type * as Schema from "effect/Schema"
import * as Name from "../cell/Name.ts"
import * as Values from "../cell/Value.ts"
import * as Enzyme from "../registry/Enzyme.ts"
import type { Draft } from "../stage/Draft.ts"
import { MAX_WAIT } from "../stage/Due.ts"
import { InvalidFlow } from "./FlowError.ts"
import * as Instance from "./Instance.ts"
import * as Machine from "./Machine.ts"
import { type Clamp, type Decide, goals, type Guard, type Kind, kinds, type Placed, type Step, type Transform, type Wait } from "./Step.ts"

export type { Completion, Goal, View } from "./Step.ts"
export type { Clamp, Decide, Guard, Step, Transform, Wait }

/** Most steps of a flow. */
export const MAX_STEPS = 1000

/** What an author writes. Steps follow one another as they stand there, unless they say otherwise. */
export interface Definition<Input = unknown, Name extends string = string> {
  /** Unique among enzymes. */
  readonly name: string
  /** What it is started with. */
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
  if (names.length === 0 || names.length > MAX_STEPS) throw refuse(`it has ${names.length} steps, and can have 1 to ${MAX_STEPS}`)
  const steps = new Map(names.map((step, i) => [step, placed(step, given[step]!, names[i + 1] ?? "done")]))
  const reason = missing(steps) ?? circle(steps) ?? unspawned(steps)
  if (reason !== undefined) throw refuse(reason)
  const plan: Machine.Plan = { name, first: names[0]!, steps, input: definition.input as Schema.Decoder<unknown> | undefined }
  const run: Enzyme.Definition["run"] = (tx, { target = "" }) => Machine.run(plan, tx as Draft, target)
  return Enzyme.make({
    name,
    query: `${Instance.SIGNALS}/${name}`,
    bind: [Instance.FOLDER],
    lane: "target",
    writes: [],
    // A loader makes enzymes anew; what it runs stays.
    run: Object.assign(run, { plan })
  })
}

/** A flow as it is shown: its steps in order, each with where it can go on. */
export interface Described {
  readonly name: string
  readonly steps: ReadonlyArray<{ readonly step: string; readonly kind: Kind; readonly goals: ReadonlyArray<string> }>
}

/** What an enzyme that is a flow is made of; `undefined` for any other. */
export const describe = (enzyme: Enzyme.Enzyme): Described | undefined => {
  const plan = planOf(enzyme)
  return plan === undefined ? undefined : { name: plan.name, steps: [...plan.steps.values()].map((placed) => ({ step: placed.name, kind: placed.kind, goals: goals(placed) })) }
}

/** The plan of an enzyme that is a flow. */
export const planOf = ({ run }: Enzyme.Enzyme): Machine.Plan | undefined => (run as { readonly plan?: Machine.Plan }).plan

const placed = (name: string, step: Step, following: string): Placed => {
  const own = kinds.filter((kind) => typeof step === "object" && step !== null && Object.hasOwn(step, kind))
  const { next = following, otherwise = "error" } = step as { readonly next?: string; readonly otherwise?: string }
  return { name, kind: own.length === 1 ? own[0]! : "none" as Kind, next, otherwise, step }
}

const ends = new Set(["done", "error"])

/** Whether it names a step, and a field of what is kept of the instance. */
const isName = (name: string): boolean => {
  try {
    Values.canonical({ [name]: true })
    return !ends.has(name) && Name.refusal(name) === undefined
  } catch {
    return false
  }
}

/** What is wrong with a step alone, or which one it names that is not there. */
const missing = (steps: ReadonlyMap<string, Placed>): string | undefined => {
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

const isBeats = (value: unknown): boolean => isCount(value) && (value === undefined || (value as number) <= MAX_WAIT)

/** What is wrong with a step of each kind. */
const faults: Readonly<Record<Kind, (step: never) => string | undefined>> = {
  guard: ({ guard }: Guard<unknown, string>) => typeof guard === "function" ? undefined : "has a guard that is no function",
  transform: ({ transform }: Transform<unknown, string>) => typeof transform === "function" ? undefined : "has a transform that is no function",
  wait: ({ wait, within }: Wait<unknown, string>) =>
    typeof wait !== "function" && typeof wait !== "string" ? "waits neither for a step nor for a signal" : isBeats(within) ? undefined : `waits within no whole number of beats from 1 to ${MAX_WAIT}`,
  decide: ({ decide, to }: Decide<unknown, string>) => typeof decide !== "function" ? "has a decide that is no function" : Array.isArray(to) && to.length > 0 ? undefined : "does not say in to where it can go on",
  clamp: ({ clamp }: Clamp<string>) => typeof clamp === "object" && clamp !== null && isCount(clamp.steps) && isBeats(clamp.beats) ? undefined : `clamps to no whole numbers of steps from 1 and of beats from 1 to ${MAX_WAIT}`
}

const fault = (kind: Kind, step: never): string | undefined => faults[kind](step)

/** A circle of steps, where there is one: an instance would never end. */
const circle = (steps: ReadonlyMap<string, Placed>): string | undefined => {
  const over = new Set<string>()
  const walk = (name: string, path: ReadonlyArray<string>): string | undefined => {
    if (path.includes(name)) return `its steps go round in a circle: ${[...path.slice(path.indexOf(name)), name].join(" → ")}`
    if (over.has(name) || !steps.has(name)) return undefined
    for (const goal of goals(steps.get(name)!)) {
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

/** A Wait for something that no step before it spawns. */
const unspawned = (steps: ReadonlyMap<string, Placed>): string | undefined => {
  for (const { kind, name, step } of steps.values()) {
    const awaited = kind === "wait" ? (step as Wait<unknown, string>).wait : undefined
    if (typeof awaited !== "string") continue
    const spawning = steps.get(awaited)
    if (spawning?.kind !== "transform") return `step "${name}" waits for "${awaited}", which is no transform of it`
    if (!leads(steps, awaited, name)) return `step "${name}" waits for "${awaited}", which does not come before it`
  }
  return undefined
}

const leads = (steps: ReadonlyMap<string, Placed>, from: string, to: string): boolean => {
  const seen = new Set([from])
  for (const name of seen) for (const goal of steps.has(name) ? goals(steps.get(name)!) : []) seen.add(goal)
  return seen.has(to)
}
