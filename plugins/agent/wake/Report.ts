/**
 * Reports of wakes.
 *
 * @module
 */
import type { Action } from "../document/Action.ts"
import type { Issue } from "../text/Issue.ts"
import type { ActionState, Plan } from "./Plan.ts"
import type { Record } from "../order/Record.ts"

/** The attempt of an action in a wake. */
export interface Ran {
  readonly action: Action
  readonly record: Record
}

/** The end of a wake. */
export interface Report {
  readonly ran: ReadonlyArray<Ran>
  /** The attempts that earlier processes began, and whose ends this wake found. */
  readonly earlier: ReadonlyArray<Ran>
  /** The decisions after the wake. */
  readonly plan: Plan
  readonly states: ReadonlyMap<string, ActionState>
  /** The actions that wait for an approval, with the hashes to approve. */
  readonly held: ReadonlyArray<{ readonly action: Action; readonly hash: string }>
  readonly issues: ReadonlyArray<Issue>
  /** The conflict copies and damaged copies of this wake. */
  readonly copies: ReadonlyArray<string>
  /** The ended actions with older copies of their blocks. They do not run again by themselves. */
  readonly older: ReadonlyArray<string>
  /** The actions that the ledger does not know, and whose history is that of their blocks. */
  readonly written: ReadonlyArray<string>
  /** Whether the settings differ from those of the wake before. */
  readonly hasNewSettings: boolean
  /** Whether the file has the status of all actions. Otherwise only the ledger has it. */
  readonly isWritten: boolean
  readonly nextDue: number | undefined
}
