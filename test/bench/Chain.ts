/**
 * A chain of ten signals, each handled in a beat of its own. Servers and objects of ours answer with it.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Address, Enzyme, type Space } from "systole"

const STEPS = 10

/** The enzyme of one step. It sends the next one, or writes the result and calls `ended`. */
export const step = (ended: () => void): Enzyme.Enzyme =>
  Enzyme.make({
    name: "step",
    query: "/signals/bench/step",
    bind: ["/data/chain"],
    writes: ["/data/chain/*"],
    run: (tx, event) => {
      const { left, value } = event.payload as { readonly left: number; readonly value: number }
      const next = value + 1
      if (left > 1) tx.signal({ signal: "/signals/bench/step", target: event.target, payload: { left: left - 1, value: next } })
      else {
        ended()
        tx.set(event.target!, next)
      }
      return next
    }
  })

/** Answers a request with a chain. The response waits until the last result is durable. */
export const answer = async (space: Space, request: Request): Promise<Response> => {
  const { id, payload } = await request.json() as { readonly id: string; readonly payload: { readonly n: number } }
  const target = `/data/chain/${Address.name(`/${id}`)}`
  const value = await Effect.runPromise(Effect.gen(function*() {
    yield* space.signal({ signal: "/signals/bench/step", target, payload: { left: STEPS, value: payload.n } })
    const seen = yield* space.watch(target).pipe(Stream.filter(({ value }) => value !== undefined), Stream.runHead)
    return seen._tag === "Some" ? seen.value.value : undefined
  }))
  return Response.json({ id, value })
}
