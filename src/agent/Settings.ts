/**
 * The settings of an agent.
 *
 * @module
 */
import { defaults as actionDefaults, type Defaults } from "./Action.ts"
import * as Zone from "./Zone.ts"

/**
 * The settings of an agent for one control file.
 *
 * @category models
 * @since 0.1.0
 */
export interface Settings {
  /** The time zone, the attempts and the time limit of actions that do not say. */
  readonly defaults: Omit<Defaults, "types">
  /** The time of a wake, in milliseconds. */
  readonly budget: number
  /** The minute of the day at which "Completed Today" is cleared. */
  readonly reset: number
  /** The most actions at the same time, beside those of the background. */
  readonly maxConcurrent: number
  /** `hold`: a new or changed `shell` action waits for its approval. */
  readonly approval: "hold" | "none"
}

/** The settings without a configuration. */
export const defaults: Settings = { defaults: actionDefaults, budget: 300_000, reset: 240, maxConcurrent: 1, approval: "hold" }

const DAY_MINUTES = 1440
const MINUTE = 60_000

/**
 * The day to which a moment belongs, as `2024-01-15`. A day begins at the reset.
 *
 * @category getters
 * @since 0.1.0
 */
export const dayOf = (now: number, { defaults: { zone }, reset }: Settings): string => {
  const { day, hour, minute, month, year } = Zone.localOf(now, zone)
  const isBefore = hour * 60 + minute < reset
  return new Date(Date.UTC(year, month - 1, day) - (isBefore ? DAY_MINUTES * MINUTE : 0)).toISOString().slice(0, 10)
}
