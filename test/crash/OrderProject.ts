/**
 * The orders of the crash test: durable runs that race requests, time out, are cancelled and compensate.
 *
 * @module
 */

/** The kinds of orders. The last three wait until they are cancelled. */
const KINDS = ["race", "abort", "left", "late", "refund", "undo", "now"] as const

/** A kind of orders. */
export type Kind = typeof KINDS[number]

/** The interval of events with an order, and the remainder of their numbers. */
const ORDERING = 4
const ORDERED = 2

/** The counters of an order by its kind. Each must be 1. */
const effects: Readonly<Record<Kind, ReadonlyArray<string>>> = {
  race: ["ordered", "raced", "won"],
  abort: ["ordered", "raced", "won"],
  left: ["ordered", "raced", "marked"],
  late: ["ordered", "timed", "compensated"],
  refund: ["ordered", "hired", "refunded"],
  undo: ["ordered", "hired", "undone"],
  now: ["ordered", "hired"]
}

/** The kind of the order of an event; `undefined` if it has none. */
export const kindOf = (n: number): Kind | undefined => n % ORDERING === ORDERED ? KINDS[Math.floor(n / ORDERING) % KINDS.length] : undefined

/** The counters of an order. */
export const effectsOf = (n: number): ReadonlyArray<string> => {
  const kind = kindOf(n)
  return kind === undefined ? [] : effects[kind]
}

/** The opcodes of calls without a result: refused at each attempt, or never answered. */
export const REFUSED = ["lose", "hold"]
export const UNANSWERED = ["never"]

/** The call that each kind makes with or after the end of its call without a result; a cancellation ends those of the others. */
const followers: Partial<Readonly<Record<Kind, string>>> = { race: "won", abort: "won", left: "mark", late: "compensation" }

/** The path of the call that follows the end of an order's call without a result; `undefined` if a cancellation ends it. */
export const followerOf = (n: number): string | undefined => {
  const follower = followers[kindOf(n) ?? "now"]
  return follower === undefined ? undefined : `${follower}/${n}`
}

/** The cells at which orders wait. */
const PLACES = "/data/orders/"

/** The part of the beginning run that sends the order. */
export const beginning = `if (event.params.n % ${ORDERING} === ${ORDERED}) {
        const kinds = ${JSON.stringify(KINDS)}
        const { n } = event.params
        tx.signal({ signal: "/signals/order/" + n + "/" + kinds[Math.floor(n / ${ORDERING}) % kinds.length] })
      }`

/** The enzymes of orders. `url` is that of the counting server, which never accepts `lose` and `hold` and never answers `never`. */
export const enzymes = (url: string): string => `
  Enzyme.make({
    name: "order",
    query: "/signals/order/:n/:kind",
    durable: true,
    limitMs: 30_000,
    hears: ({ params: { n } }) => [{ signal: "/signals/never", target: "${PLACES}" + n }],
    run: async (tx, event) => {
      const { kind, n } = event.params
      const call = (what, options = {}) => tx.io.fetch("${url}/" + what + "/" + n, { method: "POST", expect: "2xx" }, options)
      count(tx, event, "ordered")
      if (kind === "race" || kind === "abort" || kind === "left") {
        const abort = new AbortController()
        const lost = call("lose", { attempts: 1000, ...kind === "abort" ? { signal: abort.signal } : {} })
        const first = await Promise.race([lost.then(() => "lose", () => "lose"), tx.sleep(15).then(() => "time")])
        count(tx, event, first === "time" ? "raced" : "raced by " + first)
        if (kind === "left") return void tx.signal({ signal: "/signals/mark/" + n })
        if (kind === "race") lost.cancel()
        else abort.abort()
        await call("won")
        return count(tx, event, "won")
      }
      if (kind === "late") {
        const code = await call("never", { attempts: 1000, timeoutMs: 30 }).then(() => "answered", (error) => error.code)
        count(tx, event, code === "io/timeout" ? "timed" : "timed " + code)
        await call("compensation")
        return count(tx, event, "compensated")
      }
      await call("hire")
      count(tx, event, "hired")
      try {
        const never = () => tx.waitForSignal("/signals/never", "${PLACES}" + n)
        // An order that is cancelled late has used all its attempts, and waits on.
        const held = call("hold", { attempts: 1000 }).catch((error) => error.code === "http/status" ? never() : Promise.reject(error))
        await Promise.race([held, never()])
      } catch (error) {
        if (kind === "refund") {
          await call("refund")
          count(tx, event, "refunded")
        }
        throw error
      } finally {
        if (kind === "undo") tx.signal({ signal: "/signals/undo/" + n })
      }
    }
  }),
  Enzyme.make({ name: "undo", query: "/signals/undo/:n", run: (tx, event) => count(tx, event, "undone") }),
  Enzyme.make({
    name: "mark",
    query: "/signals/mark/:n",
    run: (tx, event) => {
      const { n } = event.params
      if (event.payload !== undefined) return count(tx, event, "marked")
      return tx.io.fetch("${url}/mark/" + n, { method: "POST", expect: "2xx" }, { signal: "/signals/mark/" + n })
    }
  }),`
