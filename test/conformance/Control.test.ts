import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Fatal, type Settings, type Space } from "systole"
import * as Config from "../../src/loader/Config.ts"
import { controlled, ended, enzyme, steps } from "../kernel/TestSpace.ts"
import * as TestMachine from "../kernel/TestMachine.ts"
import * as TestKernel from "../support/TestKernel.ts"
import { present } from "../support/Present.ts"
import { history, isReplayedEqual } from "./ReplayCheck.ts"

/** Kernels with booting spaces, as on every host. */
const booting = (changed: Partial<Settings> = {}) => TestKernel.layer({ boot: true, ...changed })

const listener = (log: Array<string>) =>
  enzyme("listener", (tx, { signal }) => void log.push(`${signal} @${tx.beat}`), { query: "/op/*", bind: ["/rt/ops"] })

const asked = <A extends { readonly oid: string }, E>(space: Space, ask: Effect.Effect<A, E>) => Effect.gen(function*() {
  const result = yield* controlled(space, ask)
  if (result._tag === "Failure") return yield* Effect.die(result.failure)
  return result.success
})

const paused = Effect.fnUntraced(function*(space: Space) {
  const begun = yield* asked(space, space.control.pause())
  yield* steps(space, 4)
  assert.strictEqual((yield* space.control.state).state, "paused")
  return begun
})

const refusal = <A, E extends { readonly code: string }>(space: Space, ask: Effect.Effect<A, E>) =>
  Effect.map(controlled(space, ask), (result) => result._tag === "Failure" ? result.failure.code : "done")

const topics = (space: Space) => Effect.map(TestKernel.diagnostics(space), (told) => told.map(({ topic }) => topic))

