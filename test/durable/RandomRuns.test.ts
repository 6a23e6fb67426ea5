import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Channel, Enzyme, Fatal, type Kernel, replay, type Settings, type Space, verify } from "systole"
import { TestReactor } from "systole/testing"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import { turns } from "../kernel/TestSpace.ts"
import * as Random from "../support/Random.ts"
import * as TestKernel from "../support/TestKernel.ts"
import * as Trials from "../support/Trials.ts"
import * as Runs from "./RunPrograms.ts"
import * as Shared from "./SharedCells.ts"

const NAME = "test"

/** The moves of a history with disturbances, and the most further ones until its runs are over. */
const MOVES = 90
const MOST = 600

const falls = Enzyme.make({
  name: "falls",
  query: "/signals/falls",
  onFatal: "continue",
  run: () => new Fatal({ reason: "as asked" })
})

const permit = Enzyme.make({ name: "permit", query: "/signals/permit", run: (tx, { payload }) => tx.set(String(payload), true) })

const channels = { bank: { opcodes: { ask: { repeatable: true }, refused: { repeatable: true }, pay: {} } } }

/** The payload of a request. */
interface Asked {
  readonly run: string
  readonly at: number
}

/** The runs of one seed, and the space in which they live. */
class History {
  readonly programs: ReadonlyArray<Runs.Program>
  readonly reactor: TestReactor
  readonly ids: Array<string> = []
  /** The runs in shared cells, and the ids of their events. */
  readonly takes: Array<Shared.Take> = []
  readonly taken: Array<string> = []
  /** The number of each disturbance. */
  readonly seen = { cuts: 0, faults: 0, falls: 0, letters: 0 }
  private readonly heard: Array<number>
  private kernel: Kernel["Service"] | undefined
  private space: Space | undefined
  private readonly draw: Random.Random
  private readonly machine: RestartableKernel.RestartableKernel
  private readonly settings: Partial<Settings>

  private constructor(draw: Random.Random, reactor: TestReactor, machine: RestartableKernel.RestartableKernel) {
    this.draw = draw
    this.reactor = reactor
    this.machine = machine
    this.programs = Array.from({ length: 3 }, () => Runs.programOf(draw))
    this.heard = this.programs.map(() => 0)
    const { limits } = TestKernel.settings
    const captureSignals = Random.pick(draw, [2, 4, limits.captureSignals])
    this.settings = { limits: { ...limits, captureSignals, residentRuns: draw(3), backoffBeats: 8 } }
  }

  static readonly make = Effect.fnUntraced(function*(seed: number) {
    const draw = Random.make(seed)
    const options = { order: Random.pick(draw, ["loose", "strict"] as const), lane: Random.pick(draw, ["pair", "space"] as const) }
    const reactor = new TestReactor(channels)
    const machine = yield* RestartableKernel.make([Runs.interpreter(options), falls, permit, ...Shared.modules], reactor.layer)
    const history = new History(draw, reactor, machine)
    yield* history.boot()
    return history
  })

  private readonly boot = Effect.fnUntraced(function*(this: History) {
    this.reactor.crash()
    this.kernel = yield* this.machine.boot(this.settings)
    yield* this.machine.release(NAME)
    this.space = yield* this.kernel.space(NAME, { create: true })
  })

  private get now(): Space {
    return this.space ?? assert.fail("no space is open")
  }

  readonly run = Effect.fnUntraced(function*(this: History) {
    for (const [run, payload] of this.programs.entries()) {
      this.ids.push((yield* this.now.signal({ signal: `/signals/interpret/${run}`, payload })).id)
    }
    for (let i = 0; i < MOVES; i++) yield* this.move(this.draw(24))
    for (let i = 0; i < MOST && !(yield* this.isOver()); i++) yield* this.settle()
    return this.now
  })

  private move(kind: number): Effect.Effect<unknown, unknown> {
    if (kind < 9) return Effect.andThen(TestClock.adjust(this.draw(10)), this.step)
    if (kind < 13) return Effect.sync(() => this.endJobs(1 + this.draw(3)))
    if (kind === 13) return this.tell(this.draw(this.programs.length))
    if (kind === 14) return this.fall()
    if (kind === 15) return this.allow(this.draw(this.programs.length))
    if (kind === 16) return this.fault()
    if (kind > 19) return kind === 20 ? this.wake : this.take()
    return kind === 17 ? this.held() : kind === 18 ? this.cut() : this.revive()
  }

