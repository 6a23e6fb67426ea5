/**
 * The first-party enzyme that creates the rendezvous ledger of a space and the default values of each profile.
 * Existing cells are kept.
 *
 * `mr_init` creates the folder of completions in the same beat. So this enzyme writes it without a look: equal writes
 * of two runs conflict only if the second one read the place. Nothing but the runtime writes there, and it writes `{}`.
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
    if (tx.get("/data/rv") === undefined) tx.set("/data/rv", {})
    tx.set("/data/inbox/flow/inst_event", {})
    for (const [profile, fields] of Object.entries(defaults)) {
      const cell = `/defaults/${profile}`
      if (tx.get(cell) === undefined) tx.set(cell, fields)
    }
  }
})
