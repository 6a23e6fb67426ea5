/**
 * Trials: a scenario executed over a store with faults, and the differences from
 * the expected outcome.
 *
 * @module
 */
import { Context, Effect, Exit, Layer, Scope, Stream } from "effect"
import type { PersistenceError, PostedSignal, Settings, Space } from "systole"
import {
  defaults, Kernel, KernelSettings, Pacemaker, Persistence, Reactor, Registry, replay, Scheduler, Slices, SystemGrants, verify
} from "systole"
import * as Journal from "../../src/kernel/journal/Journal.ts"
import * as HashLayer from "../support/HashLayer.ts"
import * as ExpiryCheck from "../support/ExpiryCheck.ts"
import { type Counts, type Fault, Faults, tearStatements } from "./FaultyStore.ts"
import * as Requests from "./Requests.ts"
import type { Cells, Input, Scenario, World } from "./Scenario.ts"
import { ManualHost } from "./ManualHost.ts"

/** The maximum number of attempts to get an answer. */
const TRIES = 10

/** The maximum number of wakes until a space is idle. */
const WAKES = 500

const settings: Settings =
  { tempo: 10, pace: "demand", ledgers: true, create: "on-demand", open: 1000, boot: false, retention: {}, limits: defaults }

/** The end of an event: its receipt in short, and its cells below `/data/done/<n>/`. */
interface Ending {
  readonly receipt: string | undefined
  readonly cells: string
}

/** The outcome of a scenario. */
export interface Outcome {
  readonly events: ReadonlyMap<number, Ending>
  readonly cells: Cells
  readonly counts: Counts
}

/** A sent event. */
interface Sent {
  /** The id of its acknowledgement. */
  id: string | undefined
  /** The number of attempts until then. */
  tries: number
}

/** A function that examines the history of a space. */
type Look<A> = (archive: Parameters<Parameters<Space["examine"]>[0]>[0]) => A | Promise<A>

/** One execution of a scenario, from the first signal until the space is idle. */
class Execution {
  readonly wrong: Array<string> = []
  readonly sent = new Map<number, Sent>()
  readonly faults: Faults
  readonly world: World | undefined
  private readonly host = new ManualHost()
  private readonly scenario: Scenario
  private readonly persistence: Persistence["Service"]
  private scope: Scope.Closeable | undefined
  private kernel: Kernel["Service"] | undefined
  private mark: number | undefined

  constructor(scenario: Scenario, persistence: Persistence["Service"], faults: ReadonlyArray<Fault>) {
    this.scenario = scenario
    this.world = scenario.world?.()
    this.faults = new Faults(this.host.pacemaker.turn, faults)
    this.persistence = this.faults.over(persistence)
  }

  async run(): Promise<Space> {
    await this.boot()
    for (const round of this.scenario.rounds) await this.round(round)
    const space = await this.drain()
    this.faults.disarm()
    return space
  }

  /** Examines the history while giving the kernel its turns. */
  async examine<A>(space: Space, look: Look<A>): Promise<A> {
    let isOver = false
    const looking = Effect.runPromise(space.examine(look)).finally(() => {
      isOver = true
    })
    while (!isOver) await this.host.rest()
    return looking
  }

  async end(): Promise<void> {
    this.host.cut()
    if (this.scope !== undefined) await Effect.runPromise(Scope.close(this.scope, Exit.void))
  }

  /** Starts a process over the durable state. */
  private async boot(): Promise<void> {
    this.scope = Effect.runSync(Scope.make())
    const layer = Layer.fresh(Kernel.layer(Slices.all).pipe(
      Layer.provideMerge(Layer.mergeAll(
        HashLayer.layer,
        Layer.succeed(Persistence, this.persistence),
        Layer.succeed(Pacemaker, this.host.pacemaker),
        Layer.fresh(Registry.layer),
        Scheduler.layer(),
        Reactor.native(this.world?.channels ?? [])
      )),
      Layer.provide(Layer.succeed(SystemGrants, new Set(this.scenario.grants))),
      Layer.provide(Layer.succeed(KernelSettings, { ...settings, ...this.scenario.settings }))
    ))
    const kernel = Context.get(await Effect.runPromise(Layer.buildWithScope(layer, this.scope)), Kernel)
    for (const enzyme of this.scenario.enzymes) await Effect.runPromise(kernel.register(enzyme))
    this.kernel = kernel
  }

