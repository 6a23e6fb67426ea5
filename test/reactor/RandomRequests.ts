/**
 * Random worlds of requests: completions in any order, failures, cancellations, deadlines, control operations, power
 * cuts and disk faults, checked against the rules that every request keeps.
 *
 * @module
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Channel, defaults, type IoOptions, type IoResult, type Kernel, replay, Retry, type Settings, type Space, verify } from "systole"
import { TestReactor } from "systole/testing"
import * as Journal from "../../src/kernel/journal/Journal.ts"
import * as Requests from "../../src/reactor/Request.ts"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import { enzyme, turns } from "../kernel/TestSpace.ts"
import * as Random from "../support/Random.ts"

const NAME = "world"

/** The most beats of a control operation, and of the end of a world. */
const MOST_CONTROL = 30
const MOST_END = 400

const channels = {
  bank: { opcodes: { charge: { repeatable: true }, pay: {} } },
  mail: { opcodes: { send: {}, look: { repeatable: true } }, budget: 6 },
  clock: { opcodes: { wait: { repeatable: true } }, notBefore: ({ issued }: Channel.DelayedRequest) => issued + 30 }
}

const opcodes = [["bank", "charge"], ["bank", "pay"], ["mail", "send"], ["mail", "look"], ["clock", "wait"]] as const

/** The failures that a channel gives: half of them are retryable. */
const failures = [
  Channel.fail("bank/closed", "closed"), Channel.fail("io/busy", "busy", { errno: -16, retryable: true }),
  new TypeError("broken"), Object.assign(new Error("reset"), { code: "ECONNRESET" })
]

/** The instructions of one asking run. */
interface Ask {
  readonly n: number
  readonly asked: ReadonlyArray<Omit<IoOptions, "signal"> & { readonly channel: string; readonly opcode: string }>
  /** The number of attempts that fail after they asked. */
  readonly fails: number
  /** Whether the run writes the document that all such runs write. */
  readonly isHot: boolean
  /** Whether the run cancels its first request. */
  readonly isCancelling: boolean
}

/** Three enzymes that make the requests of an event. Each asks for its own, and hears its own results. */
const asking = ["one", "two", "three"].map((name) =>
  enzyme(name, (tx, { attempt, payload, signal }) => {
    if (signal === "/signals/ask/done") return tx.append(`/data/heard/${(payload as unknown as IoResult).rid}`, payload)
    const { asked, fails, isCancelling, isHot, n } = payload as unknown as Ask
    const rids = asked.map((options) => tx.io.request({ ...options, payload: { n, name }, signal: "/signals/ask/done" }))
    if (isHot) tx.set("/data/hot", `${n} ${name}`)
    if (isCancelling && rids[0] !== undefined) tx.io.cancel(rids[0])
    if (attempt <= fails) return new Retry({ reason: "as asked" })
    return rids.map((rid) => tx.append("/data/asked", rid))
  }, { query: "/signals/ask", match: "prefix", retry: { attempts: 60 } }))

const cancel = enzyme("cancel", (tx, { payload }) => tx.io.cancel(String(payload)))

/** The state of one request at the end, as its cell holds it. */
const read = (space: Space, rid: string) =>
  Effect.map(space.get(`/rt/ops/OPS:io/io_req/${rid}`), (found) => found as unknown as Requests.Request)

/** The parts of a world. */
interface Parts {
  readonly draw: Random.Random
  readonly reactor: TestReactor
  readonly settings: Partial<Settings>
  readonly machine: RestartableKernel.RestartableKernel
}

/** One world of requests. */
class World {
  readonly reactor: TestReactor
  /** The values that the channels returned, by request. */
  readonly returned = new Map<string, Set<string>>()
  /** The number of starts, openings after a fault included. */
  lives = 1
  /** The beat after the newest rollback. */
  rolledBack = 0
  private readonly draw: Random.Random
  private readonly settings: Partial<Settings>
  private readonly machine: RestartableKernel.RestartableKernel
  private kernel: Kernel["Service"]
  private space: Space
  private asked = 0

  private constructor({ draw, machine, reactor, settings }: Parts, kernel: Kernel["Service"], space: Space) {
    this.draw = draw
    this.reactor = reactor
    this.settings = settings
    this.machine = machine
    this.kernel = kernel
    this.space = space
  }

