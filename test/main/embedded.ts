/**
 * A program with an embedded runtime, which handles one signal and ends by itself.
 *
 * @module
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Tracer from "effect/Tracer"
import { Hono } from "hono"
import process from "node:process"
import { Enzyme, Plugin, Transaction } from "systole"
import * as Embed from "systole/embed"

const [data = ""] = process.argv.slice(2)

/** Counts greetings. It yields, so that a task of the run is on its way. */
class Counter extends Context.Service<Counter, { readonly count: Effect.Effect<void, never, Transaction> }>()("test/Counter") {}

const services = Layer.succeed(Counter, {
  count: Effect.andThen(Effect.yieldNow, Transaction.useSync((tx) => tx.increment("/data/greeted")))
})

const greet = Enzyme.make({
  name: "greet",
  query: "/signals/greet",
  writes: ["/data/greeted"],
  services: [Counter],
  run: () => Effect.andThen(Effect.log("greets"), Counter.use(({ count }) => count))
})

/** The logs and the ended spans that the plugin of the program receives. */
const heard = new Set<string>()

const tracer = Tracer.make({
  span: (options) => {
    const span = new Tracer.NativeSpan(options)
    const end = span.end.bind(span)
    span.end = (time, exit) => {
      end(time, exit)
      heard.add(span.name)
    }
    return span
  }
})

const listener = Plugin.make({
  name: "listener",
  version: "1.0.0",
  provides: {},
  telemetry: Layer.merge(
    Layer.succeed(Tracer.Tracer, tracer),
    Logger.layer([Logger.make(({ message }) => void heard.add(String(message)))])
  )
})

const systole = await Embed.open({ modules: [greet, listener], services, config: { data, spaces: { create: "on-demand" } }, public: true })
const app = new Hono().all("/v1/*", ({ req }) => systole.fetch(req.raw))
const sent = await app.request("/v1/spaces/home/signals", {
  method: "POST", headers: { "content-type": "application/json", prefer: "wait=30" }, body: JSON.stringify({ signal: "/signals/greet" })
})
const { status } = await sent.json() as { readonly status: string }
const cell = await app.request("/v1/spaces/home/cells/data/greeted")
console.log(status, await cell.json())
await systole.close()
console.log([...heard].toSorted().join())
