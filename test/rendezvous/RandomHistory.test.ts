import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { RendezvousSpec, Space, Transaction } from "systole"
import { enzyme } from "../kernel/TestSpace.ts"
import * as TestMachine from "../kernel/TestMachine.ts"
import * as Random from "../support/Random.ts"
import * as Trials from "../support/Trials.ts"
import { ReferenceModel, type Action } from "./ReferenceModel.ts"
import * as RendezvousSpace from "./RendezvousSpace.ts"

const keys = ["a", "b", "c", "d", "e"]

const specOf = (draw: Random.Random): Readonly<Record<string, unknown>> => {
  const prof = Random.pick(draw, ["rv-fixed", "rv-fixed", "rv-epoch", "observer", "spec", "spec"] as const)
  return {
    prof,
    ...(draw(4) === 0 ? { due: draw(20) } : { due_off: draw(4) }),
    on_miss: Random.pick(draw, ["timeout", "kill", "grace", "ignore", "quarantine"]),
    max_grace: draw(3),
    grace_delta: draw(3),
    ...(draw(3) === 0 ? { deadl_off: draw(6) } : {}),
    ...(prof === "rv-epoch" ? { epoch_k: 1 + draw(3) } : {}),
    ...(prof === "spec" ? { inst_id: Random.pick(draw, ["q", "r"]) } : {})
  }
}

const actionOf = (draw: Random.Random, n: number): Action => {
  const key = Random.pick(draw, keys)
  switch (Random.pick(draw, ["spawn", "report", "report", "kill", "resched"] as const)) {
    case "spawn":
      return { verb: "spawn", key, spec: specOf(draw) }
    case "report":
      return { verb: "report", key, n }
    case "kill":
      return { verb: "kill", key, wait: draw(4) }
    default:
      return { verb: "resched", key, delta: draw(7) - 3 }
  }
}

/** Whether a spawn would abort the run because the event of a completion of that key is not written yet. */
const isUntold = (tx: Transaction, key: string): boolean =>
  (tx.get(`/data/rv/${key}`) as { readonly event_flag?: string } | undefined)?.event_flag === "1"

const act = (tx: Transaction, action: Action): boolean => {
  const { key } = action
  switch (action.verb) {
    case "spawn":
      return !isUntold(tx, key) && tx.rv.spawn({ ...action.spec, key } as RendezvousSpec).length > 0
    case "report":
      return tx.rv.report(key, { n: action.n })
    case "kill":
      return tx.rv.kill(key, { wait: action.wait })
    default:
      return tx.rv.resched(key, action.delta)
  }
}

/** Enzymes that execute actions, watch an operation in each run, and record the events and continuations. */
const enzymes = () =>
  RendezvousSpace.enzymes({}, [
    enzyme("act", (tx, { payload }) => {
      const oid = tx.op.start({ verb: "op/x", target: "/data/x", mode: "opm:states" })
      tx.op.await(oid, "sts:ok", { signal: "/op/cont", ttl: 2 })
      if (tx.beat % 2 === 0) tx.op.close(oid, "sts:ok")
      return (payload as ReadonlyArray<Action>).map((action) => act(tx, action))
    }),
    enzyme("watched", (tx) => tx.increment("/data/watched"), { query: "/op/*", bind: ["/rt/ops"] }),
    enzyme("heard", (tx, { payload }) => {
      const { beat, key, outcome } = payload as { readonly beat: string; readonly key: string; readonly outcome: string }
      tx.append("/data/heard", [key, Number(beat), outcome])
    }, { query: "/CEP:sig_rv/*", bind: ["/data/inbox/flow/inst_event"] })
  ])

const fields = ["prof", "state", "due", "grace_used", "kill_mode", "kill_wait"] as const

/** The entries of a space, in the terms of the reference model. */
const seen = Effect.fnUntraced(function*(space: Space) {
  const { rendezvous } = yield* space.rv.list({ limit: 100 })
  return rendezvous.map((row) => [row.key, ...fields.map((field) => row[field]), row.telemetry])
})

