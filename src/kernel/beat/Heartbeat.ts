/**
 * The heartbeat: capture, compute, commit.
 *
 * Each step is one beat, and one durable transaction: state and captured input
 * of beat N make state and signals for beat N+1. What a run writes is visible in
 * the next beat and not before. The step is plain synchronous code; it waits
 * only for a run that is itself asynchronous. (Architecture, section 1.1; seed
 * 000, "Heartbeat Cycle".)
 *
 * @module
 */
import type { Resolution } from "../../registry/Registry.ts"
import type { Pieces as Face } from "../../stage/RunGrant.ts"
import { PersistenceError } from "../../persistence/PersistenceError.ts"
import { Draft } from "../../stage/Draft.ts"
import * as Envelope from "../../stage/Envelope.ts"
import { CAPTURE, Stage } from "../../stage/Stage.ts"
import * as Awaited from "./Awaited.ts"
import { BeatWork } from "./BeatWork.ts"
import type { Body } from "./Body.ts"
import type { Beat } from "./Commit.ts"
import * as Commit from "./Commit.ts"
import * as CommandExecutor from "./CommandExecutor.ts"
import * as DeadLetter from "./DeadLetter.ts"
import type { Captured, Handling, Outcome } from "../model/Flight.ts"
import type { Intake } from "./Intake.ts"
import * as LabelCheck from "./LabelCheck.ts"
import * as Modules from "../model/Modules.ts"
import * as Pieces from "../derived/Pieces.ts"
import * as Run from "./Run.ts"
import type { Again, Signal } from "../model/Signal.ts"
import * as Lifecycle from "./Lifecycle.ts"
import * as Stuck from "../watchdog/Stuck.ts"
import { BeatAborted } from "../model/SpaceError.ts"
import * as Titles from "../model/Titles.ts"

type Resolve = (signal: Signal) => Resolution

/** What the outside may write: any cell but the runtime's own, through links too. */
const outside = Envelope.make(undefined, false)

/**
 * Steps one space.
 *
 * @category models
 * @since 0.1.0
 */
export class Heartbeat {
  private readonly body: Body
  private readonly pieces: Face<Draft>
  private readonly intake: Intake
  private readonly observe: ((work: BeatWork) => void) | undefined

  /** `observe` is shown each beat's work before it is committed. It changes nothing. */
  constructor(body: Body, intake: Intake, observe?: (work: BeatWork) => void) {
    this.body = body
    this.pieces = Pieces.face(body.derivation, body.hash)
    this.intake = intake
    this.observe = observe
  }

  /**
   * Runs one beat and puts it into the store.
   *
   * @throws BeatAborted, PersistenceError
   */
  step(number: number): Beat | Promise<Beat> {
    const work = this.capture(number)
    const waiting = this.compute(work, 0)
    return waiting === undefined ? this.commit(work) : waiting.then(() => this.commit(work))
  }

  /** Steps 1 to 6: what this beat works with, fixed before anything runs. */
  private capture(number: number): BeatWork {
    const { documents, ledgers } = this.body
    const begun = this.intake.begin(number)
    const work = new BeatWork(new Stage(documents, ledgers.interest), begun, { body: this.body, intake: this.intake })
    Modules.put(begun, work.stage)
    Titles.put(begun.titled, work.stage)
    LabelCheck.begin(work)
    this.captureCommands(work)
    this.checkStore()
    const resolve = this.memo(work)
    work.taken = this.intake.take(begun, { regime: work.regime, resolve })
    work.timers = this.intake.timers(work.regime)
    work.parked = this.intake.parked(work.regime)
    work.retired = this.intake.retired(begun, work.regime)
    work.ledgers.capture(work.timers)
    this.arrange(work, resolve)
    this.body.derivation.begin(work)
    return work
  }

  /** Step 3: what came from outside is written before any run, and seen by all. */
  private captureCommands(work: BeatWork): void {
    work.commands = this.intake.commands()
    const own = this.intake.own(work.regime)
    if (work.commands.length === 0 && own.length === 0 && work.regime.control === undefined) return
    const draft = new Draft(work.stage, work.moment, { run: CAPTURE, envelope: outside, serializable: false })
    Lifecycle.advance(work, draft)
    const capture = { draft, work, body: this.body, pieces: this.pieces }
    for (const queued of [...own, ...work.commands]) {
      const outcome = CommandExecutor.execute(queued.command, capture)
      if ("reply" in outcome) work.done.push({ ...queued, reply: outcome.reply })
      else work.answers.push((answer) => queued.answer(typeof answer === "number" ? outcome.refused : answer))
    }
    work.stage.capture(draft)
    work.ledgers.merge(draft, { run: CAPTURE, depth: 0 })
  }

  /** The registry is asked once per pair and beat. */
  private memo(work: BeatWork): Resolve {
    const { enzymes } = this.body
    const known = new Map<string, Resolution>()
    return (signal) => {
      const key = signal.awaits === undefined ? signal.pair : `${signal.pair} ${signal.awaits}`
      let resolution = known.get(key)
      if (resolution === undefined) {
        resolution = enzymes.resolve(signal.signal, signal.target, Awaited.tableFor(work.table, signal))
        known.set(key, resolution)
      }
      return resolution
    }
  }

