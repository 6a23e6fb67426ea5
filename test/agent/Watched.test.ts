/**
 * Watched paths: the changes that begin actions, and those of the agent itself.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Disk } from "../../src/cli/Disk.ts"
import * as HostDisk from "../../src/main/host/HostDisk.ts"
import { action, type Agent, fileOf, withAgent } from "./TestAgent.ts"

const FOLDER = "/home/ann"

const watching = (id: string, path: string, fields: Readonly<Record<string, string>> = {}): string =>
  action(id, { type: "shell", command: `${id} x`, schedule: `on_change:${path}`, status: "pending", ...fields })

/** Programs that write files, with the names of those that ran. */
const programs = (writes: Readonly<Record<string, string>>) => {
  const started: Array<string> = []
  const held: { agent?: Agent } = {}
  let written = 0
  const shell = (_: string, { argv: [program = ""] }: { readonly argv: ReadonlyArray<string> }) => {
    started.push(program)
    const path = writes[program]
    if (path !== undefined) held.agent?.disk.replace(`${FOLDER}/${path}`, `${++written}`)
    return { code: 0, stdout: "", stderr: "" }
  }
  return { started, held, scripts: { shell: shell as never } }
}

/** Runs wakes after the first, each with what happens before it, and returns the programs of each. */
const wakes = (text: string, writes: Readonly<Record<string, string>>, before: ReadonlyArray<(agent: Agent) => void>) =>
  Effect.suspend(() => {
    const { held, scripts, started } = programs(writes)
    const ran: Array<ReadonlyArray<string>> = []
    return withAgent(text, Effect.fnUntraced(function*(agent) {
      held.agent = agent
      yield* agent.wake()
      for (const happen of before) {
        happen(agent)
        yield* agent.wake()
        ran.push(started.splice(0))
      }
    }), { scripts }).pipe(Effect.as(ran))
  })

const nothing = (): void => {}
const save = (path: string, text: string) => ({ disk }: Agent): void => disk.replace(`${FOLDER}/${path}`, text)

describe("A watched path", () => {
  it.effect("begins its action at a change of a person, and not at the action's own output", () =>
    Effect.gen(function*() {
      const own = { build: "src/out.txt" }
      const ran = yield* wakes(fileOf(watching("build", "src/out.txt")), own, [save("src/out.txt", "a"), nothing, save("src/out.txt", "b")])
      assert.deepStrictEqual(ran, [["build"], [], ["build"]])
    }))

  it.effect("begins its action at the output of another one", () =>
    Effect.gen(function*() {
      const file = fileOf(watching("deploy", "out.txt"), watching("build", "in.txt"))
      const ran = yield* wakes(file, { build: "out.txt" }, [save("in.txt", "a"), nothing, nothing])
      assert.deepStrictEqual(ran.flat(), ["build", "deploy"])
    }))

  it.effect("that is the control file begins its action at a save, and not at the agent's status lines", () =>
    Effect.gen(function*() {
      const once = action("once", { type: "shell", command: "once", schedule: "every:1s", status: "pending" })
      const note = ({ disk, text }: Agent): void => disk.replace("/home/ann/heartbeat.md", `${text()}One more line.\n`)
      const ran = yield* wakes(fileOf(once, watching("plan", "heartbeat.md")), {}, [nothing, note, nothing])
      assert.deepStrictEqual(ran.map((each) => each.filter((id) => id === "plan")), [[], ["plan"], []])
    }))
})

describe("An action that returns after its records are gone", () => {
  const once = (fields: Readonly<Record<string, string>>): string =>
    action("back", { type: "shell", command: "back", status: "pending", ...fields })

  it.effect.each([
    ["without a schedule", {}],
    ["with a time that is past", { schedule: "at:2024-01-15" }],
    ["with an interval", { schedule: "every:1d" }],
    ["that watches a path", { schedule: "on_change:in.txt" }]
  ] as const)("%s runs as a new one", ([, fields]) => {
    const { scripts, started } = programs({})
    return withAgent(fileOf(once(fields)), Effect.fnUntraced(function*({ disk, fields: lines, wake }) {
      const life = Effect.fnUntraced(function*(present: string) {
        disk.replace(`${FOLDER}/in.txt`, "before")
        disk.replace(`${FOLDER}/heartbeat.md`, present)
        yield* wake()
        disk.replace(`${FOLDER}/in.txt`, "after")
        yield* wake()
        return [started.splice(0), lines("back")["error"]] as const
      })
      const first = yield* life(fileOf(once(fields)))
      assert.deepStrictEqual(first, [["back"], undefined])
      for (let look = 0; look < 2; look++) {
        disk.replace(`${FOLDER}/heartbeat.md`, fileOf())
        yield* wake()
        yield* TestClock.adjust("31 days")
      }
      assert.deepStrictEqual(yield* life(fileOf(once(fields))), first)
    }), { scripts })
  })
})

/** The inotify watches of this process. */
const watches = (): number =>
  readdirSync("/proc/self/fdinfo").reduce((sum, name) => {
    try {
      return sum + readFileSync(`/proc/self/fdinfo/${name}`, "utf8").split("\n").filter((line) => line.startsWith("inotify wd")).length
    } catch {
      return sum
    }
  }, 0)

describe("A watcher of a real disk", () => {
  it.effect.skipIf(!existsSync("/proc/self/fdinfo"))("is closed after its change, and after its interruption", () =>
    Effect.gen(function*() {
      const folder = mkdtempSync(join(tmpdir(), "systole-watched-"))
      const disk = yield* Disk
      const before = watches()
      for (let i = 0; i < 20; i++) {
        const path = join(folder, `${i}`)
        mkdirSync(path)
        const [heard, stopped] = [yield* Effect.forkChild(disk.changed(path), { startImmediately: true }),
          yield* Effect.forkChild(disk.changed(join(folder, `${i}`)), { startImmediately: true })]
        yield* Fiber.interrupt(stopped)
        writeFileSync(join(path, "a"), "")
        yield* Fiber.join(heard)
      }
      // The host gives up its own part of a watcher after the callback.
      yield* Effect.promise(() => new Promise<void>((resolve) => void setImmediate(resolve)))
      assert.strictEqual(watches(), before)
      rmSync(folder, { recursive: true })
    }).pipe(Effect.provide(Layer.mergeAll(HostDisk.layer(() => true)))))
})
