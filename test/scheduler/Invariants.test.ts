import { assert, describe, it } from "@effect/vitest"
import type { SpaceScheduler as Engine } from "systole"
import { Computation, Effect, SpaceScheduler } from "systole"
import { causesOf } from "../../src/scheduler/Introspection.ts"
import type { Runner } from "../../src/scheduler/Runner.ts"
import * as Dice from "../support/Dice.ts"
import * as Trials from "../support/Trials.ts"
import * as Model from "./Model.ts"
import * as World from "./World.ts"
import { Sights } from "./Sights.ts"

const GRAPHS = 512
const ROUNDS = 12

const seeds = Trials.seeds(GRAPHS, { least: 64 })

/** A random world in which some nodes are watched, and the engine that runs it. */
const begin = (seed: number, { without = {}, ...sizes }: { readonly sources?: number; readonly computations?: number; readonly without?: World.Features } = {}) => {
  const roll = Dice.make(seed)
  const features = { ...World.featuresOf(seed), ...without }
  const model = World.random(roll, { sources: 5, computations: 14, ...sizes }, features)
  for (let i = 0; i < 1 + roll(3); i++) World.watcher(model, roll, `e${i}`)
  const scheduler = new SpaceScheduler()
  World.register(model, scheduler, roll)
  let now = 0
  return {
    roll,
    model,
    scheduler,
    features,
    /** What the engine holds now, up to date or not. */
    held: Model.committed(scheduler),
    /** Some time goes by, and the pass runs. */
    settle: () => {
      const settled = scheduler.settle(now += roll(60))
      model.check()
      return settled
    },
    change: () => World.change({ model, roll, features }, scheduler),
    now: () => now
  }
}

const viewOf = (scheduler: Engine, name: string) => scheduler.snapshot().find((node) => node.name === name)!

