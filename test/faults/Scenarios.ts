/**
 * The reference scenarios of the kernel.
 *
 * @module
 */
import { Effect, Random } from "effect"
import { createHash } from "node:crypto"
import { defaults, Fatal, Retry } from "systole"
import { enzyme } from "../kernel/TestSpace.ts"
import { durableRuns } from "./DurableScenario.ts"
import { expiry, operations, rendezvous } from "./LedgerScenarios.ts"
import { requests } from "./RequestScenario.ts"
import { type Cells, counting, done, type Input, type Numbered, post, posts, type Scenario } from "./Scenario.ts"

/** Limits that are reached at once. */
const narrow = { ...defaults, captureSignals: 3, captureBytes: 200, groupBeats: 2, residentBytes: 2000, backoffBeats: 3 }

const chains: Scenario = {
  name: "a chain that fans out",
  enzymes: [
    counting("start", (tx, { payload }) => {
      for (const k of [1, 2]) tx.signal({ signal: "/signals/step", payload: { ...payload as object, k } })
    }),
    counting("step", (tx, { payload }) => {
      tx.signal({ signal: "/signals/end", target: "/data/place/here", payload: payload as object })
      tx.signal({ signal: "/signals/poke", target: "/data/place/here" })
    }),
    counting("one", undefined, { query: "/signals/end", bind: ["/data/place"] }),
    counting("other", undefined, { query: "/signals/end", bind: ["/data/place"], after: ["one"] })
  ],
  rounds: [posts("start", [0, 1]), posts("start", [2, 4])]
}

const failures: Scenario = {
  name: "attempts and dead letters",
  enzymes: [
    enzyme("shy", (tx, event) => event.attempt < 3 ? new Retry({ reason: "not yet" }) : done(tx, event, "shy"), { query: "/signals/try" }),
    enzyme("never", (tx, event) => {
      done(tx, event, "never")
      return new Retry({ reason: "never" })
    }, { query: "/signals/try", retry: { attempts: 2 } }),
    counting("broken", (tx) => {
      tx.signal({ signal: "/signals/nothing" })
      throw new TypeError("no")
    }, { query: "/signals/try" }),
    counting("well", undefined, { query: "/signals/try", order: "loose" })
  ],
  rounds: [posts("try", [0, 1]), posts("try", [2, 3])]
}

const numbers = (cells: Cells, address: string): ReadonlyArray<number> => (cells.get(address) ?? []) as ReadonlyArray<number>

const conflicts: Scenario = {
  name: "conflicts",
  enzymes: [
    counting("fight", (tx, { payload }) => {
      const { n } = payload as unknown as Numbered
      tx.set("/data/ring", n)
      tx.append("/data/log", n)
    }),
    counting("sum", (tx) => tx.set("/data/sum", (tx.get("/data/sum") as number | undefined ?? 0) + 1), {
      query: "/signals/fight",
      isolation: "serializable"
    })
  ],
  rounds: [posts("fight", [0, 3]), posts("fight", [4, 5])],
  judge: {
    cells: ["/data/ring", "/data/log", "/data/sum"],
    fault: (cells, { all }) => {
      const log = numbers(cells, "/data/log")
      if (log.toSorted((a, b) => a - b).join() !== [...all].toSorted((a, b) => a - b).join()) {
        return `the log has ${log}, and ${[...all]} were handled`
      }
      if (cells.get("/data/ring") !== log.at(-1)) {
        return `the ring has ${String(cells.get("/data/ring"))}, and the log ends with ${log.at(-1)}`
      }
      return cells.get("/data/sum") === all.size ? undefined : `the sum is ${String(cells.get("/data/sum"))}, and ${all.size} were handled`
    }
  }
}

const lanes: Scenario = {
  name: "lanes with a backlog",
  settings: { limits: narrow },
  enzymes: [
    counting("queue", (tx, { payload }) => tx.append("/data/order", (payload as unknown as Numbered).n), { lane: "space" }),
    enzyme(
      "slow",
      (tx, event) =>
        (event.payload as unknown as Numbered).n === 2 && event.attempt < 2 ? new Retry({ reason: "slow" }) : done(tx, event, "slow"),
      { query: "/signals/queue" }
    )
  ],
  rounds: [posts("queue", [0, 6]), posts("queue", [7, 8])],
  judge: {
    cells: ["/data/order"],
    fault: (cells, { again, all }) => {
      const order = numbers(cells, "/data/order")
      if (order.toSorted((a, b) => a - b).join() !== [...all].toSorted((a, b) => a - b).join()) {
        return `the order has ${order}, and ${[...all]} were handled`
      }
      const first = order.filter((n) => !again.has(n))
      return first.join() === first.toSorted((a, b) => a - b).join() ? undefined : `the order of a lane is ${order}`
    }
  }
}

const delays: Scenario = {
  name: "delayed signals",
  enzymes: [
    counting("late", (tx, { payload }) => {
      tx.signal({ signal: "/signals/later", payload: payload as object, at: { beats: 2 } })
      tx.signal({ signal: "/signals/later", payload: payload as object, at: { ms: 35 } })
    }),
    counting("later")
  ],
  rounds: [
    [...posts("late", [0, 1], { at: { beats: 3 } }), ...posts("late", [2, 3], { at: { ms: 25 } })],
    [...posts("late", [4, 4]), ...posts("late", [5, 6], { at: { beat: 12 } })]
  ]
}