  /** Starts a world by its seed. Every third one has low limits. */
  static readonly make = Effect.fnUntraced(function*(seed: number) {
    const limits = seed % 3 === 0 ? { ...defaults, ioRequests: 5, backoffBeats: 2, groupBeats: 2 } : defaults
    const settings = { tempo: 10, limits }
    const reactor = new TestReactor(channels)
    const machine = yield* RestartableKernel.make([...asking, cancel], reactor.layer)
    const kernel = yield* machine.boot(settings)
    return new World({ draw: Random.make(seed), machine, reactor, settings }, kernel, yield* kernel.space(NAME, { create: true }))
  })

  readonly run = Effect.fnUntraced(function*(this: World, length: number) {
    for (let i = 0; i < length; i++) yield* this.move(this.draw(24))
    yield* this.settle()
    return this.space
  })

  private move(kind: number): Effect.Effect<unknown, unknown> {
    if (kind < 6) return this.ask()
    if (kind < 12) return this.beat
    if (kind < 16) return Effect.sync(() => this.endJobs(1 + this.draw(4)))
    if (kind === 16) return this.cancel()
    if (kind === 17) return TestClock.adjust(this.draw(40))
    if (kind === 18) return this.control("pause", "resume")
    if (kind === 19) return this.control("shutdown", "restart")
    if (kind === 20) return this.rollback()
    if (kind === 21) return this.held()
    return kind === 22 ? this.cut() : this.fault()
  }

  private readonly beat = Effect.suspend(() => Effect.andThen(Effect.ignore(this.space.step), this.isBounded()))

  private readonly isBounded = Effect.fnUntraced(function*(this: World) {
    const { limits = defaults } = this.settings
    assert.isAtMost((yield* this.space.list("/sys/index/io")).length, limits.ioRequests)
  })

  private ask() {
    const { draw } = this
    const chance = <A extends object>(bound: number, options: A): Partial<A> => draw(bound) === 0 ? options : {}
    const asked = Array.from({ length: 1 + draw(3) }, () => {
      const [channel, opcode] = Random.pick(draw, opcodes)
      return {
        channel, opcode, ...chance(4, { budget: draw(5) }), ...chance(6, { timeoutMs: 1 + draw(60) }),
        ...chance(2, { attempts: 1 + draw(3) })
      }
    })
    const payload: Ask =
      { n: this.asked++, asked, fails: draw(5) === 0 ? 1 : 0, isHot: draw(3) === 0, isCancelling: draw(8) === 0 }
    return Effect.ignore(this.space.signal({ signal: "/signals/ask", payload }))
  }

  /** Ends random jobs in random order, most of them with a result. */
  private endJobs(count: number): void {
    const { draw, reactor } = this
    for (const { attempt, rid } of Random.shuffled(draw, reactor.jobs).slice(0, count)) {
      if (draw(3) === 0) reactor.fail(rid, Random.pick(draw, failures))
      else {
        const value = `${rid} ${attempt} ${draw(1000)}`
        this.returned.set(rid, (this.returned.get(rid) ?? new Set()).add(value))
        reactor.complete(rid, { value, ...draw(2) === 0 ? { bytes: draw(9000) } : {} })
      }
    }
  }

  private readonly cancel = Effect.fnUntraced(function*(this: World) {
    const open = yield* this.space.list("/sys/index/io")
    if (open.length > 0) yield* this.space.signal({ signal: "/signals/cancel", payload: Random.pick(this.draw, open) })
  }, Effect.ignore)

  /** Asks for a control operation, and steps until it ends. It may be refused or fail. */
  private readonly steer = Effect.fnUntraced(function*(this: World, operation: Effect.Effect<unknown, unknown>) {
    const submitted = this.reactor.submitted.length
    yield* Effect.forkChild(Effect.ignore(operation), { startImmediately: true })
    for (let beat = 0; beat < MOST_CONTROL; beat++) {
      const [before, begun] = [(yield* this.space.control.state).state, this.reactor.submitted.length]
      yield* this.beat
      const isGated = before !== "running" && (yield* this.space.control.state).state !== "running"
      if (isGated) assert.strictEqual(this.reactor.submitted.length, begun, "no attempt begins in a space that is about to be paused")
      if (this.draw(3) === 0) this.endJobs(2)
      if ((yield* this.space.control.state).control === null) break
    }
    return submitted
  })