describe("C: control", () => {
  it.effect("C19 a policy without boot operations is refused with a clear error", () =>
    Effect.gen(function*() {
      const refused = yield* Effect.flip(Config.decode({ boot: false }))
      assert.strictEqual(refused.code, "config/invalid")
      assert.include(refused.message, "boot")
      assert.isTrue((yield* Config.decode({})).kernel.boot)
      assert.isTrue((yield* Config.decode({ boot: true })).kernel.boot)
    }))

  it.effect("C20 a new space boots, one state per beat, while signals run", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("count", (tx) => tx.increment("/data/n"))])
      yield* space.signal({ signal: "/signals/count" })
      assert.strictEqual(yield* space.step, 0)
      assert.strictEqual(yield* space.get("/data/n"), 1)
      const oid = (yield* space.get("/sys/state/boot_oid")) as string
      assert.deepStrictEqual(yield* history(space, oid), ["ist:run @0"])
      yield* steps(space, 4)
      assert.deepStrictEqual(yield* history(space, oid), ["ist:run @0", "ist:kernel @1", "ist:store @2", "ist:packs @3", "ist:ok @4"])
      const dossier = yield* space.ops.get(oid)
      assert.deepInclude(dossier, { verb: "op/boot", mode: "opm:states", status: "sts:ok" })
      assert.strictEqual((yield* space.control.state).state, "running")
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(booting())))

  it.effect("C20 a reopened space runs no beat and writes no cell, and an interrupted boot continues", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const space = yield* machine.boot([], { boot: true })
      yield* steps(space, 2)
      const cut = yield* machine.boot([], { boot: true, pace: "demand" })
      yield* cut.idle
      assert.strictEqual(yield* cut.head, 4)
      const again = yield* machine.boot([], { boot: true, pace: "demand" })
      const flushes = machine.flushes()
      yield* again.idle
      assert.strictEqual(yield* again.head, 4)
      assert.strictEqual(machine.flushes(), flushes)
      // Its next beat is ordinary: no further boot is requested.
      yield* again.signal({ signal: "/signals/none" })
      yield* again.idle
      assert.strictEqual(yield* again.head, 5)
      assert.deepStrictEqual(yield* topics(again), [])
      assert.deepStrictEqual(yield* history(again, present((yield* again.control.state).boot_oid)), [
        "ist:run @0", "ist:kernel @1", "ist:store @2", "ist:packs @3", "ist:ok @4"
      ])
      yield* isReplayedEqual(again)
    }))

  it.effect("C21 a shutdown passes through its states once, and no run follows until the space is restarted", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("count", (tx) => tx.increment("/data/n"))])
      yield* steps(space, 5)
      const { oid } = yield* asked(space, space.control.shutdown())
      const { id } = yield* space.signal({ signal: "/signals/count" })
      assert.deepStrictEqual((yield* asked(space, space.control.shutdown())).oid, oid)
      yield* steps(space, 3)
      assert.deepStrictEqual(yield* history(space, oid), ["ist:run @5", "ist:stop @6", "ist:flush @7", "ist:halt @8", "ist:ok @9"])
      assert.deepInclude(yield* space.ops.get(oid), { verb: "op/shdn", status: "sts:ok" })
      assert.strictEqual((yield* asked(space, space.control.shutdown())).oid, oid)
      assert.lengthOf((yield* space.ops.list({ limit: 10 })).operations, 2)
      yield* steps(space, 3)
      assert.deepInclude(yield* space.control.state, { state: "halted", parked: 1, shdn_oid: oid })
      assert.strictEqual((yield* space.receipt(id))?.status, "pending")
      const boot = yield* asked(space, space.control.restart())
      yield* steps(space, 5)
      assert.deepInclude(yield* space.control.state, { state: "running", parked: 0, boot_oid: boot.oid, shdn_oid: null })
      assert.deepStrictEqual(yield* ended(space, id), ["count ok @15 #1"])
      assert.deepStrictEqual(yield* topics(space), [])
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(booting())))

  it.effect("C23 signals to a paused space wait, and run once after the resume", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("count", (tx) => tx.increment("/data/n"))])
      const { oid } = yield* paused(space)
      assert.deepStrictEqual(yield* history(space, oid), ["ist:run @0", "ist:plan @1", "ist:quiesce @2", "ist:paused @3", "ist:ok @4"])
      const { id } = yield* space.signal({ signal: "/signals/count" })
      yield* steps(space, 2)
      assert.isUndefined(yield* space.get("/data/n"))
      assert.deepInclude(yield* space.control.state, { state: "paused", parked: 1 })
      assert.strictEqual(yield* space.get("/sys/state/paused"), true)
      const resume = yield* asked(space, space.control.resume())
      yield* steps(space, 4)
      assert.deepStrictEqual(yield* history(space, resume.oid), ["ist:run @7", "ist:plan @8", "ist:run @9", "ist:ok @10"])
      assert.strictEqual(yield* space.get("/data/n"), 1)
      assert.deepStrictEqual(yield* ended(space, id), ["count ok @9 #1"])
      assert.deepInclude(yield* space.control.state, { state: "running", parked: 0, locks: [] })
      for (const cell of ["/sys/state/paused", "/sys/state/gated", "/sys/state/control", "/sys/locks/data"]) {
        assert.isUndefined(yield* space.get(cell), cell)
      }
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("C23 a paused space runs no beat for parked signals or due timers", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("count", (tx) => tx.increment("/data/n"))])
      yield* space.control.pause()
      yield* space.idle
      const head = yield* space.head
      yield* space.signal({ signal: "/signals/count" })
      yield* space.signal({ signal: "/signals/count", at: { ms: 100 } })
      yield* TestClock.adjust(1000)
      yield* space.idle
      assert.deepStrictEqual([yield* space.head, (yield* space.control.state).parked], [head, 2])
      yield* space.control.resume()
      yield* space.idle
      assert.strictEqual(yield* space.get("/data/n"), 2)
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer({ pace: "demand" }))))

  it.effect("C24, D24 continuations, time-outs, diagnostics and signals with qos control run while a space is paused", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const space = yield* TestKernel.space([
        listener(log),
        enzyme("alarm", (tx, { signal }) => void log.push(`${signal} @${tx.beat}`), { query: "/CEP:sig_cei/*" }),
        enzyme("urgent", (tx) => void log.push(`urgent @${tx.beat}`)),
        enzyme("fails", () => {
          throw new Error("no")
        }),
        enzyme("later", (tx) => void log.push(`later @${tx.beat}`))
      ])
      yield* controlled(space, space.ops.start({ verb: "op/x", target: "x", mode: "opm:states" }))
      yield* controlled(space, space.ops.await("OPS:0.x.0", { want: "ist:go", signal: "/op/cont" }))
      yield* controlled(space, space.ops.await("OPS:0.x.0", { want: "ist:never", signal: "/op/cont", ttl: 9 }))
      yield* paused(space)
      yield* space.signal({ signal: "/signals/later" })
      yield* space.signal({ signal: "/signals/urgent", qos: "control" })
      yield* space.signal({ signal: "/signals/fails", qos: "control" })
      yield* controlled(space, space.ops.state("OPS:0.x.0", { state: "ist:go" }))
      yield* steps(space, 6)
      assert.deepStrictEqual(log, ["urgent @8", "/op/cont @9", "/CEP:sig_cei/sev:crit @9", "/op/tmo @12", "/CEP:sig_cei/sev:warn @12"])
      yield* asked(space, space.control.resume())
      yield* steps(space, 3)
      assert.match(present(log.at(-1)), /^later/)
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("C25 a rollback is refused before the resume of an earlier one, with one diagnostic, and parked signals stay", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("count", (tx) => tx.increment("/data/n"))])
      yield* space.signal({ signal: "/signals/count" })
      yield* space.step
      yield* paused(space)
      yield* space.signal({ signal: "/signals/count" })
      yield* asked(space, space.control.rollback(0))
      yield* steps(space, 4)
      assert.deepInclude(yield* space.control.state, { state: "paused", view_hzn: 0, parked: 1 })
      assert.strictEqual(yield* refusal(space, space.control.rollback(0)), "control/refused")
      assert.deepStrictEqual(yield* topics(space), ["control/refused"])
      assert.strictEqual((yield* space.control.state).parked, 1)
      yield* asked(space, space.control.resume())
      yield* steps(space, 4)
      assert.deepInclude(yield* space.control.state, { state: "running", parked: 0, view_hzn: null })
      assert.strictEqual(yield* space.get("/data/n"), 2)
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("C27, C28 a rollback restores deleted cells, nested ones included, and removes later ones", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("delete", (tx) => {
        tx.delete("/data/tree")
        tx.delete("/data/tree/leaf")
        tx.set("/data/other", { later: true })
        tx.set("/data/kept?scope=user:7", "later")
      })])
      const cells = [
        ["/data/tree", { kind: "dictionary" }],
        ["/data/tree/leaf", { payload: new Date(7) }],
        ["/data/kept?scope=user:7", { 10: 1, 9: 2 }]
      ] as const
      for (const [address, value] of cells) {
        yield* controlled(space, space.set(address, value))
      }
      yield* space.signal({ signal: "/signals/delete" })
      yield* space.step
      assert.isUndefined(yield* space.get("/data/tree/leaf"))
      yield* paused(space)
      const { oid } = yield* asked(space, space.control.rollback(2))
      yield* steps(space, 4)
      assert.deepStrictEqual(yield* history(space, oid), ["ist:run @9", "ist:plan @10", "ist:cutover @11", "ist:ok @12"])
      assert.strictEqual(yield* space.get("/sys/state/view_hzn"), 2)
      const look = Effect.gen(function*() {
        assert.deepStrictEqual(yield* space.get("/data/tree"), { kind: "dictionary" })
        assert.deepStrictEqual(yield* space.get("/data/tree/leaf"), { payload: new Date(7) })
        assert.deepStrictEqual(yield* space.get("/data/kept?scope=user:7"), { 10: 1, 9: 2 })
        assert.isUndefined(yield* space.get("/data/other"))
        assert.deepStrictEqual(yield* space.list("/data/tree"), ["leaf"])
      })
      yield* look
      yield* asked(space, space.control.resume())
      yield* steps(space, 4)
      yield* look
      assert.isUndefined(yield* space.get("/sys/state/view_hzn"))
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("C29 a pause fails if /data is locked, with one diagnostic, and the space keeps running", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("count", (tx) => tx.increment("/data/n"))])
      yield* controlled(space, space.control.lock("/data"))
      const { oid } = yield* asked(space, space.control.pause())
      yield* steps(space, 2)
      const told = yield* TestKernel.diagnostics(space)
      assert.lengthOf(told, 1)
      assert.deepInclude(told[0], { sev: "sev:crit", topic: "control/failed" })
      assert.include(present(told[0])["note"], "pause failure")
      assert.deepInclude(yield* space.ops.get(oid), { status: "sts:fail", state: "ist:fail" })
      assert.deepInclude(yield* space.control.state, { state: "running", control: null, locks: [{ cell: "/data", by: "(outside)" }] })
      yield* controlled(space, space.control.unlock("/data"))
      yield* paused(space)
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("C30 the numbers of histories continue after a rollback", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      yield* paused(space)
      yield* asked(space, space.control.rollback(0))
      yield* steps(space, 4)
      const { oid } = yield* asked(space, space.control.resume())
      yield* steps(space, 4)
      const numbers = present(yield* space.ops.get(oid)).history.map(({ number }) => number)
      assert.deepStrictEqual(numbers, [1, 2, 3, 4])
      assert.deepInclude(yield* space.get(`/rt/ops/${oid}`), { hist_next: 5 })
      assert.lengthOf((yield* space.ops.list({ limit: 10 })).operations, 3)
      assert.deepStrictEqual(yield* history(space, "OPS:0.x.0"), [
        "ist:run @0", "ist:plan @1", "ist:quiesce @2", "ist:paused @3", "ist:ok @4"
      ])
    }).pipe(Effect.provide(TestKernel.layer())))
})

