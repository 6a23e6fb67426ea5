/**
 * The project of the crash test: enzymes that count each handling of an event, and channels to a counting server.
 *
 * @module
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Orders from "./OrderProject.ts"

/** The interval of events with a retry. */
const SHY = 3

/** The interval of events with requests, of an ordinary run and of a durable one. */
const ASKING = 4

/** The counters of an event with requests. Each must be 1. */
const ASKED = ["charge", "pay", "bought", "charged", "paid", "confirmed", "slept"]

/** The counters of each event. */
const EACH = ["begin", "shy", "step1", "step2", "step3", "late"]

/** The counters of an event. */
export const effectsOf = (n: number): ReadonlyArray<string> =>
  [...EACH, ...n % ASKING === 0 ? ASKED : [], ...Orders.effectsOf(n)]

/** A channel with an opcode that must not be repeated. The server hears of it over HTTP, with the key of the request. */
const plugin = (url: string): string => `import { Plugin } from "systole"

export default Plugin.make({
  name: "till",
  version: "1.0.0",
  provides: {
    channels: {
      till: () => ({
        provider: "till",
        hosts: ["node", "deno", "bun"],
        opcodes: { pay: {} },
        execute: async ({ key, payload }) => {
          const response = await fetch("${url}/" + payload, { method: "POST", headers: { "idempotency-key": key } })
          return { value: await response.text() }
        }
      })
    }
  }
})
`

/**
 * Enzymes that count each handling of an event: at once, after a retry, in three more beats, delayed, and with a photograph.
 * Some events make requests, which are repeatable or not, and begin a durable run that charges, pays, hears and sleeps. Others
 * begin an order.
 */
const enzymes = (url: string): string => `import { Enzyme, Retry } from "systole"

const count = (tx, event, what) => tx.increment("/data/done/" + event.params.n + "/" + what)

export default [
  Enzyme.make({
    name: "begin",
    query: "/signals/begin/:n",
    run: (tx, event) => {
      count(tx, event, "begin")
      tx.increment("/data/total")
      tx.signal({ signal: "/signals/step/" + event.params.n, payload: 3 })
      tx.signal({ signal: "/signals/late/" + event.params.n, payload: 0, at: { beats: 2 } })
      const { hash, size } = event.payload
      if (hash !== undefined) tx.signal({ signal: "/signals/photo/" + event.params.n, payload: { hash, size } })
      if (event.params.n % ${ASKING} === 0) {
        const { n } = event.params
        tx.signal({ signal: "/signals/ask/" + n + "/begin" })
        tx.signal({ signal: "/signals/buy/" + n })
      }
      ${Orders.beginning}
    }
  }),${Orders.enzymes(url)}
  Enzyme.make({
    name: "ask",
    query: "/signals/ask/:n/:what",
    run: (tx, event) => {
      const { n, what } = event.params
      if (what === "begin") {
        const signal = "/signals/ask/" + n + "/end"
        tx.io.fetch("${url}/charge/" + n, { method: "POST", expect: "2xx" }, { signal })
        return tx.io.request({ channel: "till", opcode: "pay", payload: "pay/" + n, signal })
      }
      const { code, opcode, state } = event.payload
      const isExpected = state === "complete" || opcode === "pay" && code === "io/interrupted"
      const name = opcode === "pay" ? "pay" : "charge"
      count(tx, event, isExpected ? name : name + " " + state)
    }
  }),
  Enzyme.make({
    name: "buy",
    query: "/signals/buy/:n",
    durable: true,
    // A busy machine may take a second for the turns of a segment.
    limitMs: 30_000,
    hears: ({ params: { n } }) => [{ signal: "/signals/confirm", target: "/data/orders/" + n }],
    run: async (tx, event) => {
      const { n } = event.params
      count(tx, event, "bought")
      // Sent by the run itself: in a backlog, a delayed signal of the beginning event would come before the run begins.
      tx.signal({ signal: "/signals/confirm", target: "/data/orders/" + n, payload: n, at: { beats: 3 } })
      await tx.io.fetch("${url}/charged/" + n, { method: "POST", expect: "2xx" })
      count(tx, event, "charged")
      const paid = tx.io.request({ channel: "till", opcode: "pay", payload: "paid/" + n })
      const code = await paid.then(() => undefined, (error) => error.code)
      count(tx, event, code === undefined || code === "io/interrupted" ? "paid" : "paid " + code)
      const { payload } = await tx.waitForSignal("/signals/confirm", "/data/orders/" + n)
      count(tx, event, payload === n ? "confirmed" : "confirmed by " + payload)
      await Promise.race([tx.sleep(15), tx.sleep(3_600_000)])
      count(tx, event, "slept")
    }
  }),
  Enzyme.make({
    name: "shy",
    query: "/signals/begin/:n",
    run: (tx, event) => event.attempt === 1 && event.params.n % ${SHY} === 0 ? new Retry({ reason: "not yet" }) : count(tx, event, "shy")
  }),
  Enzyme.make({
    name: "step",
    query: "/signals/step/:n",
    run: (tx, event) => {
      count(tx, event, "step" + event.payload)
      if (event.payload > 1) tx.signal({ signal: "/signals/step/" + event.params.n, payload: event.payload - 1 })
    }
  }),
  Enzyme.make({
    name: "poison",
    query: "/signals/poison/:how",
    limitMs: 200,
    run: (tx, event) => {
      if (event.params.how === "exit") process.exit(0)
      for (;;) continue
    }
  }),
  Enzyme.make({ name: "late", query: "/signals/late/:n", run: (tx, event) => count(tx, event, "late") }),
  Enzyme.make({
    name: "photo",
    query: "/signals/photo/:n",
    lane: "space",
    run: (tx, event) => {
      if (tx.get("/cas/" + event.payload.hash)?.length === event.payload.size) count(tx, event, "photo")
    }
  })
]
`

const config = `export default {
  tempo: 10,
  channels: { till: "till", http: { use: "http", options: { allow: ["127.0.0.1"] } } },
  spaces: { create: "on-demand" },
  limits: { stuckMillis: 100 }
}
`

/** Writes the project into a folder. `url` is that of the counting server. */
export const write = (folder: string, url: string): void => {
  mkdirSync(join(folder, "enzymes"))
  mkdirSync(join(folder, "plugins"))
  writeFileSync(join(folder, "enzymes", "count.ts"), enzymes(url))
  writeFileSync(join(folder, "plugins", "till.ts"), plugin(url))
  writeFileSync(join(folder, "systole.config.ts"), config)
}
