import { assert, describe, it } from "@effect/vitest"
import { Cause, Clock, Context, Effect, Exit, Layer, Logger, Metric, References, Tracer } from "effect"
import { type Channel, Enzyme, Kernel, Plugin } from "systole"
import * as Embed from "systole/embed"
import { CurrentMeasured, Telemetry } from "../../src/diagnostic/Telemetry.ts"

/** A line that a logger of the application received. */
interface Line {
  readonly level: string
  readonly message: string
  readonly annotations: Readonly<Record<string, unknown>>
  readonly cause: string
}

/** A span that a tracer of the application received, once it ended. */
interface Ended {
  readonly name: string
  readonly kind: string
  readonly parent: string | undefined
  readonly failure: string | undefined
  readonly attributes: Readonly<Record<string, unknown>>
}

/** An application with a logger, a tracer and a registry of metrics of its own. */
const listening = () => {
  const lines: Array<Line> = []
  const spans: Array<Ended> = []
  const logger = Logger.make(({ cause, fiber, logLevel, message }) => {
    const annotations = fiber.getRef(References.CurrentLogAnnotations)
    const text = (Array.isArray(message) ? message : [message]).join(" ")
    lines.push({ level: logLevel, message: text, annotations, cause: Cause.pretty(cause) })
  })
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      const end = span.end.bind(span)
      span.end = (time, exit) => {
        end(time, exit)
        const parent = options.parent._tag === "Some" ? options.parent.value.spanId : undefined
        const failure = Exit.isFailure(exit) ? String(Cause.squash(exit.cause)) : undefined
        spans.push({ name: span.name, kind: span.kind, parent, failure, attributes: Object.fromEntries(span.attributes) })
      }
      return span
    }
  })
  const registry: Context.Service.Shape<typeof Metric.MetricRegistry> = new Map()
  const layer = Layer.mergeAll(
    Logger.layer([logger]), Layer.succeed(Tracer.Tracer, tracer), Layer.succeed(Metric.MetricRegistry, registry)
  )
  /** The state of a metric, by its attributes without the unit. */
  const metric = (name: string): Readonly<Record<string, unknown>> => {
    const context = Context.make(Metric.MetricRegistry, registry)
    const found = Metric.snapshotUnsafe(context).filter(({ id }) => id === name)
    return Object.fromEntries(found.map(({ attributes = {}, state }) => {
      const { unit: _, ...own } = attributes as Readonly<Record<string, string>>
      return [Object.values(own).join(" "), state]
    }))
  }
  return { layer, lines, spans, metric }
}

const SECRET = "a-secret-of-this-test"

const greet = Enzyme.make({
  name: "greet",
  query: "/signals/greet",
  writes: ["/data/greeted"],
  run: (tx) => Effect.gen(function*() {
    yield* Effect.log("greets")
    yield* Effect.void.pipe(Effect.withSpan("inside"))
    tx.increment("/data/greeted")
  })
})

const fails = Enzyme.make({
  name: "fails",
  query: "/signals/fails",
  run: () => {
    throw new Error("it cannot")
  }
})

const asks = Enzyme.make({
  name: "asks",
  query: "/signals/asks",
  durable: true,
  run: async (tx) => void await tx.io.request({ channel: "echo", opcode: "say", payload: SECRET })
})

const echo = Plugin.make({
  name: "echo",
  version: "0.1.0",
  provides: {
    channels: {
      echo: (): Channel.Definition => ({
        provider: "echo", hosts: ["node", "deno", "bun"], opcodes: { say: {} }, execute: async ({ payload }) => ({ value: payload ?? null })
      })
    }
  }
})

const config = {
  persistence: "memory", tempo: 1, token: SECRET, spaces: { create: "on-demand" }, channels: { echo: "echo" }
} as unknown as NonNullable<Embed.Options["config"]>

const systole = Embed.layer({ modules: [greet, fails, asks, echo], config })

