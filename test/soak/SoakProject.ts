/**
 * The project of the soak: enzymes that count what they handle, and a derived sum of all counters.
 *
 * @module
 */
import type { Ground } from "../attack/Part.ts"

/** The longest delay of a signal, in milliseconds. */
export const DELAY = 500

/** The kinds of signals, each with its counters. A signal adds 1 to each of them. */
export const kinds = { count: ["count"], late: ["begun", "late"], photo: ["photo"], order: ["order", "charged", "slept"] } as const

export type Kind = keyof typeof kinds

const enzymes = (url: string): string => `import { Computation, Enzyme } from "systole"

const count = (tx, what) => tx.increment("/data/done/" + what)

export default [
  Enzyme.make({ name: "count", query: "/signals/soak/count/:n", run: (tx) => count(tx, "count") }),
  Enzyme.make({
    name: "begin",
    query: "/signals/soak/late/:n",
    run: (tx, event) => {
      count(tx, "begun")
      tx.signal({ signal: "/signals/late/" + event.params.n, at: { ms: ${DELAY} } })
    }
  }),
  Enzyme.make({ name: "late", query: "/signals/late/:n", run: (tx) => count(tx, "late") }),
  Enzyme.make({
    name: "photo",
    query: "/signals/soak/photo/:n",
    run: (tx, { payload: { address, size } }) => {
      if (tx.get(address)?.length !== size) throw new Error("the upload is not whole")
      tx.set("/data/photo", { address })
      count(tx, "photo")
    }
  }),
  Enzyme.make({
    name: "order",
    query: "/signals/soak/order/:n",
    durable: true,
    limitMs: 30_000,
    run: async (tx, { params: { n } }) => {
      count(tx, "order")
      const payload = { url: "${url}/charge/" + n, method: "POST", expect: "2xx" }
      await tx.io.request({ channel: "shop", opcode: "fetch", payload })
      count(tx, "charged")
      await tx.sleep(${DELAY})
      count(tx, "slept")
    }
  }),
  Enzyme.make({ name: "end", query: "/signals/end", run: () => 0 }),
  Enzyme.make({ name: "beat", query: "/signals/beat", run: (tx) => tx.increment("/data/beats") }),
  Computation.make({
    name: "total",
    output: "/data/total",
    run: (tx) => tx.list("/data/done").reduce((sum, name) => sum + Number(tx.get("/data/done/" + name)), 0)
  })
]
`

/** The channels and modules of the load. `url` is that of the counting server. */
export const ground = (url: string): Ground => ({
  channels: { shop: { use: "http", options: { allow: ["127.0.0.1"] } } },
  enzymes: { soak: enzymes(url) }
})

/** A control file that sends a signal each minute. */
export const schedule = `---
version: 1
status: idle
---

# Heartbeat

## Pending Actions

### [MEDIUM] beat
- **id**: beat
- **type**: signal
- **signal**: /signals/beat
- **schedule**: every:1m
- **status**: pending
`
