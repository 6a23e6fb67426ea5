import { assert, describe, it } from "@effect/vitest"
import type { SpaceScheduler as Engine } from "systole"
import { Address, Computation, Reaction, SpaceScheduler } from "systole"
import { causesOf } from "../../src/scheduler/graph/Reads.ts"
import type { Run } from "../../src/scheduler/run/Run.ts"
import * as Random from "../support/Random.ts"
import * as Trials from "../support/Trials.ts"
import * as Model from "./ReferenceModel.ts"
import * as RandomGraph from "./RandomGraph.ts"
import { ObservedReads } from "./ObservedReads.ts"

const GRAPHS = 512
const ROUNDS = 12

const seeds = Trials.seeds(GRAPHS, { least: 64, always: [331] })

/** The size of a graph, and features that it is without. */
interface Sizes {
  readonly sources?: number
  readonly computations?: number
  readonly without?: RandomGraph.Features
}

/** A random graph with some watched nodes, and the scheduler that runs it. */
const begin = (seed: number, { without = {}, ...sizes }: Sizes = {}) => {
  const draw = Random.make(seed)
  const features = { ...RandomGraph.featuresOf(seed), ...without }
  const model = RandomGraph.random(draw, { sources: 5, computations: 14, ...sizes }, features)
  for (let i = 0; i < 1 + draw(3); i++) RandomGraph.watcher(model, draw, `e${i}`)
  const scheduler = new SpaceScheduler()
  RandomGraph.register(model, scheduler, draw)
  let now = 0
  return {
    draw,
    model,
    scheduler,
    features,
    /** The values in the scheduler now, up to date or not. */
    held: Model.committed(scheduler),
    /** Advances the clock, and runs the pass. */
    settle: () => {
      const settled = scheduler.settle(now += draw(60))
      model.check()
      return settled
    },
    change: () => RandomGraph.change({ model, draw, features }, scheduler),
    now: () => now
  }
}

const viewOf = (scheduler: Engine, name: string) => scheduler.snapshot().find((node) => node.name === name)!

/** The opening of the latest gate of an unsettled node, at or above a node. */
const latestGate = (scheduler: Engine, name: string): number | undefined => {
  const { edges } = scheduler.view()
  const above = new Set([name])
  for (const reader of above) for (const { from, to } of edges) if (to === reader) above.add(from)
  const unsettled = scheduler.snapshot().filter(({ name, status }) => above.has(name) && (status === "invalid" || status === "never-ran"))
  return unsettled.length === 0 ? undefined : Math.max(...unsettled.map(({ eligibleAt }) => eligibleAt))
}

