/**
 * A flow that requests a quote for an order from an external worker, and the approval of a person if the price is high.
 *
 * @module
 */
import { Flow } from "systole"

/** The input of the flow. */
interface Order {
  readonly goods: string
  /** The time for the approval before the first grace period, in beats; default 600, one minute. */
  readonly patience?: number
}

/** The highest price that needs no approval. */
export const CHEAP = 100

const completion = (results: Readonly<Record<string, unknown>>, step: string): Flow.Completion => results[step] as Flow.Completion

const priceOf = (results: Readonly<Record<string, unknown>>): number =>
  (completion(results, "quoted").telemetry as { readonly price: number }).price

export default Flow.make({
  name: "approval",
  steps: {
    limit: { clamp: { steps: 20 } },
    quote: { transform: ({ input }) => ({ due_off: 100, max_grace: 3, grace_delta: 100, telemetry: { goods: (input as Order).goods } }) },
    quoted: { wait: "quote" },
    priced: { guard: ({ results }) => completion(results, "quoted").outcome === "applied" },
    dear: { decide: ({ results }) => priceOf(results) > CHEAP ? "ask" : "done", to: ["ask", "done"] },
    ask: {
      transform: ({ input, results }) => {
        const { goods, patience = 600 } = input as Order
        return { due_off: patience, max_grace: 2, grace_delta: patience, telemetry: { goods, price: priceOf(results) } }
      }
    },
    answer: { wait: "ask" },
    agreed: {
      guard: ({ results }) => {
        const { outcome, telemetry } = completion(results, "answer")
        return outcome === "applied" && (telemetry as { readonly approved?: boolean }).approved === true
      }
    }
  }
})
