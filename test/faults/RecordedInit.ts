/**
 * The enzyme `rv_init` as it was when the stores of `test/recorded` were made: it reads each cell that it may create, so it loses one
 * of them to `mr_init`. A replay runs the enzyme of its record.
 *
 * @module
 */
import { enzyme } from "../kernel/TestSpace.ts"

const profiles: Readonly<Record<string, object>> = {
  "rv-fixed": { on_miss: "timeout", kill_mode: "none" },
  "rv-epoch": { on_miss: "timeout", kill_mode: "none", epoch_k: "1" },
  "rv-cas": { on_miss: "quarantine", kill_mode: "none" },
  observer: { on_miss: "ignore", kill_mode: "none" },
  spec: { on_miss: "timeout", kill_mode: "none" }
}

export default enzyme("rv_init", (tx) => {
  for (const ledger of ["/data/rv", "/data/inbox/flow/inst_event"]) if (tx.get(ledger) === undefined) tx.set(ledger, {})
  for (const [profile, fields] of Object.entries(profiles)) {
    if (tx.get(`/defaults/${profile}`) === undefined) tx.set(`/defaults/${profile}`, fields)
  }
}, { query: "/CEP:sig_sys/init", writes: ["/data/rv", "/data/inbox/flow/inst_event", "/defaults/*"] })
