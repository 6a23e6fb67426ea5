/**
 * The server for the trips of a client, and the check of what it brought.
 *
 * @module
 */
import { assert } from "@effect/vitest"
import { Schema } from "effect"
import rvInit from "../../enzymes/rv_init.ts"
import rvRoute from "../../enzymes/rv_route.ts"
import { isOf } from "../../src/contract/Paths.ts"
import * as TestTokens from "../access/TestTokens.ts"
import { endpoints } from "../docs/Generated.ts"
import * as TestIngress from "../ingress/TestIngress.ts"
import { keys, type Made } from "./Trips.ts"

/** The settings of a server at which a client can make each trip. */
export const settings = (): TestIngress.Settings => ({
  enzymes: [...TestIngress.enzymes, rvInit, rvRoute],
  config: { spaces: { create: "on-demand" }, system: ["rv_init"] },
  debug: true,
  tokens: TestTokens.make()
})

/** Asserts that each trip asked its endpoint, and that the answer is as the contract tells it. */
export const assertAll = (trips: ReadonlyArray<Made>): void => {
  const known = new Map(endpoints().map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint]))
  for (const { answer, asked, failure, key } of trips) {
    assert.isUndefined(failure, key)
    const endpoint = known.get(key)
    assert.isDefined(endpoint, key)
    const [method, path = ""] = asked.split(" ")
    assert.isTrue(method === endpoint.method && isOf(endpoint.path, path), `${key} asked ${asked}`)
    // Bytes are told by their number.
    if (answer === undefined || typeof answer === "number") continue
    const schemas = [endpoint.answer, ...Object.values(endpoint.others ?? {})]
    const fits = schemas.some((schema) => Schema.decodeUnknownExit(schema() as Schema.Codec<unknown>)(answer)._tag === "Success")
    assert.isTrue(fits, `${key} gave ${JSON.stringify(answer)}`)
  }
  assert.deepStrictEqual(trips.map(({ key }) => key), [...keys])
}
