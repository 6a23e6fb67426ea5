import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Stream } from "effect"
import { type Batch, Computation, Link, type Space, type SpaceStore } from "systole"
import * as OpenSpace from "../../support/OpenSpace.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import { controlled, enzyme, put, register, turns, write } from "../TestSpace.ts"
import * as TestMachine from "../TestMachine.ts"

/** The listeners and waiters inside a space. */
interface Listened {
  readonly listeners: { readonly size: number }
  readonly queries: { readonly subscriptions: { readonly byKey: { readonly size: number } } }
  readonly graph: { readonly pulls: { readonly size: number } }
  readonly barrier: { readonly error: unknown; readonly state: { store: SpaceStore } }
  readonly lifetime: { readonly close: (reason: string) => void }
}

const inside = (space: Space): Listened => OpenSpace.of<Listened>(space)

/** Number of subscriptions, listeners, and pending pulls. */
const listening = (space: Space): number => {
  const { graph, listeners, queries } = inside(space)
  return listeners.size + queries.subscriptions.byKey.size + graph.pulls.size
}

const fork = <A, E>(effect: Effect.Effect<A, E>) => Effect.forkChild(Effect.exit(effect), { startImmediately: true })

const sum = Computation.make({ name: "sum", output: "/data/sum", run: (tx) => Number(tx.get("/data/x") ?? 0) + 1 })

