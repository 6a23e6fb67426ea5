/**
 * Stories: deterministic histories of spaces, whose stores are recorded.
 *
 * A story registers its modules, then acts by hand-driven beats under the test
 * clock. The same story makes the same stores, to the byte of each journal row.
 *
 * @module
 */
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { join } from "node:path"
import type { Enzyme, Kernel, NodeDefinition, Settings, Space } from "systole"
import type { TestReactor } from "systole/testing"
import * as Requests from "../faults/Requests.ts"
import type { Input, Scenario } from "../faults/Scenario.ts"

/** The services that a story acts with. */
export interface Stage {
  readonly kernel: Kernel["Service"]
  /** The project's folder; its modules lie in `modules(root)`. */
  readonly root: string
  /** The channels. The story ends their jobs. */
  readonly reactor: TestReactor
  /** Loads the project's modules, and swaps those that changed. */
  readonly load: Effect.Effect<void>
}

/** One recorded life. */
export interface Story {
  readonly name: string
  readonly spaces: ReadonlyArray<string>
  readonly enzymes: ReadonlyArray<Enzyme.Enzyme>
  readonly nodes: ReadonlyArray<NodeDefinition>
  /** The enzymes that are granted `system`. */
  readonly grants: ReadonlyArray<string>
  readonly channels: ConstructorParameters<typeof TestReactor>[0]
  readonly settings: Partial<Settings>
  readonly act: (stage: Stage) => Effect.Effect<void, unknown>
}

/** The tempo of recorded spaces, in milliseconds: each beat moves the test clock by it. */
const TEMPO = 10

/** A story with defaults for absent settings. */
export const make = (story: Pick<Story, "name" | "act"> & Partial<Story>): Story => ({
  spaces: ["home"],
  enzymes: [],
  nodes: [],
  grants: [],
  channels: {},
  ...story,
  settings: { tempo: TEMPO, ...story.settings }
})

/** Steps a space so many times; time passes with each beat. A beat that is aborted counts. */
export const beats = Effect.fnUntraced(function*(space: Space, count: number) {
  for (let i = 0; i < count; i++) {
    yield* TestClock.adjust(TEMPO)
    yield* Effect.exit(space.step)
  }
})

/** Lets requests come in together, then steps until each is answered, refused or not. */
export const together = Effect.fnUntraced(function*(space: Space, requests: ReadonlyArray<Effect.Effect<unknown, unknown>>) {
  const fibers = yield* Effect.forEach(requests, (request) => Effect.forkChild(Effect.exit(request), { startImmediately: true }))
  for (let i = 0; i < 50 && fibers.some((fiber) => fiber.pollUnsafe() === undefined); i++) yield* beats(space, 1)
  yield* Effect.forEach(fibers, Fiber.interrupt)
})

/** The beats after which the longest delay of a scenario is over. */
const DRAIN = 60

/** A reference scenario of the fault tests as a story. */
export const ofScenario = ({ enzymes, grants, name, rounds, settings }: Scenario): Story =>
  make({
    name,
    enzymes,
    grants: grants ?? [],
    settings: settings ?? {},
    act: Effect.fnUntraced(function*({ kernel }) {
      const space = yield* kernel.space("home")
      let mark = 0
      const request = (input: Input): Effect.Effect<unknown, unknown> => {
        switch (input.kind) {
          case "post":
            return space.signal(input.signal)
          case "mark":
            return Effect.map(space.head, (head) => mark = head)
          case "steer":
            return input.verb === "rollback" ? space.control.rollback(mark) : space.control[input.verb]()
          default:
            return Requests.make(space, input)
        }
      }
      for (const round of rounds) {
        yield* together(space, round.map(request))
        yield* beats(space, 10)
      }
      yield* beats(space, DRAIN)
    })
  })

/** The folder in which a story's modules lie. */
export const modules = (root: string): string => join(root, "enzymes")
