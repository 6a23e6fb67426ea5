import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { Reaction as Node, Enzyme } from "systole"
import { enzyme, turns } from "../TestSpace.ts"
import * as TestMachine from "../TestMachine.ts"
import { present } from "../../support/Present.ts"

const count = enzyme("count", (tx) => tx.increment("/data/n"))
const post = { signal: "/signals/count" }
const fork = (effect: Effect.Effect<unknown, { readonly code: string }>) =>
  Effect.forkChild(Effect.result(effect), { startImmediately: true })
const pending = (fibers: ReadonlyArray<Fiber.Fiber<unknown, unknown>>): boolean => fibers.every((fiber) => fiber.pollUnsafe() === undefined)

describe("before the flush", () => {
  it.effect("no call is answered: signal, step, receipt, read, control input or beat", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const space = yield* machine.boot([count])
      yield* machine.hold
      const told: Array<number> = []
      yield* fork(Stream.runForEach(space.beats, (beat) => Effect.sync(() => void told.push(beat))))
      const asked = [
        yield* fork(space.signal(post)), yield* fork(space.handled(post)), yield* fork(space.set("/data/x", 1)), yield* fork(space.step)
      ]
      yield* machine.held
      yield* turns()
      const reads = [
        yield* fork(space.get("/data/n")),
        yield* fork(space.receipt("x.0.0")),
        yield* fork(space.list("/data")),
        yield* fork(space.journal(0))
      ]
      yield* turns()
      assert.isTrue(pending([...asked, ...reads]))
      assert.strictEqual(yield* space.head, -1)
      assert.deepStrictEqual(told, [])
      yield* machine.release
            // The second event of the pair is for the next beat.
      const [signalled, , written, stepped] = asked
      for (const fiber of [signalled, written, stepped, ...reads]) {
        assert.strictEqual((yield* Fiber.join(present(fiber)))._tag, "Success")
      }
      yield* turns()
      assert.deepStrictEqual(told, [0])
      assert.strictEqual(yield* space.head, 0)
    }))

  it.effect("a watcher receives the value that it read, once, and then the changes", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const space = yield* machine.boot([count])
      yield* machine.hold
      yield* fork(space.signal(post))
      yield* fork(space.step)
      yield* machine.held
      const seen: Array<unknown> = []
      yield* fork(Stream.runForEach(space.watch("/data/n"), (observation) => Effect.sync(() => void seen.push(observation))))
      yield* turns()
      assert.deepStrictEqual(seen, [])
      yield* machine.release
      yield* turns()
      yield* space.signal(post)
      yield* space.step
      yield* turns()
      assert.deepStrictEqual(seen, [{ beat: 0, value: 1 }, { beat: 1, value: 2 }])
    }))

  it.effect("a read answers the value at its time, not a later one", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const space = yield* machine.boot([count])
      yield* machine.hold
      yield* fork(space.signal(post))
      yield* fork(space.step)
      yield* machine.held
      const read = yield* fork(space.get("/data/n"))
      yield* machine.release
      const answer = yield* Fiber.join(read)
      assert.strictEqual(answer._tag === "Success" && answer.success, 1)
    }))
})

describe("one flush", () => {
  it.effect("contains signals and all the beats that they cause", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const chain = enzyme(
        "chain",
        (tx, { payload }) => (payload as number) > 0 ? tx.signal({ signal: "/signals/chain", payload: (payload as number) - 1 }) : undefined
      )
      const space = yield* machine.boot([chain], { pace: "demand" })
      yield* turns()
      const before = machine.flushes()
      yield* Effect.all(
        [space.handled({ signal: "/signals/chain", payload: 30 }), space.handled(post), space.handled(post)],
        { concurrency: "unbounded" }
      )
      yield* space.idle
      assert.strictEqual(yield* space.head, 30)
      assert.strictEqual(machine.flushes() - before, 1)
    }))

  it.effect("contains a signal and the segments that end within a turn each", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const waits = Enzyme.make({ name: "waits", query: "/signals/wait", durable: true, run: (tx) => tx.sleep(60_000) })
      const space = yield* machine.boot([waits], { pace: "demand" })
      yield* turns()
      const before = machine.flushes()
      const ends = yield* Effect.forEach([1, 2, 3], () => fork(space.signal({ signal: "/signals/wait" })))
      yield* Effect.forEach(ends, Fiber.join)
      yield* turns()
      assert.strictEqual(yield* space.head, 2)
      assert.strictEqual(machine.flushes() - before, 1)
    }))

  it.effect("does not wait for a run that takes several turns", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      let end = (): void => {}
      const slow = enzyme("slow", () => new Promise<void>((resolve) => { end = resolve }))
      const space = yield* machine.boot([slow], { pace: "demand" })
      yield* turns()
      const signalled = yield* fork(space.signal({ signal: "/signals/slow" }))
      yield* Fiber.join(signalled)
      assert.strictEqual(yield* space.head, -1)
      end()
      yield* space.idle
      assert.strictEqual(yield* space.head, 0)
    }))

  it.effect("contains at most 64 beats", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const chain = enzyme(
        "chain",
        (tx, { payload }) => (payload as number) > 0 ? tx.signal({ signal: "/signals/chain", payload: (payload as number) - 1 }) : undefined
      )
      const space = yield* machine.boot([chain], { pace: "demand" })
      yield* turns()
      const before = machine.flushes()
      yield* space.handled({ signal: "/signals/chain", payload: 199 })
      yield* space.idle
      assert.strictEqual(yield* space.head, 199)
      assert.strictEqual(machine.flushes() - before, 4)
    }))
})

