/**
 * The kernel's reference scenarios, as data: what comes in, round by round, and
 * the enzymes that it meets.
 *
 * Each event has a number, and each enzyme that handles it, or what it sent,
 * counts that in a cell below `/data/done/<number>/`. So what an event did can
 * be told from what all others did, whatever the order.
 *
 * @module
 */
import { Effect, Random } from "effect"
import { createHash } from "node:crypto"
import { defaults, type Enzyme, type Event, Fatal, Flow, type PostedSignal, Retry, type Settings, type Transaction } from "systole"
import rvInit from "../../enzymes/rv_init.ts"
import { enzyme } from "../kernel/TestSpace.ts"

/** What comes from outside. Who sends it sends it again when the space stopped; an event only where it has an id. */
export type Input =
  | { readonly kind: "post"; readonly n: number; readonly signal: PostedSignal }
  | { readonly kind: "set"; readonly address: string; readonly value: unknown }
  | { readonly kind: "bind" | "unbind"; readonly cell: string; readonly enzyme: string }
  | { readonly kind: "keep"; readonly bytes: Uint8Array }
  /** Remembers the newest beat, with all that came before done; a rollback goes back to it. */
  | { readonly kind: "mark" }
  /** Is over when its operation is. */
  | { readonly kind: "steer"; readonly verb: "pause" | "rollback" | "resume" | "shutdown" | "restart" }

/** The cells of a space when all is over, by their addresses. */
export type Cells = ReadonlyMap<string, unknown>

/** One story. */
export interface Scenario {
  readonly name: string
  readonly enzymes: ReadonlyArray<Enzyme.Enzyme>
  readonly settings?: Partial<Settings>
  /** The enzymes that are granted `system`. */
  readonly grants?: ReadonlyArray<string>
  /** What of a round comes in together; the next comes when all of it is answered. */
  readonly rounds: ReadonlyArray<ReadonlyArray<Input>>
  /** Cells that depend on what was handled and in which order, and what is wrong with them. All others are those of a run without faults. */
  readonly judge?: { readonly cells: ReadonlyArray<string>; readonly fault: (cells: Cells, handled: Handled) => string | undefined }
}

/** The events that were handled, and those of them that were sent more than once. */
export interface Handled {
  readonly all: ReadonlySet<number>
  readonly again: ReadonlySet<number>
}

interface Numbered {
  readonly n: number
}

const done = (tx: Transaction, { payload }: Event, what: string): void => tx.increment(`/data/done/${(payload as unknown as Numbered).n}/${what}`)

/** Counts each handling, and then does what the enzyme is for. */
const counting = (name: string, run: (tx: Transaction, event: Event) => unknown = () => undefined, options: Parameters<typeof enzyme>[2] = {}) =>
  enzyme(name, (tx, event) => {
    done(tx, event, name)
    return run(tx, event)
  }, options)

const post = (name: string, n: number, more: Partial<PostedSignal> & { readonly with?: object } = {}): Input => {
  const { with: payload, ...rest } = more
  return { kind: "post", n, signal: { signal: `/signals/${name}`, payload: { n, ...payload }, ...rest } }
}

/** Events with these numbers; every other one has an id. */
const posts = (name: string, [from, to]: readonly [number, number], more: Parameters<typeof post>[2] = {}): ReadonlyArray<Input> =>
  Array.from({ length: to - from + 1 }, (_, i) => post(name, from + i, i % 2 === 0 ? { ...more, id: `id-${from + i}` } : more))

/** Limits in which everything is full at once. */
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
    counting("sum", (tx) => tx.set("/data/sum", (tx.get("/data/sum") as number | undefined ?? 0) + 1), { query: "/signals/fight", isolation: "serializable" })
  ],
  rounds: [posts("fight", [0, 3]), posts("fight", [4, 5])],
  judge: {
    cells: ["/data/ring", "/data/log", "/data/sum"],
    fault: (cells, { all }) => {
      const log = numbers(cells, "/data/log")
      if (log.toSorted((a, b) => a - b).join() !== [...all].toSorted((a, b) => a - b).join()) return `the log has ${log}, and ${[...all]} were handled`
      if (cells.get("/data/ring") !== log.at(-1)) return `the ring has ${String(cells.get("/data/ring"))}, and the log ends with ${log.at(-1)}`
      return cells.get("/data/sum") === all.size ? undefined : `the sum is ${String(cells.get("/data/sum"))}, and ${all.size} were handled`
    }
  }
}

