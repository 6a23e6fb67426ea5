import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { defaults, Persistence, type Space } from "systole"
import { type Fault, Faults, tearStatements } from "../faults/FaultyStore.ts"
import * as TestMachine from "../kernel/TestMachine.ts"
import { enzyme, replays, turns } from "../kernel/TestSpace.ts"
import * as SqliteFolder from "../persistence/SqliteFolder.ts"
import * as TestKernel from "../support/TestKernel.ts"

const count = enzyme("count", (tx) => tx.increment("/data/n"))
const stateOf = (space: Space, beat: number) => space.get(`/rt/beat/${beat}/state`)
const stored = { state: "ist:store" }

describe("N: the commit", () => {
  it.effect("N17 a beat is ist:store after its flush; a hang ends in persist.async.tmo and ist:fail, and the old head is readable", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const space = yield* machine.boot([count])
      yield* space.signal({ signal: "/signals/count" })
      yield* space.step
      const { id } = yield* space.signal({ signal: "/signals/count" })
      assert.deepStrictEqual(yield* stateOf(space, 0), stored)

      yield* machine.hold
      const answers = yield* Effect.forEach(
        [space.step, space.settled(id), stateOf(space, 1)],
        (request: Effect.Effect<unknown, { readonly code: string }>) => Effect.forkChild(Effect.flip(request), { startImmediately: true })
      )
      yield* machine.held
      assert.deepInclude(yield* space.get("/rt/analytics/persist"), { state: "finish" })
      yield* TestClock.adjust(defaults.flushMillis - 1)
      yield* turns()
      for (const answer of answers) assert.isUndefined(answer.pollUnsafe())
      yield* TestClock.adjust(1)
      for (const answer of answers) assert.strictEqual((yield* Fiber.join(answer)).code, "space/stopped")

      yield* machine.release
      const again = yield* machine.open
      assert.strictEqual(yield* again.head, 0)
      assert.strictEqual(yield* again.get("/data/n"), 1)
      const failed = { state: "ist:fail", topic: "persist.async.tmo", code: "flush/timeout" }
      assert.deepStrictEqual([yield* stateOf(again, 0), yield* stateOf(again, 1), yield* stateOf(again, 2)], [stored, failed, undefined])

      assert.strictEqual(yield* again.step, 2)
      assert.strictEqual((yield* again.receipt(id))?.status, "handled")
      assert.strictEqual(yield* again.get("/data/n"), 2)
      assert.deepStrictEqual([yield* stateOf(again, 1), yield* stateOf(again, 2)], [failed, stored])
      assert.deepStrictEqual(
        (yield* TestKernel.diagnostics(again)).map(({ code, note, topic }) => [topic, code, note]),
        [["persist.async.tmo", "flush/timeout", "beat 1 was lost with its flush"]]
      )
      yield* replays(again)
    }))

  it.effect("N18 after a crash between the append of data and the swap of the head, the space opens with the previous beat only", () =>
    Effect.gen(function*() {
      /** Two beats, the second of which a power cut may end at a statement. Returns the statements of the second. */
      const crash = (fault: Fault | undefined) =>
        Effect.scoped(Effect.gen(function*() {
          const persistence = Context.get(yield* Layer.build(Layer.fresh(SqliteFolder.layer)), Persistence)
          const faults = new Faults((run) => void setImmediate(run), fault === undefined ? [] : [fault])
          yield* tearStatements(faults)
          const boot = <A, E>(body: (space: Space) => Effect.Effect<A, E>) =>
            Effect.flatMap(TestKernel.space([count]), body).pipe(
              Effect.provide(Layer.fresh(TestKernel.layer({}, Layer.succeed(Persistence, faults.over(persistence)))))
            )
          const statements = yield* boot((space) =>
            Effect.gen(function*() {
              yield* space.signal({ signal: "/signals/count" })
              yield* space.step
              yield* space.signal({ signal: "/signals/count" })
              const first = faults.counts.statement
              yield* Effect.exit(space.step)
              return Array.from({ length: faults.counts.statement - first }, (_, i) => first + i + 1)
            }))
          if (fault === undefined) return statements
          assert.isTrue(faults.dead, `statement ${fault.at}`)
          faults.dead = false
          yield* boot((space) =>
            Effect.gen(function*() {
              assert.deepStrictEqual([yield* space.head, yield* space.get("/data/n")], [0, 1])
              assert.deepStrictEqual([yield* stateOf(space, 0), yield* stateOf(space, 1)], [stored, undefined])
              assert.isUndefined(yield* space.journal(1))
              assert.strictEqual(yield* space.step, 1)
              assert.strictEqual(yield* space.get("/data/n"), 2)
            }))
          return statements
        }))
      const statements = yield* crash(undefined)
      // From the begin of the transaction, over the rows of the data, to its commit.
      assert.isAtLeast(statements.length, 4)
      for (const at of statements) yield* crash({ call: "statement", at, kind: "kill" })
    }))
})
