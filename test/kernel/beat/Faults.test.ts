import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Queue, Stream } from "effect"
import { Enzyme, Kernel, Retry } from "systole"
import { createHash } from "node:crypto"
import * as TestKernel from "../../support/TestKernel.ts"
import * as TestSpace from "../TestSpace.ts"
import * as TestMachine from "../TestMachine.ts"

const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

/** Stores content, and returns when it is durable. */
const keep = Effect.fnUntraced(function*(space: Effect.Success<ReturnType<typeof TestKernel.space>>, bytes: Uint8Array) {
  const { store, writer } = yield* space.content
  writer.write(bytes)
  yield* store(hashOf(bytes))
})

describe("A store that cannot be read", () => {
  it.effect("lists its space as stopped, with the reason, until it is opened again", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const space = yield* machine.boot([TestSpace.enzyme("count", (tx) => tx.increment("/data/n"))])
      assert.deepStrictEqual(yield* machine.stops, [])
      machine.breakDisk(true)
      assert.strictEqual((yield* Effect.flip(space.signal({ signal: "/signals/count" }))).code, "space/stopped")
      const [stop = assert.fail()] = yield* machine.stops
      assert.deepInclude(stop, { space: "machine", code: "space/stopped" })
      assert.isNotEmpty(stop.store)
      assert.include(stop.reason, "the disk is broken")
      machine.breakDisk(false)
      yield* machine.open
      assert.deepStrictEqual(yield* machine.stops, [])
    }))

  it.effect("fails those that wait for rest after a beat with a run that waited", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const [begun, gate] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const waits = TestSpace.enzyme("waits", (tx) => Effect.gen(function*() {
        yield* Deferred.succeed(begun, undefined)
        yield* Deferred.await(gate)
        tx.increment("/data/far")
      }))
      const space = yield* machine.boot([waits])
      yield* space.signal({ signal: "/signals/waits" })
      yield* Effect.forkChild(Effect.exit(space.step))
      yield* Deferred.await(begun)
      const resting = yield* Effect.forkChild(Effect.flip(space.idle), { startImmediately: true })
      machine.breakReads(true)
      yield* Deferred.succeed(gate, undefined)
      assert.strictEqual((yield* Fiber.join(resting)).code, "space/stopped")
    }))

  it.effect("stops the space, even if the run catches the failure, and the event is handled when it opens again", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const enzymes = [
        TestSpace.enzyme("plain", (tx) => tx.get("/data/far")),
        TestSpace.enzyme("careful", (tx) => {
          try {
            tx.set("/data/out", tx.get("/data/far") ?? "absent")
          } catch {
            tx.set("/data/out", "absent")
          }
        })
      ]
      for (const name of ["plain", "careful"]) {
        const space = yield* machine.boot(enzymes)
        const { id } = yield* space.signal({ signal: `/signals/${name}` })
        machine.breakReads(true)
        assert.strictEqual((yield* Effect.flip(space.step)).code, "space/stopped")
        machine.breakReads(false)
        const again = yield* machine.open
        yield* again.step
        assert.strictEqual((yield* again.receipt(id))?.status, "handled")
      }
    }))
})

describe("A space that stops", () => {
  it.effect("fails the callers that wait for an accepted event", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const space = yield* machine.boot([TestSpace.enzyme("never", () => new Retry({ reason: "never" }))])
      const waiting = yield* Effect.forkChild(Effect.flip(space.handled({ signal: "/signals/never" })), { startImmediately: true })
      yield* space.step
      machine.breakDisk(true)
      yield* Effect.flip(space.step)
      assert.strictEqual((yield* Fiber.join(waiting)).code, "space/stopped")
    }))

  it.effect("fails all callers, even if it stops while it answers them", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const before = yield* machine.boot([
        TestSpace.enzyme("twice", (_, event) => event.attempt === 1 ? new Retry({ reason: "again" }) : undefined)
      ])
      const { id } = yield* before.signal({ signal: "/signals/twice" })
      yield* before.step
      // The receipt of a signal handled before a restart is read from the store, which fails here.
      const space = yield* machine.boot([TestSpace.enzyme("twice", () => undefined)])
      const settled = yield* Effect.forkChild(Effect.flip(space.settled(id)), { startImmediately: true })
      yield* TestSpace.turns()
      machine.breakReads(true)
      const stepped = yield* Effect.forkChild(Effect.flip(space.step), { startImmediately: true })
      const posted = yield* Effect.forkChild(
        Effect.flip(space.signal({ signal: "/signals/twice", payload: 2 })),
        { startImmediately: true }
      )
      const errors = [
        yield* Fiber.join(settled),
        yield* Fiber.join(stepped),
        yield* Fiber.join(posted)
      ] as ReadonlyArray<{ readonly code: string }>
      assert.deepStrictEqual(errors.map(({ code }) => code), ["space/stopped", "space/stopped", "space/stopped"])
    }))
})

