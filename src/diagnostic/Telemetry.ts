/**
 * Telemetry: the loggers, the tracer and the metrics of the surrounding layers, for code that is no Effect.
 *
 * An application chooses where they go with layers of Effect. Without a tracer of its own there are no spans. A metric is a number in
 * memory, and is not counted on a host without a reader of it.
 *
 * @module
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as References from "effect/References"
import * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import * as Metrics from "./Metrics.ts"

/** The references through which an application chooses its telemetry. */
const references = [
  Logger.CurrentLoggers, References.CurrentLogAnnotations, References.CurrentLogLevel, References.LogToStderr,
  References.MinimumLogLevel, Metric.CurrentMetricAttributes, Metric.MetricRegistry, Tracer.CurrentTraceLevel,
  Tracer.MinimumTraceLevel, Tracer.Tracer, References.TracerEnabled, References.TracerSpanAnnotations, References.TracerTimingEnabled
] as const

/**
 * Whether the metrics of a runtime may be read. A host without a reader spares their cost.
 */
export const CurrentMeasured = Context.Reference<boolean>("systole/diagnostic/Measured", { defaultValue: () => true })

/** The values of attributes, by their names. */
export type Attributes = Readonly<Record<string, string>>

/** The attributes of a span. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

/** The choices of a new span. */
export interface SpanOptions {
  readonly attributes?: SpanAttributes
  readonly kind?: Tracer.SpanKind
  /** The span of the caller; none unless given. */
  readonly parent?: Tracer.AnySpan | undefined
}

/** Calls a function out of the scope of runs. */
type Outside = <A>(act: () => A) => A

/** The calls out of the scope of runs, on a host with guards: `reading` is for functions that start nothing. */
interface Scopes {
  readonly outside: Outside
  readonly reading: Outside
}

const call: Outside = (act) => act()

/** A metric with values of its attributes, for changes without a look-up. */
export interface Series {
  /** Adds to a counter or a gauge, or notes a duration. */
  readonly add: (value: number) => void
}

/** A series of a host without a reader of metrics. */
const uncounted: Series = { add: () => {} }

/** The series of a metric whose values of attributes begin alike. */
interface Branch {
  series: Series | undefined
  readonly next: Map<string, Branch>
}

const branch = (): Branch => ({ series: undefined, next: new Map() })

const none: Attributes = {}

/** The context of fibers that outlive the effect that starts them: without its span and its scope. */
export const detached = <R>(context: Context.Context<R>): Context.Context<R> =>
  Context.omit(Tracer.ParentSpan, Scope.Scope)(context) as Context.Context<R>

/** Whether a context has loggers of an application. */
export const hasLoggers = (context: Context.Context<never>): boolean =>
  Context.getOrUndefined(context, Logger.CurrentLoggers) !== undefined

/**
 * Reports to the telemetry of a context.
 */
export class Telemetry {
  /** The context, for fibers. */
  readonly context: Context.Context<never>
  /** Whether a tracer of an application receives spans. */
  readonly isTraced: boolean
  /** Whether spans or metrics are taken. If neither are, no clock is read. */
  readonly isHeard: boolean
  private readonly isMeasured: boolean
  private readonly clock: Clock.Clock
  private readonly outside: Outside
  private readonly reading: Outside
  private readonly read: () => bigint
  private readonly metrics = branch()

  constructor(context: Context.Context<never>, { outside, reading }: Scopes = { outside: call, reading: call }) {
    this.outside = outside
    this.reading = reading
    this.context = detached(context)
    const tracer = Context.getOrUndefined(context, Tracer.Tracer)
    this.isTraced = tracer !== undefined && tracer !== Tracer.nativeTracer
    this.isMeasured = Context.get(context, CurrentMeasured)
    this.isHeard = this.isTraced || this.isMeasured
    const clock = this.clock = Context.get(context, Clock.Clock)
    this.read = () => clock.monotonicTimeNanosUnsafe()
  }

  /** Nanoseconds of a clock that nobody sets; 0 if neither spans nor metrics are taken. */
  now(): bigint {
    if (!this.isHeard) return 0n
    return this.reading(this.read)
  }

