/**
 * Handles an order: the signal `/signals/order/checkout` with the target `/data/orders/<order>`.
 *
 * The run reserves the goods, charges the card and ships. Each call has its own idempotency key, so a call that is
 * repeated after a crash has its effect once.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import { Enzyme, type Transaction } from "systole"

const Order = Schema.Struct({ item: Schema.String, card: Schema.String, cents: Schema.Natural })

/** The attempts before a compensation, and of calls that have to succeed. */
const FEW = 10
const MANY = 1000

/** A failure has the stable code of the request, such as `http/status`. */
const codeOf = (error: unknown): string => String((error as { readonly code?: unknown }).code ?? error)

/** The calls of one order to the partners, whose address is in the cell `/data/partners`. */
const callsOf = (tx: Transaction, order: object) => {
  const partners = String(tx.get("/data/partners"))
  return (step: string, attempts: number) => {
    const headers = { "content-type": "application/json" }
    return tx.io.fetch(`${partners}/${step}`, { method: "POST", headers, body: JSON.stringify(order), expect: "2xx" }, { attempts })
  }
}

export default Enzyme.make({
  name: "checkout",
  query: "/signals/order/checkout",
  bind: ["/data/orders"],
  payload: Order,
  writes: ["/data/orders/*"],
  durable: true,
  run: async (tx, { payload, target = "" }) => {
    const call = callsOf(tx, { order: target.slice(target.lastIndexOf("/") + 1), ...payload })
    const enter = (status: string): void => tx.set(`${target}#/status`, status)
    tx.set(target, { item: payload.item, cents: payload.cents, status: "placed" })
    const undo: Array<string> = []
    try {
      // A call that fails may have had its effect, so its compensation is noted first.
      undo.unshift("release")
      await call("reserve", FEW)
      enter("reserved")
      undo.unshift("refund")
      await call("charge", FEW)
      enter("charged")
    } catch (error) {
      for (const step of undo) await call(step, MANY)
      tx.merge(target, { status: "released", reason: codeOf(error) })
      return "released"
    }
    // The money is there: from here on the run only goes forward.
    await call("ship", MANY)
    enter("shipped")
    return "shipped"
  }
})
