import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as TestIngress from "../ingress/TestIngress.ts"
import { endpoints } from "../docs/Generated.ts"
import { clientPlatform } from "./TestClient.ts"
import * as Traveled from "./Traveled.ts"
import { keys, travel } from "./Trips.ts"

describe("The client", () => {
  it("has a round trip of each endpoint of the contract", () => {
    assert.sameMembers([...keys], endpoints().map(({ method, path }) => `${method} ${path}`))
  })

  it.live("reaches each endpoint of the contract, and gives its answer as the contract tells it", () =>
    Effect.flatMap(TestIngress.serve(Traveled.settings()), (app) => Effect.promise(async () =>
      Traveled.assertAll(await travel(clientPlatform(app))))))
})
