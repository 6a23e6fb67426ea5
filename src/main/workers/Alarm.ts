/**
 * The alarm of an object: the durable wake of its space.
 *
 * @module
 */
import type { Storage } from "./Platform.ts"

/** The part of a storage that an alarm with failures needs. */
export type AlarmStorage = Pick<Storage, "delete" | "get" | "put" | "setAlarm" | "sync">

/** The delay of an alarm for work that is due at once, in milliseconds. The object does such work itself, unless it is evicted. */
const SOON = 5000

/** The longest such delay of an alarm that follows others. */
const LONGEST_SOON = 60_000

/**
 * The longest time until an alarm, in milliseconds: a year. The platform refuses moments from about the year 2189 on. The alarm for
 * later work comes early, and arms the next one.
 */
const LONGEST_SLEEP = 31_536_000_000

/** The time after which an alarm that did not run counts as lost, in milliseconds. */
const LATE = 60_000

/**
 * Arms the alarm. It is never deleted and only ever set to an earlier time, because each change is a write: an early alarm
 * finds no work, and arms the next one.
 */
export class Alarm {
  private readonly storage: Pick<Storage, "setAlarm">
  private readonly now: () => number
  private armed: number | undefined
  /** The delay of the next alarm for work that is due at once. */
  private soon = SOON

  /** `armed` is the time of the stored alarm, in milliseconds since 1970. */
  constructor(storage: Pick<Storage, "setAlarm">, armed: number | null, now: () => number) {
    this.storage = storage
    this.armed = armed ?? undefined
    this.now = now
  }

  /** Arms the alarm for a wake time, in milliseconds since 1970; 0 and less is at once. The write joins the transaction of this turn. */
  arm(moment: number): void {
    this.set(moment, SOON)
  }

  /**
   * Arms the alarm after one that ran. Work that is due at once then is a request in progress or a delivery that waits for its
   * next attempt. The object looks after both itself, so each further alarm for them comes later, up to a minute. Without a wake
   * time there is no alarm, and later work is new work.
   */
  again(moment: number | undefined): void {
    this.soon = moment === undefined || moment > this.now() ? SOON : Math.min(LONGEST_SOON, 2 * this.soon)
    if (moment !== undefined) this.set(moment, this.soon)
  }

  private set(moment: number, soon: number): void {
    const now = this.now()
    const at = moment > now ? Math.min(moment, now + LONGEST_SLEEP) : now + soon
    if (this.armed !== undefined && this.armed <= at && this.armed > now - LATE) return
    this.armed = at
    // A failed write breaks the object, like each failed write of its transaction.
    this.storage.setAlarm(at).catch(() => {})
  }

  /** Notes that the alarm runs or was removed, and is stored no more. */
  ran(): void {
    this.armed = undefined
  }
}

/** The delays of an alarm after one that failed, in milliseconds: each failure in a row doubles it, up to the longest. */
const RETRY = 10_000
const LONGEST = 3_600_000

/** The key of the number of failures in a row. */
const FAILURES = "systole/failed-alarms"

/** One run of an alarm. */
export interface AlarmRun {
  /** Whether the platform repeats a run that it ended: the object was reset, or exceeded a limit. It gives up after six of them. */
  readonly isRepeated: boolean
  readonly work: () => Promise<void>
  readonly report: (failure: unknown) => Promise<void>
}

/**
 * Runs the work of an alarm, and never throws. If the work fails, that is reported and the alarm is armed again after a delay that
 * doubles from 10 s to an hour: the platform gives an alarm up after a few failures. A repeated run arms that alarm before its
 * work, which may end the object once more.
 */
export const surely = async (storage: AlarmStorage, { isRepeated, report, work }: AlarmRun): Promise<void> => {
  try {
    if (isRepeated) await postpone(storage)
    await work()
    if (await storage.get(FAILURES) !== undefined) await storage.delete(FAILURES)
  } catch (failure) {
    await report(failure)
    await postpone(storage)
  }
}

/** Counts a failure, and arms the alarm after its delay. Both are stored when it ends. */
const postpone = async (storage: AlarmStorage): Promise<void> => {
  const failures = Number(await storage.get(FAILURES).catch(() => 0) ?? 0)
  await storage.setAlarm(Date.now() + Math.min(LONGEST, RETRY * 2 ** failures)).catch(() => {})
  await storage.put(FAILURES, failures + 1).catch(() => {})
  await storage.sync().catch(() => {})
}
