import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { Space } from "systole"
import * as TestMachine from "../kernel/TestMachine.ts"
import * as RendezvousSpace from "../rendezvous/RendezvousSpace.ts"
import { present } from "../support/Present.ts"
import * as Random from "../support/Random.ts"
import * as Trials from "../support/Trials.ts"
import { heard, type Kept } from "./FlowInstances.ts"
import { type Action, ReferenceModel } from "./ReferenceModel.ts"
import * as Plans from "./Plans.ts"

const actionOf = (draw: Random.Random, model: ReferenceModel, n: number): Action => {
  const inst = `i${draw(4 + model.instances.size)}`
  const budget = { steps: draw(3) === 0 ? 1 + draw(8) : 0, beats: draw(3) === 0 ? 1 + draw(12) : 0 }
  switch (Random.pick(draw, [
    "start", "start", "pause", "resume", "resume", "cancel", "budget", "spawn", "report", "report", "report", "report", "report", "report"
  ] as const)) {
    case "start":
      return { verb: "start", inst, input: draw(256), ...budget }
    case "budget":
      return { verb: "budget", inst, ...budget }
    case "spawn": {
      const key = Random.pick(draw, Plans.others)
      return { verb: "spawn", key, path: Plans.pathOf(key) }
    }
    case "report":
      return { verb: "report", key: Random.pick(draw, [...Plans.others, ...model.entries.keys()]), n }
    case "pause":
      return { verb: "pause", inst }
    case "cancel":
      return { verb: "cancel", inst }
    default:
      return { verb: "resume", inst }
  }
}

const ask = ({ flows, rv }: Space, action: Action): Effect.Effect<unknown, { readonly code: string }> => {
  switch (action.verb) {
    case "start":
      return flows.start({ flow: "random", inst: action.inst, input: action.input, steps: action.steps, beats: action.beats })
    case "budget":
      return flows.budget(action.inst, { steps: action.steps, beats: action.beats })
    case "spawn":
      return rv.spawn({ key: action.key, signal_path: action.path })
    case "report":
      return rv.report(action.key, { telemetry: { n: action.n } })
    default:
      return flows[action.verb](action.inst)
  }
}

/** Runs one beat with the requested actions. Returns its number and the answer to each action. */
const beat = Effect.fnUntraced(function*(space: Space, actions: ReadonlyArray<Action>) {
  const asked = yield* Effect.forEach(actions, (action) =>
    Effect.forkChild(
      Effect.match(ask(space, action), { onFailure: ({ code }) => code, onSuccess: () => "done" }),
      { startImmediately: true }
    ))
  const number = yield* space.step
  return { number, answers: yield* Effect.forEach(asked, Fiber.join) }
})

/** The instances of a space. */
const instancesOf = Effect.fnUntraced(function*(space: Space) {
  const { instances } = yield* space.flows.list({ limit: 100 })
  return yield* Effect.forEach(instances, ({ inst }) => Effect.map(space.flows.get(inst), present))
})

/** The instances and the rendezvous of a space, in the terms of the reference model. */
const seen = Effect.fnUntraced(function*(space: Space) {
  const instances = yield* instancesOf(space)
  const rows = yield* Effect.forEach(instances, Effect.fnUntraced(function*({ history, inst, pc, results, state, steps_used }) {
    const waits = Object.entries(results as Kept["results"]).filter(
      ([, result]) => typeof result === "object" && Object.hasOwn(result as object, "link")
    )
    const told = yield* Effect.forEach(waits, ([step]) => Effect.map(heard(space, inst, step), (result) => [step, result] as const))
    return [inst, state, pc, steps_used, history.map(({ step }) => step), told.toSorted(([a], [b]) => a < b ? -1 : 1)]
  }))
  const { rendezvous } = yield* space.rv.list({ limit: 1000 })
  return { instances: rows, entries: rendezvous.map(({ key, state }) => [key, state === "pending" || state === "ready" ? "open" : state]) }
})

/** The number of pending signals to instances. */
const waiting = (space: Space) => space.examine(({ store }) => [...store.queue()].filter(
  ({ text }) => (JSON.parse(text) as { readonly signal?: string }).signal?.startsWith("/CEP:sig_flow/") === true
).length)

const byKey = <A>([a]: readonly [string, A], [b]: readonly [string, A]): number => a < b ? -1 : 1

const expected = ({ entries, instances }: ReferenceModel) => ({
  instances: [...instances].toSorted(byKey).map(
    ([inst, { heard, passed, pc, state, used }]) => [inst, state, pc, used, passed, [...heard].toSorted(byKey)]
  ),
  entries: [...entries].toSorted(byKey).map(([key, { state }]) => [key, state])
})

