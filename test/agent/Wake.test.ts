import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { replays } from "../kernel/TestSpace.ts"
import { Channel } from "systole"
import * as ControlFiles from "../../plugins/agent/document/ControlFile.ts"
import { DiskFailed } from "../../src/cli/Disk.ts"
import { action, fileOf, KEY, PATH, START, withAgent } from "./TestAgent.ts"

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

  it.effect("keeps a file without room for status lines, and runs nothing of it", () => {
    const full = fileOf(hello).padEnd(ControlFiles.MAX_BYTES - 10, "x")
    return withAgent(full, ({ disk, text, wake }) =>
      Effect.gen(function*() {
        assert.deepInclude(yield* Effect.flip(wake()), { code: "agent/file-damaged" })
        assert.isTrue(text() === full)
        disk.save(PATH, `${full}${"x".repeat(11)}`)
        assert.deepInclude(yield* Effect.flip(wake()), { code: "agent/file-damaged" })
      }))
  })

  it.effect("tells that an action without a delay before its next attempt is due at once", () =>
    withAgent(fileOf(action("bad", { type: "http", url: target, retry: "2", retry_delay: "immediate", status: "pending" })), ({ wake }) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* wake()).nextDue, START + 1000)
        assert.isUndefined((yield* wake()).nextDue)
      }), { scripts: { http: () => ({ status: 503, headers: {}, url: "", body: "" }) } }))

  it.effect("waits before the next attempt as long as the server asks for, and else its own delay", () => {
    const failing = (id: string, fields: object) =>
      action(id, { url: target, retry: "2", retry_delay: "fixed:10s", status: "pending", ...fields })
    const answers = (_: string, { url }: { readonly url: string }) =>
      url === target ? { status: 429, headers: {}, url, body: "", retryAfterMs: 90_000 } : { status: 500, headers: {}, url, body: "" }
    const refused = () => {
      throw Channel.fail("webhook/status", "it answered with 503", { retryable: true, retryAfterMs: 40_000 })
    }
    const signed = { type: "notify", channel: "signed", target, message: "It is down" }
    const other = { type: "http", url: "http://example.com/other" }
    return withAgent(fileOf(failing("a", { type: "http" }), failing("b", signed), failing("c", other)), ({ wake }) =>
      Effect.gen(function*() {
        const until = ({ plan }: { readonly plan: ReadonlyArray<object> }) =>
          plan.map((decision) => (decision as { readonly at?: number }).at ?? 0)
        yield* wake()
        assert.deepStrictEqual(until(yield* wake()).map((at) => at - START), [90_000, 40_000, 10_000])
        yield* TestClock.adjust("89 seconds")
        assert.deepStrictEqual(ids(yield* wake()), ["b", "c"])
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(ids(yield* wake()), ["a"])
      }), { scripts: { http: answers, "webhook-out": refused } })
  })

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

  it.effect("loses no end of an action and no call of on_failure where the disk is full meanwhile", () => {
    let fill = (): void => {}
    const asked: Array<string> = []
    const script = (_: string, { argv }: { readonly argv: ReadonlyArray<string> }) => {
      asked.push(argv[1] ?? "")
      if (argv[1] !== "a") return { code: 0, stdout: "", stderr: "" }
      fill()
      throw Channel.fail("shell/exit", "exit code 1")
    }
    const file = fileOf(
      action("a", { type: "shell", command: "echo a", on_failure: "b", status: "pending" }),
      action("b", { type: "shell", command: "echo b", status: "pending" })
    )
    return withAgent(file, ({ disk, fields, wake }) => Effect.gen(function*() {
      fill = () => void (disk.before = (operation, path) => {
        if (operation === "create") throw new DiskFailed({ operation, path, reason: "ENOSPC" })
      })
      assert.strictEqual((yield* Effect.flip(wake())).code, "agent/disk")
      assert.strictEqual((yield* Effect.flip(wake())).code, "agent/disk")
      disk.before = () => {}
      yield* wake()
      assert.deepStrictEqual(asked, ["a", "b"])
      assert.deepStrictEqual([fields("a")["status"], fields("b")["status"]], ["failed", "completed"])
    }), { scripts: { shell: script } })
  })

  it.effect("runs actions, and their retries, after the clock was set back", () => {
    const asked: Array<string> = []
    const script = (_: string, { argv }: { readonly argv: ReadonlyArray<string> }) => {
      asked.push(argv[1] ?? "")
      if (argv[1] === "bad") throw Channel.fail("shell/exit", "exit code 1")
      return { code: 0, stdout: "", stderr: "" }
    }
    const file = fileOf(
      action("good", { type: "shell", command: "echo good", schedule: "every:5m", status: "pending" }),
      action("bad", { type: "shell", command: "echo bad", retry: "2", retry_delay: "fixed:1m", status: "pending" })
    )
    return withAgent(file, ({ fields, wake }) => Effect.gen(function*() {
      yield* wake()
      yield* TestClock.setTime(START - 86_400_000)
      yield* wake()
      assert.deepStrictEqual(asked, ["good", "bad", "good", "bad"])
      assert.strictEqual(fields("good")["status"], "pending")
      assert.strictEqual(fields("bad")["status"], "failed")
      yield* TestClock.adjust("5 minutes")
      assert.deepStrictEqual(ids(yield* wake()), ["good"])
    }), { scripts: { shell: script } })
  })

  it.effect("keeps the records of a removed action for 30 days, and then deletes them", () => {
    const blocks = ["a", "b"].map((id) => action(id, { type: "shell", command: `echo ${id}`, status: "pending" }))
    return withAgent(fileOf(...blocks), ({ disk, space, text, wake }) => Effect.gen(function*() {
      const folders = ["actions", "history", "permits"].map((name) => `/data/agent/${KEY}/${name}`)
      const kept = Effect.forEach(folders, (folder) => Effect.map(space.list(folder), (names) => names.join()))
      const observed = Effect.map(space.get(`/data/agent/${KEY}/observed`), (value) => value as { readonly removed?: object })
      yield* wake()
      const whole = text()
      const rest = whole.replace(/### \[MEDIUM\] a\n[^#]*/, "")
      const both = ["a,b", "a,b", "a,b"]
      disk.save(PATH, rest)
      yield* wake()
      yield* TestClock.adjust("20 days")
      disk.save(PATH, whole)
      yield* wake()
      assert.notProperty(yield* observed, "removed")
      disk.save(PATH, rest)
      yield* wake()
      const head = yield* space.head
      yield* TestClock.adjust("29 days")
      yield* wake()
      assert.deepStrictEqual([yield* space.head, yield* kept], [head, both])
      yield* TestClock.adjust("1 day")
      yield* wake({ isDry: true })
      assert.deepStrictEqual([yield* space.head, yield* kept], [head, both])
      yield* wake()
      assert.deepStrictEqual(yield* kept, ["b", "b", "b"])
      assert.notProperty(yield* observed, "removed")
      const after = yield* space.head
      yield* wake()
      assert.strictEqual(yield* space.head, after)
    }))
  })

  it.effect("leaves a record alone whose action no file can have", () =>
    withAgent(fileOf(hello), ({ space, wake }) =>
      Effect.gen(function*() {
        const names = ["odd", "constructor"]
        const record = { event: "e", occurrence: "o", attempt: 1, attempts: 1, status: "completed", startedAt: START, pendings: 1 }
        for (const [i, action] of ["no id", "constructor"].entries()) {
          yield* space.set(`/data/agent/${KEY}/actions/${names[i]}`, { ...record, action })
        }
        for (let month = 0; month < 3; month++) {
          yield* wake()
          yield* TestClock.adjust("31 days")
        }
        assert.includeMembers([...yield* space.list(`/data/agent/${KEY}/actions`)], names)
        assert.notProperty(yield* space.get(`/data/agent/${KEY}/observed`), "removed")
      })))

  it.effect("keeps the records of an action whose block has an error", () =>
    withAgent(fileOf(action("a", { type: "shell", command: "echo a", status: "pending" })), ({ disk, space, text, wake }) =>
      Effect.gen(function*() {
        yield* wake()
        disk.save(PATH, text().replace("type**: shell", "type**: shel"))
        yield* wake()
        yield* TestClock.adjust("31 days")
        yield* wake()
        assert.deepStrictEqual(yield* space.list(`/data/agent/${KEY}/history`), ["a"])
      })))

  it.effect("refuses an id that every object has as a key", () =>
    withAgent(fileOf(action("constructor", { type: "shell", command: "echo", status: "pending" }), hello), ({ wake }) =>
      Effect.gen(function*() {
        const report = yield* wake()
        assert.deepStrictEqual(ids(report), ["hello"])
        assert.isTrue(report.issues.some(({ message }) => message.includes("\"constructor\" is reserved")))
      })))
})
