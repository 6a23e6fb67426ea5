import { assert, describe, it } from "@effect/vitest"
import { Effect as Fx } from "effect"
import { TestClock } from "effect/testing"
import { granted } from "../../rendezvous/RendezvousSpace.ts"
import * as Random from "../../support/Random.ts"
import * as Trials from "../../support/Trials.ts"
import * as RandomOpenings from "./RandomOpenings.ts"

const ROUNDS = 10

const seeds = Trials.seeds(160, { least: 16, always: [47] })

/** The two spaces through all rounds; `alike` is told of each comparison. */
const compare = (seed: number, alike: (found: unknown, expected: unknown, at: string) => void) =>
  Fx.gen(function*() {
    const features = RandomOpenings.featuresOf(seed)
    const [alive, other] = [yield* RandomOpenings.world(seed), yield* RandomOpenings.world(seed)]
    const draw = Random.make(seed + 1000)
    for (let n = 0; n < ROUNDS; n++) {
      const { acts, deployment, pulled } = RandomOpenings.round(draw, features)
      const isReopened = draw(2) === 0 || features.always
      yield* TestClock.adjust(draw(60))
      if (deployment !== undefined) for (const each of [alive, other]) yield* each.deploy(deployment, each === alive)
      if (isReopened) yield* other.reopen
      const expected = yield* alive.beat(acts)
      alike(yield* other.beat(acts), expected, `answers of round ${n}`)
      if (draw(2) === 0) continue
      // Signals of one lane take a beat each, and a settled place is pulled without a beat.
      for (let i = 0; i < 3; i++) {
        if (isReopened) yield* other.reopen
        for (const each of [alive, other]) yield* each.step
      }
      if (isReopened) yield* other.reopen
      if (!features.gates) alike(yield* other.pull(pulled), yield* alive.pull(pulled), `${pulled} in round ${n}`)
    }
    yield* other.reopen
    for (let n = 0; n < 8; n++) {
      yield* TestClock.adjust(1000)
      for (const each of [alive, other]) yield* each.step
    }
    for (const address of alive.present()) alike(yield* other.pull(address), yield* alive.pull(address), address)
    for (const [name, values] of Object.entries(alive.seen)) alike(other.seen[name]?.at(-1), values.at(-1), `the deliveries of ${name}`)
    // Beats before a deployment need the former code.
    if (!features.deployments && seed % 4 === 0) yield* other.replayed
  }).pipe(Fx.scoped, granted)

describe("Random openings", () => {
  it.effect("derive and deliver the same as a space that stays open, whatever comes in the first beat and is deployed", () =>
    Fx.forEach(seeds, (seed) =>
      compare(seed, (found, expected, at) => assert.deepStrictEqual(found, expected, `${at}, seed ${seed}`)), { discard: true }))
})
