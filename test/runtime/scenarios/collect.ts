/**
 * The part of `@effect/vitest` that scenario tests use, for a host without vitest: declared tests are collected.
 *
 * @module
 */
import { Effect, Layer, type Scope } from "effect"
import { TestClock, TestConsole } from "effect/testing"

export { assert } from "vitest"

/** A declared test. */
export interface Collected {
  readonly title: string
  readonly run: () => Promise<void>
}

let declared: Array<Collected> = []

/** The tests that `load` declares. */
export const collected = async (load: () => Promise<unknown>): Promise<ReadonlyArray<Collected>> => {
  declared = []
  await load()
  return declared
}

export const describe = (_: string, body: () => void): void => body()

/** Declares a test. Its options stand before its body; they, and a number after it, bound its time on other hosts. */
type Declare<Body> = (title: string, first: Body | object, second?: Body | number) => void

const bodyOf = <Body>(first: Body | object, second: Body | number | undefined): Body =>
  (typeof first === "function" ? first : second) as Body

const plain: Declare<() => unknown> = (title, first, second) =>
  void declared.push({ title, run: async () => void await bodyOf(first, second)() })

const services = Layer.mergeAll(TestConsole.layer, TestClock.layer())

const effect: Declare<() => Effect.Effect<unknown, unknown, Scope.Scope>> = (title, first, second) =>
  plain(title, () => Effect.runPromise(Effect.suspend(bodyOf(first, second)).pipe(Effect.scoped, Effect.provide(services))))

const each = (cases: ReadonlyArray<unknown>) => (title: string, body: (...values: ReadonlyArray<unknown>) => unknown): void => {
  for (const given of cases) {
    const values: ReadonlyArray<unknown> = Array.isArray(given) ? given : [given]
    let used = 0
    plain(title.replace(/%s/g, () => String(values[used++])), () => body(...values))
  }
}

export const it = Object.assign(plain, { each, effect })
