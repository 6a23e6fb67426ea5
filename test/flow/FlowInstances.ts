/**
 * Instances of flows, as tests look at them.
 *
 * @module
 */
import { Effect } from "effect"
import type { Flow, Space } from "systole"

/** An instance as it is kept. */
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

/** What a Wait came to, with what its event tells. */
export const heard = Effect.fnUntraced(function*(space: Space, inst: string, step: string) {
  const { link, ...result } = (yield* instance(space, inst)).results[step] as { readonly key: string; readonly outcome: string; readonly link: { readonly $link: string } }
  const { telemetry } = (yield* space.get(link.$link)) as unknown as Flow.Completion
  return { ...result, telemetry }
})
