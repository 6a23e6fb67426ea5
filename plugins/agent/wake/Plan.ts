/**
 * Plans: the actions of a file that a wake may run now, in order, and the reasons of the others.
 *
 * A plan follows from the file, the states of its actions and explicit facts. A wake makes a new plan whenever an action
 * has ended.
 *
 * @module
 */
import type { Action, Status } from "../document/Action.ts"
import { PRIORITIES } from "../document/Action.ts"
import type { Outcome } from "../schedule/Condition.ts"
import * as Conditions from "../schedule/Condition.ts"
import * as Dependencies from "../document/Dependencies.ts"
import type { History, Occurrence } from "../schedule/Schedule.ts"
import * as Schedules from "../schedule/Schedule.ts"

/**
 * The state of an action, from the ledger or from its fields in the file.
 */
export interface ActionState {
  readonly status: Status | "other"
  readonly history: History
  /** The outcome of the last run. */
  readonly outcome: Outcome
  /** The next attempt of an occurrence whose last attempt failed; undefined without one. */
  readonly retry: Retrial | undefined
}

/** A retry: the occurrence, the number of the attempt from 2, its time, and its delay after the failure. */
export interface Retrial {
  readonly occurrence: string
  readonly attempt: number
  readonly at: number
  readonly delay: number
}

/**
 * The facts of a moment.
 */
export interface Facts {
  /** Milliseconds since 1970. */
  readonly now: number
  readonly states: ReadonlyMap<string, ActionState>
  /** The actions that began in this wake. None begins twice. */
  readonly begun: ReadonlySet<string>
  /** The actions whose attempts are in progress. */
  readonly running?: ReadonlySet<string>
  /** The actions that a failure called, with the attempts that it asks for. */
  readonly called?: ReadonlyMap<string, DueOccurrence>
  /** The actions that run without being due, and the occurrence of such a run; undefined for none. */
  readonly forced: { readonly ids: ReadonlySet<string>; readonly occurrence: string } | undefined
  /** Whether LOW actions may begin: half of the time of the wake is left. */
  readonly hasTime: boolean
  /** The paths of conditions that exist, and the variables that are set. */
  readonly files: ReadonlySet<string>
  readonly variables: ReadonlySet<string>
}

/**
 * The decision on one action.
 *
 * - `run`: it may run now.
 * - `skip`: its occurrence is over without a run. An action that does not recur has the status `skipped` from now on.
 * - `block`: it is due, and waits for the actions `on`.
 * - `wait`: it is not due before `at`; undefined if that time is unknown.
 * - `rest`: it is finished, running, unknown or run by others.
 */
export type Decision =
  | { readonly kind: "run"; readonly action: Action; readonly occurrence: Occurrence; readonly attempt: number }
  | { readonly kind: "skip"; readonly action: Action; readonly occurrence: Occurrence; readonly reason: string }
  | { readonly kind: "block"; readonly action: Action; readonly on: ReadonlyArray<string> }
  | { readonly kind: "wait"; readonly action: Action; readonly at: number | undefined; readonly reason: string }
  | { readonly kind: "rest"; readonly action: Action; readonly reason: string }

/** The decisions on all actions, first by priority and then in the order of the file. */
export type Plan = ReadonlyArray<Decision>

/** Whether LOW actions may begin: half of the time of a wake is left. */
export const hasTime = (start: number, now: number, budget: number): boolean => now - start < budget / 2

/** Sorts actions by priority; those of one priority keep their order. */
export const byPriority = (actions: ReadonlyArray<Action>): ReadonlyArray<Action> =>
  PRIORITIES.flatMap((priority) => actions.filter((action) => action.priority === priority))

/**
 * Makes the plan of a moment. The cost is linear in the number of actions and dependencies.
 */
export const make = (actions: ReadonlyArray<Action>, facts: Facts): Plan => new Planner(actions, facts).plan()

/**
 * Returns the first time at which a waiting action is due; undefined without one.
 */
export const nextDue = (plan: Plan): number | undefined => {
  let first: number | undefined
  for (const decision of plan) {
    const at = decision.kind === "wait" ? decision.at : undefined
    if (at !== undefined && (first === undefined || at < first)) first = at
  }
  return first
}

const MINUTE = 60_000

