/**
 * Semantics: the rules that changed, so that older journals replay by the rules that made them.
 *
 * A journal entry names the semantics of its beat. A replay follows an earlier rule where that is one branch, which consults this
 * table; any other difference ends it with `replay/semantics`.
 *
 * @module
 */

/** The semantics of entries that name none. */
export const FIRST: number = 1

/**
 * The semantics of the beats that this version makes: a number that grows with each rule that gives the same input
 * another result. Each entry holds that of its beat, since a replay may begin anywhere and older entries are pruned.
 */
export const NEWEST: number = 2

/** Each rule that changed, with the semantics since which it holds. */
const since = {
  /** Earlier reads of a durable run count at the merge, and those of keys, of names and of derived cells count at all. */
  earlierReads: 2,
  /** The last segment of a run that ended by its cancellation is merged, and one that is refused is `run/undo-lost`. */
  undoIsMerged: 2,
  /** A failed segment reports how many writes and signals it drops. */
  dropsAreTold: 2,
  /** The end of a run cancels its requests, and reports those that it never awaited. */
  requestsEndWithRun: 2,
  /** The interruption of a fiber cancels the request that it awaits. */
  fibersCancelRequests: 2,
  /** A durable run hears what its enzyme declares and what it names with `tx.hear`, and no signal by waiting for it. */
  hearsByName: 2,
  /** A further attempt hears what its module declares today, and each pair keeps its number in all attempts. */
  attemptsDeclare: 2,
  /** A wait for a signal that ends with the cancellation of its run leaves the signal to the next wait. */
  cancelledWaitsPass: 2,
  /** A run with a log stays durable, also if its enzyme is not durable any more. */
  runsStayDurable: 2,
  /** The receipt of a heard signal names the enzyme of the run. */
  hearerIsNamed: 2,
  /** An entry names the holder of the lock for which a run waits. */
  holderIsNamed: 2,
  /** An error of a body has no code that the runtime reserves. */
  codesAreReserved: 2,
  /** The record of a request shows whether an attempt may have had its effect. */
  doubtIsRecorded: 2,
  /** The dossier of a pause, a rollback or a shutdown has the state of the reactor. */
  reactorIsRecorded: 2,
  /** An entry that is released from quarantine has its time to report again. */
  releaseGivesTime: 2,
  /** The end of an event without a handling of its own has the label of its target, where a run may hear it. */
  endTellsTarget: 2
} as const

/** The name of a rule that changed. */
export type Rule = keyof typeof since

/** A beat, or a run that began in one, with the semantics that it follows. */
export interface WithSemantics {
  readonly semantics: number
}

/**
 * Whether a beat follows a rule.
 */
export const follows = ({ semantics }: WithSemantics, rule: Rule): boolean => semantics >= since[rule]

/** The semantics in the form of an entry or a first step, which names none for the first ones. */
export const fieldOf = ({ semantics }: WithSemantics): number | undefined => semantics > FIRST ? semantics : undefined

/** The semantics that an entry or a first step names. */
export const read = (told: number | undefined): number => told ?? FIRST