const controls: Scenario = {
  name: "control input and bindings",
  enzymes: [
    counting("note", (tx, { target }) => tx.set(`/data/seen/${target!.split("/").at(-1)}`, tx.get("/data/outside/a"))),
    counting("tie", (tx) => {
      tx.bind("/data/tied", "note")
      tx.signal({ signal: "/signals/note", target: "/data/tied/there", payload: { n: 9 } })
    })
  ],
  rounds: [
    [{ kind: "set", address: "/data/outside/a", value: new Map([["k", 1n]]) }, { kind: "bind", cell: "/data/places", enzyme: "note" }],
    [
      ...posts("note", [0, 1], { target: "/data/places/here" }),
      ...posts("note", [2, 2], { target: "/data/elsewhere" }),
      post("tie", 3, { id: "id-3" })
    ],
    [{ kind: "set", address: "/data/outside/b", value: new Set([1]) }, { kind: "unbind", cell: "/data/places/not", enzyme: "note" }],
    [post("note", 4, { target: "/data/places/not/here", id: "id-4" }), { kind: "set", address: "/data/outside/b", value: undefined }]
  ]
}

const bytes = (length: number, seed: number): Uint8Array => Uint8Array.from({ length }, (_, i) => i * seed & 255)
const hashOf = (content: Uint8Array): string => createHash("sha256").update(content).digest("hex")

const contents: Scenario = {
  name: "content",
  enzymes: [
    counting("look", (tx, { payload }) => {
      const { hash, n } = payload as unknown as Numbered & { readonly hash: string }
      const found = tx.get(`/cas/${hash}`) as Uint8Array | undefined
      tx.set(`/data/done/${n}/length`, found?.length ?? "absent")
      // Larger than the inline limit of a document.
      if (n === 0) tx.set("/data/copy", bytes(70_000, 3))
    })
  ],
  rounds: [
    [{ kind: "keep", bytes: bytes(2000, 7) }],
    [...posts("look", [0, 1], { with: { hash: hashOf(bytes(2000, 7)) } }), { kind: "keep", bytes: bytes(3000, 9) }],
    [...posts("look", [2, 3], { with: { hash: hashOf(bytes(3000, 9)) } })]
  ]
}

const repeats: Scenario = {
  name: "callers' ids that come twice",
  enzymes: [
    counting("once"),
    counting("also", (_, { attempt }) => attempt === 1 ? new Retry({ reason: "again" }) : undefined, { query: "/signals/once" })
  ],
  rounds: [
    [post("once", 0, { id: "a" }), post("once", 1, { id: "b" }), post("once", 0, { id: "a" })],
    [post("once", 0, { id: "a" }), post("once", 2, { id: "c" }), post("once", 1, { id: "b" }), post("once", 2, { id: "c" })]
  ]
}

const fatals: Scenario = {
  name: "a fatal beat",
  enzymes: [
    counting("calm", undefined, { query: "/signals/any" }),
    enzyme("fatal", (tx, event) => {
      done(tx, event, "fatal")
      return (event.payload as unknown as Numbered).n % 3 === 1 ? new Fatal({ reason: "the end" }) : undefined
    }, { query: "/signals/any", lane: "target", onFatal: "continue" })
  ],
  rounds: [posts("any", [0, 2]), [...posts("any", [3, 4]), { kind: "set", address: "/data/outside", value: 1 }]]
}

/** The test clock passes the waits of a failing store while a run waits, so the run has an hour. */
const patient = { query: "/signals/wait", limitMs: 3_600_000 }

const waits: Scenario = {
  name: "runs that wait",
  enzymes: [
    counting("promise", async (tx, { payload }) => {
      await Promise.resolve()
      tx.signal({ signal: "/signals/after", payload: payload as object })
    }, patient),
    counting("effect", (tx, { payload }) =>
      Effect.map(Effect.andThen(Effect.yieldNow, Random.next), (chance) => {
        tx.set(`/data/done/${(payload as unknown as Numbered).n}/chance`, chance < 1)
      }), patient),
    counting("after")
  ],
  rounds: [posts("wait", [0, 2]), [...posts("wait", [3, 3]), ...posts("after", [4, 5])]]
}

const steer = (verb: Extract<Input, { readonly kind: "steer" }>["verb"]): ReadonlyArray<Input> => [{ kind: "steer", verb }]

/** Waits for all earlier events: a resume ends when the parked signals are handled. */
const settle = [steer("pause"), steer("resume")]

const lifecycle: Scenario = {
  name: "a space that is paused, rolled back, shut down and started again",
  enzymes: [counting("count", (tx, { payload }) => tx.set(`/data/seen/${(payload as unknown as Numbered).n}`, 1))],
  settings: { boot: true },
  rounds: [
    posts("count", [0, 2]),
    ...settle,
    [{ kind: "mark" }],
    posts("count", [3, 5]),
    ...settle,
    steer("pause"),
    [...posts("count", [6, 6]), ...posts("count", [7, 8], { qos: "discard" })],
    steer("rollback"),
    steer("resume"),
    posts("count", [9, 9]),
    steer("shutdown"),
    posts("count", [10, 10]),
    steer("restart")
  ],
  judge: {
    cells: Array.from({ length: 11 }, (_, n) => `/data/seen/${n}`),
    fault: (cells) => {
      const left = [...cells.keys()].filter((key) => key.startsWith("/data/seen/")).map((key) => Number(key.slice("/data/seen/".length)))
      const back = left.filter((n) => n >= 3 && n <= 5 || n === 7 || n === 8)
      return back.length === 0 ? undefined : `what was rolled back or discarded is there: ${back.join(", ")}`
    }
  }
}

/** All scenarios. The first also runs over SQLite. */
export const all: readonly [Scenario, ...Array<Scenario>] = [
  chains,
  failures,
  conflicts,
  lanes,
  delays,
  controls,
  contents,
  repeats,
  fatals,
  waits,
  operations,
  requests,
  durableRuns,
  rendezvous,
  expiry,
  lifecycle
]