const expected = ({ entries }: ReferenceModel) =>
  [...entries].sort(([a], [b]) => a < b ? -1 : 1)
    .map(([key, entry]) => [key, ...fields.map((field) => entry[field]), entry.telemetry])

/** Runs one random history with random restarts, and checks each beat. Returns the number of events. */
const check = Effect.fnUntraced(function*(seed: number, rounds: number) {
  const draw = Random.make(seed)
  const machine = yield* TestMachine.make
  const settings = { tempo: seed % 3 === 0 ? 0 : 10 }
  const model = new ReferenceModel(settings.tempo)
  let clock = 0
  const pass = (ms: number) => {
    clock += ms
    return TestClock.adjust(ms)
  }
  yield* pass(1000)
  let asked = 0
  let space = yield* RendezvousSpace.begin(yield* machine.boot(enzymes(), settings))
  for (let round = 0; round < rounds; round++) {
    const actions = draw(3) === 0 ? [] : Array.from({ length: 1 + draw(3) }, (_, i) => actionOf(draw, round * 10 + i))
    if (draw(4) === 0) space = yield* machine.boot(enzymes(), settings)
    const signal = { id: `r${round}`, signal: "/signals/act", payload: actions }
    if (actions.length > 0) asked++
    const accepted = actions.length > 0 ? yield* space.signal(signal) : undefined
    if (draw(5) === 0) {
      // The beat is computed but never durable, so no effect of it may be visible.
      machine.breakDisk(true)
      yield* Effect.exit(space.step)
      machine.breakDisk(false)
      space = yield* machine.boot(enzymes(), settings)
    }
    if (draw(3) > 0) yield* pass(draw(25))
    const released = draw(3) === 0 ? [Random.pick(draw, keys)] : []
    for (const key of released) yield* Effect.forkChild(Effect.exit(space.rv.release(key)), { startImmediately: true })
    const beat = yield* space.step
    const answers = model.beat({ beat, clock }, actions, released)
    const handlings = accepted === undefined ? undefined : (yield* space.receipt(accepted.id))!.handlings
    if (handlings !== undefined) {
      assert.deepStrictEqual(handlings[0]!.value, answers as never, `seed ${seed}, beat ${beat}: ${JSON.stringify(actions)}`)
    }
    assert.deepStrictEqual(yield* seen(space), expected(model), `seed ${seed}, beat ${beat}: ${JSON.stringify(actions)}`)
  }
  yield* space.step
  model.beat({ beat: yield* space.head, clock }, [])
  for (let i = 0; i < 4; i++) {
    yield* pass(10)
    model.beat({ beat: yield* space.step, clock }, [])
  }
  const heard = ((yield* space.get("/data/heard")) ?? []) as unknown as ReadonlyArray<readonly [string, number, string]>
  const last = (yield* space.head) - 1
  const order = (events: ReadonlyArray<readonly [string, number, string]>) =>
    events.filter(([, beat]) => beat <= last).map((event) => event.join()).sort()
  assert.deepStrictEqual(order(heard), order(model.events), `seed ${seed}`)
  assert.strictEqual(yield* space.get("/data/watched"), asked, `seed ${seed}: each watcher hears once`)
  if (seed % 10 === 0) yield* RendezvousSpace.isReplayedEqual(space)
  return model.events.length
})

describe("Rendezvous, in any order of spawns, reports, kills, delays, beats and restarts", () => {
  it.effect("match the reference model in every beat: one event for each completion, one signal for each watcher", () =>
    Effect.gen(function*() {
      let events = 0
      const seeds = Trials.seeds(60, { from: 1, always: [10] })
      for (const seed of seeds) events += yield* check(seed, 40).pipe(Effect.scoped)
      assert.isAbove(events, 5 * seeds.length)
    }).pipe(RendezvousSpace.granted))
})
