/**
 * The members of a composite action: the order in which they run, and the fields of their own that they obey.
 *
 * A member with a false condition is skipped, and counts as done. One that fails and has attempts left ends the attempt of the
 * composite action, which goes on at that member when its delay is over.
 *
 * @module
 */
import * as Conditions from "../schedule/Condition.ts"
import type { Delay } from "../schedule/Retry.ts"
import { isRefusal } from "systole/time"
import { ActionFailed, type Attempt, type Done, runMember } from "./ActionType.ts"
import type { Order } from "./Order.ts"
import * as Record from "./Record.ts"

/** The end of a member in an attempt. */
type End = "completed" | "skipped" | "failed" | "retried"

/** The mode of a composite action. */
export interface Mode {
  readonly isParallel: boolean
  /** Whether the first failure ends the action. */
  readonly isFailFast: boolean
}

type Outcomes = NonNullable<Order["facts"]>["outcomes"]

/** The members of an attempt of a composite action. */
class Members {
  private readonly attempt: Attempt
  private readonly ends = new Map<string, End>()
  private readonly next = new Map<string, number>()
  private retry: Record.Progress["retry"]

  constructor(attempt: Attempt) {
    this.attempt = attempt
    const { completed = [], failed = [], skipped = [] } = attempt.order.progress ?? {}
    for (const id of completed) this.ends.set(id, "completed")
    for (const id of skipped) this.ends.set(id, "skipped")
    for (const id of failed) this.ends.set(id, "failed")
  }

  get members(): ReadonlyArray<Order> {
    return this.attempt.order.members ?? []
  }

  /** Runs members in their order. */
  async sequential(isFailFast: boolean): Promise<void> {
    for (const member of this.members) {
      if (isFailFast && this.ended("failed").length > 0) return
      // The order stays: no later member runs before one that is tried again.
      if (await this.take(member) === "retried") return
    }
  }

  /** Runs members at the same time, each after those that it depends on. */
  async parallel(): Promise<void> {
    const begun = new Map<string, Promise<End>>()
    const begin = (member: Order): Promise<End> => {
      const found = begun.get(member.action)
      if (found !== undefined) return found
      const before = this.members.filter(({ action }) => member.after?.includes(action)).map(begin)
      const end = before.length === 0 ? this.take(member) : Promise.all(before).then(() => this.take(member))
      begun.set(member.action, end)
      return end
    }
    await Promise.all(this.members.map(begin))
  }

  private async take(member: Order): Promise<End> {
    const end = this.isReady(member) ? this.endOf(member, await runMember(this.attempt, member)) : "skipped"
    this.ends.set(member.action, end)
    this.keep()
    return end
  }

  private endOf(member: Order, record: Record.Record): End {
    if (record.status === "completed") return "completed"
    const { delay = { kind: "immediate", base: 0, cap: 0 }, on = [] } = member.retry ?? {}
    const retry = Record.retryOf(record, { attempts: member.attempts, delay: delay as Delay, on })
    if (retry === undefined) return "failed"
    this.next.set(member.action, member.attempt + 1)
    if (this.retry === undefined || retry.at > this.retry.at) this.retry = retry
    return "retried"
  }

  /** Whether the other members that a member depends on are completed, and its condition holds. */
  private isReady(member: Order): boolean {
    const { after = [], condition } = member
    if (after.some((id) => this.ends.get(id) !== "completed")) return false
    if (condition === undefined || member.attempt > 1) return true
    const parsed = Conditions.parse(condition.text)
    if (isRefusal(parsed)) return true
    const { files = [], outcomes = {}, variables = [] } = this.attempt.order.facts ?? {}
    return Conditions.evaluate(parsed, {
      now: this.attempt.now(),
      zone: condition.zone,
      files: new Set(files),
      variables: new Set(variables),
      outcomes: new Map(Object.keys(outcomes).map((id) => [id, this.outcomeOf(id, outcomes)])),
      self: member.action
    })
  }

  /** The outcome of an action now: of a run since the facts were captured, or as they tell it. */
  private outcomeOf(id: string, outcomes: Outcomes): Conditions.Outcome {
    const end = this.ends.get(id)
    if (end === "completed" || end === "failed" || end === "skipped") return end
    const { order: { file }, tx } = this.attempt
    const record = Record.read(tx.get(Record.cell(file, id)))
    const known = outcomes[id]
    if (record === undefined || record.event === known?.event) return (known?.outcome ?? "open") as Conditions.Outcome
    return record.status === "running" ? "open" : record.status
  }

  private ended(end: End): ReadonlyArray<string> {
    return [...this.ends].flatMap(([id, each]) => each === end ? [id] : [])
  }

  private keep(): void {
    this.attempt.keep({
      round: this.attempt.order.progress?.round ?? this.attempt.order.attempt,
      completed: this.ended("completed"),
      skipped: this.ended("skipped"),
      failed: this.ended("failed"),
      next: Object.fromEntries(this.next),
      ...this.retry === undefined ? {} : { retry: this.retry }
    })
  }

  done(): Done {
    this.keep()
    const [retried, failed] = [this.ended("retried"), this.ended("failed")]
    if (retried.length > 0) throw new ActionFailed("agent/member-retried", `${retried.join(", ")} failed, and is tried again`)
    if (failed.length > 0) throw new ActionFailed("agent/member-failed", `${failed.join(", ")} failed`)
    const [completed, skipped] = [this.ended("completed").length, this.ended("skipped").length]
    return { result: `${completed} of ${completed + skipped} completed${skipped === 0 ? "" : `, ${skipped} skipped`}` }
  }
}

/**
 * Runs the members of a composite action.
 *
 * @throws ActionFailed
 * @category combinators
 * @since 0.1.0
 */
export const run = async (attempt: Attempt, { isFailFast, isParallel }: Mode): Promise<Done> => {
  const members = new Members(attempt)
  if (isParallel) await members.parallel()
  else await members.sequential(isFailFast)
  return members.done()
}
