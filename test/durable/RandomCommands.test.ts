import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Channel, Enzyme, replay, type Space, type Transaction, verify } from "systole"
import { TestReactor } from "systole/testing"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import { controlled } from "../kernel/TestSpace.ts"
import * as Random from "../support/Random.ts"
import * as TestKernel from "../support/TestKernel.ts"
import * as Trials from "../support/Trials.ts"

/** The moves of a history, and the most further ones until its runs are over. */
const MOVES = 70
const MOST = 40

type Part = "ask" | "sleep" | "hear" | "race" | "both"

/** The payload of a run: its name, and its parts. */
interface Plan {
  readonly name: string
  readonly parts: ReadonlyArray<Part>
}

/** Hears the signals of a run from its first part on that needs them. */
const hear = (tx: Transaction, name: string): Promise<unknown> => {
  tx.hear("/signals/go", `/data/${name}`)
  return tx.waitForSignal("/signals/go", `/data/${name}`)
}

const parts: Readonly<Record<Part, (tx: Transaction, name: string) => Promise<unknown>>> = {
  ask: (tx) => tx.io.request({ channel: "bank", opcode: "ask", attempts: 1 }),
  sleep: (tx) => tx.sleep({ beats: 2 }),
  hear: (tx, name) => hear(tx, name),
  race: (tx, name) => Promise.race([tx.sleep({ beats: 3 }), hear(tx, name)]),
  both: (tx) => Promise.all([tx.io.request({ channel: "bank", opcode: "ask", attempts: 1 }), tx.sleep({ beats: 1 })])
}

/** Follows its plan, and makes one request to undo it where it is cancelled. */
const work = Enzyme.make({
  name: "work",
  query: "/signals/work",
  durable: true,
  run: async (tx: Transaction, { payload }) => {
    const { name, parts: plan } = payload as unknown as Plan
    let made = 0
    try {
      for (const part of plan) {
        await parts[part](tx, name)
        tx.set(`/data/${name}`, ++made)
      }
    } catch (error) {
      const { code } = error as { readonly code?: string }
      if (code !== "run/cancelled" || made % 2 === 1) {
        tx.increment(`/data/undone/${name}`)
        tx.signal({ signal: "/signals/undone", payload: name })
        throw error
      }
      await tx.io.request({ channel: "bank", opcode: "undo" })
    }
    return made
  }
})

/** Counts the undone runs by their signals. */
const undone = Enzyme.make({
  name: "undone",
  query: "/signals/undone",
  run: (tx, { payload }) => tx.increment(`/data/told/${String(payload)}`)
})

/** The codes with which commands may be refused. */
const expected: ReadonlySet<string | undefined> = new Set([undefined, "run/absent", "run/state", "dead/absent", "control/refused"])

/** A space under random commands. */
class World {
  readonly reactor: TestReactor
  private space: Space | undefined
  private readonly draw: Random.Random
  private readonly machine: RestartableKernel.RestartableKernel
  private events = 0

  private constructor(draw: Random.Random, reactor: TestReactor, machine: RestartableKernel.RestartableKernel) {
    this.draw = draw
    this.reactor = reactor
    this.machine = machine
  }

  static readonly make = Effect.fnUntraced(function*(seed: number) {
    const reactor = new TestReactor({ bank: { opcodes: { ask: { repeatable: true }, undo: {} } } })
    const machine = yield* RestartableKernel.make([work, undone], reactor.layer)
    const world = new World(Random.make(seed), reactor, machine)
    yield* world.boot()
    return world
  })

  readonly boot = Effect.fnUntraced(function*(this: World) {
    this.reactor.crash()
    const limits = { ...TestKernel.settings.limits, residentRuns: this.draw(3), backoffBeats: 2, waitingRuns: 4 }
    const kernel = yield* this.machine.boot({ limits })
    this.space = yield* kernel.space("test")
  })

  get now(): Space {
    return this.space ?? assert.fail("no space is open")
  }

  /** Asks for a command, and asserts that its refusal is an expected one. */
  private readonly ask = Effect.fnUntraced(function*(this: World, command: Effect.Effect<unknown, { readonly code: string }>) {
    const answer = yield* controlled(this.now, command)
    const code = answer._tag === "Failure" ? answer.failure.code : undefined
    assert.isTrue(expected.has(code), `refused with ${code}`)
  })

  private readonly anyRun = Effect.fnUntraced(function*(this: World) {
    const { runs } = yield* this.now.runs.list({ limit: 100, all: true })
    const known = runs.map(({ oid }) => oid)
    return Random.pick(this.draw, [...known, ...known, ...known, "OPS:io", "nothing", `OPS:${"f".repeat(32)}`])
  })

