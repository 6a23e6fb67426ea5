/**
 * A Worker with enzymes that call what no replay can repeat: before an await, and after one.
 *
 * @module
 */
import { Enzyme, type Event } from "systole"
import { make } from "../../src/main/workers/index.ts"

/** The calls, by their names. */
const calls: Readonly<Record<string, () => unknown>> = {
  "Date.now()": () => Date.now(),
  "new Date()": () => new Date(),
  "performance.now()": () => performance.now(),
  "Math.random()": () => Math.random(),
  "crypto.randomUUID()": () => crypto.randomUUID(),
  "crypto.getRandomValues()": () => crypto.getRandomValues(new Uint8Array(1)),
  "setTimeout()": () => setTimeout(() => {}, 1),
  "setInterval()": () => setInterval(() => {}, 1),
  "AbortSignal.timeout()": () => AbortSignal.timeout(1),
  "fetch()": () => fetch("http://127.0.0.1:1"),
  "crypto.subtle.digest()": () => crypto.subtle.digest("SHA-256", new Uint8Array()),
  "scheduler.wait()": () => (globalThis as unknown as { readonly scheduler: { readonly wait: (ms: number) => unknown } }).scheduler.wait(1),
  "new WebSocket()": () => new WebSocket("ws://127.0.0.1:1")
}

const call = ({ payload }: Event): void => void calls[String(payload)]?.()

const now = Enzyme.make({ name: "now", query: "/signals/now", run: (_, event) => call(event) })

const later = Enzyme.make({
  name: "later",
  query: "/signals/later",
  durable: true,
  run: async (tx, event) => {
    await tx.sleep(0)
    call(event)
  }
})

/** A run that awaits a promise of its own. */
const foreign = Enzyme.make({
  name: "foreign",
  query: "/signals/foreign",
  durable: true,
  run: async (tx) => {
    await tx.sleep(0)
    await new Promise(() => {})
    tx.set("/data/foreign", true)
  }
})

export const { Directory, Space, handler } = make({
  manifest: {
    "enzymes/now.ts": { module: now, hash: "1" },
    "enzymes/later.ts": { module: later, hash: "2" },
    "enzymes/foreign.ts": { module: foreign, hash: "3" }
  },
  config: { enzymes: ["enzymes"], spaces: { create: "on-demand" } }
})
export default handler
