/**
 * The steps of a flow [S1 §Technical Details].
 *
 * @module
 */
import type { Value } from "../cell/Value.ts"
import type { RendezvousSpec } from "../stage/Launch.ts"

/** The next step, or an end: `done` or `error`. */
export type Goal<Name extends string> = Name | "done" | "error"

/** A step's view of its instance, of earlier results, and of the space, which is read-only. */
export interface View<Input = unknown> {
  readonly inst: string
  readonly beat: number
  readonly input: Input
  /**
   * The results of finished steps: true or false, a key, a choice, or a completion. A completion's event is read only
   * when its telemetry is.
   */
  readonly results: Readonly<Record<string, unknown>>
  /** The value at an address, as runs of this beat see it. */
  readonly get: (address: string) => Value
}

/** The result of a Wait: the outcome and the telemetry of a rendezvous. */
export interface Completion {
  readonly outcome: "applied" | "timeout" | "killed" | "late"
  readonly telemetry: unknown
}

/** Continues at `next` if its condition holds, else at `otherwise`, by default `error`. */
export interface Guard<Input, Name extends string> {
  readonly guard: (view: View<Input>) => boolean
  readonly next?: Goal<Name>
  readonly otherwise?: Goal<Name>
}

/**
 * Spawns a rendezvous, which ends with its instance at the latest. Its key is `<instance>.<step>` by default.
 *
 * The `inst_id` is the instance. Variants (`prof: "spec"`) get one of their own, `<instance>.<step>`. Two steps thus end
 * each other's variants only if both give the same `inst_id`.
 */
export interface Transform<Input, Name extends string> {
  readonly transform: (view: View<Input>) => Omit<RendezvousSpec, "key"> & { readonly key?: string }
  readonly next?: Goal<Name>
}

/**
 * Waits for the completion of a Transform's rendezvous, or of any later one with a signal path. A Wait times out after
 * `within`, which is a number of beats, at most 2^43, or a time such as `"10s"`. It continues at `otherwise` in the beat after.
 */
export interface Wait<Input, Name extends string> {
  readonly wait: Name | ((view: View<Input>) => string)
  readonly within?: number | string
  readonly next?: Goal<Name>
  readonly otherwise?: Goal<Name>
}

/** Continues at the step that it chooses, one of `to`. */
export interface Decide<Input, Name extends string> {
  readonly decide: (view: View<Input>) => Goal<Name>
  readonly to: ReadonlyArray<Goal<Name>>
}

/**
 * Limits the steps since the start, or the time in beats or as a text such as `"10m"`. Beyond the limit, continues at `otherwise`, by
 * default `error`.
 */
export interface Clamp<Name extends string> {
  readonly clamp: { readonly steps?: number; readonly beats?: number | string }
  readonly next?: Goal<Name>
  readonly otherwise?: Goal<Name>
}

export type Step<Input = unknown, Name extends string = string> =
  Guard<Input, Name> | Transform<Input, Name> | Wait<Input, Name> | Decide<Input, Name> | Clamp<Name>

/** A compiled step. */
export interface CompiledStep {
  readonly name: string
  readonly kind: Kind
  readonly next: string
  readonly otherwise: string
  readonly step: Step
}

/** The kinds of steps, each named after its field. */
export const kinds = ["guard", "transform", "wait", "decide", "clamp"] as const
export type Kind = typeof kinds[number]

/** The goals of a step. */
export const goals = ({ kind, next, otherwise, step }: CompiledStep): ReadonlyArray<string> =>
  kind === "decide" ? (step as Decide<unknown, string>).to : kind === "transform" ? [next] : [next, otherwise]
