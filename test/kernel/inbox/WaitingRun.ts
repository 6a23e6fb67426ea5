/**
 * The waiting letters of durable runs, for tests of the inbox.
 *
 * @module
 */
import * as Signal from "../../../src/kernel/model/Signal.ts"

/** The signal that began the runs. */
export const sent = Signal.make({ id: "x.0.0", signal: "/signals/wait", target: undefined, payload: undefined, at: undefined }, {
  origin: "ingress", depth: 0, expected: 0, to: undefined, awaits: undefined, label: undefined
})

/** The number of a row, and the reason of its attempt. */
interface How {
  readonly seq?: number
  readonly why?: Signal.Again["why"]
}

/** A run that waits for signals, and for a time. It shares no text with other runs, like a run from a row. */
export const waiting = (n: number, hears: Signal.WaitingRun["hears"], { seq = n, why = "segment" }: How = {}): Signal.PendingSignal => {
  const run = { oid: `OPS:${String(n).padStart(32, "0")}`, dues: [{ beat: undefined, moment: 86_400_000_000 + n }], hears }
  const again = { enzyme: "run", attempt: 1, why, document: undefined, losses: 0, captured: 0, lane: undefined, loose: true, run }
  const pending = new Signal.PendingSignal(seq, sent, { again: why === "segment" ? { ...again, segment: 1 } : again })
  return Signal.PendingSignal.fromRow({ seq, text: pending.text })
}
