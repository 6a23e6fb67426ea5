import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { CurrentReporter, Reaction as Node, type Kernel, Reporter, type Space } from "systole"
import { turns } from "../TestSpace.ts"
import * as RestartableKernel from "../RestartableKernel.ts"
import { add, enzymes, few, names, slow, sum } from "./ManySpaces.ts"

/** Opens enough other spaces to close all that can be closed. */
const crowd = Effect.fnUntraced(function*(kernel: Kernel["Service"], count = 40) {
  for (const name of names(count)) yield* Effect.flatMap(kernel.space(`crowd-${name}`), (space) => space.idle)
  yield* turns()
})

describe("a kernel with more spaces than may be open", () => {
  it.effect("keeps the limit, and answers for closed spaces as well", () =>
    Effect.gen(function*() {
      const host = yield* RestartableKernel.make(enzymes)
      const kernel = yield* host.boot(few)
      for (let round = 1; round <= 3; round++) {
        for (const name of names(200)) {
          const space = yield* kernel.space(name)
          assert.strictEqual((yield* add(space)).status, "handled")
          assert.strictEqual(yield* sum(space), round, name)
        }
        yield* turns()
        assert.strictEqual(host.open().size, 20)
      }
      assert.isAtMost(host.most(), 22)
      assert.lengthOf(yield* kernel.spaces, 200)
      assert.strictEqual(host.open().size, 20)
    }))

  it.effect("closes the least recently used one, for every kind of use", () =>
    Effect.gen(function*() {
      const host = yield* RestartableKernel.make(enzymes)
      const kernel = yield* host.boot({ ...few, open: 4 })
      const spaces = yield* Effect.forEach(["a", "b", "c", "d"], (name) => Effect.tap(kernel.space(name), (space) => space.idle))
      const uses: ReadonlyArray<(space: Space) => Effect.Effect<unknown, unknown>> = [
        (space) => space.get("/data/x"),
        (space) => space.head,
        (space) => Effect.sync(() => void space.post({ signal: "/signals/add", payload: 1 }, { fail: () => {} })),
        (space) => Effect.sync(() => kernel.opened(space.name)),
        (space) => space.ops.list({ limit: 1 }),
        (space) => Stream.runDrain(Stream.take(space.watch("/data/x"), 1)),
        (space) => space.reader({ name: "r", atoms: [] }).get("/data/x")
      ]
      for (const [i, use] of uses.entries()) {
        for (const space of spaces) yield* space.head
        yield* turns()
        assert.deepStrictEqual([...host.open()].sort(), ["a", "b", "c", "d"])
        yield* use(spaces[0]!)
        yield* Effect.flatMap(kernel.space(`x${i}`), (space) => space.idle)
        yield* turns()
        assert.deepStrictEqual([...host.open()].sort(), ["a", "c", "d", `x${i}`])
      }
    }))

  it.effect("closes a space that was unused for the idle time, and opens it for the next request", () =>
    Effect.gen(function*() {
      const host = yield* RestartableKernel.make(enzymes)
      const kernel = yield* host.boot({ ...few, idleMillis: 60_000 })
      const [used, unused, listened] = yield* Effect.all([kernel.space("used"), kernel.space("unused"), kernel.space("listened")])
      yield* add(unused, 5)
      const listening = yield* Effect.forkChild(Stream.runDrain(listened.watch("/data/x")), { startImmediately: true })
      for (let period = 0; period < 3; period++) {
        yield* add(used)
        yield* TestClock.adjust("1 minute")
        yield* turns()
      }
      assert.deepStrictEqual([...host.open()].sort(), ["listened", "used"])
      assert.strictEqual(yield* sum(unused), 5)
      yield* Fiber.interrupt(listening)
      yield* TestClock.adjust("3 minutes")
      yield* turns()
      assert.deepStrictEqual([...host.open()], [])
      assert.strictEqual(yield* sum(used), 3)
    }))

  it.effect("has one copy of a space, wherever its caller is interrupted", () =>
    Effect.gen(function*() {
      const host = yield* RestartableKernel.make(enzymes)
      const kernel = yield* host.boot({ ...few, open: 1000 })
      let interrupted = 0
      for (let operations = 1900; operations < 2048; operations++) {
        const name = `s${operations}`
        const spent = Effect.gen(function*() {
          for (let i = 0; i < operations; i++) yield* Effect.sync(() => i)
        })
        // A fiber yields after 2048 operations, here within the opening, and is interrupted there.
        const asking = yield* Effect.forkChild(Effect.andThen(spent, kernel.space(name)), { startImmediately: true })
        if (asking.pollUnsafe() === undefined) interrupted++
        yield* Fiber.interrupt(asking)
        assert.strictEqual(host.open().has(name), kernel.opened(name) !== undefined, `interrupted after ${operations} operations`)
      }
      assert.isAbove(interrupted, 20)
    }))

  it.effect("keeps each handle valid: it reopens the space", () =>
    Effect.gen(function*() {
      const host = yield* RestartableKernel.make(enzymes)
      const kernel = yield* host.boot(few)
      const space = yield* kernel.space("shop")
      yield* add(space, 5)
      const reader = space.reader({ name: "guest", atoms: [] })
      const asks: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
        sum(space), space.head, space.control.state, space.receipt("none"), space.list("/data"), space.below(
          "/data", { limit: 3 }
        ), space.pull("/data/sum"),
        space.ops.list(
          { limit: 3 }
        ), space.rv.list({ limit: 3 }), space.flows.list({ limit: 3 }), space.graph.view, space.debug.view, space.dead({ limit: 3 }),
        space.journal(0), reader.get("/data/sum"), reader.list("/data"), space.idle, space.denials,
        Stream.runHead(space.watch("/data/sum")), Stream.runHead(reader.watch("/data/sum")),
        Effect.callback((resume) => {
          space.post({ signal: "/signals/add", payload: 0 }, {
            settled: (receipt) => resume(Effect.succeed(receipt.status)),
            fail: (error) => resume(Effect.fail(error))
          })
        })
      ]
      for (const ask of asks) {
        const before = yield* Effect.exit(ask)
        yield* crowd(kernel)
        assert.isFalse(host.open().has("shop"))
        const after = yield* Effect.exit(ask)
        assert.isTrue(Exit.isSuccess(before) && Exit.isSuccess(after), String(after))
      }
      assert.deepStrictEqual(yield* sum(space), 5)
    }))

  it.effect("keeps a space open during a stream, a wait, a run, an upload or a transfer, and closes it afterwards", () =>
    Effect.gen(function*() {
      const host = yield* RestartableKernel.make(enzymes)
      const kernel = yield* host.boot(few)
      const fork = <A, E>(effect: Effect.Effect<A, E>) => Effect.forkChild(Effect.exit(effect), { startImmediately: true })
      const space = (name: string) => kernel.space(name)
      const watched = yield* fork(Stream.runDrain((yield* space("watched")).watch("/data/sum")))
      const followed = yield* fork(Stream.runDrain((yield* space("followed")).beats))
      const waited = yield* space("waited")
      const later = yield* waited.signal({ signal: "/signals/add", payload: 1, at: { ms: 60_000 } })
      const settled = yield* fork(waited.settled(later.id))
      const running = yield* fork((yield* space("running")).handled({ signal: "/signals/slow", payload: 3 }))
      const upload = yield* (yield* space("upload")).content
      upload.writer.write(Uint8Array.of(1))
      yield* host.hold("there")
      yield* space("there")
      yield* (yield* space("sender")).signal({ signal: "/signals/send", payload: "there" })
      const kept = ["watched", "followed", "waited", "running", "upload", "sender", "there"]
      yield* turns()
      for (let i = 0; i < 3; i++) {
        yield* crowd(kernel)
        assert.deepStrictEqual(kept.filter((name) => !host.open().has(name)), [])
        assert.deepStrictEqual(host.openings().filter((name) => kept.includes(name)).sort(), kept.toSorted())
      }
      for (const fiber of [watched, followed]) yield* Fiber.interrupt(fiber)
      slow.splice(0).forEach((end) => end())
      assert.strictEqual(Exit.getSuccess(yield* Fiber.join(running))._tag, "Some")
      upload.writer.abort()
      yield* host.release("there")
      yield* TestClock.adjust(60_000)
      assert.strictEqual(Exit.getSuccess(yield* Fiber.join(settled))._tag, "Some")
      yield* turns(20)
      yield* crowd(kernel)
      assert.deepStrictEqual(kept.filter((name) => host.open().has(name)), [])
      assert.deepStrictEqual(yield* Effect.forEach(["waited", "running", "there"], (name) => Effect.flatMap(space(name), sum)), [1, 3, 1])
    }))

  it.effect("opens a closed space at its wake time, and no other one", () =>
    Effect.gen(function*() {
      const host = yield* RestartableKernel.make(enzymes)
      const kernel = yield* host.boot(few)
      for (const [i, name] of names(100).entries()) {
        yield* (yield* kernel.space(name)).handled({ signal: "/signals/later", payload: 10_000 + 1000 * i })
      }
      yield* crowd(kernel)
      const before = host.openings().length
      yield* TestClock.adjust(9_999)
      yield* turns()
      assert.strictEqual(host.openings().length, before)
      for (let i = 0; i < 30; i++) {
        yield* TestClock.adjust(i === 0 ? 1 : 1000)
        yield* turns()
        assert.deepStrictEqual(host.openings().slice(before), names(i + 1))
      }
      assert.isAtMost(host.open().size, 20)
      for (const [i, name] of names(100).entries()) assert.strictEqual(yield* sum(yield* kernel.space(name)), i < 30 ? 1 : 0, name)
    }))

  it.effect("repeats no delivery when a space is reopened, and delivers the next change", () =>
    Effect.gen(function*() {
      const host = yield* RestartableKernel.make(enzymes)
      const kernel = yield* host.boot(few)
      const told: Array<unknown> = []
      yield* kernel.register(Node.make({ name: "tell", read: (tx) => tx.get("/data/sum"), deliver: (value) => void told.push(value) }))
      const space = yield* kernel.space("shop")
      yield* add(space, 1)
      yield* crowd(kernel)
      told.length = 0
      assert.isFalse(host.open().has("shop"))
      const head = yield* space.head
      yield* space.idle
      yield* turns()
      assert.deepStrictEqual([told, yield* space.head], [[], head])
      yield* crowd(kernel)
      yield* add(space, 1)
      yield* turns()
      assert.deepStrictEqual(told, [2])
    }))
})