  private readonly moves: ReadonlyArray<() => Effect.Effect<unknown>> = [
    () => this.begin(),
    () => this.begin(),
    () => this.now.step.pipe(Effect.orDie),
    () => this.now.step.pipe(Effect.orDie),
    () => this.answer(),
    () => this.answer(),
    () => Effect.orDie(this.now.signal({ signal: "/signals/go", target: `/data/${this.draw(this.events + 1)}` })),
    () => Effect.flatMap(Effect.orDie(this.anyRun()), (oid) => Effect.orDie(this.ask(this.now.runs.cancel(oid)))),
    () => Effect.flatMap(Effect.orDie(this.anyRun()), (oid) => Effect.orDie(this.ask(this.now.runs.cancel(oid, { now: true })))),
    () => Effect.flatMap(Effect.orDie(this.anyRun()), (oid) => Effect.orDie(this.ask(this.now.runs.retry(oid)))),
    () => Effect.flatMap(Effect.orDie(this.anyRun()), (oid) => Effect.orDie(this.ask(this.now.runs.retry(oid, { anew: true })))),
    () => Effect.orDie(this.takeBack()),
    () => Effect.orDie(this.boot())
  ]

  private begin(): Effect.Effect<unknown> {
    const plan = Array.from({ length: 1 + this.draw(4) }, () => Random.pick(this.draw, Object.keys(parts) as ReadonlyArray<Part>))
    return Effect.orDie(this.now.signal({ signal: "/signals/work", payload: { name: String(this.events++), parts: plan } }))
  }

  private answer(): Effect.Effect<void> {
    return Effect.sync(() => {
      const { jobs } = this.reactor
      const [job] = jobs.length === 0 ? [] : [Random.pick(this.draw, jobs)]
      if (job === undefined) return
      if (this.draw(3) === 0) this.reactor.fail(job.rid, Channel.fail("bank/closed", "closed"))
      else this.reactor.complete(job.rid, { value: this.draw(10) })
    })
  }

  /** Pauses the space, restores an earlier beat unless the pause failed, and resumes the space. */
  private readonly takeBack = Effect.fnUntraced(function*(this: World) {
    const { control } = this.now
    yield* this.ask(control.pause())
    yield* this.rest()
    yield* this.ask(control.rollback(this.draw((yield* this.now.head) + 1)))
    yield* this.rest()
    if (this.draw(3) === 0) yield* Effect.orDie(this.boot())
    yield* this.resumed()
  })

  private readonly rest = Effect.fnUntraced(function*(this: World) {
    for (let i = 0; i < 40 && (yield* this.now.control.state).control !== null; i++) yield* Effect.orDie(this.now.step)
  })

  readonly resumed = Effect.fnUntraced(function*(this: World) {
    yield* this.rest()
    yield* this.ask(this.now.control.resume())
    yield* this.rest()
  })

  readonly move = (): Effect.Effect<unknown> => Effect.suspend(() => Random.pick(this.draw, this.moves)())

  /** Ends all runs at once. */
  readonly end = Effect.fnUntraced(function*(this: World) {
    yield* this.resumed()
    for (let i = 0; i < MOST; i++) {
      const { runs } = yield* Effect.orDie(this.now.runs.list({ limit: 100 }))
      const living = runs.filter(({ state }) => state !== "dead")
      const { waiting } = yield* Effect.orDie(this.now.waiting({ limit: 100 }))
      if (living.length === 0 && waiting.length === 0) return
      for (const { oid } of living) yield* this.ask(this.now.runs.cancel(oid, { now: true }))
      yield* Effect.orDie(this.now.step)
    }
    const left = yield* Effect.orDie(this.now.runs.list({ limit: 100 }))
    assert.fail(`runs that do not end: ${JSON.stringify(left.runs.filter(({ state }) => state !== "dead"))}`)
  })
}

describe("random commands on durable runs", () => {
  for (const seed of Trials.seeds(24, { least: 3, always: [1019] })) {
    it.effect(`leave no run, request or note behind, and replay, with seed ${seed}`, () => Effect.gen(function*() {
      const world = yield* World.make(seed)
      for (let i = 0; i < MOVES; i++) yield* world.move()
      yield* world.end()
      const space = world.now
      assert.deepStrictEqual(yield* space.list("/sys/index/io"), [])
      const { runs } = yield* space.runs.list({ limit: 1000, all: true })
      const { letters } = yield* space.dead({ limit: 1000 })
      assert.isAtLeast(letters.length, runs.filter(({ state }) => state === "dead").length)
      // A letter may have to start a run over with the keys of its newest start.
      const started = runs.filter(({ enzyme, event }) => letters.some((letter) => letter.id === event && letter.enzyme === enzyme))
      const named = new Set(started.map(({ oid }) => oid))
      for (const oid of yield* space.list("/sys/index/run")) assert.isTrue(named.has(oid), `${oid} has a note`)
      const head = yield* space.head
      const replayed = yield* space.examine((history) => replay(history, 0, head))
      assert.isUndefined(replayed.difference ?? replayed.impossible, JSON.stringify(replayed.difference ?? replayed.impossible))
      assert.isUndefined((yield* space.examine(verify)).fault)
    }))
  }
})
