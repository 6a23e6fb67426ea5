import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { journey } from "./Journey.ts"
import * as Journeys from "./Journeys.ts"

describe("A stream of the client at a server of its own process", () => {
  it.live("goes on where the server is killed and starts again, and tells of a store that is another one", () =>
    Effect.flatMap(Journeys.place, (place) => Effect.promise(async () => Journeys.assertWhole(await journey(place)))))
})
