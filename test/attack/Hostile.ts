/**
 * A module with hostile runs.
 *
 * @module
 */

/** The kinds of hostile runs, by the last name of their signals. */
export const kinds = [
  "throw-undefined", "throw-symbol", "throw-proxy", "throw-getter", "throw-frozen", "throw-long", "throw-cause",
  "throw-null-prototype", "reject-late",
  "freeze-tx", "return-tx", "return-function", "return-proxy", "return-getter", "return-cycle", "return-shared",
  "return-promise-of-itself", "return-thenable",
  "write-reserved", "write-all", "write-deep", "write-long", "write-many", "write-prototype", "write-holes", "write-bigint",
  "write-bytes",
  "report-escapes", "report-many", "name-escapes", "signal-storm", "signal-itself",
  "link-circle", "list-everything", "hold-tx", "spin", "label-guess"
] as const

/** The kinds that reach a limit of time or size, and so run only once. */
export const slow: ReadonlySet<string> =
  new Set(["return-promise-of-itself", "write-many", "write-all", "signal-storm", "throw-long", "report-many", "return-shared"])

/** The source of the module, which is loaded as one of the project's enzymes. */
export const module = `import { Enzyme, Link } from "systole"

const nest = (depth) => { let value = 1; for (let i = 0; i < depth; i++) value = [value]; return value }
const evil = "\\u001b]0;owned\\u0007\\u001b[2J\\u009b31m\\u202e"
let kept

const runs = {
  "throw-undefined": () => { throw undefined },
  "throw-symbol": () => { throw Symbol("no") },
  "throw-proxy": () => {
    const trap = () => { throw new Error("trap") }
    throw new Proxy({}, { get: trap, getPrototypeOf: trap, has: trap })
  },
  "throw-getter": () => { throw Object.defineProperty(new Error(), "message", { get() { throw 1 } }) },
  "throw-frozen": () => { throw Object.freeze(Object.create(null)) },
  "throw-long": () => { throw new Error(evil + "x".repeat(1_000_000)) },
  "throw-cause": () => { const error = new Error("a"); error.cause = error; throw error },
  "throw-null-prototype": () => { throw Object.setPrototypeOf(new Error("a"), null) },
  "reject-late": () => { void Promise.reject(evil); setTimeout(() => { throw new Error(evil) }, 1) },
  "freeze-tx": (tx) => { Object.freeze(tx); tx.set("/data/frozen", 1) },
  "return-tx": (tx) => tx,
  "return-function": () => () => 1,
  "return-proxy": () => new Proxy({}, { ownKeys() { throw 1 } }),
  "return-getter": () => ({ get a() { throw new Error("a") } }),
  "return-cycle": () => { const a = {}; a.a = a; return a },
  "return-shared": () => { let a = [1]; for (let i = 0; i < 60; i++) a = [a, a]; return a },
  "return-promise-of-itself": () => { const late = Promise.resolve().then(() => late); return late },
  "return-thenable": () => ({ then() { throw evil } }),
  "write-reserved": (tx) => {
    for (const place of ["/rt/x", "/sys/labels", "/net/x", "/data/rv/x", "/data/mailbox/x"]) { try { tx.set(place, 1) } catch {} }
  },
  "write-all": (tx) => { for (let i = 0; i < 2000; i++) tx.set("/data/all/" + i, i) },
  "write-deep": (tx) => tx.set("/data/deep", nest(10_000)),
  "write-long": (tx) => tx.set("/data/long", "x".repeat(2_000_000)),
  "write-many": (tx) => { for (let i = 0; i < 30; i++) tx.set("/data/many/" + i, "x".repeat(500_000)) },
  "write-prototype": (tx) => tx.set("/data/proto", JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{}}}')),
  "write-holes": (tx) => { const a = []; a.length = 4_000_000_000; tx.set("/data/holes", a) },
  "write-bigint": (tx) => tx.set("/data/bigint", 10n ** 100_000n),
  "write-bytes": (tx) => tx.set("/data/bytes", Array.from({ length: 1000 }, () => new Uint8Array(65_536))),
  "report-escapes": (tx) => tx.report({ severity: "sev:crit", topic: "hostile/" + "x", note: evil }),
  "report-many": (tx) => {
    for (let i = 0; i < 1000; i++) tx.report({ severity: "sev:warn", topic: "hostile/many", note: evil.repeat(20) })
  },
  "name-escapes": (tx) => tx.set("/data/" + evil, evil),
  "signal-storm": (tx) => { for (let i = 0; i < 100_000; i++) tx.signal({ signal: "/signals/nothing" }) },
  "signal-itself": (tx, event) => {
    const n = Number(event.payload ?? 0)
    if (n < 5) tx.signal({ signal: "/signals/hostile/signal-itself", payload: n + 1 })
  },
  "link-circle": (tx) => {
    tx.set("/data/circle", Link.make("/data/circle2"))
    tx.set("/data/circle2", Link.make("/data/circle"))
    return tx.get("/data/circle")
  },
  "list-everything": (tx) => [tx.list("/data"), tx.list("/"), tx.list("/rt"), tx.list("/sys/code")],
  "hold-tx": (tx) => { try { kept?.set("/data/late", 1) } finally { kept = tx } },
  "spin": () => { const end = performance.now() + 50; while (performance.now() < end); },
  "label-guess": (tx) => tx.set("/data/open", tx.get("/data/pay/ann"))
}

export default Enzyme.make({
  name: "hostile",
  query: "/signals/hostile/:kind",
  retry: { attempts: 2 },
  run: (tx, event) => runs[event.params.kind]?.(tx, event)
})
`
