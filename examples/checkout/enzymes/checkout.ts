/**
 * Handles an order: the signal `/signals/order/checkout` with the target `/data/orders/<order>`.
 *
 * The run reserves the goods, awaits a person's confirmation of an expensive order, charges the card and ships. Each call
 * has its own idempotency key, so a call that is repeated after a crash has a single effect.
 *
 * @module
 */
import { Cell, Enzyme, type Transaction } from "systole"
import { Checkout, Confirm, Orders, Partners } from "../cells.ts"

/** The highest price without a confirmation, in cents. */
const CHEAP = 10_000

/** The time for a confirmation: a day, in milliseconds. */
const PATIENCE = 86_400_000

/** The attempts of a call before its compensation, and of calls that have to succeed. */
const FEW = 10
const MANY = 1000

/** The refusal of a person, or a missing confirmation. */
class Unconfirmed extends Error {
  readonly code = "order/unconfirmed"
}

/** Returns the stable code of a failure, such as `http/status` of a request. */
const codeOf = (error: unknown): string => error instanceof Error && "code" in error ? String(error.code) : String(error)

/** Makes the calls of an order to the partners. */
const callsOf = (tx: Transaction, order: object) => {
  const partners = tx.get(Partners)
  return (step: string, attempts: number) => {
    const headers = { "content-type": "application/json" }
    return tx.io.fetch(`${partners}/${step}`, { method: "POST", headers, body: JSON.stringify(order), expect: "2xx" }, { attempts })
  }
}

/**
 * Awaits the confirmation of an order: the signal `/signals/order/confirm` with `{ "confirmed": true }`.
 *
 * @throws Unconfirmed
 */
const confirmed = async (tx: Transaction, order: string): Promise<void> => {
  const late = tx.sleep(PATIENCE).then(() => undefined)
  const answer = await Promise.race([tx.waitForSignal(Confirm, Orders.at({ order })), late])
  if (answer?.payload.confirmed !== true) throw new Unconfirmed()
}

export default Enzyme.make({
  name: "checkout",
  query: Checkout,
  bind: [Orders],
  target: "required",
  writes: [Orders],
  durable: true,
  hears: [Confirm],
  run: async (tx, { payload, target }) => {
    const { cents, item } = payload
    const order = target.slice(target.lastIndexOf("/") + 1)
    const cell = Orders.at({ order })
    const status = Cell.into(cell, "status")
    const call = callsOf(tx, { order, ...payload })
    tx.set(cell, { item, cents, status: "placed" })
    const undo: Array<string> = []
    try {
      // A failed call may have had its effect, so its compensation is noted before it.
      undo.unshift("release")
      await call("reserve", FEW)
      tx.set(status, "reserved")
      if (cents > CHEAP) await confirmed(tx, order)
      undo.unshift("refund")
      await call("charge", FEW)
      tx.set(status, "charged")
    } catch (error) {
      for (const step of undo) await call(step, MANY)
      tx.merge(cell, { status: "released", reason: codeOf(error) })
      return "released"
    }
    // From the payment on, the run only goes forward.
    await call("ship", MANY)
    tx.set(status, "shipped")
    return "shipped"
  }
})