  /** Step 6: the agenda, signal by signal, enzyme by enzyme. Equal impulses share their runs. */
  private arrange(work: BeatWork, resolve: Resolve): void {
    const firsts = new Map<string, Captured>()
    for (const { flight, pending } of work.taken) {
      const { signal } = flight
      const resolution = resolve(signal)
      const captured: Captured = { pending, flight, resolution, handlings: [] }
      work.captured.push(captured)
      if (flight.discarded) continue
      const first = signal.event ? undefined : firsts.get(signal.pair)
      if (pending.again !== undefined) captured.handlings.push(this.assignAgain(work, captured, pending.again))
      else if (pending.undelivered !== undefined) {
        captured.handlings.push(work.assign(flight, { key: `space:${signal.to!.space}`, outcome: { kind: "dead", ...pending.undelivered } }))
      } else if (signal.depth > this.body.settings.limits.hops) {
        captured.handlings.push(work.assign(flight, { key: DeadLetter.STORM.key, outcome: storm(signal.depth) }))
      } else {
        if (!signal.event && first === undefined) firsts.set(signal.pair, captured)
        for (let i = 0; i < resolution.entries.length; i++) {
          const entry = resolution.entries[i]!
          const shared = entry.enzyme.repeatable ? undefined : first?.handlings[i]
          captured.handlings.push(shared ?? work.assign(flight, { key: entry.key, entry, outcome: this.intake.settled(flight, entry.key) }))
        }
      }
    }
  }

  private assignAgain(work: BeatWork, { flight, resolution }: Captured, again: Again): Handling {
    const key = again.enzyme
    const entry = resolution.entries.find((entry) => entry.key === key)
    const outcome = entry === undefined ? gone(key) : this.intake.settled(flight, key, again)
    return work.assign(flight, { key, entry, again, outcome })
  }

  /** Step 8: runs in agenda order, one after another; a promise where one of them waits. */
  private compute(work: BeatWork, from: number): Promise<void> | undefined {
    for (let i = from; i < work.runs.length; i++) {
      const handling = work.runs[i]!
      this.body.derivation.before(handling)
      if (handling.outcome !== undefined) continue
      const entry = handling.entry!
      handling.draft = new Draft(work.stage, work.moment, {
        run: handling.run,
        envelope: entry.envelope,
        serializable: (entry.enzyme.isolation ?? work.begun.isolation) === "serializable",
        ledgers: work.ledgers,
        caller: entry.enzyme,
        labels: work.labels,
        label: handling.label,
        pieces: this.pieces
      })
      const waiting = this.handle(work, handling, handling.draft)
      if (waiting !== undefined) return waiting.then(() => this.compute(work, i + 1))
    }
    return undefined
  }

  /** One handling, to its outcome; a promise where its run waits. */
  private handle(work: BeatWork, handling: Handling, draft: Draft): Promise<void> | undefined {
    const { asked } = work
    const { sentry } = this.body
    try {
      sentry?.enter(handling)
      const outcome = Run.prefetch(handling, draft) ?? this.body.derivation.parked() ?? Run.run(handling, draft, this.body.host)
      if (outcome instanceof Promise) {
        const done = sentry?.wait()
        return outcome.then((outcome) => this.conclude(work, handling, { asked, outcome })).catch((error: unknown) => this.breakOff(work, handling, error)).finally(done)
      }
      sentry?.leave()
      this.conclude(work, handling, { asked, outcome })
      return undefined
    } catch (error) {
      sentry?.leave()
      return this.breakOff(work, handling, error)
    }
  }

  /** A run broke what is around it: nothing of the beat is kept, and the next one takes the same input, where this was a failed attempt. */
  private breakOff(work: BeatWork, handling: Handling, error: unknown): never {
    if (error instanceof BeatAborted || error instanceof PersistenceError) throw error
    this.checkStore()
    return this.abort(work, handling, Stuck.broken(handling, error))
  }

  /** A fatal outcome aborts the beat: nothing of it is kept, and its input waits for the next. */
  private conclude(work: BeatWork, handling: Handling, { asked, outcome }: { readonly asked: number; readonly outcome: Outcome }): void {
    this.checkStore()
    // What a run made of a stale value is worth nothing, however it ended.
    handling.outcome = LabelCheck.judge(work, handling, this.body.derivation.parked() ?? outcome)
    // What only such a run asked for, no replay asks for again.
    if ("code" in handling.outcome && Run.isHosts(handling.outcome.code)) work.asked = asked
    if (handling.outcome.kind === "retry") return
    if (outcome.kind === "fatal") this.abort(work, handling, outcome)
  }

  /** Leaves nothing of the beat; the next one takes its input, with the outcome of this handling. */
  private abort(work: BeatWork, handling: Handling, outcome: Extract<Outcome, { readonly code: string }>): never {
    this.body.derivation.abort()
    this.intake.putBack(work.taken, work.begun, { signal: handling.flight.signal, key: handling.key, outcome: { ...outcome, label: handling.label } })
    const { signal, target } = handling.flight.signal
    throw new BeatAborted({ beat: work.moment.beat, enzyme: handling.key, signal: signal ?? target ?? "", reason: outcome.message })
  }

  /** Steps 9 to 13. */
  private commit(work: BeatWork): Beat {
    this.observe?.(work)
    const beat = Commit.commit(work, this.body)
    this.intake.committed()
    return beat
  }

  /** What could not be read is nobody's outcome: the space stops. */
  private checkStore(): void {
    const { failure } = this.body.documents
    if (failure !== undefined) throw failure
  }
}

const gone = (key: string): Outcome => ({
  kind: "dead",
  tag: "EnzymeGone",
  code: "enzyme/gone",
  message: `Enzyme "${key}" does not take this signal any more. Bring it back and send the signal again`
})

const storm = (depth: number): Outcome => ({
  kind: "dead",
  tag: "SignalStorm",
  code: DeadLetter.STORM.code,
  message: `The signal is number ${depth} in a chain of signals. Let the chain end, or raise the limit on hops, and send it again`
})
