import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Disk } from "../../src/cli/Disk.ts"
import * as FileStore from "../../plugins/agent/store/FileStore.ts"
import { SpaceClient, LedgerFailed } from "../../plugins/agent/order/SpaceClient.ts"
import type { Order } from "../../plugins/agent/order/Order.ts"
import * as AgentDaemon from "../../plugins/agent/wake/AgentDaemon.ts"
import * as Settings from "../../plugins/agent/wake/Settings.ts"
import type * as Wake from "../../plugins/agent/wake/Wake.ts"
import * as HashLayer from "../support/HashLayer.ts"
import { MemoryDisk } from "./MemoryDisk.ts"
import { action, fileOf, PATH } from "./TestAgent.ts"

/** A ledger in memory, of which some looks for the enzymes are refused, counted from 1. */
const ledger = (refused: ReadonlyArray<number>): SpaceClient["Service"] => {
  const cells = new Map<string, unknown>()
  let looks = 0
  return {
    queries: Effect.suspend(() => refused.includes(++looks)
      ? Effect.fail(new LedgerFailed({ problem: "space/full", reason: "no room" }))
      : Effect.succeed(["/signals/agent/shell"])),
    get: (cell) => Effect.sync(() => cells.get(cell)),
    all: () => Effect.succeed([]),
    list: () => Effect.succeed([]),
    set: (cell, value) => Effect.sync(() => void cells.set(cell, value)),
    remove: (cell) => Effect.sync(() => void cells.delete(cell)),
    changed: () => Effect.void,
    send: () => Effect.succeed("unhandled")
  }
}

/** Runs an agent for some minutes, and returns the codes that it told, with "report" for a wake; and its end. */
const told = (refused: ReadonlyArray<number>) =>
  Effect.gen(function*() {
    const disk = new MemoryDisk()
    disk.save(PATH, fileOf(action("a", { type: "shell", command: "echo", schedule: "every:1m", status: "pending" })))
    const heard: Array<string> = []
    const host = Layer.mergeAll(Layer.succeed(Disk, disk.service()), HashLayer.layer, Layer.succeed(SpaceClient, ledger(refused)))
    const services = Layer.provideMerge(FileStore.layer(PATH), host)
    const fiber = yield* Effect.forkChild(Effect.gen(function*() {
      const settings: Settings.Settings = { ...Settings.defaults, approval: "none" }
      return yield* AgentDaemon.run("/home/ann", { settings, startup: "1" }, (woken) =>
        Effect.sync(() => void heard.push("ran" in woken ? "report" : woken.code)))
    }).pipe(Effect.provide(services)), { startImmediately: true })
    for (let minute = 0; minute < 4; minute++) {
      yield* Effect.promise(() => new Promise<void>((resolve) => void setImmediate(resolve)))
      yield* TestClock.adjust("61 seconds")
    }
    const end = fiber.pollUnsafe()
    yield* Fiber.interrupt(fiber)
    return { heard, isOver: end !== undefined }
  })

/** An agent that runs for some seconds, by default five. */
interface Residing {
  readonly disk: MemoryDisk
  readonly space: SpaceClient["Service"]
  readonly approval?: "hold" | "none"
  readonly seconds?: number
  /** Runs after each wake, with the number of wakes. */
  /** Runs before each second. */
  readonly at?: (second: number) => void
  readonly after?: (woken: Wake.Report | Wake.Failure, count: number) => void
}

/** Runs an agent, and returns the times that its wakes told as the next ones. */
const residing = ({ after = () => {}, at = () => {}, approval = "none", disk, seconds = 5, space }: Residing) =>
  Effect.gen(function*() {
    const dues: Array<number | undefined> = []
    const host = Layer.mergeAll(Layer.succeed(Disk, disk.service()), HashLayer.layer, Layer.succeed(SpaceClient, space))
    const services = Layer.provideMerge(FileStore.layer(PATH), host)
    const settings: Settings.Settings = { ...Settings.defaults, approval }
    const fiber = yield* Effect.forkChild(Effect.provide(AgentDaemon.run("/home/ann", { settings, startup: "1" }, (woken) =>
      Effect.sync(() => after(woken, dues.push("ran" in woken ? woken.nextDue : undefined)))), services), { startImmediately: true })
    for (let second = 0; second < seconds; second++) {
      at(second)
      yield* Effect.promise(() => new Promise<void>((resolve) => void setImmediate(resolve)))
      yield* TestClock.adjust("1 second")
    }
    yield* Fiber.interrupt(fiber)
    return dues
  })

