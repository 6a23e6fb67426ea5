import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { connect } from "../../src/cli/Client.ts"
import { type Answer, checkHandled } from "../../src/cli/SignalAnswer.ts"

/** A problem as a server answers a signal that is waited for. */
const problem = (status: number, code: string, event?: object): Response =>
  new Response(JSON.stringify({ type: "about:blank", title: "", status, detail: `it is ${code}`, code, event }), {
    status,
    headers: { "content-type": "application/problem+json", ...event === undefined ? {} : { location: "/v1/spaces/shop/receipts/x.1.0" } }
  })

/** Sends a signal to a server that answers so, and checks that it is handled. Returns the exit code and the stable code. */
const sent = (response: Response) => {
  const client = connect({ fetch: () => Promise.resolve(response), url: "http://localhost", token: undefined, unreachable: () => "" })
  return client.ask<Answer>("/v1/spaces/shop/signals", { method: "POST", body: {}, isOfEvent: true }).pipe(
    Effect.flatMap(checkHandled),
    Effect.match({ onFailure: ({ code, exit }) => [exit, code], onSuccess: () => [0] })
  )
}

const event = { id: "x.1.0", beat: 1, handlings: [] }

describe("The end of a signal on the command line", () => {
  it.effect("goes by the code of the answer", () =>
    Effect.gen(function*() {
      const handled = new Response(JSON.stringify({ ...event, status: "handled" }), { headers: { "content-type": "application/json" } })
      assert.deepStrictEqual(yield* sent(handled), [0])
      const accepted = new Response(JSON.stringify({ id: "x.1.0", receipt: "/v1/x" }), { status: 202, headers: { location: "/v1/x" } })
      assert.deepStrictEqual(yield* sent(accepted), [5, "signal/pending"])
      assert.deepStrictEqual(yield* sent(problem(404, "signal/no-match", { ...event, status: "no-match" })), [3, "signal/no-match"])
      assert.deepStrictEqual(yield* sent(problem(409, "registry/cycle", { ...event, status: "cycle" })), [1, "registry/cycle"])
      // As a refusal, this code asks to send the request again; the event is over.
      assert.deepStrictEqual(yield* sent(problem(422, "store/busy", { ...event, status: "dead" })), [1, "store/busy"])
      assert.deepStrictEqual(yield* sent(problem(422, "signal/invalid")), [2, "signal/invalid"])
      assert.deepStrictEqual(yield* sent(problem(503, "store/busy")), [4, "store/busy"])
      const elsewhere = new Response(null, { status: 307, headers: { location: "http://other/" } })
      assert.deepStrictEqual(yield* sent(elsewhere), [1, "server/redirect"])
    }))
})
