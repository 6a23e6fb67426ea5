import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Reaction as Node, Enzyme, Flow, type IoResult, type Kernel, Reactor, Retry, type Space, type Transaction } from "systole"
import * as Operations from "../../../plugins/channel/Operations.ts"
import { channel } from "../../../plugins/timer.ts"
import { instance } from "../../flow/FlowInstances.ts"
import * as RendezvousSpace from "../../rendezvous/RendezvousSpace.ts"
import * as SetClock from "../../support/SetClock.ts"
import * as RestartableKernel from "../RestartableKernel.ts"
import { enzyme, replays, turns } from "../TestSpace.ts"

const DAY = 86_400_000
const YEARS = 5 * 365 * DAY

/** The length of each wait: 100 beats of the tempo. */
const WAIT = 10_000
const settings = { tempo: 100, pace: "demand", create: "on-demand" } as const

const late = Flow.make({
  name: "late",
  steps: {
    answer: { wait: () => "app:never", within: 100, otherwise: "over" },
    over: { guard: () => true }
  }
})

const ended = (tx: Transaction, kind: string): void => tx.set(`/data/ended/${kind}`, tx.now)

/** Begins one wait of each kind. */
const begins: Readonly<Record<string, (tx: Transaction) => unknown>> = {
  "signal-ms": (tx) => tx.signal({ signal: "/signals/end", payload: "signal-ms", at: { ms: WAIT } }),
  "signal-beats": (tx) => tx.signal({ signal: "/signals/end", payload: "signal-beats", at: { beats: 100 } }),
  watcher: (tx) => {
    tx.op.await(tx.op.start({ verb: "op/x", target: "/data/x", mode: "opm:states" }), "sts:ok", { signal: "/op/ok", ttl: 100 })
  },
  rendezvous: (tx) => tx.rv.spawn({ key: "job", deadl_off: 100 }),
  flow: (tx) => tx.flow.start("late", undefined, { inst: "late" }),
  timer: (tx) => tx.io.request({ channel: "timer", opcode: "sleep", payload: { ms: WAIT }, signal: "/signals/told/timer" }),
  deadline: (tx) => tx.io.request({ channel: "hang", opcode: "hang", timeoutMs: WAIT, signal: "/signals/told/deadline" }),
  budget: (tx) => tx.io.request({ channel: "hang", opcode: "hang", budget: 100, signal: "/signals/told/budget" }),
  gate: (tx) => tx.set("/data/gated", tx.now),
  "sleep-ms": (tx) => tx.signal({ signal: "/signals/sleep", payload: WAIT }),
  "sleep-beats": (tx) => tx.signal({ signal: "/signals/sleep", payload: "beats" })
}

const enzymes = RendezvousSpace.enzymes({}, [
  late,
  enzyme("all", (tx) => Object.values(begins).forEach((begin) => void begin(tx))),
  enzyme("end", (tx, { payload }) => ended(tx, String(payload))),
  enzyme("tmo", (tx) => ended(tx, "watcher"), { query: "/op/*", bind: ["/rt/ops"] }),
  enzyme("met", (tx) => ended(tx, "rendezvous"), { query: "/CEP:sig_rv/job", bind: ["/data/inbox/flow/inst_event"] }),
  enzyme("told", (tx, { params, payload }) => {
    const { code, state } = payload as unknown as IoResult
    tx.set(`/data/told/${params["kind"]}`, code ?? state)
    ended(tx, String(params["kind"]))
  }, { query: "/signals/told/:kind", bind: ["/rt/ops"] }),
  // The seventh attempt comes after 1 + 2 + … + 32 beats.
  enzyme("retried", (tx, { attempt }) => attempt < 7 ? new Retry({ reason: "as asked" }) : ended(tx, "retry")),
  Enzyme.make({
    name: "sleep",
    query: "/signals/sleep",
    durable: true,
    run: async (tx, { payload }) => {
      await tx.sleep(payload === "beats" ? { beats: 100 } : WAIT)
      tx.set(`/data/ended/sleep-${payload === "beats" ? payload : "ms"}`, tx.now)
    }
  })
])