describe("D: the operations of a space itself", () => {
  it.effect("D20 an await of a boot state is continued once, in the beat after it", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const space = yield* TestKernel.space([listener(log)])
      yield* space.step
      const boot_oid = (yield* space.control.state).boot_oid ?? ""
      yield* controlled(space, space.ops.await(boot_oid, { want: "ist:packs", signal: "/op/cont", ttl: 10 }))
      assert.deepInclude(yield* space.ops.get(boot_oid), { state: "ist:kernel", watchers: 1 })
      yield* space.step
      yield* space.step
      assert.deepInclude(yield* space.ops.get(boot_oid), { state: "ist:packs", watchers: 0 })
      assert.deepStrictEqual(log, [])
      yield* steps(space, 3)
      assert.deepStrictEqual(log, ["/op/cont @4"])
      assert.deepInclude(yield* space.ops.get(boot_oid), { state: "ist:ok" })
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(booting())))

  it.effect("D29 a fatal run starts a shutdown in its beat", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("bad", () => new Fatal({ reason: "the end" })),
        enzyme("count", (tx) => tx.increment("/data/n"))
      ])
      yield* space.signal({ signal: "/signals/bad" })
      yield* Effect.flip(space.step)
      yield* space.step
      const shdn_oid = (yield* space.control.state).shdn_oid ?? ""
      assert.deepInclude(yield* space.ops.get(shdn_oid), { verb: "op/shdn", state: "ist:run" })
      yield* space.signal({ signal: "/signals/count" })
      yield* steps(space, 5)
      assert.deepInclude(yield* space.control.state, { state: "halted", parked: 1 })
      assert.deepStrictEqual(yield* history(space, shdn_oid), ["ist:run @0", "ist:stop @1", "ist:flush @2", "ist:halt @3", "ist:ok @4"])
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("D29 a fatal report starts one too, and an enzyme with onFatal continue does not", () =>
    Effect.gen(function*() {
      const report = enzyme("report", (tx) => tx.report({ severity: "sev:fatal", topic: "sky/fell", note: "" }))
      const space = yield* TestKernel.space([report, enzyme("on", () => new Fatal({ reason: "on" }), { onFatal: "continue" })])
      yield* space.signal({ signal: "/signals/on" })
      yield* Effect.flip(space.step)
      yield* space.step
      assert.isNull((yield* space.control.state).shdn_oid)
      yield* space.signal({ signal: "/signals/report" })
      yield* space.step
      const { shdn_oid } = yield* space.control.state
      assert.strictEqual(shdn_oid, "OPS:1.c.0")
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))
})
