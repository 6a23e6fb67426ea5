/**
 * Scenarios of operations, rendezvous and flows, and of their expiry.
 *
 * @module
 */
import { defaults, Flow } from "systole"
import { enzyme } from "../kernel/TestSpace.ts"
import rvInit from "./RecordedInit.ts"
import { counting, done, type Numbered, posts, type Scenario } from "./Scenario.ts"

/** The cells of an operation, whether it was closed on time or not. */
const endOf = (cells: string): string => JSON.stringify(JSON.parse(cells.replace(/\/(?:closed|late)"/, '/over"')).toSorted())

export const operations: Scenario = {
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
      // One third is closed on time, and one third with another status than the awaited one.
      if (n % 3 > 0) tx.op.close(oid, n % 3 === 1 ? "sts:ok" : "sts:fail", payload)
    }),
    counting("late", undefined, { query: "/op/tmo", bind: ["/rt/ops"] })
  ],
  rounds: [posts("op/begin", [0, 2]), posts("op/begin", [3, 5])],
  // A lost beat counts for a ttl, so a close that was on time may come too late when it is repeated.
  judge: { cells: [], fault: () => undefined, form: endOf }
}

/** The number at the end of the name of a cell. */
const numberOf = (target: string | undefined): number => Number(/\d+$/.exec(target!)![0])

const events = [0, 1, 2, 3]

export const rendezvous: Scenario = {
  name: "rendezvous that are reported or not, and flows that wait for them",
  grants: ["rv_init"],
  enzymes: [
    rvInit,
    Flow.make({
      name: "trial",
      steps: {
        ask: {
          transform: ({ input }) =>
            ({ key: `ask${(input as Numbered).n}`, due_off: 1, deadl_off: (input as Numbered).n % 2 === 0 ? 1000 : 2 })
        },
        answer: { wait: "ask" }
      }
    }),
    Flow.make({ name: "timed", steps: { rest: { wait: () => "app:never", within: 3, otherwise: "done" } } }),
    counting("begin", (tx, { payload }) => {
      const { n } = payload as unknown as Numbered
      tx.flow.start("trial", payload, { inst: `i${n}` })
      // One of these two timers fires.
      tx.flow.start("timed", payload, { inst: `t${n}`, beats: n % 2 === 0 ? 1000 : 2 })
      if (n % 2 === 0) tx.signal({ signal: "/signals/tell", payload: payload as object, at: { beats: 3 } })
    }),
    counting("tell", (tx, { payload }) => tx.rv.report(`ask${(payload as unknown as Numbered).n}`)),
    enzyme(
      "heard",
      (tx, { payload, target }) => tx.increment(`/data/done/${numberOf(target)}/${(payload as { readonly outcome: string }).outcome}`),
      { query: "/CEP:sig_rv/*", bind: ["/data/inbox/flow/inst_event"] }
    ),
    enzyme("over", (tx, { signal, target }) => tx.increment(`/data/done/${numberOf(target)}/${signal!.split("/").at(-1)}`), {
      query: "/CEP:sig_inst/*",
      bind: ["/data/flow/inst"]
    })
  ],
  rounds: [
    [{ kind: "post", n: 9, signal: { signal: "/CEP:sig_sys/init", payload: { n: 9 }, id: "init" } }],
    posts("begin", [0, 1]),
    posts("begin", [2, 3])
  ],
  // The beats in these cells depend on the moment when the process ended.
  judge: {
    cells: events.flatMap((n) => [
      `/data/rv/ask${n}`,
      `/data/inbox/flow/inst_event/ask${n}`,
      `/data/flow/inst/i${n}`,
      `/data/flow/inst/t${n}`,
      `/data/flow/heard/i${n}/ask/1`
    ]),
    fault: () => undefined
  }
}

const ends = [0, 1, 2, 3, 4, 5, 6]

export const expiry: Scenario = {
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
  // The kept records depend on the beats in which they ended.
  judge: {
    cells: ends.flatMap((n) => [`/data/rv/m${n}`, `/data/inbox/flow/inst_event/m${n}`, `/data/flow/inst/b${n}`]),
    fault: (cells, { again, all }) => {
      const isKept = (n: number) => [`/data/rv/m${n}`, `/data/flow/inst/b${n}`].some((cell) => cells.has(cell))
      const old = ends.filter((n) => n < 5 && !again.has(n) && all.has(n) && isKept(n))
      return old.length === 0 ? undefined : `expired records are kept: ${old.join(", ")}`
    }
  }
}
