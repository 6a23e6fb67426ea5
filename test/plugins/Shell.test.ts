import { afterEach, assert, describe, it } from "@effect/vitest"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { type Channel, Plugin, type Value } from "systole"
import shell from "../../plugins/shell.ts"
import { current } from "../scripts/Host.ts"
import * as TestJob from "../support/TestJob.ts"

const folders: Array<string> = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** A shell that takes any arguments. */
const SH = { program: "/bin/sh", args: "any", options: ["-c"] } as const

const opened = (options: Readonly<Record<string, unknown>> = { allow: [SH] }) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "systole-shell-")))
  folders.push(folder)
  const make = shell.provides.channels?.["shell"]
  if (make === undefined) throw new Error("the plugin has no channel")
  const channel = make({ id: "shell", root: folder, folder, host: current(), options })
  return { channel, folder, root: join(folder, "files") }
}

/** A command that outlives the time-out of a test: one that ended by itself would look like one that was killed. */
const endless = "sleep 400"

const script = (text: string, ...args: ReadonlyArray<string>): ReadonlyArray<string> => ["/bin/sh", "-c", text, "sh", ...args]

const value = async (channel: Channel.Definition, payload: Value): Promise<unknown> =>
  (await TestJob.run(channel, TestJob.make("run", payload))).value

const failure = async (channel: Channel.Definition, payload: Value): Promise<Channel.ChannelError> => {
  const found = await TestJob.failure(channel, TestJob.make("run", payload))
  assert.include(found.message, "R1", "the message names the request")
  return found
}

/** Waits for a condition of the world outside. */
const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

/** Whether a process runs. One that ended and that its parent has not asked for is a zombie. */
const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return !existsSync(`/proc/${pid}/stat`) || !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"))
  } catch {
    return false
  }
}

/** The process id that a program wrote, once it is there. */
const pidIn = async (file: string): Promise<number> => {
  const read = (): string => existsSync(file) ? readFileSync(file, "utf8") : ""
  await until(() => read().endsWith("\n"))
  return Number(read())
}

