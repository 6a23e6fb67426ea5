/**
 * The first-party enzyme that reports completions of rendezvous that arrive as signals.
 *
 * The signal is `/CEP:sig_rv/<key>` or the signal path of the entry, with the telemetry as payload. The ledger copies
 * each completion to the inbox of flows.
 *
 * @module
 */
import { Enzyme } from "systole"

export default Enzyme.make({
  name: "rv_route",
  query: "/CEP:sig_rv/:key",
  run: (tx, { payload, signal }) => {
    const key = signal === undefined ? undefined : tx.rv.keyOf(signal)
    return key !== undefined && tx.rv.report(key, (payload ?? {}) as Readonly<Record<string, unknown>>)
  }
})