const hang = Operations.channel({
  hang: Operations.operation({ repeatable: true, fields: {}, about: () => "for ever", execute: () => new Promise<never>(() => {}) })
})

const reactor = Reactor.native([
  { ...channel, id: "timer" },
  { provider: "hang", hosts: ["node", "deno", "bun", "workers"], ...hang, id: "hang" }
])

const seen: Array<number> = []

/** Observes a cell when it was quiet for a while. */
const quiet = Node.make({
  name: "quiet",
  debounce: WAIT,
  read: (tx) => tx.get("/data/gated") === undefined ? undefined : tx.now,
  deliver: (value) => void (value === undefined ? undefined : seen.push(value as number))
})

const pass = (ms: number) => Effect.andThen(TestClock.adjust(ms), turns(20))

const open = (kernel: Kernel["Service"]) => Effect.andThen(Effect.orDie(kernel.register(quiet)), kernel.space("home"))

/** The date at which the instance of the flow went on, from the view of its beat. */
const flowDate = (space: Space) => Effect.gen(function*() {
  const { history } = yield* instance(space, "late")
  const beat = history.find(({ step }) => step === "answer")?.beat
  if (beat === undefined) return []
  const { unix_ts_ns } = (yield* space.get(`/rt/beat/${beat}/meta`)) as unknown as { readonly unix_ts_ns: string }
  return [["flow", Number(BigInt(unix_ts_ns) / 1_000_000n)] as const]
})

/** The waits that ended, each with its date. */
const dates = (space: Space) => Effect.gen(function*() {
  const names = yield* space.list("/data/ended")
  const found = yield* Effect.forEach(names, (name) => Effect.map(space.get(`/data/ended/${name}`), (at) => [name, Number(at)] as const))
  return [...found, ...yield* flowDate(space)].toSorted(([a], [b]) => a < b ? -1 : 1)
})

const kinds = [...Object.keys(begins).filter((kind) => kind !== "gate"), "outside"].toSorted()

describe("Each kind of wait", () => {
  for (const isReset of [false, true]) {
    it.effect(isReset ? "ends in time after a reset of the clock and a restart" : "ends in time though its host was set back", () =>
      Effect.gen(function*() {
        seen.length = 0
        const machine = yield* RestartableKernel.make(enzymes, reactor, SetClock.make({ isMonotonic: true }))
        yield* TestClock.adjust(DAY)
        const first = yield* Effect.flatMap(machine.boot(settings), open)
        yield* first.handled({ signal: "/CEP:sig_sys/init" })
        yield* turns(20)
        yield* machine.clock.set(YEARS)
        const { handlings } = yield* first.handled({ signal: "/signals/all" })
        assert.deepStrictEqual(handlings.map(({ error, outcome }) => error ?? outcome), ["ok"])
        yield* first.signal({ signal: "/signals/end", payload: "outside", at: { ms: WAIT } })
        yield* first.signal({ signal: "/signals/retried" })
        yield* turns(20)
        yield* machine.clock.set(-YEARS)
        yield* pass(5000)
        if (isReset) assert.deepInclude(yield* first.control.resetClock(), { offset: YEARS })
        const space = isReset ? yield* Effect.flatMap(machine.boot(settings), open) : first
        yield* turns(20)
        const begun = isReset ? DAY : DAY + YEARS
        yield* pass(1300)
        assert.deepStrictEqual(yield* dates(space), [["retry", begun + 6300]])
        yield* pass(WAIT - 6301)
        assert.deepStrictEqual(yield* dates(space), [["retry", begun + 6300]])
        assert.deepStrictEqual(seen, [])
        yield* pass(1)
        const found = yield* dates(space)
        assert.deepStrictEqual(found.filter(([kind]) => kind !== "retry"), kinds.map((kind) => [kind, begun + WAIT] as const))
        assert.deepStrictEqual(seen, [begun + WAIT])
        assert.deepStrictEqual(yield* space.get("/data/told/deadline"), "io/timeout")
        yield* replays(space)
      }).pipe(RendezvousSpace.granted))
  }
})
