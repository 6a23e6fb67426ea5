/**
 * Records the decision on each order exactly once.
 *
 * @module
 */
import { Enzyme } from "systole"

export default Enzyme.make({
  name: "record",
  query: "/CEP:sig_inst/:state",
  bind: ["/data/flow/inst"],
  target: "required",
  writes: ["/data/decisions/*"],
  run: (tx, { params, target }) => {
    const order = target.slice(target.lastIndexOf("/") + 1)
    tx.set(`/data/decisions/${order}#/decided`, params["state"] === "done" ? "order" : "refuse")
    tx.increment(`/data/decisions/${order}#/times`)
  }
})
