import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme, Fatal, replay, type Space, verify } from "systole"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import { turns } from "../kernel/TestSpace.ts"
import * as Random from "../support/Random.ts"
import * as TestKernel from "../support/TestKernel.ts"
import * as Trials from "../support/Trials.ts"

const NAME = "test"
const MOVES = 60
const MOST = 200

/** The signal for which a run waits, and which it sends itself to undo its effect. */
const ackOf = (id: string) => ({ signal: "/signals/ack", target: `/data/acks/${id}` })

/** Waits, and undoes its effect at its end. Its writes contend with other runs. */
const work = Enzyme.make({
  name: "work",
  query: "/signals/work",
  durable: true,
  hears: ({ id }) => [ackOf(id)],
  run: async (tx, { id, payload }) => {
    const { signal, target } = ackOf(id)
    tx.increment("/data/held")
    try {
      await (payload === "asking" ? tx.waitForSignal(signal, target) : tx.sleep({ beats: 10_000 }))
    } finally {
      if (payload === "slow") await tx.sleep({ beats: 2 })
      if (payload === "asking") {
        tx.signal({ signal, target })
        await tx.waitForSignal(signal, target)
      }
      tx.set("/data/last", payload)
      tx.increment("/data/held", -1)
      tx.signal({ signal: "/signals/undone", payload: "one" })
    }
  }
})

const undone = Enzyme.make({ name: "undone", query: "/signals/undone", run: (tx) => tx.increment("/data/told") })

const rival = Enzyme.make({ name: "rival", query: "/signals/rival", run: (tx) => tx.set("/data/last", "rival") })

const falls = Enzyme.make({
  name: "falls",
  query: "/signals/falls",
  onFatal: "continue",
  run: () => new Fatal({ reason: "as asked" })
})

/** A space whose runs are cancelled between power cuts, aborted beats and conflicts. */
class World {
  begun = 0
  private readonly draw: Random.Random
  private readonly machine: RestartableKernel.RestartableKernel
  private space: Space | undefined

  private constructor(draw: Random.Random, machine: RestartableKernel.RestartableKernel) {
    this.draw = draw
    this.machine = machine
  }

  static readonly make = Effect.fnUntraced(function*(seed: number) {
    const world = new World(Random.make(seed), yield* RestartableKernel.make([work, undone, rival, falls]))
    yield* world.boot()
    return world
  })

  get now(): Space {
    return this.space ?? assert.fail("no space is open")
  }

  readonly boot = Effect.fnUntraced(function*(this: World) {
    const kernel = yield* this.machine.boot({ limits: { ...TestKernel.settings.limits, residentRuns: this.draw(3) } })
    this.space = yield* kernel.space(NAME, { create: true })
  })

  private readonly begin = Effect.fnUntraced(function*(this: World) {
    const id = `run-${this.begun}`
    yield* this.now.signal({ signal: "/signals/work", payload: Random.pick(this.draw, ["slow", "quick", "asking"]), id })
    this.begun++
  })

  private readonly cancel = Effect.fnUntraced(function*(this: World, share: number) {
    const { runs } = yield* this.now.runs.list({ limit: 1000 })
    for (const { cancel, oid, segment, state } of runs) {
      // A second cancellation would fail the wait with which a run undoes its effect.
      if (state === "dead" || cancel !== undefined || segment > 1 || this.draw(share) > 0) continue
      yield* Effect.forkChild(Effect.ignore(this.now.runs.cancel(oid)), { startImmediately: true })
    }
  })

  private readonly cut = Effect.fnUntraced(function*(this: World) {
    yield* Effect.forkChild(this.step(), { startImmediately: true })
    yield* turns(this.draw(4))
    yield* this.boot()
  })

  private step(): Effect.Effect<unknown> {
    return Effect.suspend(() => Effect.ignore(this.now.step))
  }

  readonly move = (): Effect.Effect<unknown, unknown> => {
    const kind = this.draw(12)
    if (kind < 2) return this.begin()
    if (kind < 4) return this.cancel(2)
    if (kind < 9) return this.step()
    if (kind === 9) return this.now.signal({ signal: "/signals/rival" })
    return kind === 10 ? this.now.signal({ signal: "/signals/falls" }) : this.cut()
  }

  /** Cancels all runs, and steps until they are over. */
  readonly end = Effect.fnUntraced(function*(this: World) {
    for (let i = 0; i < MOST; i++) {
      yield* this.cancel(1)
      yield* this.step()
      const { runs } = yield* this.now.runs.list({ limit: 1000 })
      const { waiting } = yield* this.now.waiting({ limit: 10 })
      if (waiting.length === 0 && runs.every(({ state }) => state === "dead")) return
    }
    assert.fail("runs that do not end")
  })
}

describe("Cancelled runs", () => {
  it.effect("are undone once each, through power cuts, aborts and conflicts, and replay", () => Effect.gen(function*() {
    let total = 0
    for (const seed of Trials.seeds(60, { from: 1, least: 6 })) {
      const world = yield* World.make(seed)
      for (let i = 0; i < MOVES; i++) yield* world.move()
      yield* world.end()
      const space = world.now
      const { letters } = yield* space.dead({ limit: 1000 })
      const ended = letters.filter(({ enzyme }) => enzyme === "work")
      const merged = ended.filter(({ code, undone }) => code === "run/cancelled" && undone === true)
      assert.deepStrictEqual([ended.length, merged.length], [world.begun, world.begun], `seed ${seed}`)
      assert.strictEqual((yield* space.get("/data/held")) ?? 0, 0, `seed ${seed}`)
      assert.strictEqual((yield* space.get("/data/told")) ?? 0, world.begun, `seed ${seed}`)
      const head = yield* space.head
      const { difference, impossible } = yield* space.examine((history) => replay(history, 0, head))
      assert.isUndefined(difference ?? impossible, `seed ${seed}: ${JSON.stringify(difference ?? impossible)}`)
      assert.isUndefined((yield* space.examine(verify)).fault)
      total += world.begun
    }
    assert.isAbove(total, 0)
  }))
})
