/**
 * The cells and signals of the checkout.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import { Cell, Signal } from "systole"

/** The wish of a customer, as the payload of the signal. */
const Wanted = Schema.Struct({ item: Schema.String, card: Schema.String, cents: Schema.Natural })

/** The orders, by the last segment of the signal's target. `reason` is the code of the failure that released it. */
export const Orders = Cell.family("/data/orders/:order", Schema.Struct({
  item: Schema.String,
  cents: Schema.Natural,
  status: Schema.Literals(["placed", "reserved", "charged", "shipped", "released"]),
  reason: Schema.optionalKey(Schema.String)
}))

/** The URL of the partners. */
export const Partners = Cell.of("/data/partners", Schema.String)

/** Begins an order. */
export const Checkout = Signal.make("/signals/order/checkout", Wanted)

/** A person's answer to an expensive order. */
export const Confirm = Signal.make("/signals/order/confirm", Schema.Struct({ confirmed: Schema.Boolean }))
