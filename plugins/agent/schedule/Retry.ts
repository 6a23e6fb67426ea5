/**
 * Retries: the number of attempts, the delay before each, and the failures that are retried.
 *
 * @module
 */
import { Backoff, Duration, type Refusal } from "systole/time"

/** The delay before a retry, in milliseconds. */
export type Delay =
  | { readonly kind: "immediate" }
  | { readonly kind: "fixed" | "linear"; readonly base: number }
  | { readonly kind: "exponential"; readonly base: number; readonly cap: number }

/**
 * The retry policy of an action. `on` lists the retried failures, such as `status:5xx`, `timeout` or `connection_error`;
 * empty for all failures.
 */
export interface Retry {
  /** The maximum number of attempts, the first one included. */
  readonly attempts: number
  readonly delay: Delay
  readonly on: ReadonlyArray<string>
}

/** The maximum number of attempts. */
export const MAX_ATTEMPTS = 100

const EXAMPLE = "write fixed:5s, linear:5s, exponential:1s,60s or immediate"

/**
 * Parses a delay: `fixed:5s`, `linear:5s`, `exponential:1s,60s` or `immediate`.
 */
export const parseDelay = (text: string): Delay | Refusal => {
  const [, kind, first = "", second] = /^(immediate|fixed|linear|exponential)(?::([^,]+)(?:,(.+))?)?$/.exec(text.trim().toLowerCase()) ?? []
  const base = Duration.parse(first)
  const cap = Duration.parse(second ?? "60s")
  if (kind === "immediate" && first === "") return { kind }
  if ((kind === "fixed" || kind === "linear") && base !== undefined && second === undefined) return { kind, base }
  if (kind === "exponential" && base !== undefined && cap !== undefined && cap >= base) return { kind, base, cap }
  return { refused: `The delay "${text.slice(0, 100)}" of retries is unknown`, suggestion: EXAMPLE }
}

/** Parses a list of failures: `status:5xx, status:429, timeout, connection_error`. */
export const parseFailures = (text: string): ReadonlyArray<string> | Refusal => {
  const failures = text.split(",").map((part) => part.trim().toLowerCase()).filter((part) => part !== "")
  const wrong = failures.find((failure) => !/^(?:status:[1-5](?:\d\d|xx)|timeout|connection_error)$/.test(failure))
  if (wrong === undefined) return failures
  const refused = `The failure "${wrong.slice(0, 100)}" is unknown`
  return { refused, suggestion: "write status:5xx, status:429, timeout or connection_error" }
}

/** Returns the milliseconds between the `failures`-th failure, from 1, and the next attempt. */
export const delayAfter = (delay: Delay, failures: number): number => {
  switch (delay.kind) {
    case "immediate":
      return 0
    case "fixed":
      return delay.base
    case "linear":
      return Math.min(delay.base * failures, Duration.MAX_DURATION)
    case "exponential":
      return Backoff.after({ delay: delay.base, factor: 2, max: delay.cap }, failures)
  }
}

/** Tests whether a failure is retried. It has a name such as `timeout`, `connection_error`, `status:503` or `exit:1`. */
export const isRetried = ({ on }: Retry, failure: string): boolean =>
  on.length === 0 || on.some((name) => name === failure || (name.endsWith("xx") && failure.startsWith(name.slice(0, -2))))