describe("a kernel that starts over many spaces", () => {
  it.effect("opens the due ones only, and wakes each of the others at its time", () =>
    Effect.gen(function*() {
      const host = yield* RestartableKernel.make(enzymes)
      const before = yield* host.boot(few)
      for (const [i, name] of names(60).entries()) {
        const space = yield* before.space(name)
        if (i % 3 === 0) yield* space.handled({ signal: "/signals/later", payload: 1000 * (1 + i) })
        else yield* add(space)
      }
      yield* turns()
      const kernel = yield* host.boot(few)
      yield* TestClock.adjust(30_000)
      yield* kernel.resume
      yield* turns(40)
      assert.deepStrictEqual(host.openings().toSorted(), names(60).filter((_, i) => i % 3 === 0 && i < 30).sort())
      yield* TestClock.adjust(30_000)
      yield* turns(40)
      assert.deepStrictEqual(host.openings().toSorted(), names(60).filter((_, i) => i % 3 === 0).sort())
      for (const name of names(60)) assert.strictEqual(yield* sum(yield* kernel.space(name)), 1, name)
    }))

  it.effect("tries again later each time to open a due space that fails to open, and reports it once", () =>
    Effect.gen(function*() {
      const told: Array<string> = []
      const host = yield* RestartableKernel.make(enzymes)
      const before = yield* host.boot(few)
      yield* (yield* before.space("late")).handled({ signal: "/signals/later", payload: 1000 })
      yield* turns()
      host.breakOpening("late", true)
      const reporter = new Reporter(({ topic }) => void told.push(topic))
      const kernel = yield* Effect.provideService(host.boot(few), CurrentReporter, reporter)
      yield* TestClock.adjust(1000)
      yield* kernel.resume
      for (let second = 0; second < 10; second++) {
        yield* turns(10)
        yield* TestClock.adjust(1000)
      }
      assert.deepStrictEqual(host.openings(), [])
      assert.deepStrictEqual(told, ["store/trouble"])
      host.breakOpening("late", false)
      yield* TestClock.adjust(3000)
      yield* turns(20)
      assert.deepStrictEqual(host.openings(), [])
      yield* TestClock.adjust(2000)
      yield* turns(20)
      assert.deepStrictEqual(host.openings(), ["late"])
      assert.strictEqual(yield* sum(yield* kernel.space("late")), 1)
    }))

  it.effect("opens a space later if the time of its next work cannot be read, and reports it once", () =>
    Effect.gen(function*() {
      const told: Array<string> = []
      const host = yield* RestartableKernel.make(enzymes)
      const before = yield* host.boot(few)
      yield* (yield* before.space("late")).handled({ signal: "/signals/later", payload: 1000 })
      yield* turns()
      host.breakDue("late", true)
      const reporter = new Reporter(({ topic }) => void told.push(topic))
      const kernel = yield* Effect.provideService(host.boot(few), CurrentReporter, reporter)
      yield* kernel.resume
      yield* TestClock.adjust(1000)
      yield* turns(20)
      assert.deepStrictEqual(told, ["store/trouble"])
      assert.deepStrictEqual(host.openings(), ["late"])
      assert.strictEqual(yield* sum(yield* kernel.space("late")), 1)
    }))

  it.effect("opens the spaces whose signals wait for others first, then the others in the order of their times", () =>
    Effect.gen(function*() {
      const host = yield* RestartableKernel.make(enzymes)
      const before = yield* host.boot(few)
      for (const [name, payload] of [["a", 3000], ["b", 2000]] as const) {
        yield* (yield* before.space(name)).handled({ signal: "/signals/later", payload })
      }
      yield* Effect.forkChild((yield* before.space("now")).handled({ signal: "/signals/slow", payload: 1 }), { startImmediately: true })
      yield* turns()
      yield* host.hold("there")
      const sender = yield* before.space("sender")
      yield* sender.handled({ signal: "/signals/send", payload: "there" })
      yield* add(sender)
      const kernel = yield* host.boot(few)
      yield* TestClock.adjust(5000)
      yield* kernel.resume
      yield* turns(20)
      assert.deepStrictEqual(host.openings().filter((name) => name !== "there"), ["sender", "now", "b", "a"])
    }))

  it.effect("opens requested spaces before due ones", () =>
    Effect.gen(function*() {
      const host = yield* RestartableKernel.make(enzymes)
      const before = yield* host.boot({ ...few, open: 200 })
      for (const name of names(100)) yield* (yield* before.space(name)).handled({ signal: "/signals/later", payload: 1000 })
      yield* add(yield* before.space("shop"))
      const kernel = yield* host.boot({ ...few, open: 200 })
      yield* TestClock.adjust(1000)
      yield* kernel.resume
      yield* turns(3)
      assert.strictEqual(yield* sum(yield* kernel.space("shop")), 1)
      assert.isBelow(host.openings().indexOf("shop"), 10)
      yield* turns(300)
      assert.strictEqual(host.openings().length, 101)
    }))

  it.effect("opens a space that was interrupted with work left, of every kind", () =>
    Effect.gen(function*() {
      const host = yield* RestartableKernel.make(enzymes)
      const before = yield* host.boot(few)
      const kept = ["sender", "running", "taken"]
      const [sender, running, taken] = yield* Effect.forEach(kept, (name) => before.space(name))
      yield* host.hold("there")
      yield* sender!.handled({ signal: "/signals/send", payload: "there" })
      yield* Effect.forkChild(Effect.exit(running!.handled({ signal: "/signals/slow", payload: 1 })), { startImmediately: true })
      yield* turns()
      assert.isUndefined((yield* running!.signal({ signal: "/signals/add", payload: 2 })).beat)
      yield* Effect.forkChild(Effect.exit(taken!.signal({ signal: "/signals/later", payload: 0 })), { startImmediately: true })
      yield* turns()
      const kernel = yield* host.boot(few)
      yield* host.release("there")
      yield* kernel.resume
      yield* turns(60)
      assert.deepStrictEqual(kept.filter((name) => !host.openings().includes(name) && name !== "taken"), [])
      slow.splice(0).forEach((end) => end())
      yield* turns(60)
      assert.deepStrictEqual(
        yield* Effect.forEach(["there", "running", "taken"], (name) => Effect.flatMap(kernel.space(name), sum)), [1, 3, 1]
      )
    }))
})