/** Runs one random history with random restarts, and checks each beat. Returns the state of each instance. */
const check = Effect.fnUntraced(function*(seed: number, rounds: number) {
  const draw = Random.make(seed)
  const machine = yield* TestMachine.make
  const plan = Plans.random(draw)
  const settings = { tempo: seed % 3 === 0 ? 0 : 10 }
  const model = new ReferenceModel(plan, settings.tempo)
  const boot = machine.boot(RendezvousSpace.enzymes({}, [plan.flow]), settings)
  let clock = 0
  const pass = (ms: number) => {
    clock += ms
    return TestClock.adjust(ms)
  }
  yield* pass(1000)
  let space = yield* RendezvousSpace.begin(yield* boot)
  const judged = Effect.fnUntraced(function*(actions: ReadonlyArray<Action>) {
    const { answers, number } = yield* beat(space, actions)
    const at = `seed ${seed}, beat ${number}: ${JSON.stringify(actions)} of ${JSON.stringify(plan.steps)}`
    assert.deepStrictEqual(answers, model.beat({ beat: number, clock }, actions), at)
    assert.deepStrictEqual(yield* seen(space), expected(model) as never, at)
    assert.strictEqual(
      yield* waiting(space),
      [...model.instances.values()].reduce((sum, { wakes }) => sum + wakes, 0),
      `${at}: no pending signal waits for a timer`
    )
  })
  for (let round = 0; round < rounds; round++) {
    if (draw(3) > 0) yield* pass(draw(25))
    if (draw(4) === 0) space = yield* boot
    if (draw(6) === 0) {
      // The beat is computed but never durable, so no effect of it may be visible.
      machine.breakDisk(true)
      yield* Effect.exit(space.step)
      machine.breakDisk(false)
      space = yield* boot
    }
    yield* judged(draw(3) === 0 ? [] : Array.from({ length: 1 + draw(4) }, (_, i) => actionOf(draw, model, round * 10 + i)))
  }
  for (let i = 0; i < 3; i++) yield* judged([])
  const { rendezvous } = yield* space.rv.list({ limit: 1000 })
  for (const { inst_id, key, kill_mode, state } of rendezvous) {
    const instance = model.instances.get(inst_id ?? "")
    // A kill that the last beat requested takes effect in the next.
    const isLeft = !["applied", "timeout", "killed"].includes(state) && kill_mode === "none"
    if (instance !== undefined && ["done", "error", "cancelled"].includes(instance.state)) {
      assert.isFalse(isLeft, `seed ${seed}: ${key} is left by ${inst_id}, which is ${instance.state}`)
    }
    assert.deepStrictEqual(
      yield* RendezvousSpace.events(space, key),
      model.events.get(key) ?? [],
      `seed ${seed}: one event for each completion of ${key}`
    )
  }
  const instances = yield* instancesOf(space)
  const links =
    instances.flatMap(({ jobs, results }) => [...Object.values(results), ...Object.values(jobs).map(({ event }) => event)].flatMap(
      (heard) => (heard as { readonly link?: { readonly $link: string } } | undefined)?.link?.$link ?? []
    ))
  assert.sameMembers(
    [...yield* space.below("/data/flow/heard", { limit: 1000 })],
    links,
    `seed ${seed}: each linked event is kept, and no other`
  )
  for (const place of yield* space.below("/data/flow/subs", { limit: 1000 })) {
    assert.notInclude(["done", "error", "cancelled"], model.instances.get(place.slice(place.lastIndexOf("/") + 1))?.state, place)
  }
  if (seed % 10 === 0) yield* RendezvousSpace.isReplayedEqual(space)
  return [...model.instances.values()].map(({ state }) => state)
})

describe("flows, in any graph of steps and any order of completions, commands, beats and restarts", () => {
  it.effect("match the reference model in every beat: one event for each completion, no rendezvous left by finished instances", () =>
    Effect.gen(function*() {
      const states: Array<string> = []
      const seeds = Trials.seeds(80, { from: 1, least: 8, always: [10] })
      for (const seed of seeds) states.push(...yield* check(seed, 40).pipe(Effect.scoped))
      for (const state of ["done", "error", "cancelled", "waiting"]) {
        assert.isAbove(states.filter((other) => other === state).length, seeds.length / 4, state)
      }
    }).pipe(RendezvousSpace.granted))
})