/** Posts a signal over HTTP, and waits for its receipt. */
const post = (fetch: (request: Request) => Response | Promise<Response>, signal: string, more: Readonly<Record<string, string>> = {}) =>
  Effect.promise(async () => {
    const headers = { "content-type": "application/json", prefer: "wait=30", authorization: `Bearer ${SECRET}`, ...more }
    const body = JSON.stringify({ signal, payload: SECRET })
    const answer = await fetch(new Request("http://here/v1/spaces/home/signals?", { method: "POST", headers, body }))
    return { status: answer.status, text: await answer.text() }
  })

/** Runs a program over a runtime that an application listens to. */
const over = <A>(application: Layer.Layer<never>, program: Effect.Effect<A, unknown, Embed.Services>): Promise<A> =>
  Effect.runPromise(program.pipe(Effect.provide(systole.pipe(Layer.provide(application)))))

describe("The telemetry of an application", () => {
  it("receives the spans of a group of beats, of an HTTP request, of a request of the reactor and of an enzyme", async () => {
    const { layer, spans } = listening()
    const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    await over(layer, Effect.gen(function*() {
      const { fetch } = yield* Embed.Routes
      assert.strictEqual((yield* post(fetch, "/signals/greet", { traceparent: parent })).status, 200)
      assert.strictEqual((yield* post(fetch, "/signals/asks")).status, 200)
      assert.strictEqual((yield* post(fetch, "/signals/greet", { authorization: "Bearer of-another" })).status, 401)
    }))
    const http = spans.filter(({ name }) => name === "http.server POST")
    assert.deepStrictEqual(http.map(({ attributes, kind, parent }) => [kind, parent, attributes]), [
      ["server", "b7ad6b7169203331", {
        "http.request.method": "POST", "http.route": "/v1/spaces/:space/signals", "http.response.status_code": 200, "systole.space": "home"
      }],
      ["server", undefined, {
        "http.request.method": "POST", "http.route": "/v1/spaces/:space/signals", "http.response.status_code": 200, "systole.space": "home"
      }],
      ["server", undefined, {
        "http.request.method": "POST", "http.route": "none", "http.response.status_code": 401, "systole.code": "auth/missing"
      }]
    ])
    const groups = spans.filter(({ name }) => name === "systole.group")
    assert.isTrue(groups.every(({ attributes, parent }) => attributes["systole.space"] === "home" && parent === undefined))
    assert.strictEqual(groups.reduce((sum, { attributes }) => sum + Number(attributes["systole.signals"] ?? 0), 0) >= 2, true)
    const [io] = spans.filter(({ name }) => name === "systole.io")
    assert.strictEqual(io?.kind, "client")
    assert.deepInclude(io?.attributes, {
      "systole.channel": "echo", "systole.opcode": "say", "systole.outcome": "ok", "systole.attempt": 1
    })
    assert.lengthOf(spans.filter(({ name }) => name === "inside"), 1)
    assert.notInclude(JSON.stringify(spans), SECRET)
  })

  it("receives each failure as a log with its space, beat and code, and the logs of enzymes", async () => {
    const { layer, lines } = listening()
    await over(layer, Effect.gen(function*() {
      const { fetch } = yield* Embed.Routes
      yield* post(fetch, "/signals/greet")
      assert.strictEqual((yield* post(fetch, "/signals/fails")).status, 422)
    }))
    const [own, failed] = ["greets", "gave up"].map((text) => lines.find(({ message }) => message.includes(text)))
    assert.deepInclude(own, { level: "Info", message: "greets" })
    assert.strictEqual(failed?.level, "Error")
    assert.match(failed?.message ?? "", /^sev:crit run\/dead home@\d+ fails: fails gave up .*: it cannot \(run\/failed\)$/)
    const { "systole.beat": beat, ...annotations } = failed?.annotations ?? {}
    assert.isNumber(beat)
    assert.deepStrictEqual(annotations, {
      "systole.severity": "sev:crit", "systole.topic": "run/dead", "systole.code": "run/failed", "systole.space": "home",
      "systole.enzyme": "fails"
    })
    assert.include(failed?.cause ?? "", "it cannot")
    assert.notInclude(JSON.stringify(lines), SECRET)
  })

  it("has the metrics of beats, runs, failures, requests and routes in the registry of the application", async () => {
    const { layer, metric } = listening()
    await over(layer, Effect.gen(function*() {
      const { fetch } = yield* Embed.Routes
      yield* post(fetch, "/signals/greet")
      yield* post(fetch, "/signals/fails")
      yield* post(fetch, "/signals/asks")
      yield* post(fetch, "/signals/greet", { authorization: "Bearer of-another" })
      const { count: beats } = metric("systole.beats")[""] as { readonly count: number }
      assert.isAtLeast(beats, 4)
      assert.deepStrictEqual(metric("systole.spaces"), { "": { value: 1 } })
    }))
    assert.deepInclude(metric("systole.runs"), { dead: { count: 1, incremental: true } })
    assert.deepStrictEqual(metric("systole.dead_letters"), { "": { count: 1, incremental: true } })
    assert.deepStrictEqual(metric("systole.denials"), { "auth/missing": { count: 1, incremental: true } })
    assert.deepStrictEqual(metric("systole.diagnostics"), { "sev:crit run/dead": { count: 1, incremental: true } })
    assert.deepStrictEqual(Object.keys(metric("http.server.request.duration")).toSorted(), [
      "POST /v1/spaces/:space/signals 200", "POST /v1/spaces/:space/signals 422", "POST none 401"
    ])
    assert.deepInclude(metric("systole.io.duration")["echo ok"], { count: 1 })
    assert.deepStrictEqual(metric("systole.io.requests"), { echo: { value: 0 } })
    assert.deepStrictEqual([metric("systole.spaces"), metric("systole.queue.size")], [{ "": { value: 0 } }, { "": { value: 0 } }])
  })

  it("is that of a plugin, and one that fails or hangs is left out under its name", async () => {
    const { layer, lines, spans } = listening()
    const outer = listening()
    const plugin = (name: string, telemetry: Plugin.Plugin["telemetry"]) => Plugin.make({ name, version: "1.0.0", provides: {}, telemetry })
    const modules = [
      greet, plugin("listener", layer), plugin("broken", Layer.effectDiscard(Effect.fail(new Error("no collector")))),
      plugin("hangs", Layer.effectDiscard(Effect.never)),
      plugin("uninterruptible", Layer.effectDiscard(Effect.uninterruptible(Effect.never)))
    ]
    const limits = { moduleMillis: 100 }
    const embedded = Embed.layer({ modules, config: { ...config, channels: {}, limits } as typeof config })
    await Effect.runPromise(Effect.gen(function*() {
      const space = yield* (yield* Kernel).space("home", { create: true })
      yield* space.handled({ signal: "/signals/greet" })
    }).pipe(Effect.provide(embedded.pipe(Layer.provide(outer.layer)))))
    assert.lengthOf(lines.filter(({ message }) => message === "greets"), 1)
    assert.isNotEmpty(spans.filter(({ name }) => name === "systole.group"))
    assert.isEmpty(outer.spans.filter(({ name }) => name.startsWith("systole.")))
    const left = outer.lines.filter(({ annotations }) => annotations["systole.topic"] === "telemetry/failed").map(({ message }) => message)
    assert.lengthOf(left, 3)
    assert.include(left[0], 'the telemetry of plugin "broken" (plugins/1.ts) is left out: no collector')
    for (const [i, name] of ["hangs", "uninterruptible"].entries()) {
      assert.include(left[i + 1], `the telemetry of plugin "${name}" (plugins/${i + 2}.ts) is left out: it is not built within 100 ms`)
    }
  })

  it("costs no clock and no metric where nobody listens", () =>
    Effect.runSync(Effect.gen(function*() {
      const clock = yield* Clock.Clock
      const refused = (): never => assert.fail("a clock is read")
      const registry: Context.Service.Shape<typeof Metric.MetricRegistry> = new Map()
      const context = Context.make(Metric.MetricRegistry, registry).pipe(
        Context.add(Clock.Clock, { ...clock, monotonicTimeNanosUnsafe: refused }), Context.add(CurrentMeasured, false)
      )
      const telemetry = new Telemetry(context)
      telemetry.add("systole.group.duration", telemetry.since(telemetry.now()), "ok")
      assert.deepStrictEqual([registry.size, telemetry.isHeard], [0, false])
      assert.isTrue(new Telemetry(Context.omit(CurrentMeasured)(context)).isHeard)
    })))
})
