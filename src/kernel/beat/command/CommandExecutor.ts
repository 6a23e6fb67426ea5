/**
 * Execution of commands in the capture transaction.
 *
 * One table has the execution of each kind. A refused command changes no state, so the journal holds executed commands
 * only.
 *
 * @module
 */
import { InvalidAddress } from "../../../cell/Address.ts"
import { InvalidValue } from "../../../cell/Value.ts"
import type { LedgerList } from "../../../ledger/LedgerList.ts"
import { CellLocked, type Refusal, type RefusalClass } from "../../../ledger/LedgerError.ts"
import { PersistenceError } from "../../../persistence/PersistenceError.ts"
import { InvalidNode } from "../../../scheduler/definition/Definition.ts"
import type { Pieces as PieceFace } from "../../../stage/RunGrant.ts"
import type { Draft } from "../../../stage/Draft.ts"
import { CAPTURE } from "../../../stage/Stage.ts"
import * as WriteMode from "../../../stage/write/WriteMode.ts"
import * as Pieces from "../../derived/Pieces.ts"
import * as Commands from "../../model/Command.ts"
import type { Command, QueuedCommand, Setting } from "../../model/Command.ts"
import * as Condition from "../../model/Condition.ts"
import * as ExternalChange from "../../model/ExternalChange.ts"
import { lockOver, type SpaceMode } from "../../model/SpaceMode.ts"
import { PendingSignal } from "../../model/Signal.ts"
import { CellChanged, ControlRefused, WriteRefused } from "../../model/SpaceError.ts"
import type { BeatTransaction } from "../BeatTransaction.ts"
import * as ClockChange from "./ClockChange.ts"
import * as DeadLetter from "./DeadLetter.ts"
import type { LedgerBeats } from "../LedgerBeats.ts"
import * as Lifecycle from "./Lifecycle.ts"
import * as LostBeats from "../../journal/LostBeats.ts"
import * as Schedules from "./Schedules.ts"
import type { BeatAnswer, CapturedCommands, DoneCommand } from "../Phases.ts"

/** The state of a space that executes commands. */
export interface CommandSpace extends DeadLetter.LetterSpace {
  readonly ledgers: LedgerList
}

/** The parts of a beat that commands act on. */
interface Parts {
  readonly draft: Draft
  readonly transaction: BeatTransaction
  readonly ledgers: LedgerBeats
  readonly state: CommandSpace
  readonly pieces: PieceFace<Draft>
}

/** The record of a beat without commands. */
export const none: CapturedCommands = { count: 0, done: [], answers: [], steps: new Map(), takenBack: [], redelivered: [] }

/**
 * The capture of commands, one after another.
 */
export class CommandCapture {
  readonly parts: Parts
  readonly steps: ExternalChange.Steps = new Map()
  readonly takenBack: Array<string> = []
  readonly redelivered: Array<PendingSignal> = []
  private readonly done: Array<DoneCommand> = []
  private readonly answers: Array<BeatAnswer> = []

  constructor(parts: Parts) {
    this.parts = parts
  }

  /**
   * Executes one command atomically.
   *
   * A failure refuses the command, except a failure of the store. A value that is small enough by itself may exceed the
   * size of the document that it is merged into, and a beat that failed for it would fail again.
   */
  add({ answer, command }: QueuedCommand): void {
    const { state, draft, transaction } = this.parts
    const savepoint = transaction.savepoint(draft)
    // The space may have been shut down since the request.
    const halted = Commands.refusal(command, transaction.mode, state.ledgers)
    const outcome = halted === undefined ? attempt(command, this) : { refused: halted }
    if ("reply" in outcome) {
      savepoint.keep()
      this.done.push({ command, answer, reply: outcome.reply })
      return
    }
    savepoint.restore()
    const { refused } = outcome
    this.answers.push((told) => answer(typeof told === "number" ? refused : told))
  }

  /** The record of the commands; `count` of them were taken from the queue. */
  captured(count: number): CapturedCommands {
    const { answers, done, redelivered, steps, takenBack } = this
    return { count, done, answers, steps, takenBack, redelivered }
  }
}

/** A command was done, with a reply, or refused. */
type Outcome = { readonly reply: unknown } | { readonly refused: Refusal }

const outcome = (refused: Refusal | undefined): Outcome => refused === undefined ? { reply: undefined } : { refused }

/** The reply of an act, or its refusal, where that is of one of these classes. */
const tried = (act: () => unknown, refusals: ReadonlyArray<RefusalClass>): Outcome => {
  try {
    return { reply: act() }
  } catch (error) {
    if (refusals.some((refusal) => error instanceof refusal)) return { refused: error as Refusal }
    throw error
  }
}