describe("Invariants of the scheduler", () => {
  it("I1 at rest, the reads and outputs of each live node are current, except failed nodes and nodes behind a gate", () => {
    for (const seed of seeds) {
      const { change, features, held, model, now, draw, scheduler, settle } = begin(seed)
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
          // Computed from the sources alone, transitively.
          if (isPlain) for (const key of Model.outputsOf(spec)) assert.deepStrictEqual(held.get(key), model.value(key), `${key} of ${at}`)
        }
        change()
        if (draw(3) > 0 || !isPlain) continue
        const place = Random.pick(draw, model.places)
        assert.deepStrictEqual(scheduler.pull(place), model.value(place), `${place}, seed ${seed}, round ${round}`)
      }
    }
  })

  it("I1 a place is up to date, or a gate above it is reported, also in the first run of a node that nobody demands", () => {
    let held = 0
    for (const seed of seeds) {
      const { change, features, model, draw, scheduler, settle } = begin(seed)
      const isModelled = !features.cycles && !features.failures && !features.children
      for (let round = 0; round < ROUNDS; round++) {
        if (draw(3) > 0) settle()
        change()
        if (draw(3) > 0) settle()
        const at = `seed ${seed}, round ${round}`
        const { output, spec } = RandomGraph.latecomer(model, draw, `late${round}`)
        scheduler.register(model.define(spec))
        const address = Address.parse(output)
        const until = scheduler.demands.read(address, "deep")
        assert.strictEqual(until, latestGate(scheduler, spec.name), at)
        assert.strictEqual(scheduler.demands.read(address, "deep"), until, at)
        if (until !== undefined) held++
        else if (isModelled) assert.deepStrictEqual(scheduler.pull(output), model.value(output), at)
      }
    }
    assert.isAbove(held, seeds.length)
  })

  it("I2 a node that is never live never runs, and demand counts equal a full count", () => {
    for (const seed of seeds) {
      const { change, model, draw, scheduler, settle } = begin(seed)
      model.onRun = ({ name }) => {
        // A nested run is demanded by the outer one.
        if (model.running.length === 1) assert.isTrue(viewOf(scheduler, name).live, `${name} runs for nobody, seed ${seed}`)
      }
      for (let round = 0; round < ROUNDS; round++) {
        settle()
        const nodes = scheduler.snapshot()
        const counted = Model.liveness(scheduler.view())
        for (const { live, liveRefs, name } of nodes) assert.deepStrictEqual(
          [live, liveRefs], counted.get(name), `${name}, seed ${seed}, round ${round}`
        )
        const effects = nodes.filter(({ kind }) => kind === "effect")
        if (draw(4) === 0 && effects.length > 0) scheduler.remove(Random.pick(draw, effects).name)
        if (draw(4) === 0) scheduler.register(model.define(RandomGraph.watcher(model, draw, `late${round}`)))
        change()
      }
    }
  })

  it("I3 a node runs again only if a value that it read differs, or has differed since", () => {
    for (const seed of seeds) {
      const { change, features, model, scheduler, settle } = begin(seed)
      const observed = new ObservedReads(model, scheduler)
      model.onRun = (spec, tx) => {
        const { node, runs } = tx as Run
        observed.note()
        if (runs === 0) return
        assert.isNotEmpty(causesOf(node), `${spec.name}, seed ${seed}`)
        // In a cycle, and for reads of materialized cells, values change during the run.
        if (!features.cycles && !features.materializers) assert.isNotEmpty(observed.changes(spec), `${spec.name}, seed ${seed}`)
      }
      for (let round = 0; round < ROUNDS; round++) {
        settle()
        observed.note()
        change()
        observed.note()
      }
    }
  })

  it("I5 a node's own writes do not run it again, and equal values cause no run", () => {
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
      scheduler.register(
        Reaction.make({ name: "look", read: (tx) => [tx.get("/own") ?? null, tx.get("/beside") ?? null], deliver: () => {} })
      )
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

  it("I6 restless nodes run at most ten times a pass and back off; other nodes are not delayed", () => {
    for (const seed of seeds) {
      const draw = Random.make(seed)
      const scheduler = new SpaceScheduler()
      const runs = new Map<string, number>()
      const size = 2 + draw(4)
      for (let i = 0; i < size; i++) {
        const reads = [`/ring/${(i + size - 1) % size}`, ...draw(2) === 0 ? [`/ring/${draw(size)}`] : []]
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
      scheduler.register(Reaction.make({ name: "ring", read: (tx) => tx.get("/ring/0"), deliver: () => {} }))
      scheduler.register(Reaction.make({ name: "calm", read: (tx) => tx.get("/s"), deliver: () => void told++ }))
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

  it("I7 a resumed node runs when one that stayed alive would; creators run first, to start their children again", () => {
    for (const seed of seeds) {
      const { change, features, model, draw, scheduler, settle } = begin(seed, {
        without: { cycles: false, ...RandomGraph.featuresOf(seed).gates && { materializers: false } }
      })
      for (let round = 0; round < 4; round++) {
        settle()
        change()
      }
      const now = draw(2) === 0 ? (settle(), scheduler.gates.now) : scheduler.gates.now
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
      const shown = (engine: Engine) => engine.snapshot().filter(
        ({ name, parent }) => parent === undefined && !name.startsWith("p")
      ).map(({ name, reads, status }) => ({ name, reads, status }))
      assert.deepStrictEqual(shown(twin), shown(scheduler), `seed ${seed}`)
      // Creators run at once.
      const parents = (names: ReadonlyArray<string>) => names.filter((name) => name.startsWith("p"))
      for (let round = 0, later = now; round < ROUNDS; round++, later += 40) {
        ran.alive.length = ran.resumed.length = 0
        log.into = ran.alive
        scheduler.settle(later)
        log.into = ran.resumed
        twin.settle(later)
        // A node that was not started again starts without state, as in one process.
        rows.clear()
        const missing = round === 0 ? parents(ran.resumed).filter((name) => !ran.alive.includes(name)) : []
        // Runs of readers of materializers depend on levels, which are not stored. So do the openings of their gates.
        const told = (names: ReadonlyArray<string>) => (features.materializers ? [...new Set(names)] : names).toSorted()
        assert.deepStrictEqual(
          told(ran.resumed), told([...ran.alive, ...missing]), `seed ${seed}, round ${round}, ${JSON.stringify(features)}`
        )
        const [source, value] = [`/s/${draw(5)}`, RandomGraph.someValue(draw)]
        model.sources.set(source, value)
        for (const each of [scheduler, twin]) each.set(source, value)
      }
    }
  })

  it("I8 each run knows its node and exactly the changes that caused it", () => {
    for (const seed of seeds) {
      const { change, model, scheduler, settle } = begin(seed, { without: { links: false, cycles: false, materializers: false } })
      const observed = new ObservedReads(model, scheduler)
      model.onRun = (spec, tx) => {
        const { node, runs } = tx as Run
        assert.strictEqual(node.definition.name, spec.name)
        observed.note()
        const causes = causesOf(node)
        assert.deepStrictEqual(causes.toSorted(), runs === 0 ? [] : observed.changes(spec).toSorted(), `${spec.name}, seed ${seed}`)
        if (runs > 0) assert.isNotEmpty(causes, `${spec.name}, seed ${seed}`)
      }
      for (let round = 0; round < ROUNDS; round++) {
        settle()
        observed.note()
        change()
        observed.note()
      }
    }
  })

  it("I9 writers run before their readers, so in an acyclic graph no node runs twice in a pass", () => {
    for (const seed of seeds) {
      // A materializer's writes are known after its run, which follows all others.
      const { change, model, settle } = begin(seed, {
        sources: 4,
        computations: 25,
        without: { cycles: false, children: false, materializers: false }
      })
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