  private readonly control = Effect.fnUntraced(function*(this: World, first: "pause" | "shutdown", then: "resume" | "restart") {
    yield* this.steer(this.space.control[first]())
    const isHalted = (yield* this.space.control.state).state !== "running"
    const submitted = this.reactor.submitted.length
    for (let beat = this.draw(4); beat > 0; beat--) yield* this.beat
    if (isHalted) assert.strictEqual(this.reactor.submitted.length, submitted, "a halted space submits nothing")
    yield* this.steer(this.space.control[then]())
  })

  private readonly rollback = Effect.fnUntraced(function*(this: World) {
    const horizon = this.draw(Math.max(1, (yield* this.space.head) + 1))
    yield* this.steer(this.space.control.pause())
    if ((yield* this.space.control.state).state === "paused") {
      const submitted = this.reactor.submitted.length
      yield* this.steer(this.space.control.rollback(horizon))
      assert.strictEqual(this.reactor.submitted.length, submitted, "a rollback submits nothing")
      this.rolledBack = yield* this.space.head
    }
    yield* this.steer(this.space.control.resume())
  })

  /** Delays the flush of a beat, and then lets it go or cuts the power. Meanwhile no request is submitted. */
  private readonly held = Effect.fnUntraced(function*(this: World) {
    const submitted = this.reactor.submitted.length
    yield* this.machine.hold(NAME)
    yield* Effect.forkChild(this.ask(), { startImmediately: true })
    yield* Effect.forkChild(Effect.ignore(this.space.step), { startImmediately: true })
    yield* turns(3)
    assert.strictEqual(this.reactor.submitted.length, submitted, "a request is submitted after its beat is durable")
    if (this.draw(2) === 0) yield* this.cut()
    yield* this.machine.release(NAME)
    yield* turns(3)
  })

  /** Cuts the power, perhaps during a beat. Its jobs end with the process. */
  private readonly cut = Effect.fnUntraced(function*(this: World) {
    if (this.draw(2) === 0) yield* Effect.forkChild(Effect.ignore(this.space.step), { startImmediately: true })
    yield* turns(this.draw(3))
    this.reactor.crash()
    this.lives++
    this.kernel = yield* this.machine.boot(this.settings)
    yield* this.machine.release(NAME)
    this.space = yield* this.kernel.space(NAME, { create: true })
  })

  /** Fails a flush. The kernel opens the space again. */
  private readonly fault = Effect.fnUntraced(function*(this: World) {
    this.machine.breakDisk(NAME, true)
    yield* this.ask()
    yield* Effect.ignore(this.space.step)
    yield* turns(3)
    this.machine.breakDisk(NAME, false)
    this.lives++
    this.space = yield* this.kernel.space(NAME, { create: true })
  })

  /** Lets the space run again, after a control operation that ended later than the world waited for it. */
  private readonly restore = Effect.fnUntraced(function*(this: World) {
    for (let turn = 0; turn < MOST_CONTROL; turn++) {
      const { control, state } = yield* this.space.control.state
      if (control === null && state === "running") return
      if (control !== null) yield* this.proceed
      else yield* this.steer(state === "halted" ? this.space.control.restart() : this.space.control.resume())
    }
  })

  /** Ends jobs, and runs a beat at its nominal time, as delayed requests need it. */
  private readonly proceed = Effect.suspend(() => {
    this.endJobs(10)
    return Effect.andThen(TestClock.adjust(10), this.beat)
  })

  /** Ends every job, and runs beats until no request is open and no signal waits. */
  private readonly settle = Effect.fnUntraced(function*(this: World) {
    yield* this.restore()
    for (let beat = 0, still = 0; beat < MOST_END && still < 12; beat++) {
      yield* this.proceed
      yield* turns(1)
      still = (yield* this.space.list("/sys/index/io")).length === 0 ? still + 1 : 0
    }
    assert.deepStrictEqual(yield* this.space.list("/sys/index/io"), [], "every request ends")
    for (let beat = 0; beat < 70; beat++) yield* this.proceed
  })
}

