/**
 * Stuck: the outcome of a run that never came to an end.
 *
 * The process ended while the run was under way, or the beat broke off in it.
 * The first time is a failed attempt. The second time in a row is the last, so
 * that no event ends the process again and again. (Architecture, section 4.)
 *
 * @module
 */
import { messageOf } from "./Failure.ts"
import type { Handling, Outcome } from "./Flight.ts"
import type { Again } from "./Signal.ts"

/** The code of the outcome. The host decides it, so a replay takes it as it was. */
export const STUCK = "run/stuck"

type Failure = Extract<Outcome, { readonly code: string }>

const outcome = (again: { readonly why: Again["why"] | undefined } | undefined, message: string): Failure =>
  ({ kind: again?.why === "stuck" ? "dead" : "retry", tag: "Stuck", code: STUCK, message })

/**
 * The outcome of a handling during which a process ended.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ended = (again: Again | undefined): Failure =>
  outcome(again, "The process ended while the run was under way. It has to return within its limit, without process.exit and in the memory there is")

/**
 * The outcome of a handling that broke its beat.
 *
 * @category constructors
 * @since 0.1.0
 */
export const broken = ({ why }: Pick<Handling, "why">, error: unknown): Failure => outcome({ why }, `The beat broke off in the run: ${said(error)}`)

/** An error may throw when it is read. */
const said = (error: unknown): string => {
  try {
    return messageOf(error)
  } catch {
    return "what was thrown cannot be read"
  }
}
