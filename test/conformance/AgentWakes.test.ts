import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Channel } from "systole"
import { Disk, DiskFailed } from "../../src/cli/Disk.ts"
import * as Lease from "../../plugins/agent/store/Lease.ts"
import * as StoredFile from "../../plugins/agent/store/StoredFile.ts"
import { MemoryDisk } from "../agent/MemoryDisk.ts"
import { action, fileOf, KEY, moving, PATH, withAgent } from "../agent/TestAgent.ts"
import * as HashLayer from "../support/HashLayer.ts"

const shell = (id: string, fields: Readonly<Record<string, string>> = {}, priority?: string): string =>
  action(id, { type: "shell", command: `program ${id}`, status: "pending", ...fields }, priority)

/** A channel that fails for the programs with these names, and keeps the order of all. */
const programs = (failing: ReadonlyArray<string> = []) => {
  const started: Array<string> = []
  return {
    started,
    shell: (_: string, { argv }: { readonly argv: ReadonlyArray<string> }) => {
      const name = argv[1] ?? ""
      started.push(name)
      if (failing.includes(name)) throw Channel.fail("shell/exit", `the program ended with exit code 1`)
      return { code: 0, stdout: `${name} says "hi"; $(x)`, stderr: "" }
    }
  }
}

const frontmatter = (text: string): string => text.split("---")[1] ?? ""

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

const onDisk = (disk: MemoryDisk, pid = 1) =>
  Effect.provide(Layer.mergeAll(Layer.succeed(Disk, disk.service({ pid, host: "here" })), HashLayer.layer))

