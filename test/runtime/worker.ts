/**
 * A complete Worker: the classes and the handler over a manifest of modules, as a build writes it.
 *
 * @module
 */
import { Computation, Enzyme, type IoResult } from "systole"
import http from "../../plugins/http.ts"
import timer from "../../plugins/timer.ts"
import { make } from "../../src/main/workers/index.ts"
import { counted } from "./counted.ts"

interface Payload {
  readonly who: string
  /** The spaces to visit. */
  readonly route: ReadonlyArray<string>
  /** The page to fetch. */
  readonly url: string
  /** The length of a sleep. */
  readonly ms: number
}

/** Letters to send, or one of them. */
interface Mail {
  readonly space: string
  readonly count: number
  readonly length: number
  readonly n: number
}

const greet = Enzyme.make({
  name: "greet",
  query: "/signals/greet",
  writes: ["/data/greetings/*"],
  run: (tx, event) => tx.set(`/data/greetings/${(event.payload as Payload).who}`, "hello")
})

/** Counts a visit, and goes on to the next space of the route. */
const visit = Enzyme.make({
  name: "visit",
  query: "/signals/visit",
  writes: ["/data/visits/*"],
  run: (tx, event) => {
    const { route: [space, ...route], who } = event.payload as Payload
    tx.increment(`/data/visits/${who}`)
    if (space !== undefined) tx.signal({ signal: "/signals/visit", payload: { who, route }, space })
  }
})

/** Sends many numbered letters of a length to another space, which keeps their order. */
const mail = Enzyme.make({
  name: "mail",
  query: "/signals/mail",
  match: "prefix",
  writes: ["/data/mail"],
  run: (tx, { payload, signal }) => {
    const { count, length, n, space } = payload as Mail
    if (signal === "/signals/mail/in") return tx.append("/data/mail", n)
    for (let i = 0; i < count; i++) tx.signal({ signal: "/signals/mail/in", payload: { n: i, text: "x".repeat(length) }, space })
  }
})

/** Fetches a page, waits, and keeps the answer. */
const page = Enzyme.make({
  name: "page",
  query: "/signals/page",
  writes: ["/data/pages/*"],
  durable: true,
  run: async (tx, event) => {
    const { url, who } = event.payload as Payload
    const answer = await tx.io.request({ channel: "web", opcode: "fetch", payload: { url } })
    await tx.sleep({ beats: 10 })
    tx.set(`/data/pages/${who}`, answer)
  }
})

/** Sleeps for an hour or for a moment, and notes that it is awake. */
const nap = Enzyme.make({
  name: "nap",
  query: "/signals/nap",
  writes: ["/data/naps/*"],
  durable: true,
  run: async (tx, event) => {
    const { ms, who } = event.payload as Payload
    await tx.sleep(ms)
    tx.increment(`/data/naps/${who}`)
  }
})

/** Waits on the channel `timer`, and notes the moment of the request and that of the end. */
const doze = Enzyme.make({
  name: "doze",
  query: "/signals/doze",
  match: "prefix",
  writes: ["/data/dozes/*"],
  run: (tx, { payload, signal }) => {
    if (signal === "/signals/doze/over") return tx.append("/data/dozes/over", (payload as unknown as IoResult).value)
    tx.append("/data/dozes/begun", tx.now)
    return tx.io.request({ channel: "timer", opcode: "sleep", payload, signal: "/signals/doze/over" })
  }
})

/** Waits for the first of two times, and goes on through several promises. */
const race = Enzyme.make({
  name: "race",
  query: "/signals/race",
  writes: ["/data/races/*"],
  durable: true,
  run: async (tx, event) => {
    const first = await Promise.race([tx.sleep(1).then(() => "short"), tx.sleep(3_600_000).then(() => "long")])
    for (let n = 0; n < 20; n++) await Promise.resolve()
    tx.set(`/data/races/${(event.payload as Payload).who}`, first)
  }
})

/** A computation whose throttle gate closes for an hour after each run. */
const slow = Computation.make({ name: "slow", output: "/data/slow", throttle: 3_600_000, run: (tx) => tx.get("/data/visits/slow") })

const worker = counted(make({
  manifest: {
    "enzymes/greet.ts": { module: greet, hash: "0".repeat(64) },
    "enzymes/visit.ts": { module: visit, hash: "1".repeat(64) },
    "enzymes/page.ts": { module: page, hash: "2".repeat(64) },
    "enzymes/nap.ts": { module: nap, hash: "4".repeat(64) },
    "enzymes/race.ts": { module: race, hash: "5".repeat(64) },
    "enzymes/mail.ts": { module: mail, hash: "9".repeat(64) },
    "enzymes/slow.ts": { module: slow, hash: "8".repeat(64) },
    "enzymes/doze.ts": { module: doze, hash: "6".repeat(64) },
    "systole/plugins/timer": { module: timer, hash: "7".repeat(64) },
    "systole/plugins/http": { module: http, hash: "3".repeat(64) }
  },
  config: (env) => ({
    enzymes: ["enzymes"],
    pages: {
      "/slow": async ({ get }) => String(await get("shop", "/data/slow")),
      "/bad": async ({ get }) => String(await get("shop", "bad")),
      "/nowhere": async ({ get }) => String(await get("nowhere", "/data/slow")),
      "/code": async ({ get }) => String(await get("shop", "bad").catch(({ code }: { readonly code: string }) => code))
    },
    spaces: { create: (env as { readonly CREATE?: "explicit" }).CREATE ?? "on-demand" },
    channels: { web: { use: "http", options: { allow: ["127.0.0.1"] } }, timer: "timer" }
  })
}))

export const { Directory, Space } = worker
export default worker.handler