describe("a subscriber", () => {
  it.effect("that subscribes again during a publication gets that beat once", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      const seen: Array<number> = []
      yield* fork(Effect.gen(function*() {
        while (seen.length < 10) yield* Stream.runForEach(Stream.take(space.beats, 1), (beat) => Effect.sync(() => void seen.push(beat)))
      }))
      for (const value of [1, 2]) yield* controlled(space, space.set("/data/x", value))
      yield* turns()
      assert.deepStrictEqual(seen, [0, 1])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("leaves no state after a pull, a watch, a stream of beats or an early end", () =>
    Effect.gen(function*() {
      yield* register(sum)
      const space = yield* TestKernel.space([])
      let set = 0
      for (let i = 0; i < 3; i++) {
        const pulled = yield* fork(space.pull("/data/sum"))
        yield* space.step
        yield* Fiber.join(pulled)
        yield* Stream.runHead(space.watch("/data/sum"))
        const watched = Stream.runDrain(space.watch("/data/sum"))
        for (const endless of [watched, Stream.runDrain(space.beats), Effect.asVoid(space.pull("/data/sum"))]) {
          // A settled place is answered at once, without a beat.
          yield* controlled(space, space.set("/data/x", set++))
          const fiber = yield* fork(endless)
          assert.isAbove(listening(space), 0)
          yield* turns()
          yield* Fiber.interrupt(fiber)
        }
      }
      assert.strictEqual(listening(space), 0)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("gets a pulled value when its beat is durable, once", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const space = yield* machine.boot([sum])
      yield* controlled(space, space.set("/data/x", 1))
      yield* machine.hold
      const seen: Array<number> = []
      const pulled = yield* fork(
        Effect.andThen(
          space.pull("/data/sum"), Stream.runForEach(space.watch("/data/sum"), ({ beat }) => Effect.sync(() => void seen.push(beat)))
        )
      )
      const pulling = yield* fork(space.pull("/data/sum"))
      yield* fork(space.step)
      yield* machine.held
      yield* turns()
      assert.isUndefined(pulling.pollUnsafe())
      assert.deepStrictEqual(seen, [])
      yield* machine.release
      yield* turns()
      assert.deepStrictEqual(pulling.pollUnsafe(), Exit.succeed(Exit.succeed(2)))
      assert.deepStrictEqual(seen, [yield* space.head])
      yield* Fiber.interrupt(pulled)
    }))

  it.effect("that left before the flush gets no value, and the other one does", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const space = yield* machine.boot([])
      yield* machine.hold
      yield* fork(space.set("/data/x", 1))
      yield* fork(space.step)
      yield* machine.held
      const watch = space.watch("/data/x")
      const seen: Array<string> = []
      const [gone, here] = yield* Effect.forEach(
        ["gone", "here"], (who) => fork(Stream.runForEach(watch, () => Effect.sync(() => void seen.push(who))))
      )
      const read = yield* fork(Effect.andThen(space.get("/data/x"), Effect.sync(() => void seen.push("read"))))
      for (const fiber of [gone!, read]) yield* Fiber.interrupt(fiber)
      yield* machine.release
      yield* turns()
      assert.deepStrictEqual(seen, ["here"])
      yield* Fiber.interrupt(here!)
      assert.strictEqual(listening(space), 0)
    }))

  it.effect("of a derived cell causes its derivation without other work", () =>
    Effect.gen(function*() {
      yield* register(sum)
      const space = yield* TestKernel.space([])
      for (const value of [1, 5]) yield* space.set("/data/x", value)
      yield* space.idle
      yield* turns()
      assert.notStrictEqual(yield* space.get("/data/sum"), 6)
      const seen = yield* fork(Stream.runHead(Stream.filter(space.watch("/data/sum"), ({ value }) => value === 6)))
      yield* turns()
      assert.strictEqual(seen.pollUnsafe()?._tag, "Success")
    }).pipe(Effect.provide(TestKernel.layer({ pace: "demand" }))))

  it.effect("is told when the space stops or has stopped", () =>
    Effect.gen(function*() {
      yield* register(sum)
      const space = yield* TestKernel.space([])
      const pulling = yield* fork(space.pull("/data/sum"))
      inside(space).lifetime.close("enough")
      assert.strictEqual((yield* Fiber.join(pulling))._tag, "Failure")
      yield* Stream.runDrain(space.beats)
      assert.strictEqual((yield* Effect.flip(Stream.runDrain(space.watch("/data/x")))).code, "space/stopped")
      assert.strictEqual((yield* Effect.flip(space.pull("/data/sum"))).code, "space/stopped")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("may stop the space, which then stores no more", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      let go = (): void => {}
      const first = enzyme("first", (tx) => {
        tx.set("/data/x", 1)
        tx.signal({ signal: "/signals/slow" })
      })
      let isSlow = true
      const slow = enzyme("slow", () => isSlow ? new Promise<void>((resolve) => { go = resolve }) : undefined)
      const modules = [first, slow, enzyme("count", (tx) => tx.increment("/data/n"))]
      const space = yield* machine.boot(modules, { pace: "demand" })
      yield* space.idle
      const { barrier: { state } } = inside(space)
      const late: Array<Batch> = []
      const { store } = state
      state.store = new Proxy(store, {
        get: (target, key) => {
          if (key === "append") {
            return (batch: Batch) => {
              if (inside(space).barrier.error !== undefined) late.push(batch)
              target.append(batch)
            }
          }
          const value: unknown = Reflect.get(target, key, target)
          return typeof value === "function" ? value.bind(target) : value
        }
      })
      const { lifetime } = inside(space)
      yield* fork(Stream.runForEach(space.watch("/data/x"), ({ beat }) => Effect.sync(() => beat >= 0 && lifetime.close("enough"))))
      yield* turns()
      yield* machine.hold
      yield* fork(space.signal({ signal: "/signals/first" }))
      yield* machine.held
      yield* turns()
      const refused = yield* fork(space.signal({ signal: "/signals/count" }))
      yield* machine.release
      yield* turns()
      assert.strictEqual((yield* Fiber.join(refused))._tag, "Failure")
      assert.deepStrictEqual(late, [])
      isSlow = false
      go()
      yield* turns()
      const again = yield* machine.open
      yield* again.idle
      assert.deepStrictEqual([yield* again.get("/data/x"), yield* again.get("/data/n")], [1, undefined])
    }))
})

describe("a pull of links in a loop", () => {
  /** A space in which `/data/far` links to a derived cell behind a closed gate. */
  const linked = Effect.gen(function*() {
    const space = yield* TestKernel.space([put])
    yield* register(Computation.make({ name: "slow", output: "/c/slow", throttle: 60_000, run: (tx) => tx.get("/data/in") ?? 0 }))
    yield* write(space, ["/data/in", 1], ["/data/near", Link.make("/c/slow")], ["/data/far", Link.make("/data/near")])
    assert.strictEqual(yield* controlled(space, space.pull("/data/far")).pipe(Effect.flatMap(Effect.fromResult)), 1)
    yield* write(space, ["/data/in", 2])
    return space
  })
  const loop = ["/data/near", Link.make("/data/far")] as const
  const code = (fiber: Fiber.Fiber<unknown, { readonly code: string }>) => Effect.map(Effect.flip(Fiber.join(fiber)), ({ code }) => code)

  it.effect("fails if the loop existed before", () =>
    Effect.gen(function*() {
      const space = yield* linked
      yield* write(space, loop)
      const pull = yield* Effect.forkChild(space.pull("/data/far"), { startImmediately: true })
      yield* space.step
      assert.strictEqual(yield* code(pull), "link/loop")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("fails if the loop arises while it waits, and the space continues", () =>
    Effect.gen(function*() {
      const space = yield* linked
      const pull = yield* Effect.forkChild(space.pull("/data/far"), { startImmediately: true })
      yield* space.step
      assert.isUndefined(pull.pollUnsafe(), "the gate holds it back")
      yield* write(space, loop)
      assert.strictEqual(yield* code(pull), "link/loop")
      yield* write(space, ["/data/in", 3])
      assert.strictEqual(yield* space.get("/data/in"), 3)
    }).pipe(Effect.provide(TestKernel.layer())))
})
