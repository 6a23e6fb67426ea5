/**
 * An agent in memory: a space that beats on demand, scripted channels, a disk in memory and the test clock.
 *
 * @module
 */
import { createHash } from "node:crypto"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Reactor, type Channel, type Enzyme, type Kernel, type Space } from "systole"
import plugin from "../../plugins/agent.ts"
import { Disk } from "../../src/cli/Disk.ts"
import * as FileStore from "../../plugins/agent/store/FileStore.ts"
import { SpaceClient, look, sentOf } from "../../plugins/agent/order/SpaceClient.ts"
import * as Settings from "../../plugins/agent/wake/Settings.ts"
import * as Wake from "../../plugins/agent/wake/Wake.ts"
import * as HashLayer from "../support/HashLayer.ts"
import * as TestKernel from "../support/TestKernel.ts"
import { MemoryDisk } from "./MemoryDisk.ts"

/** The path of the control file. */
export const PATH = "/home/ann/heartbeat.md"

/** The key of the control file in the ledger. */
export const KEY = createHash("sha256").update(PATH).digest("hex").slice(0, 32)

/** The time at which a test begins: a Monday. */
export const START = Date.UTC(2024, 0, 15, 10, 30)

/** The answers of a channel by opcode. A promise that stays open is a job in progress. */
export type Script = (opcode: string, payload: never, job: Channel.Job) => unknown

const hosts = ["node", "deno", "bun", "workers"] as const
const opcodes = { fetch: { repeatable: true }, run: {}, read: {}, write: {}, delete: {}, copy: {}, move: {}, glob: {}, stat: {}, send: {} }

const channel = (id: string, script: Script): Channel.Channel => ({
  id,
  provider: "script",
  hosts,
  opcodes,
  execute: async (job) => ({ value: await script(job.opcode, job.payload as never, job) as never })
})

/** The channels of a test. By default each request succeeds. */
export interface Scripts {
  readonly http?: Script
  readonly shell?: Script
  readonly file?: Script
  readonly "webhook-out"?: Script
}

const succeed: Required<Scripts> = {
  http: () => ({ status: 200, headers: {}, url: "", body: "fine" }),
  shell: () => ({ code: 0, stdout: "done\n", stderr: "" }),
  file: () => ({ bytes: 0, paths: [] }),
  "webhook-out": () => ({ status: 200 })
}

/** The channels of scripts, and those that succeed, without some. */
export const channelsOf = (scripts: Scripts, without: ReadonlyArray<string> = []): ReadonlyArray<Channel.Channel> =>
  Object.entries({ ...succeed, ...scripts }).filter(([id]) => !without.includes(id)).map(([id, script]) => channel(id, script))

/** The status lines of an action in a file, by key. */
export const fieldsOf = (text: string, id: string): Readonly<Record<string, string>> => {
  const block = text.split(/^### /m).find((part) => part.includes(`**id**: ${id}\n`)) ?? ""
  return Object.fromEntries([...block.matchAll(/^- \*\*(\w+)\*\*: (.*)$/gm)].map(([, key = "", value = ""]) => [key, value]))
}

/** The ledger in a space, whose enzymes are the types of actions. */
export const ledgerOf = (space: Space, enzymes: ReadonlyArray<Enzyme.Enzyme> = []): SpaceClient["Service"] => ({
  queries: Effect.succeed([...plugin.enzymes, ...enzymes].map(({ query }) => query)),
  get: (cell) => Effect.orDie(space.get(cell)),
  all: (cell) =>
    Effect.flatMap(Effect.orDie(space.list(cell)), (names) => Effect.forEach(names, (name) => Effect.orDie(space.get(`${cell}/${name}`)))),
  list: (cell) => Effect.orDie(space.list(cell)),
  set: (cell, value) => Effect.asVoid(Effect.orDie(space.set(cell, value as never))),
  remove: (cell) => Effect.asVoid(Effect.orDie(space.set(cell, undefined))),
  changed: look,
  send: (event) =>
    space.handled(event).pipe(
      Effect.map(sentOf),
      Effect.catch((error) => "code" in error && error.code === "signal/id-reused" ? Effect.succeed("known" as const) : Effect.die(error))
    )
})

/** An agent with its world. */
export interface Agent {
  readonly disk: MemoryDisk
  readonly space: Space
  readonly text: () => string
  /** Runs a wake. Time moves while it waits. */
  readonly wake: (request?: Partial<Wake.Request>) => Effect.Effect<Wake.Report, Wake.Failure>
  /** The status lines of an action, by key. */
  readonly fields: (id: string) => Readonly<Record<string, string>>
}

/** Moves the clock in steps of a second until an effect ends. */
export const moving = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(effect, { startImmediately: true })
    for (let second = 0; fiber.pollUnsafe() === undefined; second++) {
      for (let turn = 0; turn < 30 && fiber.pollUnsafe() === undefined; turn++) {
        yield* Effect.promise(() => new Promise<void>((resolve) => void setImmediate(resolve)))
      }
      if (fiber.pollUnsafe() === undefined) yield* TestClock.adjust("1 second")
    }
    return yield* Fiber.join(fiber)
  })

/** Runs a test with an agent over a control file. */
export const withAgent = <A, E>(
  text: string,
  test: (agent: Agent) => Effect.Effect<A, E, Kernel>,
  { enzymes = [], scripts = {}, settings = {}, without = [] }: {
    readonly scripts?: Scripts
    /** The channels that the host does not have. */
    readonly without?: ReadonlyArray<string>
    readonly settings?: Partial<Settings.Settings>
    readonly enzymes?: ReadonlyArray<Enzyme.Enzyme>
  } = {}
): Effect.Effect<void, unknown> => {
  const disk = new MemoryDisk()
  disk.save(PATH, text)
  const channels = channelsOf(scripts, without)
  return Effect.gen(function*() {
    yield* TestClock.setTime(START)
    const space = yield* TestKernel.space([...plugin.enzymes, ...enzymes], "agent")
    const host = Layer.mergeAll(Layer.succeed(Disk, disk.service()), HashLayer.layer, Layer.succeed(SpaceClient, ledgerOf(space, enzymes)))
    const read = (): string => disk.text(PATH) ?? ""
    yield* test({
      disk,
      space,
      text: read,
      wake: (request = {}) =>
        moving(Wake.run({
          startup: "1", ...request, settings: { ...Settings.defaults, approval: "none", ...settings, ...request.settings }
        }).pipe(Effect.provide(Layer.fresh(Layer.provideMerge(FileStore.layer(PATH), host))))),
      fields: (id) => fieldsOf(read(), id)
    })
  }).pipe(
    Effect.provide(
      Layer.fresh(TestKernel.layer({ pace: "demand" }, undefined, { reactor: Reactor.native(channels) })) as Layer.Layer<Kernel>
    ),
    Effect.asVoid
  )
}

/** A control file with action blocks. */
export const fileOf = (...blocks: ReadonlyArray<string>): string =>
  ["---", "version: 1", "status: idle", "---", "", "# Heartbeat", "", "## Pending Actions", "", ...blocks, "## Notes", "", "Mine.", ""]
    .join("\n")

/** An action block. */
export const action = (id: string, fields: Readonly<Record<string, string>>, priority = "MEDIUM"): string =>
  [`### [${priority}] ${id}`, `- **id**: ${id}`, ...Object.entries(fields).map(([key, value]) => `- **${key}**: ${value}`), ""].join("\n")
