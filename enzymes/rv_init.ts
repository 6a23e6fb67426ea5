/**
 * The first-party enzyme that creates the rendezvous ledger of a space and the default values of each profile.
 * Existing cells are kept.
 *
 * @module
 */
import { Enzyme } from "systole"

/** The initial values of the cells `/defaults/<profile>`, which a project may overwrite. */
const defaults: Readonly<Record<string, object>> = {
  "rv-fixed": { on_miss: "timeout", kill_mode: "none" },
  "rv-epoch": { on_miss: "timeout", kill_mode: "none", epoch_k: "1" },
  "rv-cas": { on_miss: "quarantine", kill_mode: "none" },
  observer: { on_miss: "ignore", kill_mode: "none" },
  spec: { on_miss: "timeout", kill_mode: "none" }
}

export default Enzyme.make({
  name: "rv_init",
  query: "/CEP:sig_sys/init",
  writes: ["/data/rv", "/data/inbox/flow/inst_event", "/defaults/*"],
  run: (tx) => {
    for (const ledger of ["/data/rv", "/data/inbox/flow/inst_event"]) if (tx.get(ledger) === undefined) tx.set(ledger, {})
    for (const [profile, fields] of Object.entries(defaults)) {
      const cell = `/defaults/${profile}`
      if (tx.get(cell) === undefined) tx.set(cell, fields)
    }
  }
})