describe("a failed flush", () => {
  it.effect("stops the space, and fails all waiting calls", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const space = yield* machine.boot([count])
      machine.breakDisk(true)
      const asked = [
        yield* fork(space.signal(post)), yield* fork(space.handled(post)), yield* fork(space.set("/data/x", 1)),
        yield* fork(space.bind("/data", "count")), yield* fork(space.step), yield* fork(space.idle)
      ]
      for (const fiber of asked) {
        const answer = yield* Fiber.join(fiber)
        assert.strictEqual(answer._tag === "Failure" && answer.failure.code, "space/stopped")
      }
      const reads = [space.get("/data/n"), space.receipt("x.0.0")]
      for (const again of [...reads, space.signal(post), space.step, space.idle, space.set("/data/x", 1), space.handled(post)]) {
        const error = yield* Effect.flip(again as Effect.Effect<unknown, { readonly code: string; readonly message: string }>)
        assert.strictEqual(error.code, "space/stopped")
        assert.include(error.message, "the disk is broken")
      }
    }))

  it.effect("fails the callers that wait for an event accepted before", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const space = yield* machine.boot([count])
      const { id } = yield* space.signal(post)
      const waiting = yield* fork(space.settled(id))
      yield* turns()
      machine.breakDisk(true)
      yield* Effect.flip(space.step)
      const answer = yield* Fiber.join(waiting)
      assert.strictEqual(answer._tag === "Failure" && answer.failure.code, "space/stopped")
    }))

  it.effect("fails the watchers", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const space = yield* machine.boot([count])
      const watching = yield* fork(Stream.runDrain(space.watch("/data/n")))
      const beats = yield* fork(Stream.runDrain(space.beats))
      yield* turns()
      machine.breakDisk(true)
      yield* Effect.flip(space.step)
      const answer = yield* Fiber.join(watching)
      assert.strictEqual(answer._tag === "Failure" && answer.failure.code, "space/stopped")
      assert.strictEqual((yield* Fiber.join(beats))._tag, "Success")
    }))

  it.effect("loses no answered call: the kernel opens the space again from the durable state", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const space = yield* machine.boot([count])
      const { id } = yield* space.signal(post)
      yield* space.step
      const waiting = yield* space.signal(post)
      machine.breakDisk(true)
      yield* Effect.flip(space.step)
      machine.breakDisk(false)
      const again = yield* machine.open
      assert.notStrictEqual(again, space)
      assert.strictEqual(yield* again.get("/data/n"), 1)
      assert.strictEqual((yield* again.receipt(id))?.status, "handled")
      assert.strictEqual((yield* again.receipt(waiting.id))?.status, "pending")
      // The number of the lost beat is not used again.
      assert.strictEqual(yield* again.step, 2)
      assert.strictEqual(yield* again.get("/data/n"), 2)
    }))
})

describe("a fenced kernel", () => {
  it.effect("commits no further beat, and reports it", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const older = yield* machine.boot([count])
      yield* older.signal(post)
      const newer = yield* machine.boot([count])
      const error = yield* Effect.flip(older.step)
      assert.strictEqual(error.code, "space/stopped")
      yield* newer.step
      assert.strictEqual(yield* newer.get("/data/n"), 1)
      assert.strictEqual(yield* newer.head, 0)
    }))

  it.effect("no effect is delivered its values, except speculative ones", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const told: Array<string> = []
      const watch = (name: string, speculative: boolean) =>
        Node.make({
          name, read: (tx) => tx.get("/data/n") ?? null, deliver: (n, { beat }) => void told.push(`${name} ${n} @${beat}`), speculative
        })
      const space = yield* machine.boot([count, watch("sure", false), watch("eager", true)])
      yield* machine.hold
      yield* fork(space.signal(post))
      yield* fork(space.step)
      yield* machine.held
      yield* turns()
      assert.deepStrictEqual(told, ["eager 1 @0"])
      yield* machine.release
      yield* turns()
      assert.deepStrictEqual(told, ["eager 1 @0", "sure 1 @0"])
    }))
})
