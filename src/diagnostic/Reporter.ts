/**
 * The reporter: the log and the counters of all diagnostics.
 *
 * A diagnostic of a beat is reported once the beat is durable. A failure outside all beats is reported at once.
 *
 * @module
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as LogLevel from "effect/LogLevel"
import type { Severity } from "../cell/Severity.ts"
import type { Diagnostic } from "./Diagnostic.ts"
import * as Diagnostics from "./Diagnostic.ts"
import * as Printable from "./Printable.ts"
import type { Telemetry } from "./Telemetry.ts"
import { severities } from "./Topic.ts"

/** A diagnostic, with its space and beat. */
export interface Told extends Diagnostic {
  /** The space; `undefined` for the runtime itself. */
  readonly space: string | undefined
  /** The beat that committed it; `undefined` outside all beats. */
  readonly beat: number | undefined
  /** The thrown value, if there is one, for the log only: it differs between engines. */
  readonly cause?: unknown
}

/** The number of diagnostics with the same severity, topic and space since the runtime started. */
export interface Count {
  readonly space: string | undefined
  readonly severity: Severity
  readonly topic: string
  readonly count: number
}

/** The maximum number of separate counters; further diagnostics are counted under the topic `other`. */
const MAX_COUNTS = 10_000

/**
 * Logs and counts diagnostics.
 *
 * @category models
 * @since 0.1.0
 */
export class Reporter {
  private log: (told: Told) => void
  private telemetry: Telemetry | undefined
  private readonly kept = new Map<string, Count>()
  /** Causes that were logged already: several callers may receive the same error object. */
  private readonly causes = new WeakSet<object>()

  constructor(log: (told: Told) => void) {
    this.log = log
  }

  report(told: Told): void {
    const { cause } = told
    if (typeof cause === "object" && cause !== null) {
      if (this.causes.has(cause)) return
      this.causes.add(cause)
    }
    this.count(told)
    this.telemetry?.add("systole.diagnostics", 1, told.severity, Object.hasOwn(severities, told.topic) ? told.topic : "other")
    this.log(told)
  }

  /**
   * Counts in the metrics of an application; with `logs`, its loggers receive each diagnostic in place of the log of this reporter.
   * Returns the call that ends this.
   */
  attach(telemetry: Telemetry, { logs }: { readonly logs: boolean }): () => void {
    const { log } = this
    this.telemetry = telemetry
    if (logs) this.log = through(telemetry)
    return () => {
      this.telemetry = undefined
      this.log = log
    }
  }

  /** Returns the counters since the runtime started, of all spaces or of one. */
  counts(space?: string): ReadonlyArray<Count> {
    return [...this.kept.values()].filter((count) => space === undefined || count.space === space)
  }

  private count({ severity, space, topic }: Told): void {
    const key = `${space ?? ""} ${severity} ${topic}`
    const known = this.kept.get(key)
    const isFull = known === undefined && this.kept.size >= MAX_COUNTS
    if (isFull && topic !== "other") return this.count({ ...other, severity, space: undefined })
    this.kept.set(key, { space, severity, topic, count: (known?.count ?? 0) + 1 })
  }
}

/** The maximum length of a log line, in characters, and the length of its end that is never cut: a message ends with its remedy. */
const MAX_LINE = 600
const END = 240

/** The beginning and the end of a long text. */
const shortened = (text: string): string => text.length <= MAX_LINE ? text : `${text.slice(0, MAX_LINE - END)} … ${text.slice(-END)}`

/**
 * Formats a diagnostic as one log line; `source` is the place of its error in the source, found by the host.
 */
export const line = ({ beat, code, note, origin, raised, severity, space, topic }: Told, source?: string): string => {
  const place = space === undefined ? "" : ` ${space}${beat === undefined ? "" : `@${beat}`}`
  const by = origin.kind === "runtime" ? "" : ` ${origin.name}`
  const said = raised === undefined ? note : `${note}: ${raised.message}`
  const at = source === undefined || said.includes(source) ? "" : ` at ${source}`
  const end = `${at}${code === topic ? "" : ` (${code})`}`
  return shortened(Printable.line(`${severity} ${topic}${place}${by}: ${said}`)) + Printable.line(end)
}

/** The levels of severities. */
const levels: Readonly<Record<Severity, LogLevel.Severity>> = {
  "sev:fatal": "Fatal",
  "sev:crit": "Error",
  "sev:usage": "Error",
  "sev:warn": "Warn",
  "sev:debug": "Debug"
}

/** Logs a diagnostic: its line, with its parts as annotations, and the thrown value as the cause. */
const logged = (told: Told): Effect.Effect<void> => {
  const { beat, code, origin, raised, severity, space, topic } = told
  const thrown = raised?.thrown ?? told.cause
  const messages = thrown === undefined ? [line(told)] : [line(told), Cause.die(thrown)]
  return Effect.annotateLogs(Effect.logWithLevel(levels[severity])(...messages), {
    "systole.severity": severity,
    "systole.topic": topic,
    "systole.code": code,
    ...space === undefined ? {} : { "systole.space": space },
    ...beat === undefined ? {} : { "systole.beat": beat },
    ...origin.kind === "runtime" ? {} : { [`systole.${origin.kind}`]: origin.name }
  })
}

/** The log of a reporter that is the loggers of a telemetry. */
export const through = (telemetry: Telemetry) => (told: Told): void => telemetry.log(logged(told))

const other: Told = {
  ...Diagnostics.of("runtime/accident", { note: "", origin: { kind: "runtime", name: "reporter" }, subject: undefined }),
  topic: "other",
  space: undefined,
  beat: undefined
}

/**
 * The reporter in use. The default only counts; the host provides one that also logs.
 *
 * @category references
 * @since 0.1.0
 */
export const CurrentReporter = Context.Reference<Reporter>("systole/diagnostic/Reporter", { defaultValue: () => new Reporter(() => {}) })
