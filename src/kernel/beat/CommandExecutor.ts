/**
 * Execution of commands in the capture transaction.
 *
 * One table says how each kind is done. A refused command leaves nothing, so the
 * journal has only commands that were done.
 *
 * @module
 */
import { InvalidAddress } from "../../cell/Address.ts"
import { InvalidValue } from "../../cell/Value.ts"
import { CellLocked, type Refusal, type RefusalClass } from "../../ledger/LedgerError.ts"
import { PersistenceError } from "../../persistence/PersistenceError.ts"
import { InvalidNode } from "../../scheduler/Definition.ts"
import type { Pieces as PieceFace } from "../../stage/RunGrant.ts"
import type { Draft } from "../../stage/Draft.ts"
import * as Savepoint from "../../stage/Savepoint.ts"
import { CAPTURE } from "../../stage/Stage.ts"
import * as WriteMode from "../../stage/WriteMode.ts"
import * as Pieces from "../derived/Pieces.ts"
import * as Commands from "../model/Command.ts"
import type { Command, Setting } from "../model/Command.ts"
import * as Foreign from "../model/Foreign.ts"
import { lockOver, type Regime } from "../model/Regime.ts"
import { ControlRefused, WriteRefused } from "../model/SpaceError.ts"
import type { BeatWork } from "./BeatWork.ts"
import type { Body } from "./Body.ts"
import * as DeadLetter from "./DeadLetter.ts"
import * as Lifecycle from "./Lifecycle.ts"

/** The capture transaction of a beat. */
interface Capture {
  readonly draft: Draft
  readonly work: BeatWork
  readonly body: Body
  readonly pieces: PieceFace<Draft>
}

/** A command was done, with a reply, or refused. */
export type Outcome = { readonly reply: unknown } | { readonly refused: Refusal }

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
type Executor<Kind extends Command["kind"]> = (command: Extract<Command, { readonly kind: Kind }>, capture: Capture) => Outcome

const executors: { readonly [Kind in Command["kind"]]: Executor<Kind> } = {
  set: (command, { draft, work }) => outcome(write(draft, command, work)),
  integrate: ({ notice }, { draft, work }) => outcome(Foreign.integrate(draft, notice, work)),
  bind: ({ change }, { work }) => outcome(work.bind(change, CAPTURE)),
  redeliver: (command, { body, work }) => outcome(DeadLetter.redeliver(command, work, body)),
  piece: ({ ask }, { draft, pieces }) => tried(() => Pieces.perform(draft, ask, pieces), [InvalidNode, InvalidValue, InvalidAddress]),
  steer: (command, { draft, work }) => ({ reply: Lifecycle.start(work, draft, command) }),
  cutover: (command, { draft, work }) => ({ reply: Lifecycle.cutOver(work, draft, command) }),
  lock: (command, { draft, work }) => outcome(Lifecycle.lock(work, draft, command)),
  ledger: ({ command, ledger: name }, { body: { ledgers }, draft, work }) => {
    const placed = ledgers.named(name)
    const rule = placed?.ledger.commands[command.verb]
    if (placed === undefined || rule === undefined) throw new Error(`there is no command ${name} ${command.verb}`)
    return tried(() => rule.execute(draft, command, work.ledgers.of(placed)), [CellLocked, ...placed.ledger.refusals])
  }
}

/**
 * Does one command, all of it or nothing.
 *
 * A failure is the command's own, unless it is the store's: a value that fits a document by itself need not fit the one
 * that it becomes part of, and a beat that fails of it would fail of it again.
 *
 * @category combinators
 * @since 0.1.0
 */
export const execute = (command: Command, capture: Capture): Outcome => {
  const { body, draft, work } = capture
  const { asked, diagnostics, regime } = work
  const told = diagnostics.length
  const savepoint = Savepoint.make(draft)
  // The space may have been shut down since it was asked for.
  const halted = Commands.refusal(command, regime, body.ledgers)
  const outcome = halted === undefined ? attempt(command, capture) : { refused: halted }
  if ("reply" in outcome) savepoint.keep()
  else {
    savepoint.restore()
    work.regime = regime
    work.asked = asked
    diagnostics.length = told
  }
  return outcome
}

const attempt = (command: Command, capture: Capture): Outcome => {
  try {
    return (executors[command.kind] as (command: Command, capture: Capture) => Outcome)(command, capture)
  } catch (error) {
    if (error instanceof PersistenceError) throw error
    if (error instanceof InvalidValue) return { refused: error }
    return { refused: new ControlRefused({ verb: verbOf(command), reason: (error as Error).message }) }
  }
}

/** The verb by which a refusal names a command. */
const verbOf = (command: Command): string =>
  command.kind === "steer" ? command.verb : command.kind === "ledger" ? command.ledger : command.kind

/**
 * Writes one cell from outside into the capture transaction; answers why not, where it cannot.
 *
 * @category combinators
 * @since 0.1.0
 */
export const write = (
  draft: Draft,
  { group, write: { address, document } }: Pick<Setting, "group" | "write">,
  { regime, steps }: { readonly regime: Regime; readonly steps: Foreign.Steps }
): InvalidValue | WriteRefused | CellLocked | undefined => {
  try {
    const { id, key } = draft.settle(address, WriteMode.ofDocument(document))
    const lock = lockOver(regime, id)
    if (lock !== undefined) return new CellLocked({ address: address.text, lock })
    const before = draft.visible(key)
    draft.put(address, document)
    Foreign.note(steps, key, { before, after: draft.visible(key), group })
    return undefined
  } catch (error) {
    return error instanceof InvalidValue ? error : new WriteRefused({ address: address.text, reason: (error as Error).message })
  }
}
