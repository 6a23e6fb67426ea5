/**
 * Reads of flow instances, for tests.
 *
 * @module
 */
import { Effect } from "effect"
import type { Flow, Space } from "systole"

/** A stored instance. */
export interface Kept {
  readonly state: string
  readonly pc: string
  readonly steps_used: number
  readonly note?: string
  readonly results: Readonly<Record<string, unknown>>
  readonly history: ReadonlyArray<{ readonly step: string; readonly beat: number; readonly outcome: string }>
}

export const instance = (space: Space, inst: string) => space.get(`/data/flow/inst/${inst}`) as unknown as Effect.Effect<Kept>

export const stateOf = (space: Space, inst: string) => Effect.map(instance(space, inst), ({ state }) => state)

/** The result of a wait step, with the telemetry of its event. */
export const heard = Effect.fnUntraced(function*(space: Space, inst: string, step: string) {
  const { link, ...result } = (yield* instance(space, inst)).results[step] as {
    readonly key: string
    readonly outcome: string
    readonly link: { readonly $link: string }
  }
  const { telemetry } = (yield* space.get(link.$link)) as unknown as Flow.Completion
  return { ...result, telemetry }
})
