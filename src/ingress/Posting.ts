/**
 * The answer to a posted signal: 202 when it is durable, or the receipt when it
 * is handled in time.
 *
 * This is the one hot path of the ingress, so it goes by callbacks: usually the
 * receipt is there with the flush that made the signal durable, and no timer is
 * needed.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { Accepted, PostedSignal, Space } from "../kernel/view/Space.ts"
import * as Json from "./Json.ts"
import * as Wire from "./Wire.ts"

/**
 * Posts a signal, and waits for its receipt as long as the caller prefers. Rejects with what the space refuses.
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
