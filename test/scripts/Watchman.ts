/**
 * The example of the watchman in fast-forward: real requests and programs, under a clock that the script moves.
 *
 * @module
 */
import { Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Pacemaker, Reporter, Slices } from "systole"
import definition from "../../examples/watchman/systole.config.ts"
import * as Site from "../../examples/watchman/site.ts"
import agent from "../../plugins/agent.ts"
import * as FileStore from "../../plugins/agent/store/FileStore.ts"
import { SpaceClient } from "../../plugins/agent/order/SpaceClient.ts"
import * as Settings from "../../plugins/agent/wake/Settings.ts"
import * as Wake from "../../plugins/agent/wake/Wake.ts"
import * as Config from "../../src/loader/Config.ts"
import * as HostDisk from "../../src/main/host/HostDisk.ts"
import * as HostHash from "../../src/main/host/HostHash.ts"
import * as HostModules from "../../src/main/module/HostModules.ts"
import * as Project from "../../src/main/composition/Project.ts"
import * as TestPacemaker from "../../src/main/testing/TestPacemaker.ts"
import { ledgerOf } from "../agent/TestAgent.ts"
import { root } from "./Host.ts"

/** The begin and the end: two hours of a Monday. */
const BEGIN = Date.UTC(2024, 0, 15, 10)
const END = BEGIN + 2 * 3_600_000

/** The time in which the site is not well. */
const ILLNESS = [BEGIN + 20 * 60_000, BEGIN + 31 * 60_000] as const

/** The control file before and after, the attempts, and the messages that the site got. */
export interface Story {
  readonly before: string
  readonly after: string
  readonly ran: ReadonlyArray<{ readonly at: string; readonly id: string; readonly status: string; readonly told: string }>
  readonly heard: ReadonlyArray<string>
  readonly report: string
}

const rowOf = ({ action: { id }, record }: Wake.Ran): Story["ran"][number] => ({
  at: new Date(record.startedAt).toISOString().slice(11, 19),
  id,
  status: record.status,
  told: record.failure?.message ?? record.result ?? ""
})

/** Runs two hours of the agent in a copy of the example. */
export const fastForward = (): Promise<Story> => {
  const folder = mkdtempSync(join(tmpdir(), "systole-watchman-"))
  cpSync(join(root, "examples", "watchman"), folder, { recursive: true })
  const path = join(folder, "heartbeat.md")
  return Effect.runPromise(Effect.scoped(Effect.gen(function*() {
    const site = yield* Effect.acquireRelease(Effect.promise(() => Site.start(0)), ({ close }) => Effect.promise(close))
    const before = readFileSync(path, "utf8").replaceAll(":4280/", `:${site.port}/`)
    writeFileSync(path, before)
    const config = yield* Config.decode({ ...definition, persistence: "memory" }, { parts: { agent } })
    const pacemaker = yield* Layer.build(TestPacemaker.layer)
    const project = yield* Project.open({ ...config, kernel: { ...config.kernel, create: "on-demand" } }, {
      root: folder,
      modules: Layer.fresh(HostModules.layer(folder).pipe(Layer.provide(HostHash.layer))),
      slices: Slices.all,
      pacemaker: Layer.succeed(Pacemaker, Context.get(pacemaker, Pacemaker)),
      reporter: new Reporter(() => {})
    })
    const space = yield* project.kernel.space("agent")
    const host = Layer.mergeAll(HostDisk.layer(() => true), HostHash.layer, Layer.succeed(SpaceClient, ledgerOf(space)))
    const services = Layer.provideMerge(FileStore.layer(path), host)
    const ran: Array<Story["ran"][number]> = []
    yield* Effect.gen(function*() {
      for (let now = BEGIN; now <= END;) {
        yield* TestClock.setTime(now)
        site.isWell = now < ILLNESS[0] || now >= ILLNESS[1]
        const report = yield* Wake.run({ startup: "demo", settings: { ...Settings.defaults, approval: "none" } })
        ran.push(...report.ran.map(rowOf))
        now = Math.max(report.nextDue ?? END + 1, now + 1000)
      }
    }).pipe(Effect.provide(services))
    return {
      before, ran, heard: [...site.heard], after: readFileSync(path, "utf8"), report: readFileSync(join(folder, "report.txt"), "utf8")
    }
  })).pipe(
    Effect.provide(TestClock.layer()),
    Effect.ensuring(Effect.sync(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })))
  ))
}

/** The lines of two texts with the longest common ones kept: ` ` for a kept line, `-` for a removed one, `+` for an added one. */
export const difference = (before: string, after: string): ReadonlyArray<string> => {
  const [a, b] = [before.split("\n"), after.split("\n")]
  const common = Array.from({ length: a.length + 1 }, () => Array.from({ length: b.length + 1 }, () => 0))
  const at = (i: number, j: number): number => common[i]?.[j] ?? 0
  for (let i = a.length - 1; i >= 0; i--) {
    const row = common[i] ?? []
    for (let j = b.length - 1; j >= 0; j--) row[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  }
  const lines: Array<string> = []
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push(` ${a[i++]}`)
      j++
    } else if (i < a.length && (j === b.length || at(i + 1, j) >= at(i, j + 1))) lines.push(`-${a[i++]}`)
    else lines.push(`+${b[j++]}`)
  }
  return lines
}
