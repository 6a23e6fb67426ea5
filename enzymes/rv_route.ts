/**
 * Takes completions that come as signals, `/CEP:sig_rv/<key>` or the entry's
 * signal path with the telemetry as payload, into the ledger, which mirrors each
 * to the inbox of flows.
 *
 * @module
 */
import { Enzyme } from "systole"

export default Enzyme.make({
  name: "rv_route",
  query: "/CEP:sig_rv/:key",
  run: (tx, event) => {
    const key = tx.rv.keyOf(event.signal!)
    return key !== undefined && tx.rv.report(key, (event.payload ?? {}) as Readonly<Record<string, unknown>>)
  }
})