/**
 * Returns the time before which a plan stays as it is, unless the file, a state or another fact changes. It is `now` for a plan
 * that may change at once.
 */
export const until = (plan: Plan, now: number): number => {
  let first = nextDue(plan) ?? Number.POSITIVE_INFINITY
  for (const decision of plan) {
    if (decision.kind === "skip") return now
    const isRead = decision.kind === "run" || (decision.kind === "wait" && decision.at === undefined)
    // Times of day begin with minutes.
    if (isRead && isTimed(decision.action)) first = Math.min(first, now - now % MINUTE + MINUTE)
  }
  return first
}

const isTimed = ({ condition }: Action): boolean => condition !== undefined && Conditions.isTimed(condition)

/** An occurrence that is due, with the number of its attempt. */
export interface DueOccurrence {
  readonly occurrence: Occurrence
  readonly attempt: number
}

class Planner {
  private readonly actions: ReadonlyArray<Action>
  private readonly facts: Facts
  private readonly byId: ReadonlyMap<string, Action>
  private readonly called: ReadonlySet<string>
  private readonly decisions = new Map<string, Decision>()
  private outcomes: ReadonlyMap<string, Outcome> | undefined
  private ranks: ReadonlyMap<string, number> | undefined

  constructor(actions: ReadonlyArray<Action>, facts: Facts) {
    this.actions = actions
    this.facts = facts
    this.byId = new Map(actions.map((action) => [action.id, action]))
    this.called = Dependencies.calledBy(actions)
  }

  plan(): Plan {
    const due = new Map<string, DueOccurrence>()
    for (const action of this.actions) {
      const found = this.dueOf(action)
      if ("kind" in found) this.decisions.set(action.id, found)
      else due.set(action.id, found)
    }
    for (const action of this.actions) {
      const found = due.get(action.id)
      if (found !== undefined) this.decisions.set(action.id, this.decide(action, found, due))
    }
    return byPriority(this.actions).flatMap(({ id }) => this.decisions.get(id) ?? [])
  }

  /** The due occurrence of an action, or the reason why there is none. */
  private dueOf(action: Action): DueOccurrence | Decision {
    const { begun, forced, now, states } = this.facts
    const { id, schedule } = action
    const state = states.get(id)
    if (state === undefined) return { kind: "rest", action, reason: "its state is unknown" }
    if (begun.has(id)) return { kind: "rest", action, reason: "it began in this wake" }
    if (state.status === "other") return { kind: "rest", action, reason: "its status is unknown" }
    if (state.status === "running") return { kind: "rest", action, reason: "it is running" }
    const paused = this.unknownBelow(action)
    if (paused !== undefined) return { kind: "rest", action, reason: `the status of its member ${paused} is unknown` }
    const call = this.facts.called?.get(id)
    if (call !== undefined) return call
    if (forced?.ids.has(id) === true) return { occurrence: { key: forced.occurrence, at: now }, attempt: 1 }
    const { retry } = state
    if (retry !== undefined) {
      // A clock that was set back must not add to the delay.
      if (retry.at > now && retry.at <= now + retry.delay) {
        return { kind: "wait", action, at: retry.at, reason: `attempt ${retry.attempt} is not due` }
      }
      return { occurrence: { key: retry.occurrence, at: Math.min(retry.at, now) }, attempt: retry.attempt }
    }
    if (isFinished(action, state)) return { kind: "rest", action, reason: `it is ${state.status}` }
    if (schedule.kind === "always" && this.called.has(id)) return { kind: "rest", action, reason: "other actions run it" }
    const occurrence = Schedules.occurrence(schedule, state.history, now)
    if (occurrence === undefined || occurrence.at > now) return { kind: "wait", action, at: occurrence?.at, reason: "it is not due" }
    return { occurrence, attempt: 1 }
  }

  /** The first member whose status the agent does not know, such as `paused`. No action runs it. */
  private unknownBelow(action: Action): string | undefined {
    for (const id of Dependencies.membersOf(action)) {
      const member = this.byId.get(id)
      const found = this.facts.states.get(id)?.status === "other" ? id : member === undefined ? undefined : this.unknownBelow(member)
      if (found !== undefined) return found
    }
    return undefined
  }

