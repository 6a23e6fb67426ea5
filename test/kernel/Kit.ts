/**
 * Short ways to write enzymes and to drive a space, for tests.
 *
 * @module
 */
import { Effect, Fiber } from "effect"
import { Enzyme, type Event, type Space, type Transaction } from "systole"

type Options = Partial<Omit<Enzyme.Definition, "name" | "run">>

/** An enzyme on `/signals/<name>`. */
export const enzyme = (name: string, run: (tx: Transaction, event: Event) => unknown, options: Options = {}): Enzyme.Enzyme =>
  Enzyme.make({ name, query: `/signals/${name}`, ...options, run })

/** Steps so many times; answers the last number. */
export const steps = Effect.fn("steps")(function*(space: Space, count: number) {
  let last = -1
  for (let i = 0; i < count; i++) last = yield* space.step
  return last
})

/** What control input is answered, once one more beat ran. */
export const controlled = <A, E>(space: Space, control: Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(Effect.result(control), { startImmediately: true })
    yield* space.step
    return yield* Fiber.join(fiber)
  })

/** Lets the host take a few turns, for what happens between tests' own steps. */
export const turns = (count = 8): Effect.Effect<void> =>
  Effect.promise(async () => {
    for (let i = 0; i < count; i++) await new Promise<void>((resolve) => void setImmediate(resolve))
  })

/** How an event's handlings ended: enzyme, outcome, beat and attempt. */
export const ended = (space: Space, id: string) =>
  Effect.map(space.receipt(id), (receipt) =>
    receipt?.handlings.map(({ attempt, beat, enzyme, outcome }) => `${enzyme} ${outcome} @${beat} #${attempt}`))
