/**
 * Records the decision on each order exactly once.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import { Cell, Enzyme } from "systole"

/** The decisions, by the instance of the flow, and how often each was recorded. */
export const Decisions = Cell.family(
  "/data/decisions/:order",
  Schema.Struct({ decided: Schema.Literals(["order", "refuse"]), times: Schema.Natural })
)

export default Enzyme.make({
  name: "record",
  query: "/CEP:sig_inst/:state",
  bind: ["/data/flow/inst"],
  target: "required",
  writes: [Decisions],
  run: (tx, { params: { state }, target }) => {
    const decision = Decisions.at({ order: target.slice(target.lastIndexOf("/") + 1) })
    tx.set(Cell.into(decision, "decided"), state === "done" ? "order" : "refuse")
    tx.increment(Cell.into(decision, "times"))
  }
})
