import { assert, describe, it } from "@effect/vitest"
import type { Scheduler as Engine } from "systole"
import { Computation, Effect, Scheduler } from "systole"
import { causesOf } from "../../src/scheduler/Introspection.ts"
import type { NodeRun } from "../../src/scheduler/Node.ts"
import * as Dice from "../support/Dice.ts"
import * as Model from "./Model.ts"

const GRAPHS = 400
const ROUNDS = 12

const seeds = Array.from({ length: GRAPHS }, (_, seed) => seed)

/** A random world in which some nodes are watched, and the engine that runs it. */
const begin = (seed: number, sizes = { sources: 5, computations: 14 }) => {
  const roll = Dice.make(seed)
  const model = Model.random(roll, sizes)
  for (let i = 0; i < 1 + roll(3); i++) Model.watcher(model, roll, `e${i}`)
  const scheduler = new Scheduler()
  Model.register(model, scheduler, roll)
  return { roll, model, scheduler }
}

const viewOf = (scheduler: Engine, name: string) => scheduler.snapshot().find((node) => node.name === name)!

describe("Invariants of the scheduler", () => {
  it("I1 at rest, what every live node read is what is there", () => {
    for (const seed of seeds) {
      const { model, roll, scheduler } = begin(seed)
      for (let round = 0; round < ROUNDS; round++) {
        scheduler.settle()
        for (const node of scheduler.snapshot()) {
          if (!node.live) continue
          assert.strictEqual(node.status, "clean", `${node.name}, seed ${seed}, round ${round}`)
          assert.isFalse(Model.differs(model, model.specs.get(node.name)!.log), `${node.name}, seed ${seed}, round ${round}`)
        }
        Model.change(model, scheduler, roll)
        if (roll(3) === 0) {
          const place = Dice.pick(roll, [...model.specs.values()].flatMap(({ output }) => output ?? []))
          assert.deepStrictEqual(scheduler.pull(place), model.value(place), `${place}, seed ${seed}, round ${round}`)
        }
      }
    }
  })

  it("I2 what is never live never runs, and demand equals what counting all of it anew gives", () => {
    for (const seed of seeds) {
      const { model, roll, scheduler } = begin(seed)
      model.onRun = ({ name }) => assert.isTrue(viewOf(scheduler, model.running[0]!).live, `${name} runs for nobody, seed ${seed}`)
      for (let round = 0; round < ROUNDS; round++) {
        scheduler.settle()
        const nodes = scheduler.snapshot()
        const live = Model.liveness(nodes)
        for (const node of nodes) {
          assert.strictEqual(node.live, live.get(node.name), `${node.name}, seed ${seed}, round ${round}`)
        }
        const effects = nodes.filter(({ kind }) => kind === "effect")
        if (roll(4) === 0 && effects.length > 0) scheduler.remove(Dice.pick(roll, effects).name)
        if (roll(4) === 0) scheduler.register(model.define(Model.watcher(model, roll, `late${round}`)))
        Model.change(model, scheduler, roll)
      }
    }
  })

  it("I3 a node runs again only when something that it read differs", () => {
    for (const seed of seeds) {
      const { model, roll, scheduler } = begin(seed)
      model.onRun = (spec) => {
        if (spec.runs > 0) assert.isTrue(Model.differs(model, spec.log), `${spec.name}, seed ${seed}`)
      }
      for (let round = 0; round < ROUNDS; round++) {
        scheduler.settle()
        Model.change(model, scheduler, roll)
      }
    }
  })

  it("I5 what a node writes itself does not make it run again, and equal values cause nothing at all", () => {
    for (const seed of seeds) {
      const { model, roll, scheduler } = begin(seed)
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
        Model.change(model, scheduler, roll)
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
      const scheduler = new Scheduler()
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

  it("I7 a resumed node runs when one that stayed alive would", () => {
    for (const seed of seeds) {
      const { model, roll, scheduler } = begin(seed)
      for (let round = 0; round < 4; round++) {
        scheduler.settle()
        Model.change(model, scheduler, roll)
      }
      if (roll(2) === 0) scheduler.settle()
      const twin = new Scheduler()
      const ran = { alive: [] as Array<string>, resumed: [] as Array<string> }
      const log = { into: ran.alive }
      model.onRun = ({ name }) => void log.into.push(name)
      for (const key of [...model.sources.keys(), ...[...model.specs.values()].flatMap(({ output }) => output ?? [])]) {
        const value = scheduler.graph.locations.whole(scheduler.graph.locations.root(key))
        twin.set(key, value)
      }
      for (const { name } of scheduler.snapshot()) twin.resume(model.define(model.specs.get(name)!), scheduler.observation(name))
      assert.deepStrictEqual(twin.snapshot().map(({ name, reads, status }) => ({ name, reads, status })), scheduler.snapshot().map(({ name, reads, status }) => ({ name, reads, status })), `seed ${seed}`)
      for (let round = 0; round < ROUNDS; round++) {
        ran.alive.length = ran.resumed.length = 0
        log.into = ran.alive
        scheduler.settle()
        log.into = ran.resumed
        twin.settle()
        assert.deepStrictEqual(ran.resumed.toSorted(), ran.alive.toSorted(), `seed ${seed}, round ${round}`)
        const [source, value] = [`/s/${roll(model.sources.size)}`, Model.someValue(roll)]
        model.sources.set(source, value)
        for (const each of [scheduler, twin]) each.set(source, value)
      }
    }
  })

  it("I8 each run knows its node, and the changes that are the reason for it", () => {
    for (const seed of seeds) {
      const { model, roll, scheduler } = begin(seed)
      model.onRun = (spec, tx) => {
        const run = tx as unknown as NodeRun
        assert.strictEqual(run.node.definition.name, spec.name)
        const causes = causesOf(run.node)
        if (spec.runs === 0) return assert.isEmpty(causes)
        const changed = spec.log.filter((read) => Model.differs(model, [read])).map(([, address]) => address)
        assert.isNotEmpty(causes, `${spec.name}, seed ${seed}`)
        for (const address of changed) {
          assert.isTrue(causes.some((cause) => address.startsWith(cause)), `${spec.name} does not know of ${address}, seed ${seed}: ${causes.join(" ")}`)
        }
      }
      for (let round = 0; round < ROUNDS; round++) {
        scheduler.settle()
        Model.change(model, scheduler, roll)
      }
    }
  })

  it("I9 writers run before their readers, so that in a graph without cycles nothing runs twice in a pass", () => {
    for (const seed of seeds) {
      const { model, roll, scheduler } = begin(seed, { sources: 4, computations: 25 })
      const ran = new Set<string>()
      model.onRun = ({ name }) => {
        assert.isFalse(ran.has(name), `${name} ran twice, seed ${seed}`)
        ran.add(name)
      }
      for (let round = 0; round < ROUNDS; round++) {
        ran.clear()
        scheduler.settle()
        Model.change(model, scheduler, roll)
      }
    }
  })
})
