/**
 * Steps: what a flow is made of.
 *
 * (Seed 001, "Pipeline integration"; semantics, section 5.7.)
 *
 * @module
 */
import type { Value } from "../cell/Value.ts"
import type { RendezvousSpec } from "../stage/Launch.ts"

/** Where a step can go on: another step, or the end, well or not. */
export type Goal<Name extends string> = Name | "done" | "error"

/** What a step sees: the instance, what came before, and the space, which it only reads. */
export interface View<Input = unknown> {
  readonly inst: string
  readonly beat: number
  readonly input: Input
  /** What each step came to that is behind: true or false, a key, a choice, or a completion, whose event is read where its telemetry is looked at. */
  readonly results: Readonly<Record<string, unknown>>
  /** The value at an address, as runs of this beat see it. */
  readonly get: (address: string) => Value
}

/** What a Wait comes to: how the work ended, and what was told of it. */
export interface Completion {
  readonly outcome: "applied" | "timeout" | "killed" | "late"
  readonly telemetry: unknown
}

/** Goes on where its condition holds, and else to `otherwise`: by default the end, in error. */
export interface Guard<Input, Name extends string> {
  readonly guard: (view: View<Input>) => boolean
  readonly next?: Goal<Name>
  readonly otherwise?: Goal<Name>
}

/**
 * Spawns a rendezvous, which ends with its instance at the latest; its key is `<instance>.<step>` unless given.
 *
 * The `inst_id` is the instance. Variants (`prof: "spec"`) get one of their own, `<instance>.<step>`, so that two steps
 * end each other's work only where they give the same `inst_id`.
 */
export interface Transform<Input, Name extends string> {
  readonly transform: (view: View<Input>) => Omit<RendezvousSpec, "key"> & { readonly key?: string }
  readonly next?: Goal<Name>
}

/** Waits for the completion of what a Transform spawned, or, from then on, of any rendezvous with a signal path; where `within` beats, at most 2^43, are over first, goes on at `otherwise` in the beat after. */
export interface Wait<Input, Name extends string> {
  readonly wait: Name | ((view: View<Input>) => string)
  readonly within?: number
  readonly next?: Goal<Name>
  readonly otherwise?: Goal<Name>
}

/** Goes on at the step that it chooses, which is one of `to`. */
export interface Decide<Input, Name extends string> {
  readonly decide: (view: View<Input>) => Goal<Name>
  readonly to: ReadonlyArray<Goal<Name>>
}

/** Lets no more steps or beats pass than so many since the start; beyond, goes on at `otherwise`: by default the end, in error. */
export interface Clamp<Name extends string> {
  readonly clamp: { readonly steps?: number; readonly beats?: number }
  readonly next?: Goal<Name>
  readonly otherwise?: Goal<Name>
}

export type Step<Input = unknown, Name extends string = string> = Guard<Input, Name> | Transform<Input, Name> | Wait<Input, Name> | Decide<Input, Name> | Clamp<Name>

/** A step as it is gone through. */
export interface Placed {
  readonly name: string
  readonly kind: Kind
  readonly next: string
  readonly otherwise: string
  readonly step: Step
}

/** The kinds of steps, each named after the field that a step of it has. */
export const kinds = ["guard", "transform", "wait", "decide", "clamp"] as const
export type Kind = typeof kinds[number]

/** Where a step can go on. */
export const goals = ({ kind, next, otherwise, step }: Placed): ReadonlyArray<string> =>
  kind === "decide" ? (step as Decide<unknown, string>).to : kind === "transform" ? [next] : [next, otherwise]