describe("The shell channel", () => {
  it("has a time for its jobs that lets each program end by its own limits first", () => {
    assert.strictEqual(opened({ millis: 20, graceMillis: 10 }).channel.timeoutMs, 10_030)
    assert.strictEqual(opened({ millis: 2 ** 31 - 1 }).channel.timeoutMs, 2 ** 31 - 1)
    assert.strictEqual(opened({}).channel.timeoutMs, 2 ** 31 - 1, "a request may ask for any time")
  })

  it("runs an allowed program below its root by its relative path, and none that a link or .. leads to", async () => {
    const allow = ["./scripts/backup.sh", "./link/backup.sh", "./out.sh", "./../backup.sh", "./no.sh"]
    const { channel, folder, root } = opened({ allow })
    const text = "#!/bin/sh\necho saved\n"
    mkdirSync(join(root, "scripts"), { recursive: true })
    for (const path of [join(root, "scripts", "backup.sh"), join(folder, "backup.sh"), join(root, "scripts", "other.sh")]) {
      writeFileSync(path, text, { mode: 0o755 })
    }
    symlinkSync(folder, join(root, "link"))
    symlinkSync(join(folder, "backup.sh"), join(root, "out.sh"))
    const found = await value(channel, { argv: ["./scripts/backup.sh"], cwd: "scripts" })
    assert.deepStrictEqual(found, { code: 0, stdout: "saved\n", stderr: "" })
    for (const program of ["./link/backup.sh", "./out.sh", "./../backup.sh", "./scripts/other.sh", "scripts/backup.sh"]) {
      assert.strictEqual((await failure(channel, { argv: [program] })).code, "shell/refused", program)
    }
    assert.strictEqual((await failure(channel, { argv: ["./no.sh"] })).code, "io/absent")
  })

  it("runs a program with its arguments, input, folder and environment", async () => {
    const { channel, root } = opened({ allow: [SH], env: ["GREETING"] })
    mkdirSync(join(root, "sub"), { recursive: true })
    const result = await TestJob.run(channel, TestJob.make("run", {
      argv: script("printf '%s %s ' \"$GREETING\" \"$1\"; pwd; cat >&2", "you"),
      cwd: "sub",
      env: { GREETING: "hello" },
      stdin: "input"
    }))
    assert.deepStrictEqual(result.value, { code: 0, stdout: `hello you ${join(root, "sub")}\n`, stderr: "input" })
    assert.strictEqual(result.bytes, `hello you ${join(root, "sub")}\ninput`.length)
    assert.deepInclude(await value(channel, { argv: script("cat"), stdin: Uint8Array.of(97, 98) }), { stdout: "ab" })
  })

  it("does not wait for a descendant with a session of its own that holds the outputs open", async () => {
    const { channel, root } = opened({ allow: [SH], graceMillis: 20 })
    const text = `setsid sh -c 'echo $$ > pid; exec ${endless}' & while [ ! -s pid ]; do :; done; echo done`
    const found = await value(channel, { argv: script(text) })
    assert.deepInclude(found, { code: 0, stdout: "done\n" })
    process.kill(await pidIn(join(root, "pid")), "SIGKILL")
  })

  it("takes `; rm -rf` and its like as plain text", async () => {
    const { channel, root } = opened({ allow: [{ program: "printf", args: ["%s", "*"] }] })
    mkdirSync(join(root, "kept"), { recursive: true })
    for (const text of ["; rm -rf *", "$(rm -rf *)", "`rm -rf *`", "&& rm -rf *", "| rm -rf *", "* ? [a] {a,b} ~", "\"'\\\n"]) {
      assert.deepInclude(await value(channel, { argv: ["printf", "%s", text] }), { stdout: text })
    }
    assert.deepStrictEqual(readdirSync(root), ["kept"])
  })

  it("gives a program the allowed variables alone", async () => {
    process.env["SYSTOLE_SECRET"] = "hush"
    process.env["SYSTOLE_SHOWN"] = "shown"
    try {
      const { channel } = opened({ allow: ["/usr/bin/env"], env: ["SYSTOLE_SHOWN", "SYSTOLE_ABSENT"] })
      assert.deepInclude(await value(channel, { argv: ["/usr/bin/env"] }), { stdout: "SYSTOLE_SHOWN=shown\n" })
      assert.deepInclude(await value(channel, { argv: ["/usr/bin/env"], env: { SYSTOLE_SHOWN: "" } }), { stdout: "SYSTOLE_SHOWN=\n" })
      for (const name of ["SYSTOLE_SECRET", "PATH", "LD_PRELOAD", "toString"]) {
        const { code, message } = await failure(channel, { argv: ["/usr/bin/env"], env: { [name]: "value-of-it" } })
        assert.strictEqual(code, "shell/refused")
        assert.notInclude(message, "value-of-it")
      }
    } finally {
      delete process.env["SYSTOLE_SECRET"]
      delete process.env["SYSTOLE_SHOWN"]
    }
  })

  it("cuts each output at its limit, tells so, and lets the program end", async () => {
    const { channel } = opened({ allow: [SH], maxBytes: 5 })
    const long = script("head -c 300000 /dev/zero | tr '\\0' x; printf 12345 >&2")
    assert.deepStrictEqual(await value(channel, { argv: long }), { code: 0, stdout: "xxxxx", stderr: "12345", cut: ["stdout"] })
    assert.deepInclude(await value(channel, { argv: script("printf ääää"), maxBytes: 3 }), { stdout: "ä", cut: ["stdout"] })
    assert.deepInclude(await value(channel, { argv: long, maxBytes: 100 }), { stdout: "xxxxx" })
  })

  it("keeps outputs that do not fit into a completion as content", async () => {
    const { channel } = opened()
    const job = TestJob.make("run", { argv: script("head -c 65500 /dev/zero | tr '\\0' x; printf err >&2") })
    const found = (await TestJob.run(channel, job)).value as { readonly content: Readonly<Record<string, string>> }
    assert.hasAllKeys(found, ["code", "content"])
    const texts = Object.entries(found.content).map(([name, address]) => [name, new TextDecoder().decode(job.contents.get(address))])
    assert.deepStrictEqual(Object.fromEntries(texts), { stdout: "x".repeat(65_500), stderr: "err" })
  })

  it("fails with the exit code, without arguments and outputs", async () => {
    const { channel } = opened()
    const argv = script("echo secret-out; echo secret-err >&2; exit 3", "secret-arg")
    const { code, message, retryable } = await failure(channel, { argv })
    assert.deepStrictEqual([code, retryable], ["shell/exit", false])
    assert.include(message, "exit code 3")
    assert.notInclude(message, "secret")
    assert.include((await failure(channel, { argv: script("kill -9 $$") })).message, "SIGKILL")
  })

  it("ends a program that takes too long", async () => {
    const { channel } = opened({ allow: [SH], millis: 20, graceMillis: 10 })
    assert.deepInclude(await failure(channel, { argv: script("sleep 60") }), { code: "shell/timeout", errno: -110 })
    assert.deepInclude(await failure(channel, { argv: script(`trap '' TERM; ${endless}`) }), { code: "shell/timeout" })
  })

  it("ends a program after the time that its request asks for, at most its own", async () => {
    const { channel } = opened({ allow: [SH], graceMillis: 10 })
    assert.include((await failure(channel, { argv: script(endless), millis: 20 })).message, "after 20 ms")
    const short = opened({ allow: [SH], millis: 30, graceMillis: 10 }).channel
    assert.include((await failure(short, { argv: script(endless), millis: 60_000 })).message, "after 30 ms")
  })

  it("returns each end of a program as a value to a request that expects any", async () => {
    const { channel } = opened({ allow: [SH], graceMillis: 10 })
    const failed = { argv: script("echo out; echo err >&2; exit 3"), expect: "any" }
    assert.deepStrictEqual(await value(channel, failed), { code: 3, stdout: "out\n", stderr: "err\n" })
    const killed = { argv: script("kill -9 $$"), expect: "any" }
    assert.deepStrictEqual(await value(channel, killed), { code: null, signal: "SIGKILL", stdout: "", stderr: "" })
    assert.strictEqual((await failure(channel, { argv: script(endless), expect: "any", millis: 20 })).code, "shell/timeout")
  })

  it("keeps more of an output for a request that asks for it", async () => {
    const { channel } = opened()
    const argv = script("head -c 3000000 /dev/zero | tr '\\0' x")
    for (const [asked, bytes] of [[{}, 1_048_576], [{ maxBytes: 4_000_000 }, 3_000_000]] as const) {
      assert.strictEqual((await TestJob.run(channel, TestJob.make("run", { argv, ...asked }))).bytes, bytes)
    }
  })

  it.each([
    ["that end at a SIGTERM", "sleep 60 & echo $! > pid; wait"],
    ["that ignore it", `trap '' TERM; ${endless} & echo $! > pid; ${endless}`]
  ])("ends the whole process group at an abort, with descendants %s", async (_, text) => {
    const { channel, root } = opened({ allow: [SH], graceMillis: 20 })
    const job = TestJob.make("run", { argv: script(text) })
    const end = TestJob.failure(channel, job)
    const pid = await pidIn(join(root, "pid"))
    assert.isTrue(isRunning(pid))
    job.abort()
    assert.strictEqual((await end).code, "io/cancelled")
    await until(() => !isRunning(pid))
  })

  it("ends what a program leaves behind, and does not wait for it", async () => {
    const { channel, root } = opened()
    assert.deepInclude(await value(channel, { argv: script("sleep 60 & echo $! > pid") }), { code: 0 })
    const pid = await pidIn(join(root, "pid"))
    await until(() => !isRunning(pid))
  })

  it("ends all programs when it is closed", async () => {
    const { channel, root } = opened()
    const end = failure(channel, { argv: script("echo $$ > pid; sleep 60") })
    const pid = await pidIn(join(root, "pid"))
    await channel.close?.()
    assert.include((await end).message, "SIGKILL")
    assert.isFalse(isRunning(pid))
  })

  it("starts nothing for a job that was aborted before", async () => {
    const { channel, root } = opened()
    const job = TestJob.make("run", { argv: script("touch started") })
    job.abort()
    await TestJob.failure(channel, job)
    assert.isFalse(existsSync(join(root, "started")))
  })

  it("is not repeatable", () => assert.deepStrictEqual(opened().channel.opcodes, { run: { repeatable: false } }))
})

