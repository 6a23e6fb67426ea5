/**
 * The heartbeat: capture, compute, commit.
 *
 * Each step is one beat and one durable transaction: the state and the captured input of beat N determine the state and
 * the signals of beat N+1. The writes of a run become visible in the next beat. A step is synchronous code, except that
 * it waits for an asynchronous run. [S0 §Heartbeat Cycle]
 *
 * @module
 */
import type { Enzymes, Resolution } from "../../../registry/Registry.ts"
import type { Pieces as Face } from "../../../stage/RunGrant.ts"
import { PersistenceError } from "../../../persistence/PersistenceError.ts"
import { Draft } from "../../../stage/Draft.ts"
import * as Envelope from "../../../stage/Envelope.ts"
import { CAPTURE, Stage } from "../../../stage/Stage.ts"
import * as Awaited from "../../model/Awaited.ts"
import { Agenda } from "./Agenda.ts"
import type { BeatBindings } from "../BeatBindings.ts"
import type { BeatInput } from "./BeatInput.ts"
import { BeatTransaction } from "../BeatTransaction.ts"
import type { Beat } from "./Commit.ts"
import * as Commit from "./Commit.ts"
import * as CommandExecutor from "../command/CommandExecutor.ts"
import type { BeatStart } from "../../model/BeatStart.ts"
import * as InFlights from "../../model/InFlight.ts"
import type { Handling, Outcome } from "../../model/InFlight.ts"
import { LedgerBeats } from "../LedgerBeats.ts"
import type { Captured, CapturedCommands, Executed } from "../Phases.ts"
import * as LabelCheck from "./LabelCheck.ts"
import * as Modules from "../../model/Modules.ts"
import * as Pieces from "../../derived/Pieces.ts"
import * as Run from "./Run.ts"
import type { Signal } from "../../model/Signal.ts"
import * as Lifecycle from "../command/Lifecycle.ts"
import type { ModuleRestore } from "../../model/ModuleRestore.ts"
import type { SpaceWatchdog } from "../../watchdog/SpaceWatchdog.ts"
import * as Stuck from "../../watchdog/Stuck.ts"
import { BeatAborted } from "../../model/SpaceError.ts"
import * as Titles from "../../model/Titles.ts"

/** The state of a space, live or in a replay, that its beats read and advance. */
export interface HeartbeatSpace extends Commit.CommitSpace {
  readonly enzymes: Enzymes
  /** Restores the code of earlier beats. */
  readonly restore: ModuleRestore
  /** Tracks the run in progress, where the host has a watchdog. */
  readonly watchdog?: SpaceWatchdog | undefined
}

/** The envelope of commands: all cells except the runtime's own, also through links. */
const outside = Envelope.make(undefined, false)

/**
 * Steps one space.
 */
export class Heartbeat {
  /** The number of runs that have ended. */
  ended = 0
  private readonly state: HeartbeatSpace
  private readonly pieces: Face<Draft>
  private readonly input: BeatInput
  private readonly observe: ((executed: Executed) => void) | undefined

  /** `observe` is called with each beat before its commit, and must not change it. */
  constructor(state: HeartbeatSpace, input: BeatInput, observe?: (executed: Executed) => void) {
    this.state = state
    this.pieces = Pieces.face(state.derivation, state.hash)
    this.input = input
    this.observe = observe
  }

  /**
   * Executes one beat and appends it to the store.
   *
   * @throws BeatAborted, PersistenceError
   */
  step(number: number): Beat | Promise<Beat> {
    const captured = this.capture(number)
    const waiting = this.execute(captured, 0)
    // Steps 9 to 13.
    const commit = (): Beat => {
      const done = executed(captured)
      this.observe?.(done)
      return Commit.commit(done, this.state, this.input)
    }
    return waiting === undefined ? commit() : waiting.then(commit)
  }

  /** Steps 1 to 6: captures the input of the beat before the first run. */
  private capture(number: number): Captured {
    const { state, input } = this
    const begun = input.begin(number)
    const stage = new Stage(state.documents, state.ledgers.interest)
    Modules.put(begun, stage)
    Titles.put(begun.titled, stage)
    LabelCheck.put(begun.labels, stage)
    const transaction = new BeatTransaction(stage, begun, state)
    const agenda = new Agenda(begun.beat)
    const ledgers = new LedgerBeats(transaction, { begun, runs: agenda.runs }, state)
    const commands = this.captureCommands(begun, transaction, ledgers)
    this.checkStore()
    const { mode } = transaction
    const resolve = this.memo(transaction.bindings)
    const signals = input.take(begun, { mode, resolve })
    const timers = input.timers(mode)
    const parked = input.parked(mode)
    const retired = input.retired(begun, transaction)
    ledgers.capture(timers)
    const { ended, heard, taken } = state.runs.hear(signals, transaction, input)
    agenda.arrange(taken, resolve, { input, ended, heard, hops: state.settings.limits.hops })
    const { inputs, runs } = agenda
    const { labels, moment } = transaction
    const captured = { begun, stage, moment, labels, transaction, ledgers, commands, taken, timers, parked, retired, inputs, runs }
    state.derivation.begin(captured)
    return captured
  }

  /** Step 3: executes the commands before the runs, so each run sees their effects. */
  private captureCommands(begun: BeatStart, transaction: BeatTransaction, ledgers: LedgerBeats): CapturedCommands {
    const { state, input, pieces } = this
    const queue = input.commands()
    const own = input.own(transaction.mode, begun)
    if (queue.length === 0 && own.length === 0 && transaction.mode.control === undefined) return CommandExecutor.none
    const { moment, stage } = transaction
    const draft = new Draft(stage, moment, { run: CAPTURE, envelope: outside, serializable: false })
    Lifecycle.advance(transaction, draft, ledgers)
    const capture = new CommandExecutor.CommandCapture({ draft, transaction, ledgers, state, pieces })
    for (const queued of own) capture.add(queued)
    for (const queued of queue) capture.add(queued)
    stage.capture(draft)
    ledgers.merge(draft, { run: CAPTURE, depth: 0 })
    return capture.captured(queue.length)
  }

