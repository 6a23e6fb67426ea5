/**
 * Severities of diagnostics.
 *
 * @module
 */

/** The most severe first. */
const all = ["sev:fatal", "sev:crit", "sev:usage", "sev:warn", "sev:debug"] as const

/**
 * The severity of a diagnostic.
 *
 * `fatal` stops the space. `crit` reports a loss. `usage` is a mistake of an author or caller. `warn` and `debug` are informational.
 *
 * @category models
 * @since 0.1.0
 */
export type Severity = typeof all[number]

/**
 * Tests whether a text is a severity.
 */
export const is = (text: unknown): text is Severity => all.includes(text as Severity)

/** Tests whether a diagnostic of this severity fails the operation to which it is attached. */
export const fails = (severity: Severity): boolean => severity === "sev:fatal" || severity === "sev:crit" || severity === "sev:usage"