describe("Invariants of the scheduler", () => {
  it("I1 at rest, what every live node read is what is there, and what it derives is what follows from that, but for those that fail or that a gate holds back", () => {
    for (const seed of seeds) {
      const { change, features, held, model, now, roll, scheduler, settle } = begin(seed)
      const isPlain = !features.cycles && !features.failures && !features.gates && !features.children
      for (let round = 0; round < ROUNDS; round++) {
        settle()
        for (const node of scheduler.snapshot()) {
          const [spec, at] = [model.specs.get(node.name)!, `${node.name}, seed ${seed}, round ${round}`]
          if (!node.live) continue
          if (node.status !== "clean" && node.status !== "failed") {
            assert.isTrue(features.gates || features.cycles, at)
            assert.isAbove(node.eligibleAt, now(), at)
            continue
          }
          const foreign = Model.foreign(scheduler, spec)
          assert.isFalse(Model.differs(held, spec, foreign), at)
          if (node.error !== undefined || foreign.length < spec.log.length) continue
          if (spec.output !== undefined) assert.deepStrictEqual(held.get(spec.output), spec.compute(held), at)
          for (const { compute, key } of spec.sides) assert.deepStrictEqual(held.get(key), compute(held), `${key} of ${at}`)
          // Computed anew from the sources alone, all the way.
          if (isPlain) for (const key of Model.outputsOf(spec)) assert.deepStrictEqual(held.get(key), model.value(key), `${key} of ${at}`)
        }
        change()
        if (roll(3) > 0 || !isPlain) continue
        const place = Dice.pick(roll, model.places)
        assert.deepStrictEqual(scheduler.pull(place), model.value(place), `${place}, seed ${seed}, round ${round}`)
      }
    }
  })

  it("I2 what is never live never runs, and demand equals what counting all of it anew gives", () => {
    for (const seed of seeds) {
      const { change, model, roll, scheduler, settle } = begin(seed)
      model.onRun = ({ name }) => {
        // What stands within another run runs for that one.
        if (model.running.length === 1) assert.isTrue(viewOf(scheduler, name).live, `${name} runs for nobody, seed ${seed}`)
      }
      for (let round = 0; round < ROUNDS; round++) {
        settle()
        const nodes = scheduler.snapshot()
        const counted = Model.liveness(scheduler.view())
        for (const { live, liveRefs, name } of nodes) assert.deepStrictEqual([live, liveRefs], counted.get(name), `${name}, seed ${seed}, round ${round}`)
        const effects = nodes.filter(({ kind }) => kind === "effect")
        if (roll(4) === 0 && effects.length > 0) scheduler.remove(Dice.pick(roll, effects).name)
        if (roll(4) === 0) scheduler.register(model.define(World.watcher(model, roll, `late${round}`)))
        change()
      }
    }
  })

  it("I3 a node runs again only when something that it read differs, or has differed since", () => {
    for (const seed of seeds) {
      const { change, features, model, scheduler, settle } = begin(seed)
      const sights = new Sights(model, scheduler)
      model.onRun = (spec, tx) => {
        const { node, runs } = tx as Runner
        sights.note()
        if (runs === 0) return
        assert.isNotEmpty(causesOf(node), `${spec.name}, seed ${seed}`)
        // In a cycle, and of what materializers write, what it looked at changes while it runs.
        if (!features.cycles && !features.materializers) assert.isNotEmpty(sights.changes(spec), `${spec.name}, seed ${seed}`)
      }
      for (let round = 0; round < ROUNDS; round++) {
        settle()
        sights.note()
        change()
        sights.note()
      }
    }
  })

  it("I5 what a node writes itself does not make it run again, and equal values cause nothing at all", () => {
    for (const seed of seeds) {
      const { change, model, scheduler } = begin(seed)
      let own = 0
      scheduler.register(Computation.make({
        name: "own",
        output: "/own",
        writes: ["/beside"],
        run: (tx) => {
          own++
          tx.set("/beside", tx.get("/s/0") ?? 0)
          tx.get("/own")
          tx.get("/beside")
          return tx.get("/s/0")
        }
      }))
      scheduler.register(Effect.make({ name: "look", read: (tx) => [tx.get("/own") ?? null, tx.get("/beside") ?? null], deliver: () => {} }))
      scheduler.settle()
      for (let round = 0; round < ROUNDS; round++) {
        const [before, value] = [own, model.sources.get("/s/0")]
        change()
        scheduler.settle()
        const isSame = JSON.stringify(value) === JSON.stringify(model.sources.get("/s/0"))
        assert.strictEqual(own - before, isSame ? 0 : 1, `seed ${seed}, round ${round}`)
        for (const [source, value] of model.sources) scheduler.set(source, structuredClone(value))
        assert.strictEqual(scheduler.settle().runs, 0, `seed ${seed}, round ${round}`)
      }
    }
  })

  it("I6 nodes that never come to rest run at most ten times a pass, and wait longer each time; the others are not held up", () => {
    for (const seed of seeds) {
      const roll = Dice.make(seed)
      const scheduler = new SpaceScheduler()
      const runs = new Map<string, number>()
      const size = 2 + roll(4)
      for (let i = 0; i < size; i++) {
        const reads = [`/ring/${(i + size - 1) % size}`, ...roll(2) === 0 ? [`/ring/${roll(size)}`] : []]
        scheduler.register(Computation.make({
          name: `ring${i}`,
          output: `/ring/${i}`,
          run: (tx) => {
            runs.set(`ring${i}`, (runs.get(`ring${i}`) ?? 0) + 1)
            return reads.reduce((sum, read) => sum + Number(tx.get(read) ?? 0), 1)
          }
        }))
      }
      let told = 0
      scheduler.register(Effect.make({ name: "ring", read: (tx) => tx.get("/ring/0"), deliver: () => {} }))
      scheduler.register(Effect.make({ name: "calm", read: (tx) => tx.get("/s"), deliver: () => void told++ }))
      let now = 0
      for (let round = 0; round < 6; round++) {
        runs.clear()
        scheduler.set("/s", round)
        const { restless } = scheduler.settle(now)
        assert.strictEqual(told, round + 1, `seed ${seed}`)
        for (const [name, count] of runs) assert.isAtMost(count, 10, `${name}, seed ${seed}, round ${round}`)
        assert.isNotEmpty(restless, `seed ${seed}, round ${round}`)
        for (const { definition } of restless) assert.strictEqual(viewOf(scheduler, definition.name).status, "invalid")
        const due = scheduler.nextDue!
        assert.isAbove(due, now, `seed ${seed}`)
        assert.isAtMost(due - now, 2000, `seed ${seed}`)
        now = due
      }
      assert.isAtLeast(now, 2000, `seed ${seed}`)
      scheduler.remove("ring")
      assert.isTrue(scheduler.snapshot().every(({ kind, live }) => live === (kind === "effect")), `seed ${seed}: a ring keeps itself alive`)
    }
  })

  it("I7 a resumed node runs when one that stayed alive would; one that starts others runs first, so that they come back", () => {
    for (const seed of seeds) {
      const { change, features, model, roll, scheduler, settle } = begin(seed, { without: { cycles: false, ...World.featuresOf(seed).gates && { materializers: false } } })
      for (let round = 0; round < 4; round++) {
        settle()
        change()
      }
      const now = roll(2) === 0 ? (settle(), scheduler.gates.now) : scheduler.gates.now
      const twin = new SpaceScheduler()
      const ran = { alive: [] as Array<string>, resumed: [] as Array<string> }
      const log = { into: ran.alive }
      model.onRun = ({ name }) => void log.into.push(name)
      twin.gates.now = now
      for (const key of [...model.sources.keys(), ...model.places]) {
        const value = scheduler.graph.locations.whole(scheduler.graph.locations.root(key))
        twin.set(key, value)
      }
      const rows = new Map(scheduler.snapshot().map(({ name }) => [name, scheduler.observation(name)]))
      const take = (name: string) => {
        const row = rows.get(name)
        rows.delete(name)
        return row
      }
      twin.kept = ({ definition: { name } }) => ({ observation: take(name), hash: undefined })
      for (const { name, parent } of scheduler.snapshot()) {
        if (parent === undefined) twin.resume(model.define(model.specs.get(name)!), take(name))
      }
      const shown = (engine: Engine) => engine.snapshot().filter(({ name, parent }) => parent === undefined && !name.startsWith("p")).map(({ name, reads, status }) => ({ name, reads, status }))
      assert.deepStrictEqual(shown(twin), shown(scheduler), `seed ${seed}`)
      // Who starts others runs at once.
      const parents = (names: ReadonlyArray<string>) => names.filter((name) => name.startsWith("p"))
      for (let round = 0, later = now; round < ROUNDS; round++, later += 40) {
        ran.alive.length = ran.resumed.length = 0
        log.into = ran.alive
        scheduler.settle(later)
        log.into = ran.resumed
        twin.settle(later)
        // What was not started again by now begins anew, as it would have.
        rows.clear()
        const missing = round === 0 ? parents(ran.resumed).filter((name) => !ran.alive.includes(name)) : []
        // How often readers of materializers run follows from levels, which are not kept; and by that when their gates open.
        const told = (names: ReadonlyArray<string>) => (features.materializers ? [...new Set(names)] : names).toSorted()
        assert.deepStrictEqual(told(ran.resumed), told([...ran.alive, ...missing]), `seed ${seed}, round ${round}, ${JSON.stringify(features)}`)
        const [source, value] = [`/s/${roll(5)}`, World.someValue(roll)]
        model.sources.set(source, value)
        for (const each of [scheduler, twin]) each.set(source, value)
      }
    }
  })

  it("I8 each run knows its node, and exactly the changes that are the reason for it", () => {
    for (const seed of seeds) {
      const { change, model, scheduler, settle } = begin(seed, { without: { links: false, cycles: false, materializers: false } })
      const sights = new Sights(model, scheduler)
      model.onRun = (spec, tx) => {
        const { node, runs } = tx as Runner
        assert.strictEqual(node.definition.name, spec.name)
        sights.note()
        const causes = causesOf(node)
        assert.deepStrictEqual(causes.toSorted(), runs === 0 ? [] : sights.changes(spec).toSorted(), `${spec.name}, seed ${seed}`)
        if (runs > 0) assert.isNotEmpty(causes, `${spec.name}, seed ${seed}`)
      }
      for (let round = 0; round < ROUNDS; round++) {
        settle()
        sights.note()
        change()
        sights.note()
      }
    }
  })

  it("I9 writers run before their readers, so that in a graph without cycles nothing runs twice in a pass", () => {
    for (const seed of seeds) {
      // What a materializer writes is known when it has run, which is when all else has.
      const { change, model, settle } = begin(seed, { sources: 4, computations: 25, without: { cycles: false, children: false, materializers: false } })
      const ran = new Set<string>()
      model.onRun = ({ name }) => {
        assert.isFalse(ran.has(name), `${name} ran twice, seed ${seed}`)
        ran.add(name)
      }
      for (let round = 0; round < ROUNDS; round++) {
        ran.clear()
        settle()
        change()
      }
    }
  })
})
