/**
 * The plan of a schedule: the cell `/sys/schedules/<enzyme>` of a space.
 *
 *     { schedule, next?, last?, event?, shifted? }
 *
 * A beat writes it with a command, which has the due times: only a live space computes them, since the rules of time zones are those of
 * its host.
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import * as Document from "../../cell/Document.ts"
import type { Signal } from "./Signal.ts"

/** The folder of the cells. */
export const FOLDER = "/sys/schedules"

/**
 * A plan. Its times are dates, in milliseconds since 1970.
 */
export interface SchedulePlan {
  /** The text of the schedule. */
  readonly schedule: string
  /** The next due time; absent without one in the next years. */
  readonly next?: number
  /** The due time of the newest event. */
  readonly last?: number
  /** The id of the newest event. Plans of earlier versions have none: their event is known by its signal and due time. */
  readonly event?: string
  /** The milliseconds between the clock and the dates of the space when the due time was computed, if there were any. */
  readonly shifted?: number
}

/** An event of a schedule: its signal and its due time. */
export interface DueEvent {
  readonly signal: string
  readonly due: number
  /** Whether the plan has the id of the event. Commands of earlier versions say nothing of it, and replay without. */
  readonly named?: true
}

/** A change of a plan by the space itself: another plan or none, and an event that is due. */
export interface ScheduleCommand {
  readonly kind: "schedule"
  readonly enzyme: string
  readonly plan: SchedulePlan | undefined
  readonly event: DueEvent | undefined
}

/** The id of the event of a schedule, by its beat and its number among the signals of the beat itself. */
export const idOf = (beat: number, number: number): string => `${beat}.due.${number}`

/** Tests whether an event with this id is one of a schedule. */
export const isScheduled = (id: string): boolean => /^\d+\.due\.\d+$/.test(id)

/** The name of an event of a schedule, by its signal and its due time, for a plan without its id. */
export const nameOf = (signal: string, due: number): string => `${due} ${signal}`

/** The name of a signal that is an event of a schedule; `undefined` for any other one. */
export const nameIn = ({ id, origin, payload, signal }: Signal): string | undefined =>
  origin === "run" && signal !== undefined && payload !== undefined && isScheduled(id)
    ? nameOf(signal, Number(Document.read(payload, ["due"])))
    : undefined

/** The cell of a plan. */
export const addressOf = (enzyme: string): Address.Address => Address.parse(`${FOLDER}/${enzyme}`)

/** The value of the cell. */
export const value = ({ event, last, next, schedule, shifted }: SchedulePlan): Required<Pick<SchedulePlan, "schedule">> => ({
  schedule,
  ...next !== undefined && { next },
  ...last !== undefined && { last },
  ...event !== undefined && { event },
  ...shifted !== undefined && { shifted }
})

/** The plan from its cell; `undefined` without one. */
export const read = (document: Document.Document | undefined): SchedulePlan | undefined =>
  document === undefined ? undefined : Document.read(document, []) as unknown as SchedulePlan
