/**
 * The due times of sleeps.
 *
 * @module
 */
import * as Duration from "../time/Duration.ts"
import type { Draft } from "../stage/Draft.ts"
import * as Due from "../stage/Due.ts"
import type { Delay } from "../stage/Launch.ts"
import { TransactionRefused } from "../stage/TransactionRefused.ts"

/** The length of a sleep in words. */
export const shown = (delay: Delay): string =>
  typeof delay === "number" ? `${delay} ms` : typeof delay === "string" ? delay : `${delay.beats} beats`

/**
 * The due time of a sleep that begins now.
 *
 * @throws TransactionRefused
 */
export const dueOf = (delay: Delay, { moment }: Draft): Due.Due => {
  const time = typeof delay === "string" ? Duration.parse(delay) ?? delay : delay
  const length = typeof time === "object" ? time?.beats : time
  const isTime = typeof time === "number"
  const isValid = typeof length === "number" && length >= 0 && (isTime || Number.isInteger(length))
  if (!isValid) {
    const given = JSON.stringify(delay)
    throw new TransactionRefused({ reason: `tx.sleep needs a time such as "10s", milliseconds or { beats }, from 0 on, and got ${given}` })
  }
  const bounded = Math.min(length, Due.MAX_WAIT)
  return isTime ? { beat: undefined, moment: moment.clock + Math.ceil(bounded) } : Due.after(bounded, moment)
}
