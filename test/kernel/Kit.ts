/**
 * Short ways to write enzymes and to drive a space, for tests.
 *
 * @module
 */
import { assert } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { Enzyme, type Event, Kernel, type NodeDefinition, replay, type Space, type Transaction, type Value } from "systole"

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

/** What a pull is answered by the next beat; one that is held back longer is called off, and is `undefined`. */
export const glimpsed = <A, E>(space: Space, pull: Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(Effect.result(pull), { startImmediately: true })
    yield* Effect.result(space.step)
    yield* turns(1)
    const answer = fiber.pollUnsafe()
    yield* Fiber.interrupt(fiber)
    return answer?._tag === "Success" ? answer.value : undefined
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

/** Registers nodes. */
export const register = (...nodes: ReadonlyArray<NodeDefinition>) => Effect.gen(function*() {
  const kernel = yield* Kernel
  for (const node of nodes) yield* kernel.register(node)
})

/** Writes what it is sent. */
export const put = enzyme("put", (tx, { payload }) => {
  for (const [address, value] of payload as unknown as ReadonlyArray<readonly [string, Value]>) tx.set(address, value ?? undefined)
})

/** Has {@link put} write these, in a beat. */
export const write = (space: Space, ...writes: ReadonlyArray<readonly [string, unknown]>) =>
  Effect.andThen(space.signal({ signal: "/signals/put", payload: writes }), space.step)

/** That every beat of the space runs again to the same entry, from the first and from each other one. */
export const replays = (space: Space) => Effect.gen(function*() {
  const head = yield* space.head
  for (let from = 0; from <= head; from++) {
    const { difference, impossible } = yield* space.examine((archive) => replay(archive, from, head))
    assert.isUndefined(difference ?? impossible, `from ${from}: ${JSON.stringify(difference ?? impossible)}`)
  }
})