  /** Resolves each pair of signal and target once per beat. */
  private memo(bindings: BeatBindings): (signal: Signal) => Resolution {
    const { enzymes } = this.state
    const known = new Map<string, Resolution>()
    return (signal) => {
      const key = signal.awaits === undefined ? signal.pair : `${signal.pair} ${signal.awaits}`
      let resolution = known.get(key)
      if (resolution === undefined) {
        resolution = enzymes.resolve(signal.signal, signal.target, Awaited.tableFor(bindings.table, signal))
        known.set(key, resolution)
      }
      return resolution
    }
  }

  /** Step 8: executes the runs in the order of the agenda. Returns a promise if a run is asynchronous. */
  private execute(captured: Captured, from: number): Promise<void> | undefined {
    const { begun, labels, ledgers, moment, runs, stage } = captured
    for (let i = from; i < runs.length; i++) {
      const handling = runs[i]
      if (handling === undefined) continue
      this.state.derivation.before(handling)
      const { entry } = handling
      if (handling.outcome !== undefined || entry === undefined) continue
      const draft = new Draft(stage, moment, {
        run: handling.run,
        envelope: entry.envelope,
        serializable: (entry.enzyme.isolation ?? begun.isolation) === "serializable",
        ledgers,
        caller: entry.enzyme,
        labels,
        label: handling.label,
        pieces: this.pieces
      })
      handling.draft = draft
      const waiting = this.handle(captured, handling, draft)
      if (waiting !== undefined) return waiting.then(() => this.execute(captured, i + 1))
    }
    return undefined
  }

  /** Executes one handling. Returns a promise if its run is asynchronous. */
  private handle(captured: Captured, handling: Handling, draft: Draft): Promise<void> | undefined {
    const { used } = captured.transaction
    const { state, state: { derivation, host, runs, watchdog } } = this
    const isDurable = InFlights.isDurable(handling, draft.moment)
    try {
      watchdog?.enter(handling)
      const outcome = Run.prefetch(handling, draft, host) ?? derivation.parked() ??
        (isDurable ? runs.run(handling, draft, state) : Run.run(handling, draft, host))
      if (outcome instanceof Promise) {
        const done = watchdog?.wait(isDurable)
        return outcome
          .then((outcome) => this.conclude(captured, handling, { used, outcome }))
          .catch((error: unknown) => this.breakOff(captured, handling, error))
          .finally(done)
      }
      watchdog?.leave()
      this.conclude(captured, handling, { used, outcome })
      return undefined
    } catch (error) {
      watchdog?.leave()
      return this.breakOff(captured, handling, error)
    }
  }

  /** A run broke its surroundings. Nothing of the beat is kept; after a failed attempt, the next beat takes the same input. */
  private breakOff(captured: Captured, handling: Handling, error: unknown): never {
    if (error instanceof BeatAborted || error instanceof PersistenceError) throw error
    this.checkStore()
    return this.abort(captured, handling, Stuck.failureOf(handling, error))
  }

  /** A fatal outcome aborts the beat: nothing of it is kept, and its input waits for the next. */
  private conclude({ begun, taken, transaction }: Captured, handling: Handling, { outcome: ended, used }: Ended): void {
    this.ended++
    this.checkStore()
    const outcome = this.placed(ended)
    // A run that read a stale value has no valid result, whatever its outcome.
    handling.outcome = LabelCheck.judge(transaction, handling, this.state.derivation.parked() ?? outcome)
    // A replay does not repeat a run that the host ended, so the input that only this run used is not journaled.
    if ("code" in handling.outcome && Run.isHosts(handling.outcome)) transaction.used = used
    if (handling.outcome.kind === "retry") return
    if (outcome.kind === "fatal") this.abort({ begun, taken }, handling, outcome)
  }

  /** An outcome with the place from which its error was thrown, on a development host. */
  private placed(outcome: Outcome): Outcome {
    const { scope, watch } = this.state.host
    if (watch === undefined || !("code" in outcome) || outcome.thrown === undefined) return outcome
    return { ...outcome, at: scope.outside(() => watch.placeOf(outcome.thrown)) }
  }

  /** Discards the beat. The next one takes the same input, with this outcome for the handling. */
  private abort({ begun, taken }: Pick<Captured, "begun" | "taken">, handling: Handling, outcome: Failed): never {
    const { flight, key, label } = handling
    this.state.derivation.abort()
    this.input.putBack(taken, begun, { signal: flight.signal, key, outcome: { ...outcome, label } })
    const { signal, target } = flight.signal
    throw new BeatAborted({ beat: begun.beat, enzyme: key, signal: signal ?? target ?? "", reason: outcome.message })
  }

  /** Rethrows a failed read of the store, which stops the space instead of becoming the outcome of a run. */
  private checkStore(): void {
    const { failure } = this.state.documents
    if (failure !== undefined) throw failure
  }
}

/** An ended run, and the captured parts that the beat used before it. */
interface Ended {
  readonly outcome: Outcome
  readonly used: number
}

type Failed = Extract<Outcome, { readonly code: string }>

/** The record after the runs, which all have outcomes. */
const executed = (captured: Captured): Executed => ({ captured, runs: captured.runs as Executed["runs"] })