describe("The allow list of the shell channel", () => {
  it("is empty by default, so the channel is off", async () => {
    const { code, message } = await failure(opened({}).channel, { argv: ["/bin/sh"] })
    assert.strictEqual(code, "shell/refused")
    assert.include(message, "allow")
  })

  const allow = [
    { program: "true", args: ["status", "a*c"], options: ["-l", "--format=*"] },
    { program: "true", args: ["-n", "*"] },
    { program: "true", args: ["in", "data/*", "../shared/*"], options: ["--to=out/*"] },
    { program: "true", args: ["range", "*..*"] },
    { program: "true", args: ["dots", ".*", "a*b*c"] },
    { program: "/usr/bin/env", args: "any", options: "any" },
    "false"
  ]

  it.each([
    ["true", "status", "abc"], ["true", "status", "ac"], ["true", "-l", "status", "abbc"], ["true", "status", "--format=%H", "abc", "-l"],
    ["true", "-n", "anything"], ["true", "-n", ""], ["/usr/bin/env", "-i", "true"],
    ["true", "in", "data/a.txt", "../shared/b"], ["true", "in", "data/.a/b.", "../shared/", "--to=out/c"], ["true", "range", "v1.0..v1.1"],
    ["true", "dots", ".x.", "a.b.c"]
  ])("runs %s %s %s %s %s", async (...argv) => {
    const { channel } = opened({ allow, env: ["PATH"] })
    assert.deepInclude(await value(channel, { argv: argv.filter((each) => each !== undefined) }), { code: 0 })
  })

  it.each([
    ["true"], ["true", "status"], ["true", "status", "abd"], ["true", "status", "abc", "d"], ["true", "state", "abc"],
    ["true", "-o", "status", "abc"], ["true", "-lx", "status", "abc"], ["true", "--format", "status", "abc"], ["true", "status", "-abc"],
    ["true", "-", "status", "abc"], ["true", "--", "status", "abc"], ["true", "-n", "-x"], ["true", "-n", "-n"],
    ["false", "x"], ["false", "-x"], ["true", "-n", ".."], ["true", "-n", "a/../../b"], ["true", "-n", "to=../b"],
    ["true", "in", "data/../../etc", "../shared/b"], ["true", "in", "data/..", "../shared/b"], ["true", "in", "data/a", "../shared/../b"],
    ["true", "in", "data/a", "../shared/b", "--to=out/../x"], ["true", "range", "a..b/../c"], ["true", "dots", "..", "abc"],
    ["true", "dots", "./../a", "abc"], ["true", "dots", ".a", "a..b.c"], ["true", "dots", ".a", "ab..c"],
    ["/bin/true", "status", "abc"], ["./true", "status", "abc"], ["env"], ["/usr/bin/../bin/env"], [""], []
  ])("refuses %s %s %s %s %s", async (...argv) => {
    const { code, message } = await failure(opened({ allow }).channel, { argv: argv.filter((each) => each !== undefined) })
    assert.strictEqual(code, "shell/refused")
    assert.notInclude(message, "abc")
  })

  it.each([
    ["-o", "output"], ["-oProxyCommand=touch x"], ["--output=/etc/passwd"], ["-exec"]
  ])("refuses the option %s where any argument may come", async (...args) => {
    const { channel } = opened({ allow: [{ program: "true", args: "any" }] })
    assert.strictEqual((await failure(channel, { argv: ["true", ...args.filter((each) => each !== undefined)] })).code, "shell/refused")
    assert.deepInclude(await value(channel, { argv: ["true", "a", "b"] }), { code: 0 })
  })

  it("keeps to its root", async () => {
    const { channel, folder, root } = opened()
    mkdirSync(root)
    symlinkSync(folder, join(root, "link"))
    for (const cwd of ["..", "../x", "/etc", "link", "a/../..", "C:/"]) {
      assert.strictEqual((await failure(channel, { argv: script("true"), cwd })).code, "shell/refused", cwd)
    }
  })

  it("reports a program that is not there", async () => {
    const { channel } = opened({ allow: ["/no/such/program", "no-such-program"] })
    for (const program of ["/no/such/program", "no-such-program"]) {
      assert.deepInclude(await failure(channel, { argv: [program] }), { code: "io/absent", retryable: false })
    }
  })

  it.each<Value>([
    {}, { argv: "sh" }, { argv: [1] }, { argv: ["a\0b"] }, { argv: ["true"], env: { A: 1 } }, { argv: ["true"], env: { A: "a\0" } },
    { argv: ["true"], stdin: 5 }, { argv: ["true"], maxBytes: -1 }, { argv: ["true"], shell: true }, { command: "true" }
  ])("refuses the payload %j", async (payload) => assert.strictEqual((await failure(opened().channel, payload)).code, "io/invalid"))

  it.each([
    { allow: "any" }, { allow: ["bin/sh"] }, { allow: [{ program: "sh", arg: [] }] }, { allow: [{ args: [] }] },
    { allow: [{ program: "a", args: "all" }] },
    { env: ["A=1"] }, { millis: 0 }, { shell: true }
  ])("refuses the options %j", (options) => assert.throws(() => opened(options), Plugin.InvalidPlugin))
})
