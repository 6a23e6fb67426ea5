import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { replays } from "../kernel/TestSpace.ts"
import { action, fileOf, PATH, withAgent } from "./TestAgent.ts"

const target = "http://example.com/health"
const health = action("health", { type: "http_check", target, schedule: "every:5m", status: "pending" }, "HIGH")
const hello = action("hello", { type: "shell", command: "echo hello", status: "pending" })

/** The ids of the actions of a wake that ran, in order. */
const ids = (report: { readonly ran: ReadonlyArray<{ readonly action: { readonly id: string } }> }): ReadonlyArray<string> =>
  report.ran.map(({ action }) => action.id)

describe("Wake", () => {
  it.effect("runs the actions that are due, and its space replays to the same beats", () =>
    withAgent(fileOf(hello, health), ({ fields, space, text, wake }) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(ids(yield* wake()), ["health", "hello"])
        assert.strictEqual(fields("hello")["result"], "exit 0")
        assert.include(text(), "- [x] hello: hello (10:30:00)")
        assert.include(text(), "\nMine.\n")
        yield* replays(space)
      })))

  it.effect("runs a recurring action again after its interval only", () =>
    withAgent(fileOf(health), ({ fields, wake }) =>
      Effect.gen(function*() {
        yield* wake()
        assert.strictEqual(fields("health")["result"], "OK (200)")
        assert.strictEqual(fields("health")["status"], "pending")
        assert.deepStrictEqual(ids(yield* wake()), [])
        yield* TestClock.adjust("5 minutes")
        assert.deepStrictEqual(ids(yield* wake()), ["health"])
      })))

  it.effect("runs an action again that a person sets to pending", () =>
    withAgent(fileOf(hello), ({ disk, text, wake }) =>
      Effect.gen(function*() {
        yield* wake()
        assert.deepStrictEqual(ids(yield* wake()), [])
        disk.replace(PATH, text().replace("- **status**: completed", "- **status**: pending"))
        assert.deepStrictEqual(ids(yield* wake()), ["hello"])
      })))

  it.effect("runs an action at each start of the agent, and at each change of a watched path", () => {
    const start = action("start", { type: "http", url: target, schedule: "startup", status: "pending" })
    const changed = action("changed", { type: "http", url: target, schedule: "on_change:app.json", status: "pending" })
    return withAgent(fileOf(start, changed), ({ disk, wake }) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(ids(yield* wake()), ["start"])
        assert.deepStrictEqual(ids(yield* wake()), [])
        disk.save("/home/ann/app.json", "{}")
        assert.deepStrictEqual(ids(yield* wake()), ["changed"])
        assert.deepStrictEqual(ids(yield* wake()), [])
        disk.names.delete("/home/ann/app.json")
        assert.deepStrictEqual(ids(yield* wake({ startup: "2" })), ["start", "changed"])
        disk.save("/home/ann/app.json", "{}")
        assert.deepStrictEqual(ids(yield* wake({ startup: "2" })), ["changed"])
      }))
  })

  it.effect("keeps the save of a person who edits the file during a wake, and writes its status into it", () => {
    let save = (): void => {}
    const script = () => {
      save()
      return { code: 0, stdout: "", stderr: "" }
    }
    return withAgent(fileOf(hello), ({ disk, fields, text, wake }) =>
      Effect.gen(function*() {
        save = () => disk.replace(PATH, text().replace("Mine.", "Mine, and more.").replace("echo hello", "echo bye"))
        const { isWritten } = yield* wake()
        assert.isTrue(isWritten)
        assert.include(text(), "Mine, and more.")
        assert.deepInclude(fields("hello"), { command: "echo bye", status: "completed", result: "exit 0" })
      }), { scripts: { shell: script } })
  })

  it.effect("leaves a file alone that a person has broken meanwhile, and writes its status after the correction", () => {
    let save = (): void => {}
    const script = () => {
      save()
      return { code: 0, stdout: "", stderr: "" }
    }
    return withAgent(fileOf(hello), ({ disk, fields, text, wake }) =>
      Effect.gen(function*() {
        const broken = "no frontmatter"
        const before = text()
        save = () => disk.replace(PATH, broken)
        assert.isFalse((yield* wake()).isWritten)
        assert.strictEqual(text(), broken)
        assert.strictEqual((yield* Effect.flip(wake())).code, "agent/file-damaged")
        disk.replace(PATH, before.replace("pending", "running"))
        assert.deepStrictEqual(ids(yield* wake()), [])
        assert.strictEqual(fields("hello")["status"], "completed")
      }), { scripts: { shell: script } })
  })

  it.effect("restores a file of NUL bytes from the latest valid version, and keeps it", () =>
    withAgent(fileOf(hello), ({ disk, text, wake }) =>
      Effect.gen(function*() {
        yield* wake()
        const valid = text()
        disk.replace(PATH, "\0\0")
        const { copies } = yield* wake()
        assert.strictEqual(text(), valid)
        assert.strictEqual(disk.text(`/home/ann/${copies[0] ?? ""}`), "\0\0")
      })))

  it.effect("calls the action of on_failure once, also after a CRITICAL failure", () => {
    const site = action("site", { type: "http_check", target, on_failure: "alert", status: "pending" }, "CRITICAL")
    const alert = action("alert", { type: "notify", channel: "slack", target, message: "It is down", status: "pending" })
    const asked: Array<string> = []
    const http = (_: string, { method }: { readonly method: string }) => {
      asked.push(method)
      return { status: method === "GET" ? 503 : 200, headers: {}, url: "", body: "" }
    }
    return withAgent(fileOf(alert, site, hello), ({ fields, wake }) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(ids(yield* wake()), ["site", "alert"])
        assert.deepStrictEqual(asked, ["GET", "POST"])
        assert.strictEqual(fields("alert")["status"], "completed")
        assert.deepStrictEqual(ids(yield* wake()), ["hello"])
      }), { scripts: { http } })
  })
})
