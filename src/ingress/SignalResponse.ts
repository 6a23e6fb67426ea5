/**
 * The response to a posted signal: its receipt if it is handled in time, else 202 after it is durable.
 *
 * This is the hot path of the ingress, so it uses callbacks. The receipt usually arrives with the flush that makes the
 * signal durable, and then no timer is started.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { Accepted, PostedSignal, Space } from "../kernel/view/Space.ts"
import * as Json from "./Json.ts"
import * as Wire from "./Wire.ts"

/**
 * Posts a signal and waits at most `seconds` for its receipt. Rejects with the refusal of the space.
 *
 * @category combinators
 * @since 0.1.0
 */
export const answer = (space: Space, request: PostedSignal, seconds: number | undefined): Promise<Response> =>
  new Promise((resolve, reject) => {
    if (seconds === undefined) {
      space.post(request, { accepted: (accepted) => resolve(taken(space, accepted)), fail: reject })
      return
    }
    let timer: Fiber.Fiber<void> | undefined
    let isOver = false
    const cancel = space.post(request, {
      settled: (receipt) => {
        isOver = true
        if (timer !== undefined) Effect.runFork(Fiber.interrupt(timer))
        resolve(Json.answer(Wire.receipt(receipt, request), { headers: { "preference-applied": `wait=${seconds}` } }))
      },
      accepted: (accepted) => {
        if (isOver) return
        timer = Effect.runFork(Effect.andThen(
          Effect.sleep(seconds * 1000),
          Effect.sync(() => {
            cancel()
            resolve(taken(space, accepted))
          })
        ))
      },
      fail: reject
    })
  })

const taken = (space: Space, accepted: Accepted): Response => {
  const location = `/v1/spaces/${space.name}/receipts/${encodeURIComponent(accepted.id)}`
  return Json.answer({ ...accepted, receipt: location }, { status: 202, headers: { location } })
}
