/**
 * The due times of sleeps.
 *
 * @module
 */
import type { Draft } from "../stage/Draft.ts"
import * as Due from "../stage/Due.ts"
import type { Delay } from "../stage/Launch.ts"
import { TransactionRefused } from "../stage/TransactionRefused.ts"

/**
 * The due time of a sleep that begins now.
 *
 * @throws TransactionRefused
 * @category getters
 * @since 0.1.0
 */
export const dueOf = (delay: Delay, { moment }: Draft): Due.Due => {
  const length = typeof delay === "number" ? delay : delay?.beats
  const isValid = typeof length === "number" && length >= 0 && (typeof delay === "number" || Number.isInteger(length))
  if (!isValid) {
    throw new TransactionRefused({ reason: `tx.sleep needs milliseconds or { beats }, from 0 on, and got ${JSON.stringify(delay)}` })
  }
  const bounded = Math.min(length, Due.MAX_WAIT)
  return typeof delay === "number" ? { beat: undefined, moment: moment.clock + Math.ceil(bounded) } : Due.after(bounded, moment)
}
