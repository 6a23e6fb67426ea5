import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Disk } from "../../src/agent/Disk.ts"
import * as FileStore from "../../src/agent/FileStore.ts"
import { Ledger, LedgerFailed } from "../../src/agent/Ledger.ts"
import * as Resident from "../../src/agent/Resident.ts"
import * as Settings from "../../src/agent/Settings.ts"
import * as HashLayer from "../support/HashLayer.ts"
import { MemoryDisk } from "./MemoryDisk.ts"
import { action, fileOf, PATH } from "./TestAgent.ts"

/** A ledger in memory, of which some looks for the enzymes are refused, counted from 1. */
const ledger = (refused: ReadonlyArray<number>): Ledger["Service"] => {
  const cells = new Map<string, unknown>()
  let looks = 0
  return {
    queries: Effect.suspend(() => refused.includes(++looks)
      ? Effect.fail(new LedgerFailed({ problem: "space/full", reason: "no room" }))
      : Effect.succeed(["/signals/agent/shell"])),
    get: (cell) => Effect.sync(() => cells.get(cell)),
    list: () => Effect.succeed([]),
    set: (cell, value) => Effect.sync(() => void cells.set(cell, value)),
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
    const host = Layer.mergeAll(Layer.succeed(Disk, disk.service()), HashLayer.layer, Layer.succeed(Ledger, ledger(refused)))
    const services = Layer.provideMerge(FileStore.layer(PATH), host)
    const fiber = yield* Effect.forkChild(Effect.gen(function*() {
      const settings: Settings.Settings = { ...Settings.defaults, approval: "none" }
      return yield* Resident.run("/home/ann", { settings, startup: "1" }, (woken) =>
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
})
