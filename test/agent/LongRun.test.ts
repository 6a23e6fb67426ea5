/**
 * An agent that stays for an hour over 200 actions, while files change again and again.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Disk } from "../../src/cli/Disk.ts"
import * as FileStore from "../../plugins/agent/store/FileStore.ts"
import { SpaceClient } from "../../plugins/agent/order/SpaceClient.ts"
import * as AgentDaemon from "../../plugins/agent/wake/AgentDaemon.ts"
import * as Settings from "../../plugins/agent/wake/Settings.ts"
import * as HashLayer from "../support/HashLayer.ts"
import * as Trials from "../support/Trials.ts"
import { MemoryDisk } from "./MemoryDisk.ts"
import { action, fileOf, PATH } from "./TestAgent.ts"

/** The changes of a soak, which are 600 ms apart and so fill an hour. The work of each tenth of them is compared. */
const TENTH = Trials.count(6_000, 1_000) / 10

/** Each such change is one of a watched path. */
const WATCHED = 50

const ACTIONS = Array.from({ length: 200 }, (_, i) =>
  action(`a${i}`, { type: "shell", command: "echo", schedule: i % 2 === 0 ? `on_change:in${i}.txt` : "at:2100-01-01", status: "pending" }))

/** A host that counts calls of the disk and of the ledger, and open watchers. */
class CountedHost {
  readonly disk = new MemoryDisk()
  readonly watchers = new Set<() => void>()
  calls = 0

  constructor() {
    this.disk.save(PATH, fileOf(...ACTIONS))
    this.disk.before = () => void this.calls++
  }

  readonly changed = (): Effect.Effect<void> => Effect.callback<void>((resume) => {
    const hear = (): void => {
      this.watchers.delete(hear)
      resume(Effect.void)
    }
    this.watchers.add(hear)
    return Effect.sync(() => void this.watchers.delete(hear))
  })

  /** A file changes, and a watcher hears it. */
  change(name: string, text: string): void {
    this.disk.replace(`/home/ann/${name}`, text)
    for (const hear of [...this.watchers].slice(0, 1)) hear()
  }

  get ledger(): SpaceClient["Service"] {
    const cells = new Map<string, unknown>()
    const counted = <A>(value: () => A): Effect.Effect<A> => Effect.sync(() => {
      this.calls++
      return value()
    })
    return {
      queries: counted(() => ["/signals/agent/shell"]),
      get: (cell) => counted(() => cells.get(cell)),
      all: () => counted(() => []),
      list: () => counted(() => []),
      set: (cell, value) => counted(() => void cells.set(cell, value)),
      remove: (cell) => counted(() => void cells.delete(cell)),
      changed: () => Effect.void,
      send: () => Effect.succeed("unhandled")
    }
  }

  get services() {
    const disk = Disk.of({ ...this.disk.service(), changed: this.changed })
    return Layer.provideMerge(
      FileStore.layer(PATH),
      Layer.mergeAll(Layer.succeed(Disk, disk), HashLayer.layer, Layer.succeed(SpaceClient, this.ledger))
    )
  }
}

const turn = Effect.promise(() => new Promise<void>((resolve) => void setImmediate(resolve)))

describe("An agent that stays for an hour", () => {
  it.effect("has as many watchers, and as much work for a change, at its end as at its begin", () => Effect.gen(function*() {
    const host = new CountedHost()
    let wakes = 0
    const request = { settings: { ...Settings.defaults, approval: "none" as const }, startup: "1" }
    const fiber = yield* Effect.forkChild(
      Effect.provide(AgentDaemon.run("/home/ann", request, () => Effect.sync(() => void wakes++)), host.services),
      { startImmediately: true }
    )
    const rows: Array<{ readonly wakes: number; readonly calls: number; readonly watchers: number }> = []
    for (let tenth = 0; tenth < 10; tenth++) {
      const before = { wakes, calls: host.calls }
      let watchers = 0
      for (let i = 0; i < TENTH; i++) {
        const count = wakes
        while (host.watchers.size === 0) yield* turn
        watchers = Math.max(watchers, host.watchers.size)
        const isWatched = i % WATCHED === 0
        host.change(isWatched ? "in0.txt" : "beside.txt", `${tenth}.${i}`)
        yield* TestClock.adjust("600 millis")
        while (wakes === count) yield* turn
      }
      rows.push({ wakes: wakes - before.wakes, calls: host.calls - before.calls, watchers })
    }
    yield* Fiber.interrupt(fiber)
    assert.strictEqual(host.watchers.size, 0)
    const early = rows[1]?.calls ?? 0
    for (const row of rows.slice(1)) {
      assert.deepInclude(row, { wakes: TENTH, watchers: 101 }, "a watcher for each watched path, and one for the folder")
      assert.closeTo(row.calls, early, early / 100)
    }
  }))
})