/** Does a command of one kind. */
type Executor<Kind extends Command["kind"]> = (command: Extract<Command, { readonly kind: Kind }>, capture: CommandCapture) => Outcome

const executors: { readonly [Kind in Command["kind"]]: Executor<Kind> } = {
  set: (command, { parts: { draft, state: { hash }, transaction: { mode } }, steps }) =>
    outcome(unmet(draft, command, hash) ?? write(draft, command, { mode, steps })),
  integrate: ({ notice }, { parts: { draft, transaction: { mode } }, steps }) =>
    outcome(ExternalChange.integrate(draft, notice, { mode, steps })),
  bind: ({ change }, { parts: { transaction } }) => outcome(transaction.bindings.bind(change, CAPTURE)),
  redeliver: (command, { parts, redelivered }) => {
    const letter = DeadLetter.redeliver(command, parts)
    if (!(letter instanceof PendingSignal)) return { refused: letter }
    redelivered.push(letter)
    return { reply: undefined }
  },
  piece: ({ ask }, { parts: { draft, pieces } }) =>
    tried(() => Pieces.perform(draft, ask, pieces), [InvalidNode, InvalidValue, InvalidAddress]),
  steer: (command, { parts: { draft, transaction } }) => ({ reply: Lifecycle.start(transaction, draft, command) }),
  cutover: (command, { parts: { draft, ledgers, transaction }, takenBack }) => {
    for (const key of Lifecycle.cutOver({ ledgers, work: transaction }, draft, command)) takenBack.push(key)
    return { reply: undefined }
  },
  lost: (command, { parts: { transaction } }) => {
    transaction.diagnostics.push(LostBeats.fact(command))
    return { reply: undefined }
  },
  clock: (command, { parts: { draft, transaction } }) => ({ reply: ClockChange.execute(transaction, draft, command) }),
  schedule: (command, { parts }) => {
    Schedules.execute(command, parts)
    return { reply: undefined }
  },
  arrive: (command, { parts: { draft, transaction } }) => {
    Lifecycle.arrive(transaction, draft, command)
    return { reply: undefined }
  },
  release: (command, { parts: { draft, ledgers, transaction } }) =>
    outcome(Lifecycle.release({ ledgers, work: transaction }, draft, command)),
  lock: (command, { parts: { draft, transaction } }) => outcome(Lifecycle.lock(transaction, draft, command)),
  ledger: ({ command, ledger: name }, { parts: { state, draft, ledgers } }) => {
    const placed = state.ledgers.named(name)
    const rule = placed?.ledger.commands[command.verb]
    if (placed === undefined || rule === undefined) throw new Error(`there is no command ${name} ${command.verb}`)
    return tried(() => rule.execute(draft, command, ledgers.of(placed)), [CellLocked, ...placed.ledger.refusals])
  }
}

const attempt = (command: Command, capture: CommandCapture): Outcome => {
  try {
    return (executors[command.kind] as (command: Command, capture: CommandCapture) => Outcome)(command, capture)
  } catch (error) {
    if (error instanceof PersistenceError) throw error
    if (error instanceof InvalidValue) return { refused: error }
    return { refused: new ControlRefused({ verb: verbOf(command), reason: (error as Error).message }) }
  }
}

/** The verb by which a refusal names a command. */
const verbOf = (command: Command): string =>
  command.kind === "steer" ? command.verb : command.kind === "ledger" ? command.ledger : command.kind

/** The refusal of a write whose condition the value at its address does not meet. */
const unmet = (
  draft: Draft,
  { condition, write: { address: { text } } }: Pick<Setting, "condition" | "write">,
  hash: (data: string) => string
): CellChanged | undefined => {
  if (condition === undefined) return undefined
  const value = draft.get(text)
  return Condition.isMet(condition, value, hash) ? undefined : new CellChanged({ address: text, isAbsent: value === undefined })
}

/**
 * Writes one cell from outside into the capture transaction. Returns the refusal, if any.
 */
export const write = (
  draft: Draft,
  { group, write: { address, document } }: Pick<Setting, "group" | "write">,
  { mode, steps }: { readonly mode: SpaceMode; readonly steps: ExternalChange.Steps }
): InvalidValue | WriteRefused | CellLocked | undefined => {
  try {
    const { id, key } = draft.settle(address, WriteMode.ofDocument(document))
    const lock = lockOver(mode, id)
    if (lock !== undefined) return new CellLocked({ address: address.text, lock })
    const before = draft.visible(key)
    draft.put(address, document)
    ExternalChange.note(steps, key, { before, after: draft.visible(key), group })
    return undefined
  } catch (error) {
    return error instanceof InvalidValue ? error : new WriteRefused({ address: address.text, reason: (error as Error).message })
  }
}
