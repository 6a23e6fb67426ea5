/**
 * The settings of an agent.
 *
 * @module
 */
import { defaults as actionDefaults, type Defaults } from "./Action.ts"

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
  /** `hold`: a new or changed `shell` action waits for its approval. */
  readonly approval: "hold" | "none"
}

/** The settings without a configuration. */
export const defaults: Settings = { defaults: actionDefaults, budget: 300_000, reset: 240, approval: "hold" }