describe("Conformance O: wakes of an agent", () => {
  it.effect("O18 completion writes the status, the time, the duration and the result, and no other line", () =>
    withAgent(fileOf(shell("a"), "<!-- kept -->\n"), ({ text, wake }) => Effect.gen(function*() {
      const before = text().split("\n")
      yield* wake()
      const added = text().split("\n").filter((line) => !before.includes(line))
      assert.deepStrictEqual(added.filter((line) => line.startsWith("- **")), [
        "- **status**: completed", "- **completed_at**: 2024-01-15T10:30:00Z", "- **duration**: 0.0s", "- **result**: exit 0"
      ])
      assert.deepStrictEqual(before.filter((line) => !text().split("\n").includes(line)), ["- **status**: pending"])
    })))

  it.effect("O20 a failed attempt is repeated after its delay, and the delays grow", () =>
    withAgent(fileOf(shell("a", { retry: "3", retry_delay: "linear:5s" })), ({ fields, wake }) => Effect.gen(function*() {
      yield* wake()
      assert.deepInclude(fields("a"), { status: "pending", retry_count: "1/3", next_retry: "2024-01-15T10:30:05Z" })
      assert.strictEqual((yield* wake()).ran.length, 0)
      yield* TestClock.adjust("5 seconds")
      yield* wake()
      assert.deepInclude(fields("a"), { status: "pending", retry_count: "2/3", next_retry: "2024-01-15T10:30:15Z" })
      yield* TestClock.adjust("10 seconds")
      yield* wake()
      assert.deepInclude(fields("a"), { status: "failed", retry_count: "3/3", error: "the program ended with exit code 1" })
      yield* TestClock.adjust("1 hour")
      assert.strictEqual((yield* wake()).ran.length, 0)
    }), { scripts: programs(["a"]) }))

  it.effect("O21 an attempt beyond its time limit is aborted, and is a failed one", () => {
    let isAborted = false
    const hang = (_: string, __: never, job: Channel.Job) =>
      new Promise(() => job.signal.addEventListener("abort", () => void (isAborted = true)))
    return withAgent(fileOf(shell("a", { timeout: "3s" })), ({ fields, wake }) => Effect.gen(function*() {
      yield* wake()
      assert.strictEqual(fields("a")["status"], "failed")
      assert.isTrue(isAborted)
    }), { scripts: { shell: hang } })
  })

  it.effect("O22 a failed CRITICAL action ends the wake as an error; a failed HIGH one does not", () => {
    const critical = programs(["a"])
    return withAgent(fileOf(shell("b"), shell("a", {}, "CRITICAL")), ({ fields, text, wake }) => Effect.gen(function*() {
      yield* wake()
      assert.deepStrictEqual(critical.started, ["a"])
      assert.strictEqual(fields("b")["status"], "pending")
      assert.include(frontmatter(text()), "status: error\n")
      const high = programs(["a"])
      yield* withAgent(fileOf(shell("b"), shell("a", {}, "HIGH")), (agent) => Effect.gen(function*() {
        yield* agent.wake()
        assert.deepStrictEqual(high.started, ["a", "b"])
        assert.include(frontmatter(agent.text()), "status: idle\n")
      }), { scripts: high })
    }), { scripts: critical })
  })

  it.effect("O23 a background action delays no other one, and its result is written", () => {
    const started: Array<string> = []
    let finish = (): void => {}
    const script = (_: string, { argv }: { readonly argv: ReadonlyArray<string> }) => {
      started.push(argv[1] ?? "")
      if (argv[1] === "b") finish()
      return argv[1] === "a"
        ? new Promise((resolve) => finish = () => resolve({ code: 0, stdout: "", stderr: "" }))
        : { code: 0, stdout: "", stderr: "" }
    }
    return withAgent(fileOf(shell("a", {}, "BG"), shell("b", {}, "HIGH")), ({ fields, wake }) => Effect.gen(function*() {
      yield* wake()
      assert.deepStrictEqual(started.toSorted(), ["a", "b"])
      assert.strictEqual(fields("a")["status"], "completed")
      assert.strictEqual(fields("b")["status"], "completed")
    }), { scripts: { shell: script } })
  })

  it.effect("O27 a recurring action is pending again with its last run; one without a schedule is completed and listed", () =>
    withAgent(fileOf(shell("a", { schedule: "every:5m" }), shell("b")), ({ fields, text, wake }) => Effect.gen(function*() {
      yield* wake()
      assert.deepInclude(fields("a"), { status: "pending", last_run: "2024-01-15T10:30:00Z" })
      assert.strictEqual(fields("b")["status"], "completed")
      assert.include(text(), "## Completed Today\n\n- [x] b: b (10:30:00)\n")
      assert.notInclude(text(), "- [x] a:")
    })))

  it.effect("O28 the output of an earlier action is one argument; that of an action that never ran is a failure", () => {
    const { shell: script } = programs()
    const seen: Array<ReadonlyArray<string>> = []
    const keep = (opcode: string, payload: { readonly argv: ReadonlyArray<string> }) => {
      seen.push(payload.argv)
      return script(opcode, payload)
    }
    const file = fileOf(
      shell("a", { capture_output: "true" }, "HIGH"),
      shell("b", { command: "mail '${output:a}' x" }),
      shell("c", { command: "mail ${output:d}" }),
      shell("d", { schedule: "at:2030-01-01T00:00:00Z" })
    )
    return withAgent(file, ({ fields, wake }) => Effect.gen(function*() {
      yield* wake()
      assert.deepStrictEqual(seen.at(-1), ["mail", "a says \"hi\"; $(x)", "x"])
      assert.strictEqual(fields("c")["status"], "failed")
      assert.include(fields("c")["error"], "the action d has never run")
    }), { scripts: { shell: keep } })
  })

  it.effect("O29 the second of two wakes waits for the first one; each occurrence has one event", () => {
    const world = programs()
    return withAgent(fileOf(shell("a"), shell("b")), ({ disk, space, wake }) => Effect.gen(function*() {
      const [first, second] = yield* Effect.all([wake(), wake()], { concurrency: 2 })
      assert.deepStrictEqual(world.started.toSorted(), ["a", "b"])
      assert.isAtLeast(first.ran.length + second.ran.length, 2)
      const history = yield* space.get(`/data/agent/${KEY}/history/a`)
      assert.strictEqual((history as ReadonlyArray<unknown>).length, 1)
      const held = new MemoryDisk()
      held.save(PATH, disk.text(PATH) ?? "")
      const place = yield* StoredFile.place(PATH).pipe(onDisk(held))
      held.alive.add(2)
      yield* Effect.scoped(Effect.gen(function*() {
        yield* Lease.take(place, "wake").pipe(onDisk(held))
        const failed = yield* moving(Effect.flip(Effect.scoped(Lease.take(place, "wake").pipe(onDisk(held, 2)))))
        assert.strictEqual(failed.code, "agent/locked")
        assert.include(failed.message, "process 1 on here")
      }))
      yield* Effect.scoped(Lease.take(place, "wake").pipe(onDisk(held, 2)))
      assert.isUndefined(held.text(`${PATH}.lock`))
    }), { scripts: world })
  })

  it.effect("O30 a lock of a dead owner is taken over, also after less than five minutes, and one of a live owner never", () =>
    Effect.gen(function*() {
      const disk = new MemoryDisk()
      disk.save(PATH, "")
      const place = yield* StoredFile.place(PATH).pipe(onDisk(disk))
      const taken = Effect.scoped(Lease.take(place, "wake").pipe(onDisk(disk, 2)))
      disk.alive.add(2)
      disk.save(`${PATH}.lock`, JSON.stringify({ pid: 1, host: "here", kind: "wake", at: 0 }))
      yield* TestClock.adjust("1 hour")
      assert.isTrue(Exit.isFailure(yield* moving(Effect.exit(taken))))
      disk.alive.delete(1)
      disk.save(`${PATH}.lock`, JSON.stringify({ pid: 1, host: "there", kind: "wake", at: 0 }))
      assert.isTrue(Exit.isFailure(yield* moving(Effect.exit(taken))))
      disk.save(`${PATH}.lock`, JSON.stringify({ pid: 1, host: "here", kind: "wake", at: 3_600_000 }))
      yield* taken
      assert.deepStrictEqual(disk.list("/home/ann"), ["heartbeat.md"])
    }))

  it.effect("O31 an end of the process between the temporary file and the replacement keeps the old file", () => {
    const disk = new MemoryDisk()
    disk.save(PATH, "old")
    return Effect.gen(function*() {
      const place = yield* StoredFile.place(PATH)
      disk.before = (operation, path) => {
        if (operation === "rename") throw new DiskFailed({ operation, path, reason: "EIO" })
      }
      assert.isTrue(Exit.isFailure(yield* Effect.exit(StoredFile.replace(place, bytes("old"), bytes("new")))))
      disk.before = () => {}
      assert.strictEqual(disk.text(PATH), "old")
      yield* StoredFile.tend(place)
      assert.deepStrictEqual(disk.list("/home/ann"), ["heartbeat.md"])
    }).pipe(onDisk(disk))
  })

  it.effect("O33 a wake that runs an action backs the file up; one with nothing due writes nothing", () =>
    withAgent(fileOf(shell("a", { schedule: "every:1h" })), ({ disk, text, wake }) => Effect.gen(function*() {
      const before = text()
      yield* wake()
      assert.deepStrictEqual(disk.list("/home/ann/history"), ["heartbeat-20240115-103000.md", "heartbeat-latest-valid.md"])
      assert.strictEqual(disk.text("/home/ann/history/heartbeat-20240115-103000.md"), before)
      const after = text()
      yield* TestClock.adjust("1 minute")
      const written: Array<string> = []
      disk.before = (operation, path) => void (["create", "rename", "link"].includes(operation) && written.push(path))
      yield* wake()
      assert.deepStrictEqual(written, [])
      assert.strictEqual(text(), after)
    })))

  it.effect("O35 an action that the file tells as running, and no run knows, counts as a failed attempt", () =>
    withAgent(fileOf(shell("a", { status: "running", retry: "2" }), shell("b")), ({ fields, wake }) => Effect.gen(function*() {
      yield* wake()
      assert.deepInclude(fields("a"), { status: "pending", retry_count: "1/2", error: "the agent ended before the action began" })
      assert.strictEqual(fields("b")["status"], "completed")
      yield* TestClock.adjust("1 minute")
      yield* wake()
      assert.strictEqual(fields("a")["status"], "completed")
    })))

  it.effect("O36 the frontmatter tells the last and the next wake, counts failed wakes, and is running meanwhile", () => {
    const seen: Array<string> = []
    let read = (): string => ""
    const script = () => {
      seen.push(frontmatter(read()))
      if (seen.length === 1) throw Channel.fail("shell/exit", "exit code 1")
      return { code: 0, stdout: "", stderr: "" }
    }
    return withAgent(fileOf(shell("a", { schedule: "every:5m" })), ({ text, wake }) => Effect.gen(function*() {
      read = text
      yield* wake()
      assert.include(seen[0], "status: running\n")
      assert.include(frontmatter(text()), "last_wake: 2024-01-15T10:30:00Z\nnext_wake: 2024-01-15T10:35:00Z\nerror_count: 1\n")
      assert.include(frontmatter(text()), "last_error: \"a: exit code 1\"\n")
      yield* TestClock.adjust("5 minutes")
      const report = yield* wake({ settings: { budget: 1 } as never })
      assert.isTrue(report.hasNewSettings)
      assert.include(frontmatter(text()), "status: idle\n")
      assert.include(frontmatter(text()), "error_count: 0\nlast_error: null\n")
    }), { scripts: { shell: script } })
  })

  it.effect("O37 a dry wake runs and writes nothing; a forced one ignores schedules and not dependencies", () => {
    const world = programs()
    const file = fileOf(
      shell("a", { schedule: "at:2030-01-01T00:00:00Z" }),
      shell("b", { depends_on: "c" }),
      shell("c", { status: "running-late" })
    )
    return withAgent(file, ({ disk, text, wake }) => Effect.gen(function*() {
      const before = text()
      const written: Array<string> = []
      disk.before = (operation, path) => void (["create", "rename", "link", "remove"].includes(operation) && written.push(path))
      const dry = yield* wake({ isDry: true, forced: "all" })
      assert.deepStrictEqual(dry.plan.map(({ action: { id }, kind }) => [id, kind]), [["a", "run"], ["b", "block"], ["c", "rest"]])
      assert.deepStrictEqual([written, world.started, text()], [[], [], before])
      disk.before = () => {}
      yield* wake({ forced: "all" })
      assert.deepStrictEqual(world.started, ["a"])
    }), { scripts: world })
  })

  it.effect("O38 a line for a shell is refused before a program starts, and an unapproved program is held", () => {
    const world = programs()
    const file = fileOf(shell("a", { command: "cat x | mail y" }), shell("b"))
    return withAgent(file, ({ space, text, wake }) => Effect.gen(function*() {
      const before = text()
      const { held, issues } = yield* wake({ settings: { approval: "hold" } as never })
      assert.deepStrictEqual([world.started, text()], [[], before])
      assert.deepStrictEqual(held.map(({ action: { id } }) => id), ["b"])
      for (const { hash } of held) yield* space.set(`/data/agent/${KEY}/approved/${hash}`, {})
      yield* wake({ settings: { approval: "hold" } as never })
      assert.deepStrictEqual(world.started, ["b"])
      const [{ message = "", suggestion = "" } = {}] = issues
      assert.strictEqual(message, "The command is no line of words: | at character 7 needs a shell")
      assert.strictEqual(suggestion, "put the line into a script, and run that as the command")
    }), { scripts: world })
  })

  it.effect("O39 http_check expects 2xx, and its result is the status", () => {
    let status = 200
    const http = () => ({ status, headers: {}, url: "", body: "" })
    const check = action("a", { type: "http_check", target: "http://x.test/", schedule: "every:5m", status: "pending" })
    return withAgent(fileOf(check), (agent) =>
      Effect.gen(function*() {
        yield* agent.wake()
        assert.strictEqual(agent.fields("a")["result"], "OK (200)")
        status = 503
        yield* TestClock.adjust("5 minutes")
        yield* agent.wake()
        assert.deepInclude(agent.fields("a"), {
          status: "failed", error: "The server answered with Service Unavailable (503), and 2xx is expected"
        })
      }), { scripts: { http } })
  })

  it.effect("O41 a sequential composite ends at a failure, and a parallel one waits for all members", () => {
    const world = programs(["b"])
    const members = [shell("a"), shell("b"), shell("c")]
    const composite = (id: string, mode: string): string =>
      action(id, { type: "composite", actions: "a, b, c", mode, fail_fast: "true", status: "pending" })
    return withAgent(fileOf(composite("all", "sequential"), ...members), ({ fields, wake }) => Effect.gen(function*() {
      yield* wake()
      assert.deepStrictEqual(world.started, ["a", "b"])
      assert.deepInclude(fields("all"), { status: "failed", error: "b failed" })
      assert.deepStrictEqual(["a", "b", "c"].map((id) => fields(id)["status"]), ["completed", "failed", "pending"])
      const other = programs(["b"])
      yield* withAgent(fileOf(composite("all", "parallel"), ...members), (agent) => Effect.gen(function*() {
        yield* agent.wake()
        assert.deepStrictEqual(other.started.toSorted(), ["a", "b", "c"])
        assert.strictEqual(agent.fields("c")["status"], "completed")
      }), { scripts: other })
      yield* withAgent(fileOf(composite("all", "parallel").replace("a, b, c", "a, x")), (agent) => Effect.gen(function*() {
        const { issues, ran } = yield* agent.wake()
        assert.deepStrictEqual(ran, [])
        assert.isTrue(issues.some(({ message }) => message.includes("\"x\"")))
      }))
    }), { scripts: world })
  })

  it.effect("O42 an action runs once in a wake, even if its own completion makes it due again", () => {
    const world = programs()
    return withAgent(fileOf(shell("a", { schedule: "every:1s" }), shell("b", { timeout: "5s" })), ({ wake }) => Effect.gen(function*() {
      yield* wake()
      assert.deepStrictEqual(world.started, ["a", "b"])
    }), { scripts: world })
  })
})