const results = (space: Space, rid: string) =>
  Effect.map(space.get(`/data/heard/${rid}`), (found) => (found ?? []) as unknown as ReadonlyArray<IoResult>)

/** Each request of the ledger has its end, and its enzyme heard of it once; of one that a rollback took back at most once. */
const checkResults = Effect.fnUntraced(function*({ returned, rolledBack }: World, space: Space) {
  const rids = yield* space.list("/rt/ops/OPS:io/io_req")
  const asked = ((yield* space.get("/data/asked")) ?? []) as ReadonlyArray<string>
  assert.strictEqual(new Set(asked).size, asked.length)
  for (const rid of asked) assert.include(rids, rid, "a request is in the ledger")
  for (const rid of rids) {
    const request = yield* read(space, rid)
    assert.isTrue(Requests.isFinished(request), `${rid} is ${request.state}`)
    const heard = yield* results(space, rid)
    if (request.issued_beat > rolledBack || heard.length > 0) assert.strictEqual(heard.length, 1, `${rid}: results`)
    for (const { attempt, code, state, value } of heard) {
      if (request.code === "io/taken-back") continue
      assert.deepStrictEqual([state, code, attempt], [request.state, request.code, request.attempt], rid)
      if (state === "complete") assert.include([...returned.get(rid) ?? []], value as string)
      assert.strictEqual(code === undefined, state === "complete", `${rid}: the code of its failure`)
    }
  }
})

/** The world is asked with one key for each request, and for what is not repeatable at most once for each attempt. */
const checkWorld = Effect.fnUntraced(function*({ lives, reactor }: World, space: Space) {
  const keys = new Map<string, string>()
  for (const [rid, jobs] of Map.groupBy(reactor.submitted, (job) => job.rid)) {
    const request = yield* read(space, rid)
    const [first] = jobs
    assert.ok(first)
    assert.isDefined(request, `${rid} was submitted, so it is durable`)
    assert.deepStrictEqual([...new Set(jobs.map(({ key }) => key))], [request.key], `${rid}: keys`)
    assert.isUndefined(keys.get(first.key), `${rid} and ${keys.get(first.key)} have one key`)
    keys.set(first.key, rid)
    const isRepeatable = request.opcode !== "pay" && request.opcode !== "send"
    for (const [attempt, times] of Map.groupBy(jobs, (job) => job.attempt)) {
      assert.isAtMost(attempt, request.attempts, rid)
      assert.isAtMost(times.length, isRepeatable ? lives : 1, `${rid}: attempt ${attempt}`)
    }
  }
})

/** The completions of each beat are in the order of submission, and the journal replays to the byte. */
const checkJournal = Effect.fnUntraced(function*(space: Space) {
  const { fault } = yield* space.examine(verify)
  assert.isUndefined(fault)
  const captured = yield* space.examine(({ store }) => [...store.scanJournal(0, Infinity)].flatMap(({ text }) => {
    const { done = [] } = (Journal.inputOf(Journal.parse(text), "io") ?? {}) as { readonly done?: ReadonlyArray<readonly [rid: string]> }
    return done.length === 0 ? [] : [done.map(([rid]) => rid)]
  }))
  for (const rids of captured) assert.deepStrictEqual(rids, rids.toSorted(Requests.bySubmission))
  const head = yield* space.head
  for (const from of [0, head >> 1]) {
    const { difference, impossible } = yield* space.examine((archive) => replay(archive, from, head))
    assert.isUndefined(difference ?? impossible, JSON.stringify(difference ?? impossible))
  }
  return captured
})

/** Runs one world of `length` moves and checks it. Returns the number of its submitted jobs, and the most completions of a beat. */
export const check = (seed: number, length: number) => Effect.scoped(Effect.gen(function*() {
  const world = yield* World.make(seed)
  const space = yield* world.run(length)
  yield* checkResults(world, space)
  yield* checkWorld(world, space)
  const captured = yield* checkJournal(space)
  return { jobs: world.reactor.submitted.length, most: Math.max(0, ...captured.map((rids) => rids.length)) }
}))
