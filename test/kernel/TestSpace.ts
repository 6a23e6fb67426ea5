/**
 * Helpers for tests that define enzymes and drive a space beat by beat.
 *
 * @module
 */
import { assert } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { Enzyme, type Event, Kernel, type NodeDefinition, replay, type Space, type Transaction, type Value } from "systole"
import { present } from "../support/Present.ts"
import * as Trials from "../support/Trials.ts"

type Options = Partial<Omit<Enzyme.Definition, "name" | "run">>

/** An enzyme on `/signals/<name>`. */
export const enzyme = (name: string, run: (tx: Transaction, event: Event) => unknown, options: Options = {}): Enzyme.Enzyme =>
  Enzyme.make({ name, query: `/signals/${name}`, ...options, run })

/** Runs `count` beats and returns the number of the last. */
export const steps = Effect.fn("steps")(function*(space: Space, count: number) {
  let last = -1
  for (let i = 0; i < count; i++) last = yield* space.step
  return last
})

/** The answer to a control input, after one more beat. */
export const controlled = <A, E>(space: Space, control: Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(Effect.result(control), { startImmediately: true })
    yield* space.step
    return yield* Fiber.join(fiber)
  })

/** The answer to a control input, after one more beat. Dies if the input is refused. */
export const begun = <A, E>(space: Space, ask: Effect.Effect<A, E>) =>
  Effect.flatMap(
    controlled(space, ask),
    (result) => result._tag === "Failure" ? Effect.die(result.failure) : Effect.succeed(result.success)
  )

/** The refusal of a control input, after one more beat; `undefined` if it is accepted. */
export const refusal = <A, E extends { readonly code: string; readonly message: string }>(space: Space, ask: Effect.Effect<A, E>) =>
  Effect.map(controlled(space, ask), (result) => result._tag === "Failure" ? result.failure : undefined)

/** Requests a control operation, and steps until it is over. Returns its id. */
export const through = Effect.fnUntraced(function*<E>(space: Space, ask: Effect.Effect<{ readonly oid: string }, E>) {
  const { oid } = yield* begun(space, ask)
  for (let i = 0; i < 40 && (yield* space.control.state).control !== null; i++) yield* space.step
  return oid
})

/** The answer of the next beat to a pull. A pull that a gate delays further is interrupted, and the answer is `undefined`. */
export const glimpsed = <A, E>(space: Space, pull: Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(Effect.result(pull), { startImmediately: true })
    yield* Effect.result(space.step)
    yield* turns(1)
    const answer = fiber.pollUnsafe()
    yield* Fiber.interrupt(fiber)
    return answer?._tag === "Success" ? answer.value : undefined
  })

/** Waits for a few turns of the event loop, so that background fibers advance. */
export const turns = (count = 8): Effect.Effect<void> =>
  Effect.promise(async () => {
    for (let i = 0; i < count; i++) await new Promise<void>((resolve) => void setImmediate(resolve))
  })

/** The first handling of an event. Throws if there is none. */
export const handlingOf = (space: Space, id: string) => Effect.map(space.receipt(id), (receipt) => present(receipt?.handlings[0]))

/** The handlings of an event, as lines of enzyme, outcome, beat and attempt. */
export const ended = (space: Space, id: string) =>
  Effect.map(space.receipt(id), (receipt) =>
    receipt?.handlings.map(({ attempt, beat, enzyme, outcome }) => `${enzyme} ${outcome} @${beat} #${attempt}`))

/** Registers nodes. */
export const register = (...nodes: ReadonlyArray<NodeDefinition>) => Effect.gen(function*() {
  const kernel = yield* Kernel
  for (const node of nodes) yield* kernel.register(node)
})

/** Writes each address and value of its payload. */
export const put = enzyme("put", (tx, { payload }) => {
  for (const [address, value] of payload as unknown as ReadonlyArray<readonly [string, Value]>) tx.set(address, value ?? undefined)
})

/** Writes these addresses and values through {@link put}, in one beat. */
export const write = (space: Space, ...writes: ReadonlyArray<readonly [string, unknown]>) =>
  Effect.andThen(space.signal({ signal: "/signals/put", payload: writes }), space.step)

const reproduced = (beats: (head: number) => ReadonlyArray<number>) => (space: Space) => Effect.gen(function*() {
  const head = yield* space.head
  for (const from of beats(head)) {
    const { difference, impossible } = yield* space.examine((archive) => replay(archive, from, head))
    assert.isUndefined(difference ?? impossible, `from ${from}: ${JSON.stringify(difference ?? impossible)}`)
  }
})

/** Asserts that a replay from the beats of the trials reproduces the journal. */
export const replays = reproduced(Trials.beats)

/** The same from many beats, for the tests of replays. */
export const replaysFromMany = reproduced(Trials.manyBeats)