  /** After a power cut, ends the process and starts another. */
  private async mend(): Promise<void> {
    if (!this.faults.dead) return
    await this.end()
    this.faults.dead = false
    await this.boot()
  }

  /** Sends the inputs of a round until each has an answer. */
  private async round(inputs: ReadonlyArray<Input>): Promise<void> {
    let waiting = inputs
    for (let i = 0; waiting.length > 0; i++) {
      if (i === TRIES) return void this.wrong.push(`${waiting.length} of a round were never answered`)
      const answers = new Map<Input, boolean>()
      const all = waiting.map((input) => this.give(input).then((isOver) => void answers.set(input, isOver)))
      await this.host.rest()
      await this.mend()
      await this.host.rest()
      // A busy store is asked again after a while, and one that hangs is given up.
      for (let wakes = 0; answers.size < waiting.length && wakes < WAKES && this.host.pass(); wakes++) {
        await this.host.rest()
        await this.mend()
        await this.host.rest()
      }
      if (answers.size < waiting.length) {
        return void this.wrong.push(`${waiting.length - answers.size} of a round wait for an answer though nothing happens`)
      }
      await Promise.all(all)
      waiting = waiting.filter((input) => !answers.get(input))
    }
  }

  /** Sends an input. Returns whether it has its final answer, success or failure. */
  private async give(input: Input): Promise<boolean> {
    const exit = await Effect.runPromiseExit(Effect.flatMap(this.kernel!.space("trial"), (space) => this.put(space, input)))
    if (input.kind === "post") this.sent.get(input.n) ?? this.sent.set(input.n, { id: undefined, tries: 1 })
    if (Exit.isSuccess(exit)) return true
    const code = codeOf(exit)
    if (code !== "space/stopped" && code !== "store/unavailable") this.wrong.push(`${input.kind} was answered ${code}`)
    return input.kind === "post" && input.signal.id === undefined
  }

  private put(space: Space, input: Input): Effect.Effect<unknown, unknown> {
    switch (input.kind) {
      case "post":
        return this.post(space, input.n, input.signal)
      case "mark":
        return Effect.andThen(space.idle, Effect.map(space.head, (head) => this.mark ??= head))
      case "steer":
        return this.steer(space, input.verb)
      default:
        return Requests.make(space, input)
    }
  }

  /** Requests a lifecycle operation, and waits for its end. A repetition after a lost answer may be refused. */
  private steer(space: Space, verb: Extract<Input, { readonly kind: "steer" }>["verb"]): Effect.Effect<unknown, unknown> {
    const over = (oid: string) =>
      Stream.runDrain(Stream.takeUntil(space.watch(`/rt/ops/${oid}#/status`), ({ value }) => value !== undefined))
    return (verb === "rollback" ? space.control.rollback(this.mark!) : space.control[verb]()).pipe(
      Effect.flatMap(({ oid }) => over(oid)),
      Effect.catchIf(
        (error) => error.code === "control/refused",
        () => Effect.flatMap(space.control.state, ({ control }) => control === null ? Effect.void : over(control.oid))
      )
    )
  }

  private post(space: Space, n: number, signal: PostedSignal): Effect.Effect<unknown, unknown> {
    const known = this.sent.get(n)
    const sent = known ?? { id: undefined, tries: 0 }
    sent.tries++
    this.sent.set(n, sent)
    return Effect.map(space.signal(signal), ({ duplicate, id }) => {
      if (sent.id !== undefined && (sent.id !== id || !duplicate)) this.wrong.push(`event ${n} was ${sent.id}, and is ${id} now`)
      if (known === undefined && duplicate) this.wrong.push(`event ${n} was taken for known`)
      sent.id = id
    })
  }

  /** Advances the clock until no signal and no timer is pending. */
  private async drain(): Promise<Space> {
    let before: Space | undefined
    for (let i = 0; i < WAKES; i++) {
      const space = await this.open()
      await this.host.rest()
      const goesOn = this.host.pass()
      await this.host.rest()
      if (!goesOn && space === before && !this.faults.dead) return space
      before = space
    }
    throw new Error(`no rest after ${WAKES} wakes`)
  }

