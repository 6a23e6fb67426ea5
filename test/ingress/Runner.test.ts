import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Scope } from "effect"
import { closed, gone, Runner } from "../../src/ingress/wire/Runner.ts"
import * as Fibers from "../../src/kernel/model/Fibers.ts"

describe("The runner of requests", () => {
  it.effect("ends its fibers with the scope of the runtime, and those that come later", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const runner = new Runner(Context.empty(), yield* Scope.provide(Fibers.holder, scope))
      const ended: Array<string> = []
      const waits = (name: string) => Effect.onInterrupt(Effect.never, () => Effect.sync(() => void ended.push(name)))
      const failure = (asked: Promise<unknown>) => asked.then(() => "answered", (failure: unknown) => failure)
      const asked = failure(runner.promise(waits("request")))
      runner.fork(waits("timer"))
      assert.strictEqual(yield* Effect.promise(() => runner.promise(Effect.succeed(1))), 1)
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(ended, ["request", "timer"])
      assert.strictEqual(yield* Effect.promise(() => asked), closed)
      assert.strictEqual(yield* Effect.promise(() => failure(runner.promise(waits("late")))), closed)
    }))

  it.effect("tells a client that is gone from the end of the runtime, and a failure from both", () =>
    Effect.gen(function*() {
      const runner = new Runner(Context.empty())
      const failure = (asked: Promise<unknown>) => Effect.promise(() => asked.catch((failure: unknown) => failure))
      const client = new AbortController()
      const asked = runner.promise(Effect.never, { signal: client.signal })
      client.abort()
      assert.strictEqual(yield* failure(asked), gone)
      assert.strictEqual(yield* failure(runner.promise(Effect.fail("absent"))), "absent")
    }))
})