  private decide(action: Action, { attempt, occurrence }: DueOccurrence, due: ReadonlyMap<string, DueOccurrence>): Decision {
    const { facts } = this
    const on: Array<string> = []
    // A call that comes to nothing ends no occurrence of the schedule.
    const isCalled = facts.called?.has(action.id) === true
    for (const id of action.dependsOn) {
      const state = facts.states.get(id)
      if (state === undefined || due.has(id) || isOpen(state)) {
        on.push(id)
      } else if (state.outcome !== "completed") {
        const reason = `its dependency ${id} ended as ${state.outcome}`
        return isCalled ? { kind: "wait", action, at: undefined, reason } : { kind: "skip", action, occurrence, reason }
      }
    }
    on.push(...this.openBelow(action, due), ...attempt === 1 ? this.undecided(action, due) : [])
    if (on.length > 0) return { kind: "block", action, on: [...new Set(on)] }
    if (!this.holds(action)) {
      const reason = "its condition is false"
      if (isCalled || action.schedule.kind === "always") return { kind: "wait", action, at: undefined, reason }
      return { kind: "skip", action, occurrence, reason }
    }
    if (action.priority === "LOW" && !facts.hasTime) {
      return { kind: "wait", action, at: undefined, reason: "less than half of the wake is left" }
    }
    return { kind: "run", action, occurrence, attempt }
  }

  /** The open dependencies of the members of an action outside of it, and members that are tried again by themselves. */
  private openBelow(action: Action, due: ReadonlyMap<string, DueOccurrence>): ReadonlyArray<string> {
    const { states } = this.facts
    const members = Dependencies.membersBelow(action, this.byId)
    return [...members.values()].flatMap(({ dependsOn, id }) => {
      const open = dependsOn.filter((other) => {
        const state = states.get(other)
        return !members.has(other) && other !== action.id && (state === undefined || due.has(other) || isOpen(state))
      })
      return states.get(id)?.retry === undefined ? open : [...open, id]
    })
  }

  /**
   * The actions whose ends a condition reads, and that come before its action: in progress, tried again, or due before it in the
   * order. So the condition is decided when its turn comes.
   */
  private undecided({ condition, id: self }: Action, due: ReadonlyMap<string, DueOccurrence>): ReadonlyArray<string> {
    if (condition === undefined) return []
    const { running = new Set<string>(), states } = this.facts
    const named = Conditions.actionsOf(condition).filter((id) => {
      if (id === self || this.waitsFor(id, self)) return false
      return running.has(id) || states.get(id)?.retry !== undefined || (due.has(id) && this.rankOf(id) < this.rankOf(self))
    })
    return Conditions.readsAll(condition) ? [...named, ...[...running].filter((id) => id !== self && this.byId.has(id))] : named
  }

  /** The place of an action in the order of a wake. */
  private rankOf(id: string): number {
    this.ranks ??= new Map(byPriority(this.actions).map((action, i) => [action.id, i]))
    return this.ranks.get(id) ?? 0
  }

  /** Whether an action waits for another one, by its dependencies or members. */
  private waitsFor(id: string, other: string): boolean {
    const seen = new Set<string>()
    const open = [id]
    for (let each = open.pop(); each !== undefined; each = open.pop()) {
      const action = this.byId.get(each)
      if (each === other) return true
      if (action === undefined || seen.has(each)) continue
      seen.add(each)
      open.push(...action.dependsOn, ...Dependencies.membersOf(action))
    }
    return false
  }

  private holds({ condition, id, zone }: Action): boolean {
    if (condition === undefined) return true
    const { files, now, states, variables } = this.facts
    this.outcomes ??= new Map(this.actions.map((action) => [action.id, states.get(action.id)?.outcome ?? "open"]))
    return Conditions.evaluate(condition, { now, zone, files, variables, outcomes: this.outcomes, self: id })
  }
}

const isOpen = ({ outcome, retry, status }: ActionState): boolean => status === "running" || retry !== undefined || outcome === "open"

/** Whether an action never runs again by itself: a person makes it `pending` for another run. */
const isFinished = ({ schedule }: Action, { status }: ActionState): boolean => {
  if (status === "completed" || status === "skipped") return true
  return status === "failed" && !Schedules.isRecurring(schedule)
}
