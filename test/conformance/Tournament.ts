/**
 * A tournament: deterministic rejections.
 *
 * Each two of its contenders write a shared document. So one contender wins in
 * each beat, in order of arrival, and each of the others loses on the document
 * shared with it. Contender number n is rejected n times, and then applied.
 *
 * @module
 */
import { Effect } from "effect"
import type { Enzyme, Space, Transaction } from "systole"
import { enzyme } from "../kernel/TestSpace.ts"

/** The enzyme of this number of contenders, the runs of each, and a further action of each. */
export const make = (count: number, also: (tx: Transaction, n: number, run: number) => void = () => {}): {
  readonly enzymes: ReadonlyArray<Enzyme.Enzyme>
  readonly ran: Array<number>
} => {
  const ran: Array<number> = Array.from({ length: count }, () => 0)
  const contend = enzyme("contend", (tx, { params }) => {
    const n = Number(params["n"])
    const run = ran[n] = (ran[n] ?? 0) + 1
    for (let other = 0; other < count; other++) {
      if (other !== n) tx.set(`/data/pair/${Math.min(n, other)}-${Math.max(n, other)}`, n)
    }
    tx.increment(`/data/applied/${n}`)
    also(tx, n, run)
  }, { query: "/signals/contend/:n" })
  return { enzymes: [contend], ran }
}

/** Sends all contenders in order. Returns their ids. */
export const start = (space: Space, count: number) =>
  Effect.forEach(
    Array.from({ length: count }, (_, n) => n),
    (n) => Effect.map(space.signal({ signal: `/signals/contend/${n}`, payload: n }), ({ id }) => id)
  )
