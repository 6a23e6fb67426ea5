/**
 * The lease of a control file: locks that give no sign of their owners, and holders that lost theirs.
 */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { ControlStore } from "../../plugins/agent/store/ControlStore.ts"
import { Disk, type Process } from "../../src/cli/Disk.ts"
import * as FileStore from "../../plugins/agent/store/FileStore.ts"
import * as Lease from "../../plugins/agent/store/Lease.ts"
import { SpaceClient } from "../../plugins/agent/order/SpaceClient.ts"
import * as Settings from "../../plugins/agent/wake/Settings.ts"
import * as Wake from "../../plugins/agent/wake/Wake.ts"
import * as HashLayer from "../support/HashLayer.ts"
import * as Random from "../support/Random.ts"
import { FaultySpaceClient } from "./FaultySpaceClient.ts"
import { MemoryDisk } from "./MemoryDisk.ts"
import { action, fileOf, moving, PATH, START } from "./TestAgent.ts"

const LOCK = `${PATH}.lock`
const MINUTE = 60_000

/** A disk whose clock is an hour behind that of its computers. */
const shared = Effect.map(Effect.clockWith((clock) => Effect.succeed(clock)), (clock) => {
  const disk = new MemoryDisk()
  disk.now = () => clock.currentTimeMillisUnsafe() - 60 * MINUTE
  disk.alive.add(2)
  return disk
})

/** Takes the lease on a computer. */
const take = (disk: MemoryDisk, process: Process, kind: Lease.Owner["kind"]) =>
  Lease.take({ path: PATH }, kind).pipe(Effect.provideService(Disk, disk.service(process)))

/** Tries to take the lease, and gives it back. */
const isFree = (disk: MemoryDisk) =>
  moving(Effect.map(Effect.exit(Effect.scoped(take(disk, { pid: 2, host: "here" }, "wake"))), Exit.isSuccess))

describe("The lease of a control file", () => {
  it.effect("is taken over from locks that no living process renews, by the clock of their file system", () =>
    Effect.gen(function*() {
      const locks = [
        JSON.stringify({ pid: 1, host: "there", kind: "run", at: START }),
        JSON.stringify({ pid: 1, host: "here", kind: "run", at: START }),
        "",
        "pid 77"
      ]
      for (const lock of locks) {
        yield* TestClock.setTime(START)
        const disk = yield* shared
        disk.save(LOCK, lock)
        yield* TestClock.adjust(4 * MINUTE)
        assert.isFalse(yield* isFree(disk), lock)
        assert.strictEqual(disk.text(LOCK), lock)
        yield* TestClock.adjust(2 * MINUTE)
        assert.isTrue(yield* isFree(disk), lock)
        assert.isUndefined(disk.text(LOCK))
      }
    }))

  it.effect("stays with a holder of another computer that renews it, and with a living process that the host knows", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(START)
      const disk = yield* shared
      yield* Effect.scoped(Effect.gen(function*() {
        const check = yield* take(disk, { pid: 1, host: "there" }, "run")
        for (let i = 0; i < 20; i++) {
          yield* TestClock.adjust(MINUTE)
          yield* check
        }
        assert.isFalse(yield* isFree(disk))
      }))
      disk.save(LOCK, JSON.stringify({ pid: 1, host: "here", born: "boot.1", kind: "run", at: START }))
      yield* TestClock.adjust(60 * MINUTE)
      assert.isFalse(yield* isFree(disk))
    }))

  it.effect("removes the files of processes that ended while they waited or held it", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(START)
      const disk = yield* shared
      disk.save(`${LOCK}.77`, JSON.stringify({ pid: 77, host: "here", kind: "wake", at: START }))
      disk.save(`${LOCK}.78`, JSON.stringify({ pid: 1, host: "there", kind: "wake", at: START }))
      disk.save(`${LOCK}.md`, "of a person")
      assert.isTrue(yield* isFree(disk))
      assert.deepStrictEqual(disk.list("/home/ann"), ["heartbeat.md.lock.78", "heartbeat.md.lock.md"])
      yield* TestClock.adjust(6 * MINUTE)
      assert.isTrue(yield* isFree(disk))
      assert.deepStrictEqual(disk.list("/home/ann"), ["heartbeat.md.lock.md"])
    }))

  it.effect("is lost by a suspended holder, which then begins and writes nothing", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(START)
      const disk = yield* shared
      disk.save(PATH, fileOf(action("a", { type: "shell", command: "echo", status: "pending" })))
      const ledger = new FaultySpaceClient(Random.make(1))
      ledger.isFailing = () => false
      const services = Layer.mergeAll(
        Layer.succeed(Disk, disk.service({ pid: 1, host: "there" })), HashLayer.layer, Layer.succeed(SpaceClient, ledger.service(() => {}))
      )
      const failure = yield* Effect.gen(function*() {
        const store = yield* ControlStore
        const suspended = yield* Scope.make()
        yield* Scope.provide(store.lease("run"), suspended)
        // The times of a suspended process stand still, and so does its lock.
        disk.now = () => START
        yield* TestClock.adjust(MINUTE)
        const now = yield* Clock.currentTimeMillis
        disk.now = () => now + 6 * MINUTE
        assert.isTrue(yield* isFree(disk))
        const text = disk.text(PATH)
        const settings = { ...Settings.defaults, approval: "none" as const }
        const failure = yield* moving(Effect.flip(Wake.run({ startup: "1", settings })))
        assert.deepStrictEqual([disk.text(PATH), ledger.starts.length], [text, 0])
        for (const write of [store.replace(new Uint8Array(), new Uint8Array()), store.backUp(new Uint8Array()), store.tend, store.held]) {
          assert.strictEqual((yield* Effect.flip(Effect.asVoid(write))).code, "agent/lease-lost")
        }
        return failure
      }).pipe(Effect.provide(Layer.fresh(Layer.provideMerge(FileStore.layer(PATH), services))))
      assert.strictEqual(failure.code, "agent/lease-lost")
    }))
})