  /** Starts a few runs that count in shared cells. One that was not acknowledged is sent again with its id. */
  private readonly take = Effect.fnUntraced(function*(this: History) {
    for (let i = this.draw(3); i >= 0; i--) {
      this.takes.push(Shared.takeOf(this.draw))
      yield* this.sendTakes(this.takes.length - 1)
    }
  })

  private readonly sendTakes = Effect.fnUntraced(function*(this: History, from: number) {
    for (const [i, take] of this.takes.slice(from).entries()) {
      const sent = yield* Effect.result(this.now.signal(Shared.signalOf(take, from + i)))
      if (sent._tag === "Success") this.taken[from + i] = sent.success.id
    }
  })

  /** Wakes all runs that wait for it, in one beat. */
  private readonly wake = Effect.suspend(() => Effect.ignore(this.now.signal(Shared.WAKE)))

  private readonly step = Effect.suspend(() => Effect.ignore(this.now.step))

  private readonly settle = Effect.fnUntraced(function*(this: History) {
    this.endJobs(10)
    for (const run of this.programs.keys()) yield* Effect.andThen(this.tell(run), this.allow(run))
    yield* this.sendTakes(0)
    yield* this.wake
    yield* this.revive()
    yield* TestClock.adjust(10)
    yield* this.step
  })

  private readonly isOver = Effect.fnUntraced(function*(this: History) {
    for (const id of this.ids) if ((yield* this.now.receipt(id))?.status !== "handled") return false
    for (const n of this.takes.keys()) if (!isEnd((yield* this.now.receipt(this.taken[n] ?? ""))?.status)) return false
    return true
  })

  /** Ends jobs in any order: some attempts fail retryably, and some requests for good. */
  private endJobs(count: number): void {
    for (const { attempt, opcode, payload, rid } of Random.shuffled(this.draw, this.reactor.jobs).slice(0, count)) {
      const { at, run } = payload as unknown as Asked
      const isBusy = opcode === "ask" && attempt === 1 && this.draw(3) === 0
      if (opcode === "refused") this.reactor.fail(rid, Channel.fail("bank/refused", "as asked"))
      else if (isBusy) this.reactor.fail(rid, Channel.fail("io/busy", "busy", { retryable: true }))
      else this.reactor.complete(rid, { value: `${run} ${at}` })
    }
  }

  /** Sends the next signal that a run hears. One that was not acknowledged is sent again with its id. */
  private readonly tell = Effect.fnUntraced(function*(this: History, run: number) {
    const [program = [], nth = 0] = [this.programs[run], this.heard[run]]
    // A run hears from the begin of its handling on, and its lane may delay that.
    const hasBegun = (yield* this.now.get(`${Runs.placeOf(run)}/results`)) !== undefined
    if (nth >= Runs.model.heard(program) || !hasBegun) return
    const signal = { signal: Runs.HEARD, target: Runs.placeOf(run), payload: nth, id: `heard-${run}-${nth}` }
    const sent = yield* Effect.result(this.now.signal(signal))
    if (sent._tag === "Success") this.heard[run] = nth + 1
  })

  /** Aborts the next beat. */
  private readonly fall = Effect.fnUntraced(function*(this: History) {
    this.seen.falls++
    yield* Effect.ignore(this.now.signal({ signal: "/signals/falls" }))
    yield* this.step
  })

  /** Permits the instructions of a run that need it. */
  private readonly allow = Effect.fnUntraced(function*(this: History, run: number) {
    for (const at of Runs.permitted(this.programs[run] ?? [])) {
      const payload = Runs.permitOf(run, at)
      yield* Effect.ignore(this.now.signal({ signal: "/signals/permit", payload, id: `permit-${run}-${at}` }))
    }
  })

  /** Sends the letters of runs again that were given up. */
  private readonly revive = Effect.fnUntraced(function*(this: History) {
    for (const { enzyme, id } of (yield* this.now.dead({ limit: 1000 })).letters) {
      if (enzyme !== "interpret") continue
      this.seen.letters++
      yield* Effect.forkChild(Effect.ignore(this.now.redeliver(id, enzyme)), { startImmediately: true })
    }
    yield* this.step
  }, Effect.ignore)

  /** Fails a flush: its beats are lost, and the kernel opens the space again. */
  private readonly fault = Effect.fnUntraced(function*(this: History) {
    this.seen.faults++
    this.machine.breakDisk(NAME, true)
    yield* Effect.forkChild(this.step, { startImmediately: true })
    yield* turns(6)
    this.machine.breakDisk(NAME, false)
    this.space = yield* (this.kernel ?? assert.fail("no kernel")).space(NAME, { create: true })
  })

