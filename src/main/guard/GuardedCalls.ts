/**
 * The global functions whose results no replay can repeat: time, chance, timers and network. A host has some of them.
 *
 * @module
 */

/** Functions of one object, the prefix of their names in messages, and the replacement. */
export interface Calls {
  readonly owner: object | undefined
  readonly prefix: string
  /** Functions and classes, which begin with a capital letter. */
  readonly members: ReadonlyArray<string>
  readonly instead: string
  /** Whether the host calls them by itself while it runs code of a module, such as for a lazy `require`. */
  readonly isHosts?: boolean
  /** Whether development alone refuses them: they are the same on each run of one host. */
  readonly isInexact?: boolean
}

export const time = "Use tx.now, the captured clock of the beat"
export const chance = "Use tx.random() or tx.id()"
export const later = "Use tx.sleep in an enzyme with durable: true, or send a signal with at: { ms } and go on when it comes"
const limit = "Use timeoutMs of the request, or race it with tx.sleep in an enzyme with durable: true"
export const network = "Use tx.io.fetch, or do it outside of the runtime and send its result as a signal"
const digests = "Use sha256, hmac and base64 of systole, which return at once"

export const timers = ["setTimeout", "setInterval", "setImmediate"]

/** The objects that some hosts have. */
const host = globalThis as typeof globalThis & {
  readonly Temporal?: { readonly Now: object }
  readonly scheduler?: object
  readonly process?: { readonly hrtime?: object }
}

/** The functions of the globals that several hosts have. */
export const ofGlobals = (): ReadonlyArray<Calls> => [
  { owner: Date, prefix: "Date.", members: ["now"], instead: time },
  {
    owner: host.Temporal?.Now,
    prefix: "Temporal.Now.",
    members: ["instant", "plainDateISO", "plainDateTimeISO", "plainTimeISO", "zonedDateTimeISO"],
    instead: time
  },
  { owner: performance, prefix: "performance.", members: ["now", "mark", "measure", "toJSON", "eventLoopUtilization"], instead: time },
  { owner: host.process?.hrtime, prefix: "process.hrtime.", members: ["bigint"], instead: time },
  { owner: host.process, prefix: "process.", members: ["hrtime", "uptime", "cpuUsage", "memoryUsage", "resourceUsage"], instead: time },
  { owner: Math, prefix: "Math.", members: ["random"], instead: chance },
  { owner: crypto, prefix: "crypto.", members: ["randomUUID", "getRandomValues"], instead: chance },
  {
    owner: crypto.subtle,
    prefix: "crypto.subtle.",
    members: [
      "decrypt", "deriveBits", "deriveKey", "digest", "encrypt", "exportKey", "generateKey", "importKey", "sign", "unwrapKey", "verify",
      "wrapKey"
    ],
    instead: digests
  },
  { owner: globalThis, prefix: "", members: timers, instead: later },
  { owner: host.scheduler, prefix: "scheduler.", members: ["wait", "postTask", "yield"], instead: later },
  { owner: Atomics, prefix: "Atomics.", members: ["wait", "waitAsync"], instead: later },
  { owner: AbortSignal, prefix: "AbortSignal.", members: ["timeout"], instead: limit },
  {
    owner: globalThis,
    prefix: "",
    members: ["fetch", "EventSource", "WebSocket", "WebSocketStream", "WebTransport", "Worker", "XMLHttpRequest"],
    instead: network
  }
]