  /** The seconds since a moment of `now`. */
  since(moment: bigint): number {
    return Number(this.now() - moment) / 1e9
  }

  /** Adds to a counter or a gauge, or notes a duration. `values` are those of the attributes of the metric, in their order. */
  add(name: Metrics.Name, value: number, ...values: ReadonlyArray<string>): void {
    if (this.isMeasured) this.series(name, ...values).add(value)
  }

  /** A metric with values of its attributes, in their order. It has a place in the registry from its first change on. */
  series(name: Metrics.Name, ...values: ReadonlyArray<string>): Series {
    if (!this.isMeasured) return uncounted
    let at = below(this.metrics, name)
    for (const value of values) at = below(at, value)
    return at.series ??= this.made(name, values)
  }

  private made(name: Metrics.Name, values: ReadonlyArray<string>): Series {
    const { attributes = [] }: Metrics.Definition = Metrics.table[name]
    const metric = Metrics.make(name, Object.fromEntries(attributes.map((attribute, i) => [attribute, values[i] ?? ""])))
    const { context } = this
    return { add: (value) => metric.modifyUnsafe(value, context) }
  }

  /** Logs at once. Diagnostics of every severity are logged, unless the application sets a minimum. */
  log(effect: Effect.Effect<void>): void {
    const { context } = this
    const isLimited = Context.getOrUndefined(context, References.MinimumLogLevel) !== undefined
    const own = isLimited ? context : Context.add(context, References.MinimumLogLevel, "All" as const)
    this.outside(() => Effect.runForkWith(own)(effect))
  }

  /** Starts a span, which `end` ends; `undefined` if nobody traces. */
  span(name: string, { attributes = none, kind = "internal", parent }: SpanOptions = {}): Tracer.Span | undefined {
    if (!this.isTraced) return undefined
    const options = { attributes: { ...attributes }, kind, ...parent === undefined ? { root: true } : { parent } }
    return this.outside(() => Effect.runSyncWith(this.context)(Effect.makeSpan(name, options)))
  }

  /** Ends a span: with a failure that has the code, if there is one. */
  end(span: Tracer.Span, code?: string): void {
    this.outside(() => span.end(this.clock.currentTimeNanosUnsafe(), code === undefined ? Exit.void : Exit.fail(code)))
  }
}

const below = ({ next }: Branch, value: string): Branch => {
  let found = next.get(value)
  if (found === undefined) next.set(value, found = branch())
  return found
}

/** The telemetry of a host without an application that listens. */
export const unheard = new Telemetry(Context.make(CurrentMeasured, false))

/** The context of Effects that nobody listens to, such as those of a replay. */
export const silent: Context.Context<never> = Context.make(Logger.CurrentLoggers, new Set<Logger.Logger<unknown, unknown>>()).pipe(
  Context.add(References.TracerEnabled, false)
)

const loggerOf = (logger: Logger.Logger<unknown, unknown>, outside: Outside): Logger.Logger<unknown, unknown> =>
  Logger.make((options) => outside(() => logger.log(options)))

const tracerOf = (tracer: Tracer.Tracer, outside: Outside): Tracer.Tracer => ({
  ...tracer,
  span: (options) => outside(() => {
    const span = tracer.span(options)
    const { end } = span
    span.end = (time, exit) => outside(() => end.call(span, time, exit))
    return span
  })
})

/**
 * The context of the Effects of runs: the telemetry of a context, and none of its services. What a logger or a tracer does is out of
 * the scope of runs, since it may use time, chance and the network.
 */
export const ofRuns = (context: Context.Context<never>, outside: Outside): Context.Context<never> => {
  let own: Context.Context<never> = Context.pick(...references)(context)
  const loggers = Context.getOrUndefined(context, Logger.CurrentLoggers)
  const tracer = Context.getOrUndefined(context, Tracer.Tracer)
  if (loggers !== undefined) own = Context.add(own, Logger.CurrentLoggers, new Set(Array.from(loggers, (each) => loggerOf(each, outside))))
  if (tracer !== undefined) own = Context.add(own, Tracer.Tracer, tracerOf(tracer, outside))
  return own
}
