/**
 * Random flows as data, from which the reference model and a real flow are made.
 *
 * @module
 */
import { type Enzyme, Flow } from "systole"
import * as Random from "../support/Random.ts"

/** A step. `bit` is the number of a bit of the instance's input. */
export type Step = { readonly name: string; readonly next: string; readonly otherwise: string } & (
  | { readonly kind: "guard"; readonly bit: number }
  | { readonly kind: "decide"; readonly bit: number }
  | { readonly kind: "transform"; readonly spec: Spec }
  | { readonly kind: "wait"; readonly source: string | undefined; readonly path: string; readonly within: number | undefined }
  | { readonly kind: "clamp"; readonly steps: number | undefined; readonly beats: number | undefined }
)

/** A rendezvous with a deadline, without one, or with epochs. */
export interface Spec {
  readonly due_off: number
  readonly deadl_off?: number
  readonly prof?: "rv-epoch"
  readonly epoch_k?: number
}

/** A flow and its steps. */
export interface Plan {
  readonly steps: ReadonlyArray<Step>
  readonly flow: Enzyme.Enzyme
}

/** Keys of rendezvous that belong to no instance; `pathOf` gives their signal paths. */
export const others = ["w0", "w1"]
export const pathOf = (key: string): string => `app:${key}`

/** Makes a random flow that is valid. */
export const random = (draw: Random.Random): Plan => {
  for (;;) {
    const steps = stepsOf(draw)
    try {
      return {
        steps,
        flow: Flow.make({ name: "random", steps: Object.fromEntries(steps.map((step) => [step.name, declared(step)])) as never })
      }
    } catch (error) {
      // A wait step may be unreachable from the transform that it waits for.
      if ((error as { readonly code?: string }).code !== "flow/declared") throw error
    }
  }
}

const specOf = (draw: Random.Random): Spec =>
  Random.pick(draw, [
    { due_off: draw(9) },
    { due_off: 1 + draw(9), deadl_off: 0 },
    { due_off: 0, prof: "rv-epoch", epoch_k: 1 + draw(4) }
  ] as const)

/** A number from 1 to `most`, or in half of the cases none. */
const maybe = (draw: Random.Random, most: number): number | undefined => draw(2) === 0 ? undefined : 1 + draw(most)

/** Kinds of steps, each as often as it is drawn. */
const kinds = ["guard", "decide", "transform", "transform", "transform", "wait", "wait", "wait", "wait", "clamp"] as const

const stepsOf = (draw: Random.Random): ReadonlyArray<Step> => {
  const names = Array.from({ length: 3 + draw(6) }, (_, i) => `s${i}`)
  const transforms: Array<string> = []
  return names.map((name, i): Step => {
    const later = [...names.slice(i + 1), "done", "error"]
    const goal = () => draw(3) > 0 ? later[0]! : Random.pick(draw, later)
    const goals = { name, next: goal(), otherwise: goal() }
    switch (Random.pick(draw, kinds)) {
      case "transform":
        transforms.push(name)
        return { ...goals, kind: "transform", spec: specOf(draw) }
      case "wait":
        return {
          ...goals,
          kind: "wait",
          source: transforms.length > 0 && draw(5) > 0 ? Random.pick(draw, transforms) : undefined,
          path: pathOf(Random.pick(draw, others)),
          within: maybe(draw, 6)
        }
      case "clamp":
        return { ...goals, kind: "clamp", steps: maybe(draw, 6), beats: maybe(draw, 9) }
      case "decide":
        return { ...goals, kind: "decide", bit: draw(8) }
      default:
        return { ...goals, kind: "guard", bit: draw(8) }
    }
  })
}

/** Whether a bit of a number is set. */
export const isSet = (input: unknown, bit: number): boolean => (Number(input) >> bit) % 2 === 1

const declared = (step: Step): object => {
  const { next, otherwise } = step
  switch (step.kind) {
    case "guard":
      return { guard: ({ input }: Flow.View) => isSet(input, step.bit), next, otherwise }
    case "decide":
      return { decide: ({ input }: Flow.View) => isSet(input, step.bit) ? next : otherwise, to: [next, otherwise] }
    case "transform":
      return { transform: () => step.spec, next }
    case "wait":
      return { wait: step.source ?? (() => step.path), ...(step.within === undefined ? {} : { within: step.within }), next, otherwise }
    default:
      return {
        clamp: { ...(step.steps === undefined ? {} : { steps: step.steps }), ...(step.beats === undefined ? {} : { beats: step.beats }) },
        next,
        otherwise
      }
  }
}
