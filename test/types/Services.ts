/**
 * The types of services of enzymes, as an author meets them. The compiler checks this file, and no test runs it.
 *
 * Each `@ts-expect-error` names the mistake of the line below it. A line that compiles is an error of its own.
 *
 * @module
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Enzyme, Event, Plugin, Retry, Transaction } from "systole"
import { TestSpace } from "systole/testing"

class Pricing extends Context.Service<Pricing, {
  readonly price: (item: string) => Effect.Effect<number, never, Transaction>
}>()("shop/Pricing") {}

class Taxes extends Context.Service<Taxes, { readonly share: number }>()("shop/Taxes") {}

const name = "quote"
const query = "/signals/quote/:item"

/** A helper without an argument. */
const noted = Effect.gen(function*() {
  const tx = yield* Transaction
  const { id } = yield* Event
  tx.set("/data/last", id)
})

/** Runs with the services that they take. */
export const served = [
  Enzyme.make({ name, query, run: () => noted }),
  Enzyme.make({
    name,
    query,
    services: [Pricing, Taxes],
    run: (_, { params }) => Effect.gen(function*() {
      const { price } = yield* Pricing
      yield* noted
      return (yield* price(params.item)) * (yield* Taxes).share
    })
  }),
  Enzyme.make({
    name,
    query,
    target: "required",
    payload: Schema.Struct({ count: Schema.Natural }),
    services: [Pricing],
    run: Effect.fn(function*(tx, { params, payload, target }) {
      const { price } = yield* Pricing
      tx.set(target, payload.count * (yield* price(params.item)))
    })
  })
]

/** Runs that take no service, of each kind of result. */
export const plain = [
  Enzyme.make({ name, query, run: (tx, { target }) => target === undefined ? new Retry({ reason: "no target" }) : tx.get("/data/a") }),
  Enzyme.make({ name, query, run: async (tx, { params }) => tx.set("/data/a", params.item) }),
  Enzyme.make({ name, query, run: (tx: Transaction, { payload }: { readonly payload: string }) => tx.set("/data/a", payload) })
]

Enzyme.make({
  name,
  query,
  services: [Pricing],
  // @ts-expect-error: the service Taxes is not named
  run: () => Taxes
})

Enzyme.make({
  name,
  query,
  // @ts-expect-error: no service is named
  run: () => Effect.gen(function*() {
    return yield* (yield* Pricing).price("tea")
  })
})

const services = Layer.succeed(Taxes, { share: 0.2 })

Plugin.make({ name: "taxes", version: "1.0.0", services })
void TestSpace.use([], () => {}, { services })

// @ts-expect-error: a layer of services takes none of its surroundings
Plugin.make({ name: "taxes", version: "1.0.0", services: Layer.effect(Taxes, Effect.as(Pricing, { share: 1 })) })
