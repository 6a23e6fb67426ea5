/**
 * A flow that requests a quote for an order from an external worker, and the approval of a person if the price is high.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import { Flow } from "systole"

/** The input of the flow. `patience` is the time for the approval before the first grace period, in beats; default 600, one minute. */
const Order = Schema.Struct({ goods: Schema.String, patience: Schema.optionalKey(Schema.Natural) })

/** The report of the worker. */
const isQuote = Schema.is(Schema.Struct({ outcome: Schema.Literal("applied"), telemetry: Schema.Struct({ price: Schema.Number }) }))

/** The report of a person who agrees. */
const isAgreed = Schema.is(
  Schema.Struct({ outcome: Schema.Literal("applied"), telemetry: Schema.Struct({ approved: Schema.Literal(true) }) })
)

/** The highest price that needs no approval. */
export const CHEAP = 100

/** The price that the worker reported. The step `priced` has checked that there is one. */
const priceOf = ({ quoted }: Readonly<Record<string, unknown>>): number => isQuote(quoted) ? quoted.telemetry.price : 0

export default Flow.make({
  name: "approval",
  input: Order,
  steps: {
    limit: { clamp: { steps: 20 } },
    quote: { transform: ({ input: { goods } }) => ({ due_off: 100, max_grace: 3, grace_delta: 100, telemetry: { goods } }) },
    quoted: { wait: "quote" },
    priced: { guard: ({ results }) => isQuote(results["quoted"]) },
    dear: { decide: ({ results }) => priceOf(results) > CHEAP ? "ask" : "done", to: ["ask", "done"] },
    ask: {
      transform: ({ input: { goods, patience = 600 }, results }) =>
        ({ due_off: patience, max_grace: 2, grace_delta: patience, telemetry: { goods, price: priceOf(results) } })
    },
    answer: { wait: "ask" },
    agreed: { guard: ({ results }) => isAgreed(results["answer"]) }
  }
})
