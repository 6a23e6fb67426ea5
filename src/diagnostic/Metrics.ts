/**
 * The metrics of the runtime: their names, kinds, units and attributes, in one table.
 *
 * Names and units are those of OpenTelemetry. No attribute has a value from outside, such as a path or the name of a space, so the number
 * of series is bounded by the configuration and the routes.
 *
 * @module
 */
import * as Metric from "effect/Metric"

/** The definition of a metric. */
export interface Definition {
  /** A counter only grows; a gauge is a present number; a histogram has the distribution of a duration. */
  readonly kind: "counter" | "gauge" | "histogram"
  /** The unit, in the code of UCUM. */
  readonly unit: string
  readonly does: string
  /** The names of its attributes. */
  readonly attributes?: ReadonlyArray<string>
}

/** All metrics by name. */
export const table = {
  "systole.beats": { kind: "counter", unit: "{beat}", does: "Durable beats" },
  "systole.signals": { kind: "counter", unit: "{signal}", does: "Signals whose last handling ended" },
  "systole.runs": {
    kind: "counter", unit: "{run}", attributes: ["systole.outcome"],
    does: "Runs of enzymes in durable beats, by outcome: `ok`, `waits`, `conflict`, `retry`, `dead` or `fatal`"
  },
  "systole.dead_letters": { kind: "counter", unit: "{letter}", does: "Handlings that ended as dead letters" },
  "systole.group.duration": {
    kind: "histogram", unit: "s", attributes: ["systole.outcome"],
    does: "Group commits, from the first beat to the end of the output barrier; `ok` or `failed`"
  },
  "systole.flush.duration": { kind: "histogram", unit: "s", does: "Flushes of stores, with their repetitions" },
  "systole.queue.size": {
    kind: "gauge", unit: "{signal}", does: "Signals that wait or are in progress in open spaces, those to other spaces included"
  },
  "systole.outbox.size": { kind: "gauge", unit: "{signal}", does: "Signals of open spaces that wait for other spaces" },
  "systole.backup.age": {
    kind: "gauge", unit: "s",
    does: "The age of the newest scheduled backup, of the space whose is oldest. Prometheus has it as `systole_backup_age_seconds`"
  },
  "systole.spaces": { kind: "gauge", unit: "{space}", does: "Open spaces" },
  "systole.io.requests": { kind: "gauge", unit: "{request}", attributes: ["systole.channel"], does: "Attempts of requests in progress" },
  "systole.io.duration": {
    kind: "histogram", unit: "s", attributes: ["systole.channel", "systole.outcome"],
    does: "Attempts of requests of the reactor, without the wait for their channel; `ok`, `failed` or `aborted`"
  },
  "systole.diagnostics": {
    kind: "counter", unit: "{diagnostic}", attributes: ["systole.severity", "systole.topic"],
    does: "Reported failures, by severity and topic. A topic of an enzyme counts as `other`"
  },
  "systole.streams": { kind: "gauge", unit: "{stream}", does: "Open event streams and sockets" },
  "systole.denials": {
    kind: "counter", unit: "{request}", attributes: ["systole.code"], does: "Requests refused by credential, scope or rate"
  },
  "http.server.request.duration": {
    kind: "histogram", unit: "s", attributes: ["http.request.method", "http.route", "http.response.status_code"],
    does: "HTTP requests until their response begins. `http.route` is the pattern of the route, such as `/v1/spaces/:space/signals`"
  }
} as const satisfies Readonly<Record<string, Definition>>

/** The name of a metric. */
export type Name = keyof typeof table

/** Upper bounds of durations, in seconds. */
export const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const

/** The metric of a name, with values of its attributes. */
export const make = (name: Name, attributes: Readonly<Record<string, string>>): Metric.Metric<number, unknown> => {
  const { does, kind, unit }: Definition = table[name]
  const options = { description: does, attributes: { ...attributes, unit } }
  if (kind === "counter") return Metric.counter(name, { ...options, incremental: true })
  if (kind === "gauge") return Metric.gauge(name, options)
  return Metric.histogram(name, { ...options, boundaries: BOUNDS })
}