  private async open(): Promise<Space> {
    for (let i = 0; ; i++) {
      await this.mend()
      const exit = await Effect.runPromiseExit(this.kernel!.space("trial"))
      if (Exit.isSuccess(exit)) return exit.value
      if (i === TRIES) throw new Error(`the space does not open: ${codeOf(exit)}`)
    }
  }
}

/** The code of a failed request, or the message of a defect. */
const codeOf = (exit: Exit.Failure<unknown, unknown>): string => {
  const reason = exit.cause.reasons[0] as {
    readonly _tag: string
    readonly error?: { readonly code?: string }
    readonly defect?: unknown
  } | undefined
  return reason?.error?.code ?? `${reason?._tag}: ${String(reason?.defect ?? reason?.error)}`
}

/** The end of an event, as the space reports it. */
const endingOf = async (space: Space, id: string | undefined, cells: string): Promise<Ending> => {
  if (id === undefined) return { receipt: undefined, cells }
  const receipt = await Effect.runPromise(space.receipt(id))
  const handlings = receipt?.handlings.map(
    ({ attempt, enzyme, error, outcome }) => `${enzyme} ${outcome} #${attempt} ${error?.code ?? ""}`
  ).toSorted()
  return { receipt: JSON.stringify([receipt?.status, handlings]), cells }
}

/** The content of a store. */
interface Stored {
  readonly cells: ReadonlyMap<string, string>
  /** The cells according to the journal. */
  readonly journaled: ReadonlyMap<string, string>
  /** The length of the queue. */
  readonly queued: number
}

const cellsOf = (execution: Execution, space: Space): Promise<Stored> =>
  execution.examine(space, ({ store }) => {
    const cells = new Map(store.below("/", { limit: 100_000 }).map((key) => [key, store.read(key)!]))
    const journaled = new Map<string, string>()
    for (const row of store.scanJournal(0, Infinity)) {
      for (const [key, , , after] of Journal.parse(row.text).cells) {
        if (after.length === 0) journaled.delete(key)
        else journaled.set(key, JSON.stringify(after[0]))
      }
    }
    return { cells, journaled, queued: [...store.queue()].length }
  })

const DONE = "/data/done/"

/** The outcome of the execution. Violated invariants go to `wrong`. */
const outcomeOf = async (execution: Execution, space: Space): Promise<Outcome> => {
  const { faults, sent, wrong } = execution
  const counts = { ...faults.counts }
  const { fault } = await execution.examine(space, verify)
  if (fault !== undefined) wrong.push(`the journal does not hold at beat ${fault.beat}: ${fault.reason}`)
  const { difference, impossible } = await execution.examine(space, (archive) => replay(archive, 0, Infinity))
  if (difference !== undefined) wrong.push(`the replay differs: ${JSON.stringify(difference)}`)
  if (impossible !== undefined) wrong.push(`it cannot be replayed: ${JSON.stringify(impossible)}`)
  const { cells, journaled, queued } = await cellsOf(execution, space)
  const astray = execution.world?.fault()
  if (astray !== undefined) wrong.push(astray)
  if (queued > 0) wrong.push(`${queued} signals wait for ever`)
  for (const key of new Set([...cells.keys(), ...journaled.keys()])) {
    if (cells.get(key) !== journaled.get(key)) wrong.push(`${key} is ${cells.get(key)}, and the journal has ${journaled.get(key)}`)
  }
  wrong.push(...ExpiryCheck.disagreements(cells))
  if (faults.flushedAgain > 0) wrong.push("a handle that had failed was flushed again")
  const events = new Map<number, Ending>()
  for (const [n, { id }] of sent) {
    const own = [...cells].filter(([key]) => key.startsWith(`${DONE}${n}/`)).toSorted(([a], [b]) => a < b ? -1 : 1)
    events.set(n, await endingOf(space, id, JSON.stringify(own)))
  }
  const others = new Map<string, unknown>()
  for (const key of cells.keys()) {
    if (key.startsWith("/data/") && !key.startsWith(DONE) && !key.startsWith("/data/mailbox/")) others.set(key, JSON.parse(cells.get(key)!))
  }
  return { events, cells: others, counts }
}

const NOTHING = "[]"

