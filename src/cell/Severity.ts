/**
 * Severities: how bad it is that something went wrong.
 *
 * @module
 */

/** From the worst on. */
const all = ["sev:fatal", "sev:crit", "sev:usage", "sev:warn", "sev:debug"] as const

/**
 * `fatal` stops the space, `crit` lost something, `usage` is a mistake of an author or caller, `warn` and `debug` are there to be known.
 *
 * @category models
 * @since 0.1.0
 */
export type Severity = typeof all[number]

/**
 * Whether a text is a severity.
 *
 * @category guards
 * @since 0.1.0
 */
export const is = (text: unknown): text is Severity => all.includes(text as Severity)

/** Whether an operation fails to which a fact of this severity is attached. */
export const fails = (severity: Severity): boolean => severity === "sev:fatal" || severity === "sev:crit" || severity === "sev:usage"