  /** Delays the flush of a beat, and then lets it go or cuts the power. */
  private readonly held = Effect.fnUntraced(function*(this: History) {
    yield* this.machine.hold(NAME)
    const submitted = this.reactor.submitted.length
    yield* Effect.forkChild(this.step, { startImmediately: true })
    yield* turns(6)
    assert.strictEqual(this.reactor.submitted.length, submitted, "a request is submitted after its beat is durable")
    if (this.draw(2) === 0) return yield* this.cut()
    yield* this.machine.release(NAME)
    yield* turns(4)
  })

  /** Cuts the power, perhaps during a beat. */
  private readonly cut = Effect.fnUntraced(function*(this: History) {
    this.seen.cuts++
    if (this.draw(2) === 0) yield* Effect.forkChild(this.step, { startImmediately: true })
    yield* turns(this.draw(4))
    yield* this.boot()
  })
}

const isEnd = (status: string | undefined): boolean => status === "handled" || status === "dead"

/** The runs leave what the model says. */
const checkRuns = Effect.fnUntraced(function*({ ids, programs }: History, space: Space) {
  for (const [run, program] of programs.entries()) {
    const handling = (yield* space.receipt(ids[run] ?? ""))?.handlings[0]
    assert.strictEqual(handling?.outcome, "ok", JSON.stringify([program, handling]))
    assert.deepStrictEqual(Runs.model.wrong(program, run, handling?.value as ReadonlyArray<never>), [])
    assert.deepStrictEqual(yield* space.get(`${Runs.placeOf(run)}/results`), handling?.value)
    assert.strictEqual(yield* space.get(`${Runs.placeOf(run)}/own`), Runs.model.own(program))
  }
  assert.strictEqual((yield* space.get("/data/count")) ?? 0, Runs.model.counted(programs))
})

/** Each request of the programs has one key and one end, and payments were executed at most once. */
const checkRequests = Effect.fnUntraced(function*({ programs, reactor }: History, space: Space) {
  assert.deepStrictEqual(yield* space.list("/sys/index/io"), [])
  const byKey = Map.groupBy(reactor.submitted, ({ key }) => key)
  const made = programs.map((program) => Runs.model.requests(program))
  const [awaited, others] = [made.reduce((sum, { awaited }) => sum + awaited, 0), made.reduce((sum, { others }) => sum + others, 0)]
  assert.isTrue(byKey.size >= awaited && byKey.size <= awaited + others, `${byKey.size} of ${awaited} + ${others} requests`)
  assert.strictEqual(new Set(reactor.submitted.map(({ rid }) => rid)).size, byKey.size)
  for (const [key, jobs] of byKey) if (jobs[0]?.opcode === "pay") assert.strictEqual(jobs.length, 1, key)
})

const checkJournal = Effect.fnUntraced(function*(space: Space, draw: Random.Random) {
  assert.isUndefined((yield* space.examine(verify)).fault)
  const head = yield* space.head
  for (const from of [0, draw(head), draw(head), draw(head)]) {
    const { difference, impossible } = yield* space.examine((source) => replay(source, from, head))
    assert.isUndefined(difference ?? impossible, `from ${from}: ${JSON.stringify(difference ?? impossible)}`)
  }
})

describe("Durable runs", () => {
  it.effect("leave what the reference model says, whatever disturbs them", () => Effect.gen(function*() {
    const total = { cuts: 0, faults: 0, falls: 0, letters: 0, requests: 0, takes: 0, stale: 0 }
    for (const seed of Trials.seeds(160, { from: 1, least: 8, always: [99] })) {
      yield* Effect.gen(function*() {
        const history = yield* History.make(seed)
        const space = yield* history.run()
        yield* checkRuns(history, space)
        yield* checkRequests(history, space)
        const { stale, wrong } = yield* Shared.check(space, history)
        assert.deepStrictEqual(wrong, [])
        total.takes += history.takes.length
        total.stale += stale
        yield* checkJournal(space, Random.make(seed))
        for (const [name, count] of Object.entries(history.seen)) total[name as keyof typeof history.seen] += count
        total.requests += history.reactor.submitted.length
      }).pipe(Effect.catchDefect((defect) => Effect.die(new Error(`seed ${seed}`, { cause: defect }))))
    }
    for (const [name, count] of Object.entries(total)) assert.isAbove(count, 0, name)
  }))
})