/** Compares with the outcome of the same scenario without a fault. */
const compare = (
  { sent, wrong }: Execution,
  { expected, outcome }: { readonly expected: Outcome; readonly outcome: Outcome },
  { faults, scenario }: { readonly faults: ReadonlyArray<Fault>; readonly scenario: Scenario }
): void => {
  const all = new Set<number>()
  const { form = (cells: string) => cells } = scenario.judge ?? {}
  // A failed read or a failed answer does not tell whether the event is durable.
  const isSure = faults.every(({ call, kind }) => call !== "read" && kind !== "doubt")
  for (const [n, { cells, receipt }] of expected.events) {
    const ending = outcome.events.get(n)
    const isKnown = sent.get(n)?.id !== undefined
    if (ending !== undefined && ending.cells !== NOTHING) all.add(n)
    if (isKnown && ending?.receipt !== receipt) wrong.push(`event ${n} has the receipt ${ending?.receipt}, and not ${receipt}`)
    if (ending !== undefined && form(ending.cells) === form(cells)) {
      if (!isKnown && isSure && cells !== NOTHING) wrong.push(`event ${n} was answered as lost, and was handled`)
    } else if (isKnown || ending?.cells !== NOTHING) wrong.push(`event ${n} left ${ending?.cells}, and not ${cells}`)
  }
  const own = new Set(scenario.judge?.cells)
  for (const key of new Set([...expected.cells.keys(), ...outcome.cells.keys()])) {
    const [is, was] = [JSON.stringify(outcome.cells.get(key)), JSON.stringify(expected.cells.get(key))]
    if (!own.has(key) && is !== was) wrong.push(`${key} is ${is}, and not ${was}`)
  }
  const again = new Set([...sent].filter(([, { tries }]) => tries > 1).map(([n]) => n))
  const found = scenario.judge?.fault(outcome.cells, { all, again })
  if (found !== undefined) wrong.push(found)
}

/** An empty persistence that the scope closes. */
export type Fresh = Layer.Layer<Persistence, PersistenceError>

/** Executes a scenario. Returns its outcome and the differences from the expected one. */
const attempt = (scenario: Scenario, layer: Fresh, faulty?: { readonly faults: ReadonlyArray<Fault>; readonly expected: Outcome }) =>
  Effect.scoped(Effect.gen(function*() {
    const persistence = Context.get(yield* Layer.build(Layer.fresh(layer)), Persistence)
    const execution = new Execution(scenario, persistence, faulty?.faults ?? [])
    yield* tearStatements(execution.faults)
    yield* Effect.addFinalizer(() => Effect.promise(() => execution.end()))
    return yield* Effect.promise(async () => {
      const outcome = await outcomeOf(execution, await execution.run())
      if (faulty !== undefined) compare(execution, { outcome, expected: faulty.expected }, { scenario, faults: faulty.faults })
      return { outcome, fired: execution.faults.fired, wrong: execution.wrong }
    })
  }))

/** The result of trying the faults of a scenario. */
export interface Finding {
  /** The number of faults that occurred. */
  readonly faults: number
  readonly failures: ReadonlyArray<string>
}

/** Executes the scenario without a fault, and then once for each of the faults made from the counted calls. */
export const tryAll = (
  scenario: Scenario,
  layer: Fresh,
  make: (counts: Counts) => ReadonlyArray<ReadonlyArray<Fault>>
): Effect.Effect<Finding, PersistenceError> =>
  Effect.gen(function*() {
    const { outcome, wrong } = yield* attempt(scenario, layer)
    const failures = wrong.map((what) => `without a fault: ${what}`)
    let count = 0
    for (const faults of make(outcome.counts)) {
      const { fired, wrong } = yield* attempt(scenario, layer, { faults, expected: outcome }).pipe(
        Effect.catchDefect((defect) => Effect.succeed({ fired: 1, wrong: [String(defect)] }))
      )
      count += fired
      // A second fault may come too late to occur; the first always occurs.
      if (fired === 0) failures.push(`${faults[0]!.call} ${faults[0]!.at} never came`)
      if (wrong.length > 0) {
        failures.push(`${faults.map(({ at, call, kind }) => `${kind} at ${call} ${at}`).join(", then ")}: ${wrong.join("; ")}`)
      }
    }
    return { faults: count, failures }
  })