const lanes: Scenario = {
  name: "lanes with a backlog",
  settings: { limits: narrow },
  enzymes: [
    counting("queue", (tx, { payload }) => tx.append("/data/order", (payload as unknown as Numbered).n), { lane: "space" }),
    enzyme("slow", (tx, event) => (event.payload as unknown as Numbered).n === 2 && event.attempt < 2 ? new Retry({ reason: "slow" }) : done(tx, event, "slow"), { query: "/signals/queue" })
  ],
  rounds: [posts("queue", [0, 6]), posts("queue", [7, 8])],
  judge: {
    cells: ["/data/order"],
    fault: (cells, { again, all }) => {
      const order = numbers(cells, "/data/order")
      if (order.toSorted((a, b) => a - b).join() !== [...all].toSorted((a, b) => a - b).join()) return `the order has ${order}, and ${[...all]} were handled`
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
    [...posts("note", [0, 1], { target: "/data/places/here" }), ...posts("note", [2, 2], { target: "/data/elsewhere" }), post("tie", 3, { id: "id-3" })],
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
      // Larger than what a document holds itself.
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
  enzymes: [counting("once"), counting("also", (_, { attempt }) => attempt === 1 ? new Retry({ reason: "again" }) : undefined, { query: "/signals/once" })],
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

const waits: Scenario = {
  name: "runs that wait",
  enzymes: [
    counting("promise", async (tx, { payload }) => {
      await Promise.resolve()
      tx.signal({ signal: "/signals/after", payload: payload as object })
    }, { query: "/signals/wait" }),
    counting("effect", (tx, { payload }) =>
      Effect.map(Effect.andThen(Effect.yieldNow, Random.next), (chance) => {
        tx.set(`/data/done/${(payload as unknown as Numbered).n}/chance`, chance < 1)
      }), { query: "/signals/wait" }),
    counting("after")
  ],
  rounds: [posts("wait", [0, 2]), [...posts("wait", [3, 3]), ...posts("after", [4, 5])]]
}

const operations: Scenario = {
  name: "operations that are awaited, closed and timed out",
  enzymes: [
    enzyme("begin", (tx, event) => {
      const { payload, signal } = event
      if (signal !== "/signals/op/begin") return done(tx, event, signal!.split("/").at(-1)!)
      const oid = tx.op.start({ verb: "op/trial", target: "/data/x", mode: "opm:states", payload })
      tx.op.await(oid, "ist:plan", { signal: "/signals/op/planned", payload })
      tx.op.await(oid, "sts:ok", { signal: "/signals/op/closed", ttl: 4, payload })
      tx.signal({ signal: "/signals/go", payload: { ...payload as object, oid }, at: { beats: 2 } })
    }, { query: "/signals/op/*" }),
    counting("go", (tx, { payload }) => {
      const { n, oid } = payload as unknown as Numbered & { readonly oid: string }
      tx.op.setState(oid, "ist:plan")
      // Every third one is closed in time, and every third otherwise than it is awaited.
      if (n % 3 > 0) tx.op.close(oid, n % 3 === 1 ? "sts:ok" : "sts:fail", payload)
    }),
    counting("late", undefined, { query: "/op/tmo", bind: ["/rt/ops"] })
  ],
  rounds: [posts("op/begin", [0, 2]), posts("op/begin", [3, 5])]
}

/** The number of an event that the name of a cell ends with. */
const numberOf = (target: string | undefined): number => Number(/\d+$/.exec(target!)![0])

const events = [0, 1, 2, 3]

const meetings: Scenario = {
  name: "rendezvous that are reported or not, and flows that wait for them",
  grants: ["rv_init"],
  enzymes: [
    rvInit,
    Flow.make({
      name: "trial",
      steps: {
        ask: { transform: ({ input }) => ({ key: `ask${(input as Numbered).n}`, due_off: 1, deadl_off: (input as Numbered).n % 2 === 0 ? 1000 : 2 }) },
        answer: { wait: "ask" }
      }
    }),
    Flow.make({ name: "timed", steps: { rest: { wait: () => "app:never", within: 3, otherwise: "done" } } }),
    counting("begin", (tx, { payload }) => {
      const { n } = payload as unknown as Numbered
      tx.flow.start("trial", payload, { inst: `i${n}` })
      // Of these times one comes.
      tx.flow.start("timed", payload, { inst: `t${n}`, beats: n % 2 === 0 ? 1000 : 2 })
      if (n % 2 === 0) tx.signal({ signal: "/signals/tell", payload: payload as object, at: { beats: 3 } })
    }),
    counting("tell", (tx, { payload }) => tx.rv.report(`ask${(payload as unknown as Numbered).n}`)),
    enzyme("heard", (tx, { payload, target }) => tx.increment(`/data/done/${numberOf(target)}/${(payload as { readonly outcome: string }).outcome}`), { query: "/CEP:sig_rv/*", bind: ["/data/inbox/flow/inst_event"] }),
    enzyme("over", (tx, { signal, target }) => tx.increment(`/data/done/${numberOf(target)}/${signal!.split("/").at(-1)}`), { query: "/CEP:sig_inst/*", bind: ["/data/flow/inst"] })
  ],
  rounds: [[{ kind: "post", n: 9, signal: { signal: "/CEP:sig_sys/init", payload: { n: 9 }, id: "init" } }], posts("begin", [0, 1]), posts("begin", [2, 3])],
  // Their beats depend on when the process ended.
  judge: { cells: events.flatMap((n) => [`/data/rv/ask${n}`, `/data/inbox/flow/inst_event/ask${n}`, `/data/flow/inst/i${n}`, `/data/flow/inst/t${n}`, `/data/flow/heard/i${n}/ask/1`]), fault: () => undefined }
}

const ends = [0, 1, 2, 3, 4, 5, 6]

const endings: Scenario = {
  name: "what is over, and let go of",
  grants: ["rv_init"],
  settings: { limits: { ...defaults, finishedCount: 1, finishedMillis: 30 } },
  enzymes: [
    rvInit,
    Flow.make({ name: "brief", steps: { only: { guard: () => true } } }),
    counting("end", (tx, { payload }) => {
      const { n } = payload as unknown as Numbered
      tx.rv.spawn({ key: `m${n}` })
      tx.rv.report(`m${n}`)
      tx.flow.start("brief", null, { inst: `b${n}` })
      tx.op.close(tx.op.start({ verb: "op/trial", target: "/data/x", mode: "opm:direct" }), "sts:ok")
      tx.report({ severity: "sev:warn", topic: "trial/end", note: "", payload: n })
    }),
    counting("poke")
  ],
  rounds: [
    [{ kind: "post", n: 9, signal: { signal: "/CEP:sig_sys/init", payload: { n: 9 }, id: "init" } }],
    posts("end", [0, 2]),
    posts("end", [3, 4]),
    posts("poke", [7, 7], { at: { ms: 50 } }),
    posts("end", [5, 6])
  ],
  // What is kept depends on the beats in which it ended.
  judge: {
    cells: ends.flatMap((n) => [`/data/rv/m${n}`, `/data/inbox/flow/inst_event/m${n}`, `/data/flow/inst/b${n}`]),
    fault: (cells, { again, all }) => {
      const old = ends.filter((n) => n < 5 && !again.has(n) && all.has(n) && [`/data/rv/m${n}`, `/data/flow/inst/b${n}`].some((cell) => cells.has(cell)))
      return old.length === 0 ? undefined : `what was to be let go of is there: ${old.join(", ")}`
    }
  }
}

const steer = (verb: Extract<Input, { readonly kind: "steer" }>["verb"]): ReadonlyArray<Input> => [{ kind: "steer", verb }]

/** A resume is over when what was parked is done, so what comes behind it is later. */
const settle = [steer("pause"), steer("resume")]

const steered: Scenario = {
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

/** All of them; the first is the one that tests run over SQLite as well. */
export const all: ReadonlyArray<Scenario> = [chains, failures, conflicts, lanes, delays, controls, contents, repeats, fatals, waits, operations, meetings, endings, steered]
