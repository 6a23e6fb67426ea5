/**
 * A flow of a review, and spaces with it, for tests.
 *
 * @module
 */
import { Schema } from "effect"
import { type Enzyme, Flow, type Transaction } from "systole"
import * as RendezvousSpace from "../rendezvous/RendezvousSpace.ts"

/** A flow that asks for a review, and prints if the review is applied. */
export const review = Flow.make({
  name: "review",
  input: Schema.Struct({ pages: Schema.Number }),
  steps: {
    enough: { guard: ({ input }) => input.pages > 0, otherwise: "done" },
    ask: { transform: ({ input }) => ({ due_off: 20, telemetry: { pages: input.pages } }) },
    answer: { wait: "ask", within: 10, otherwise: "error" },
    choose: {
      decide: ({ results }) => (results["answer"] as Flow.Completion).outcome === "applied" ? "print" : "error",
      to: ["print", "error"]
    },
    print: { transform: () => ({ key: "printing", due_off: 5, deadl_off: 0 }) },
    printed: { wait: "print" }
  }
})

/** Starts an instance of the flow. */
export const start = (input: unknown = { pages: 3 }, inst = "one") => (tx: Transaction) => tx.flow.start("review", input, { inst })

/** The verbs of the tests of flows, on the instance `one`. */
export const verbs = {
  start: start(),
  report: (tx: Transaction) => tx.rv.report("one.ask", { good: true }),
  print: (tx: Transaction) => tx.rv.report("printing"),
  pause: (tx: Transaction) => tx.flow.pause("one"),
  resume: (tx: Transaction) => tx.flow.resume("one"),
  cancel: (tx: Transaction) => tx.flow.cancel("one")
}

/** A space with the flow and the verbs. */
export const begin = (more: Readonly<Record<string, (tx: Transaction) => unknown>> = {}, enzymes: ReadonlyArray<Enzyme.Enzyme> = []) =>
  RendezvousSpace.space({ ...verbs, ...more }, [review, ...enzymes])