describe("A resident agent", () => {
  it.effect("survives refusals of the server, and goes on within a minute", () =>
    Effect.gen(function*() {
      const { heard, isOver } = yield* told([2])
      assert.deepStrictEqual([heard.slice(0, 3), isOver], [["report", "agent/ledger", "report"], false])
    }))

  it.effect("ends where the server refuses its first wake", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* told([1]), { heard: [], isOver: true })
    }))

  it.effect("wakes soon for a save that comes between the end of a wake and the wait", () =>
    Effect.gen(function*() {
      const disk = new MemoryDisk()
      const fields = { type: "shell", command: "echo", status: "pending" }
      const text = (year: number) => fileOf(action("a", { ...fields, schedule: `at:${year}-01-01` }))
      disk.save(PATH, text(2100))
      const dues = yield* residing({
        disk,
        space: ledger([]),
        after: (_, count) => {
          if (count === 1) disk.replace(PATH, text(2099))
        }
      })
      assert.deepStrictEqual(dues, [Date.UTC(2100, 0, 1), Date.UTC(2099, 0, 1)])
    }))

  it.effect("asks a server again that refuses after 1, 2 and 4 seconds", () =>
    Effect.gen(function*() {
      const disk = new MemoryDisk()
      disk.save(PATH, fileOf(action("a", { type: "shell", command: "echo", schedule: "at:2100-01-01", status: "pending" })))
      const base = ledger([2, 3, 4])
      const looks: Array<number> = []
      const queries = Effect.andThen(Effect.clockWith((clock) => clock.currentTimeMillis), (now) => {
        looks.push(now)
        return base.queries
      })
      yield* residing({
        disk,
        space: { ...base, queries },
        seconds: 30,
        after: (_, count) => {
          if (count === 1) disk.replace(PATH, fileOf(action("b", { type: "shell", command: "echo", schedule: "at:2100-01-01" })))
        }
      })
      const waits = looks.slice(1).map((time, i) => time - (looks[i] ?? 0))
      assert.deepStrictEqual(waits.slice(1), [1_000, 2_000, 4_000])
    }))

  it.effect("notices a save and a change of a watched path within a minute where the host tells none", () =>
    Effect.gen(function*() {
      const disk = new MemoryDisk()
      const fields = { type: "shell", command: "echo", status: "pending" }
      const watching = action("changed", { ...fields, schedule: "on_change:config.json" })
      const text = (year: number) => fileOf(action("a", { ...fields, schedule: `at:${year}-01-01` }), watching)
      disk.save(PATH, text(2100))
      const sent: Array<number> = []
      let now = 0
      const base = ledger([])
      const send: SpaceClient["Service"]["send"] = (event) => {
        sent.push(now)
        return base.send(event)
      }
      const at = (second: number): void => {
        now = second
        if (second === 10) disk.replace(PATH, text(2099))
        if (second === 70) disk.save("/home/ann/config.json", "2")
      }
      const dues = yield* residing({ disk, space: { ...base, send }, seconds: 200, at })
      assert.deepStrictEqual(dues.slice(0, 2), [Date.UTC(2100, 0, 1), Date.UTC(2099, 0, 1)])
      assert.strictEqual(sent.length, 1)
      assert.isAtMost(sent[0] ?? Infinity, 131)
    }))

  it.effect("wakes soon for a watched path that changes during a wake", () =>
    Effect.gen(function*() {
      const disk = new MemoryDisk()
      const fields = { type: "shell", command: "echo", status: "pending" }
      disk.save(PATH, fileOf(
        action("slow", fields),
        action("changed", { ...fields, schedule: "on_change:config.json" })
      ))
      disk.save("/home/ann/config.json", "1")
      const sent: Array<string> = []
      const base = ledger([])
      const send: SpaceClient["Service"]["send"] = (event) => {
        const { action } = event.payload as Order
        sent.push(action)
        if (action === "slow") disk.save("/home/ann/config.json", "2")
        return base.send(event)
      }
      yield* residing({ disk, space: { ...base, send } })
      assert.deepStrictEqual(sent, ["slow", "changed"])
    }))

  it.effect("starts a program within a minute after a person approved it", () =>
    Effect.gen(function*() {
      const disk = new MemoryDisk()
      disk.save(PATH, fileOf(action("a", { type: "shell", command: "echo", status: "pending" })))
      const approved: Array<string> = []
      const base = ledger([])
      let sent = 0
      const space: SpaceClient["Service"] = {
        ...base,
        list: () => Effect.sync(() => [...approved]),
        send: (event) => {
          sent++
          return base.send(event)
        }
      }
      const after: Residing["after"] = (woken) => {
        if ("ran" in woken) approved.push(...woken.held.map(({ hash }) => hash))
      }
      yield* residing({ disk, space, approval: "hold", seconds: 65, after })
      assert.strictEqual(sent, 1)
    }))
})