describe("Watchers", () => {
  it.effect("of one address without earlier watchers all receive its changes", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([TestSpace.enzyme("write", (tx) => tx.set("/data/x", 1))])
      yield* Effect.forkChild(space.signal({ signal: "/signals/write" }), { startImmediately: true })
      const watch = Effect.gen(function*() {
        const values = yield* Queue.unbounded<unknown>()
        yield* Effect.forkChild(
          Stream.runForEach(space.watch("/data/x"), ({ value }) => Queue.offer(values, value)),
          { startImmediately: true }
        )
        return values
      })
      const both = [yield* watch, yield* watch]
      yield* TestSpace.turns()
      yield* space.step
      yield* TestSpace.turns()
      for (const values of both) assert.deepStrictEqual(yield* Queue.clear(values), [undefined, 1])
    }).pipe(Effect.provide(TestKernel.layer())))
})

describe("A waiting run", () => {
  it.effect("delays no answer of earlier beats", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const space = yield* TestKernel.space([
        TestSpace.enzyme("quick", (tx) => tx.increment("/data/quick")),
        TestSpace.enzyme("slow", () => Effect.as(Deferred.await(gate), "done"), { limitMs: 3_600_000, lane: "space" })
      ])
      const quick = yield* Effect.forkChild(space.handled({ signal: "/signals/quick" }), { startImmediately: true })
      const first = yield* Effect.forkChild(space.handled({ signal: "/signals/slow", at: { beats: 2 } }), { startImmediately: true })
      assert.strictEqual((yield* Fiber.join(quick)).status, "handled")
      assert.strictEqual(yield* space.get("/data/quick"), 1)
      yield* Deferred.succeed(gate, undefined)
      assert.strictEqual((yield* Fiber.join(first)).status, "handled")
    }).pipe(Effect.provide(TestKernel.layer({ pace: "demand" }))))

  it.effect("does not see content stored meanwhile, in the same beat", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const bytes = new Uint8Array([1, 2, 3])
      const seen: Array<unknown> = []
      const space = yield* TestKernel.space([
        TestSpace.enzyme("look", (tx) => {
          seen.push(tx.get(`/cas/${hashOf(bytes)}`))
          return Effect.map(Deferred.await(gate), () => void seen.push(tx.get(`/cas/${hashOf(bytes)}`)))
        })
      ])
      yield* space.signal({ signal: "/signals/look" })
      const step = yield* Effect.forkChild(space.step, { startImmediately: true })
      yield* TestSpace.turns()
      yield* keep(space, bytes)
      assert.deepStrictEqual(yield* space.get(`/cas/${hashOf(bytes)}`), bytes)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(step)
      assert.deepStrictEqual(seen, [undefined, undefined])
      yield* space.signal({ signal: "/signals/look" })
      yield* space.step
      assert.deepStrictEqual(seen.slice(2), [bytes, bytes])
      assert.include((yield* space.journal(1))?.text, `"content":["/cas/${hashOf(bytes)}"]`)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("is journaled with the module that it ran, even if another became active meanwhile", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      const gate = yield* Deferred.make<void>()
      const old = Enzyme.make({ name: "m", query: "/signals/m", run: () => Deferred.await(gate) })
      const changed = Enzyme.make({ name: "m", query: "/signals/m", run: () => undefined })
      yield* kernel.register(old, { hash: "OLD" })
      const [a, b] = [yield* kernel.space("a"), yield* kernel.space("b")]
      yield* a.signal({ signal: "/signals/m" })
      const step = yield* Effect.forkChild(a.step, { startImmediately: true })
      yield* TestSpace.turns()
      yield* kernel.unregister(old)
      yield* kernel.register(changed, { hash: "NEW" })
      yield* b.step
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(step)
      yield* a.step
      assert.include((yield* a.journal(0))?.text, `["/sys/code/m",-1,[],[["/cas/OLD"]]]`)
      assert.include((yield* a.journal(1))?.text, `["/sys/code/m",-1,[["/cas/OLD"]],[["/cas/NEW"]]]`)
    }).pipe(Effect.provide(TestKernel.layer())))
})

describe("An accepted signal that is not durable yet", () => {
  it.effect("is not visible, not even as pending", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const space = yield* machine.boot([])
      yield* machine.hold
      const posted = yield* Effect.forkChild(space.signal({ signal: "/signals/any", id: "mine" }), { startImmediately: true })
      const asked = yield* Effect.forkChild(space.receipt("x.0.0"), { startImmediately: true })
      const content = yield* Effect.forkChild(keep(space, new Uint8Array([7])), { startImmediately: true })
      const blob = yield* Effect.forkChild(space.blob(hashOf(new Uint8Array([7]))), { startImmediately: true })
      yield* machine.held
      yield* TestSpace.turns()
      for (const fiber of [posted, asked, content, blob]) assert.isUndefined(fiber.pollUnsafe())
      yield* machine.release
      yield* Fiber.join(posted)
      yield* Fiber.join(content)
      assert.deepStrictEqual(yield* Fiber.join(blob), new Uint8Array([7]))
    }))
})
