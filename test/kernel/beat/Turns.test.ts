import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { defaults, Pacemaker } from "systole"
import { TestPacemaker } from "systole/testing"
import * as TestKernel from "../../support/TestKernel.ts"
import { enzyme } from "../TestSpace.ts"
import { present } from "../../support/Present.ts"

const GROUP_TURNS = 2

/** A host with turns taken by the test. */
const host = () => {
  const asked: Array<{ readonly run: () => void; readonly again: boolean }> = []
  const turn = (run: () => void, again = false) => void asked.push({ run, again })
  const pacemaker = Layer.effect(Pacemaker, Effect.map(Pacemaker, (real) => ({ ...real, turn }))).pipe(Layer.provide(TestPacemaker.layer))
  /** Takes the one requested turn. Returns whether another was requested. */
  const take = (): boolean => {
    assert.strictEqual(asked.length, 1)
    const { again, run } = present(asked.shift())
    run()
    return again
  }
  return { asked, take, layer: TestKernel.layer({ limits: { ...defaults, groupTurns: GROUP_TURNS } }, undefined, { pacemaker }) }
}

describe("a group", () => {
  const open = Effect.gen(function*() {
    const space = yield* TestKernel.space([enzyme("count", (tx) => tx.increment("/data/n"))])
    const post = Effect.forkChild(space.signal({ signal: "/signals/count" }), { startImmediately: true })
    return { post, answered: (fiber: Fiber.Fiber<unknown, unknown>) => fiber.pollUnsafe() !== undefined }
  })

  for (const more of [0, 1, GROUP_TURNS]) {
    it.effect(`begins one turn after the last signal, with ${more} signals a turn apart`, () => {
      const { asked, layer, take } = host()
      return Effect.gen(function*() {
        const { answered, post } = yield* open
        take()
        const fibers = [yield* post]
        for (let i = 0; i < more; i++) {
          fibers.push(yield* post)
          assert.strictEqual(take(), i > 0)
          assert.isFalse(fibers.some(answered))
        }
        assert.strictEqual(take(), more > 0)
        yield* Effect.forEach(fibers, Fiber.join)
        assert.deepStrictEqual(asked, [])
      }).pipe(Effect.provide(layer))
    })
  }

  it.effect("waits for further signals no longer than its limit", () => {
    const { layer, take } = host()
    return Effect.gen(function*() {
      const { answered, post } = yield* open
      take()
      const first = yield* post
      for (let turn = 0; turn <= GROUP_TURNS; turn++) {
        assert.isFalse(answered(first))
        yield* post
        take()
      }
      yield* Fiber.join(first)
    }).pipe(Effect.provide(layer))
  })
})
