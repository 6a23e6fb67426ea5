/**
 * Stuck runs: the outcome of a run that never returned.
 *
 * The process ended during the run, or the beat broke off in it. The first time is a
 * failed attempt. The second time in a row is the last, so that no event ends the
 * process repeatedly.
 *
 * @module
 */
import * as Data from "effect/Data"
import { messageOf } from "../model/Failure.ts"
import type { Handling, Outcome } from "../model/InFlight.ts"
import { textOf } from "../../scheduler/graph/Locations.ts"
import type { Location } from "../../scheduler/graph/Node.ts"
import { Run } from "../../scheduler/run/Run.ts"
import type { Transaction } from "../../stage/Transaction.ts"
import type { Again } from "../model/Signal.ts"

/** The code of the outcome. The host decides it, so a replay takes the recorded one. */
export const STUCK = "run/stuck"

type Failure = Extract<Outcome, { readonly code: string }>

const outcome = (again: { readonly why: Again["why"] | undefined } | undefined, message: string): Failure =>
  ({ kind: again?.why === "stuck" ? "dead" : "retry", tag: "Stuck", code: STUCK, message })

/**
 * The outcome of a handling during which a process ended.
 */
export const endOf = (again: Again | undefined): Failure =>
  outcome(
    again,
    "The process ended while the run was under way. It has to return within its limit, without process.exit and in the memory there is"
  )

/**
 * The outcome of a handling that broke its beat.
 */
export const failureOf = ({ why }: Pick<Handling, "why">, error: unknown): Failure =>
  outcome({ why }, `The beat broke off in the run: ${said(error)}`)

/**
 * A node is refused, because a process ended in its run.
 */
export class Stuck extends Data.TaggedError("Stuck") {
  readonly code = STUCK
  override get message() {
    const reason = "A process ended while the node ran, so it is not run"
    return `${reason}. After one such end it is tried once more; after two it runs when its module changes`
  }
}

/** Runs in place of a refused node. It repeats the reads of the last run, so that a change there runs the node again. */
export const refuse = (tx: Transaction): never => {
  for (let edge = tx instanceof Run ? tx.node.reads : undefined; edge !== undefined; edge = edge.nextRead) readAgain(tx, edge.location)
  throw new Stuck()
}

const readAgain = (tx: Transaction, location: Location): void => {
  const place = textOf(location)
  const depth = location.extra?.depth
  if (depth === "shallow") tx.keys(place)
  else if (depth === "children") tx.list(location.key)
  else tx.get(place)
}

/** Whether a recorded failure is that of a refused node. */
export const isRefused = (tag: string | undefined, code: string | undefined): boolean => tag === "Stuck" && code === STUCK

/** Reading an error's message may itself throw. */
const said = (error: unknown): string => {
  try {
    return messageOf(error)
  } catch {
    return "what was thrown cannot be read"
  }
}
