/**
 * Handles an order: the signal `/signals/order/checkout` with the target `/data/orders/<order>`.
 *
 * The run reserves the goods, awaits a person's confirmation of an expensive order, charges the card and ships. Each call
 * has its own idempotency key, so a call that is repeated after a crash has a single effect.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import { Enzyme, type Transaction } from "systole"

const Order = Schema.Struct({ item: Schema.String, card: Schema.String, cents: Schema.Natural })

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
const codeOf = (error: unknown): string => String((error as { readonly code?: unknown }).code ?? error)

/** Makes the calls of an order to the partners. Their URL is in the cell `/data/partners`. */
const callsOf = (tx: Transaction, order: object) => {
  const partners = String(tx.get("/data/partners"))
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
const confirmed = async (tx: Transaction, target: string): Promise<void> => {
  const late = tx.sleep(PATIENCE).then(() => undefined)
  const answer = await Promise.race([tx.waitForSignal("/signals/order/confirm", target), late])
  if ((answer?.payload as { readonly confirmed?: unknown } | undefined)?.confirmed !== true) throw new Unconfirmed()
}

export default Enzyme.make({
  name: "checkout",
  query: "/signals/order/checkout",
  bind: ["/data/orders"],
  target: "required",
  payload: Order,
  writes: ["/data/orders/*"],
  durable: true,
  hears: ["/signals/order/confirm"],
  run: async (tx, { payload, target }) => {
    const { cents, item } = payload
    const call = callsOf(tx, { order: target.slice(target.lastIndexOf("/") + 1), ...payload })
    const enter = (status: string): void => tx.set(`${target}#/status`, status)
    tx.set(target, { item, cents, status: "placed" })
    const undo: Array<string> = []
    try {
      // A failed call may have had its effect, so its compensation is noted before it.
      undo.unshift("release")
      await call("reserve", FEW)
      enter("reserved")
      if (cents > CHEAP) await confirmed(tx, target)
      undo.unshift("refund")
      await call("charge", FEW)
      enter("charged")
    } catch (error) {
      for (const step of undo) await call(step, MANY)
      tx.merge(target, { status: "released", reason: codeOf(error) })
      return "released"
    }
    // From the payment on, the run only goes forward.
    await call("ship", MANY)
    enter("shipped")
    return "shipped"
  }
})
