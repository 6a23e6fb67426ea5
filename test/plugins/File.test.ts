import { afterEach, assert, describe, it } from "@effect/vitest"
import {
  constants, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync, symlinkSync, truncateSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Channel, Plugin, type Value } from "systole"
import { Jail } from "../../plugins/channel/Jail.ts"
import file from "../../plugins/file.ts"
import * as Temporary from "../../plugins/file/Temporary.ts"
import { current } from "../scripts/Host.ts"
import * as TestJob from "../support/TestJob.ts"

const folders: Array<string> = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** A channel over `<folder>/files`, beside a file that no request may reach. */
const opened = (options: Readonly<Record<string, unknown>> = {}) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "systole-file-")))
  folders.push(folder)
  const root = join(folder, "files")
  mkdirSync(root)
  mkdirSync(join(folder, "outside"))
  writeFileSync(join(folder, "outside", "secret.txt"), "secret")
  const make = file.provides.channels?.["file"]
  if (make === undefined) throw new Error("the plugin has no channel")
  const channel = make({ id: "files", root: folder, folder, host: current(), options })
  return { channel, root, outside: join(folder, "outside"), at: (path: string) => join(root, path) }
}

const value = (channel: Channel.Definition) => async (...job: Parameters<typeof TestJob.make>): Promise<unknown> =>
  (await TestJob.run(channel, TestJob.make(...job))).value

const fails = async (channel: Channel.Definition, opcode: string, payload: Value): Promise<string> => {
  const { code, message } = await TestJob.failure(channel, TestJob.make(opcode, payload))
  assert.include(message, "R1", "the message names the request")
  return code
}

/** The opcodes, each with a payload for a path. */
const asked: ReadonlyArray<readonly [opcode: string, payload: (path: string) => Value]> = [
  ["read", (path) => ({ path })],
  ["write", (path) => ({ path, text: "x" })],
  ["append", (path) => ({ path, text: "x" })],
  ["copy", (path) => ({ from: path, to: "copy.txt" })],
  ["copy", (path) => ({ from: "inside.txt", to: path })],
  ["move", (path) => ({ from: path, to: "moved.txt" })],
  ["move", (path) => ({ from: "inside.txt", to: path })],
  ["delete", (path) => ({ path })],
  ["list", (path) => ({ path })],
  ["glob", (path) => ({ pattern: path })],
  ["stat", (path) => ({ path })],
  ["watch", (path) => ({ path })]
]

describe("The file channel", () => {
  it("reads a short text, and keeps other content", async () => {
    const { at, channel } = opened()
    writeFileSync(at("a.txt"), "ä\n")
    assert.deepStrictEqual(await TestJob.run(channel, TestJob.make("read", { path: "a.txt" })),
      { value: { path: "a.txt", bytes: 3, text: "ä\n" }, bytes: 3 })
    // A NUL is six characters of JSON, so the value would not fit into a completion.
    const control = new Uint8Array(20_000)
    const long = new Uint8Array(65_400).fill(97)
    writeFileSync(at("long.txt"), long)
    assert.deepInclude(await value(channel)("read", { path: "long.txt" }), { text: "a".repeat(65_400) })
    const large = new Uint8Array(300_000).map((_, i) => i % 251)
    for (const bytes of [Uint8Array.of(0xff, 0xfe), control, new Uint8Array(65_536).fill(97), large]) {
      writeFileSync(at("b.bin"), bytes)
      const contents = new Map<string, Uint8Array>()
      const content = TestJob.add(new Map(), bytes)
      assert.deepStrictEqual(await value(channel)("read", { path: "b.bin" }, { contents }), { path: "b.bin", bytes: bytes.length, content })
      assert.deepStrictEqual(contents.get(content), bytes)
    }
  })

  it("writes text, bytes and content as whole files, in new folders, and leaves no other file", async () => {
    const { at, channel } = opened()
    const contents = new Map<string, Uint8Array>()
    const content = TestJob.add(contents, new Uint8Array(100_000).fill(1))
    for (let execution = 0; execution < 2; execution++) {
      assert.deepStrictEqual(await value(channel)("write", { path: "a/b/c.txt", text: "ä" }), { path: "a/b/c.txt", bytes: 2 })
      await value(channel)("write", { path: "a/b/d.bin", data: Uint8Array.of(0, 1) })
      await value(channel)("write", { path: "a/b/e.bin", content }, { contents })
    }
    assert.strictEqual(readFileSync(at("a/b/c.txt"), "utf8"), "ä")
    assert.deepStrictEqual([...readFileSync(at("a/b/d.bin"))], [0, 1])
    assert.strictEqual(readFileSync(at("a/b/e.bin")).length, 100_000)
    assert.deepStrictEqual(readdirSync(at("a/b")).sort(), ["c.txt", "d.bin", "e.bin"])
  })

  it("leaves the old file whole when a write stops in the middle", async () => {
    const { at, channel } = opened({ maxBytes: 70_000 })
    writeFileSync(at("from.bin"), new Uint8Array(70_001))
    writeFileSync(at("to.bin"), "old")
    assert.strictEqual(await fails(channel, "copy", { from: "from.bin", to: "to.bin" }), "file/size")
    assert.strictEqual(readFileSync(at("to.bin"), "utf8"), "old")
    assert.deepStrictEqual(readdirSync(at("")).sort(), ["from.bin", "to.bin"])
  })

  it("replaces what an earlier process left of the same attempt", async () => {
    const { at, channel } = opened()
    const job = TestJob.make("write", { path: "to.bin", data: new Uint8Array(100) })
    writeFileSync(at(Temporary.nameOf(job, "to.bin")), new Uint8Array(200))
    await TestJob.run(channel, job)
    assert.deepStrictEqual(readdirSync(at("")), ["to.bin"])
    assert.strictEqual(readFileSync(at("to.bin")).length, 100)
  })

  it("appends, copies, moves and deletes", async () => {
    const { at, channel } = opened()
    await value(channel)("append", { path: "log/a.txt", text: "1" })
    await value(channel)("append", { path: "log/a.txt", text: "2" })
    assert.strictEqual(readFileSync(at("log/a.txt"), "utf8"), "12")
    assert.deepInclude(await value(channel)("copy", { from: "log/a.txt", to: "b/b.txt" }), { to: "b/b.txt", bytes: 2 })
    assert.strictEqual(readFileSync(at("b/b.txt"), "utf8"), "12")
    await value(channel)("move", { from: "log/a.txt", to: "c/c.txt" })
    assert.isFalse(existsSync(at("log/a.txt")))
    assert.strictEqual(await fails(channel, "move", { from: "log/a.txt", to: "c/c.txt" }), "io/absent")
    assert.strictEqual(readFileSync(at("c/c.txt"), "utf8"), "12")
    assert.deepStrictEqual(await value(channel)("delete", { path: "c/c.txt" }), { path: "c/c.txt", deleted: true })
    assert.deepStrictEqual(await value(channel)("delete", { path: "c/c.txt" }), { path: "c/c.txt", deleted: false })
    assert.strictEqual(await fails(channel, "delete", { path: "b" }), "io/exists")
    assert.deepStrictEqual(await value(channel)("delete", { path: "c" }), { path: "c", deleted: true })
  })

  it("declares the operations that may run twice", () => {
    const { opcodes } = opened().channel
    const repeatable = Object.keys(opcodes).filter((opcode) => opcodes[opcode]?.repeatable).sort()
    assert.deepStrictEqual(repeatable, ["copy", "delete", "glob", "list", "read", "stat", "watch", "write"])
    assert.deepStrictEqual(Object.keys(opcodes).filter((opcode) => !repeatable.includes(opcode)).sort(), ["append", "move"])
  })

  it("lists folders in order, and tells kinds", async () => {
    const { at, channel } = opened()
    mkdirSync(at("sub"))
    writeFileSync(at("b.txt"), "12")
    writeFileSync(at("B.txt"), "")
    symlinkSync("b.txt", at("link"))
    writeFileSync(at(".systole-0"), "of an unfinished write")
    const entries = [
      { name: "B.txt", kind: "file" }, { name: "b.txt", kind: "file" }, { name: "link", kind: "link" }, { name: "sub", kind: "folder" }
    ]
    assert.deepStrictEqual(await value(channel)("list", {}), { path: "", entries })
    assert.deepStrictEqual(await value(channel)("list", { path: "sub" }), { path: "sub", entries: [] })
    assert.deepInclude(await value(channel)("stat", { path: "link" }), { kind: "file", bytes: 2 })
    assert.deepInclude(await value(channel)("stat", { path: "sub" }), { kind: "folder" })
    assert.deepStrictEqual(await value(channel)("stat", { path: "sub/none" }), { path: "sub/none", kind: "absent" })
  })

  it.each<readonly [string, ReadonlyArray<string>]>([
    ["*.txt", ["a.txt"]],
    ["*", ["a.txt", "b.md"]],
    [".*", [".hidden"]],
    ["**", ["a.txt", "b.md", "x/a.txt", "x/y/a.txt", "x/y/aba.txt"]],
    ["**/a.txt", ["a.txt", "x/a.txt", "x/y/a.txt"]],
    ["x/**/*", ["x/a.txt", "x/y/a.txt", "x/y/aba.txt"]],
    ["**/**/a*a.txt", ["x/y/aba.txt"]],
    ["x/y/a?a.txt", ["x/y/aba.txt"]],
    ["x/*/*b*.*t", ["x/y/aba.txt"]],
    ["x/y/aba.txt", ["x/y/aba.txt"]],
    ["x/y", []],
    ["none/*", []],
    ["inner/*", []]
  ])("globs %s", async (pattern, paths) => {
    const { at, channel } = opened()
    mkdirSync(at("x/y"), { recursive: true })
    mkdirSync(at(".git"))
    for (const path of ["a.txt", "b.md", ".hidden", ".git/a.txt", "x/a.txt", "x/y/a.txt", "x/y/aba.txt"]) writeFileSync(at(path), "")
    symlinkSync("x", at("inner"))
    assert.deepStrictEqual(await value(channel)("glob", { pattern }), { paths })
  })

  it("matches a hostile pattern in time", async () => {
    const { at, channel } = opened()
    writeFileSync(at("a".repeat(200)), "")
    assert.deepStrictEqual(await value(channel)("glob", { pattern: `${"*a".repeat(100)}*b` }), { paths: [] })
    mkdirSync(at(Array.from({ length: 20 }, () => "d").join("/")), { recursive: true })
    assert.deepStrictEqual(await value(channel)("glob", { pattern: `${"**/".repeat(30)}none` }), { paths: [] })
  })

  it("has visible limits of bytes and entries", async () => {
    const { at, channel } = opened({ maxBytes: 10, maxEntries: 3 })
    writeFileSync(at("eleven"), "12345678901")
    for (const name of ["a", "b", "c"]) writeFileSync(at(name), "")
    const message = async (opcode: string, payload: Value) => (await TestJob.failure(channel, TestJob.make(opcode, payload))).message
    assert.include(await message("read", { path: "eleven" }), "10 bytes")
    assert.include(await message("write", { path: "w", text: "12345678901" }), "10 bytes")
    assert.include(await message("append", { path: "w", text: "12345678901" }), "10 bytes")
    assert.include(await message("copy", { from: "eleven", to: "w" }), "10 bytes")
    assert.include(await message("list", {}), "3 entries")
    assert.include(await message("glob", { pattern: "**" }), "3 entries")
    truncateSync(at("eleven"), 10)
    assert.deepInclude(await value(channel)("read", { path: "eleven" }), { bytes: 10 })
    rmSync(at("a"))
    // Several segments may look at one folder, whose entries count once.
    for (const pattern of ["*", "**/*", "**/**/*", "**"]) {
      assert.deepStrictEqual(await value(channel)("glob", { pattern }), { paths: ["b", "c", "eleven"] }, pattern)
    }
  })

  it("hears the first change below a folder", async () => {
    const { at, channel } = opened()
    mkdirSync(at("in/deep"), { recursive: true })
    const watching = value(channel)("watch", { path: "in" })
    let number = 0
    // A watch that has not begun yet hears nothing, so the changes go on until it ends.
    const changes = setInterval(() => writeFileSync(at(`in/deep/${number++}.txt`), ""), 5)
    const result = await watching.finally(() => clearInterval(changes)) as { readonly path: string; readonly changed: string }
    assert.strictEqual(result.path, "in")
    assert.match(result.changed, /^in\/deep(\/\d+\.txt)?$/)
  })

  it("hears that a file is replaced by a rename, and no change beside it", async () => {
    const { at, channel } = opened()
    writeFileSync(at("a.txt"), "old")
    const watching = value(channel)("watch", { path: "a.txt" })
    let number = 0
    const changes = setInterval(() => {
      writeFileSync(at("beside.txt"), String(number))
      writeFileSync(at(`${number}.draft`), "new")
      renameSync(at(`${number++}.draft`), at("a.txt"))
    }, 5)
    assert.deepStrictEqual(await watching.finally(() => clearInterval(changes)), { path: "a.txt", changed: "a.txt" })
  })

  it.skipIf(process.platform !== "linux")("looks at a bounded number of entries of a watched folder, and yields meanwhile", async () => {
    const { at, channel } = opened({ maxEntries: 3000 })
    for (let folder = 0; folder < 100; folder++) {
      mkdirSync(at(`in/${folder}`), { recursive: true })
      for (let file = 0; file < 30; file++) writeFileSync(at(`in/${folder}/${file}`), "")
    }
    let turns = 0
    let isOver = false
    const turn = (): void => {
      turns++
      if (!isOver) setImmediate(turn)
    }
    turn()
    const failure = await TestJob.failure(channel, TestJob.make("watch", { path: "in" })).finally(() => {
      isOver = true
    })
    assert.deepInclude(failure, { code: "file/entries", retryable: false })
    assert.include(failure.message, "more than 3000 entries")
    assert.isAbove(turns, 100)
  })

  it("stops watching at an abort, and has a limit of watches", async () => {
    const { channel } = opened()
    const jobs = Array.from({ length: 33 }, () => TestJob.make("watch", {}))
    const ends = jobs.map((job) => TestJob.failure(channel, job))
    assert.deepInclude(await Promise.race(ends), { code: "file/watches", retryable: true })
    for (const job of jobs) job.abort()
    const codes = (await Promise.all(ends)).map(({ code }) => code).sort()
    assert.deepStrictEqual(codes, ["file/watches", ...Array.from({ length: 32 }, () => "io/cancelled")])
    const again = TestJob.make("watch", {})
    const end = TestJob.failure(channel, again)
    again.abort()
    assert.strictEqual((await end).code, "io/cancelled")
  })

  it("does nothing for a job that was aborted before", async () => {
    const { at, channel } = opened()
    for (const opcode of ["write", "append"]) {
      const job = TestJob.make(opcode, { path: "a.txt", text: "1" })
      job.abort()
      await TestJob.failure(channel, job)
    }
    assert.isFalse(existsSync(at("a.txt")))
  })
})

describe("The jail of the file channel", () => {
  it.each([
    "../outside/secret.txt", "..", "a/../../outside/secret.txt", "a/..", "/etc/passwd", "//etc/passwd", "C:/windows", "c:secret.txt",
    "..\\outside\\secret.txt", "a\\b", "a\0b", "\0", "./a", "a//b", "a/", "x".repeat(256)
  ])("refuses the path %j in every operation", async (path) => {
    const { channel, outside } = opened()
    for (const [opcode, payload] of asked) assert.strictEqual(await fails(channel, opcode, payload(path)), "file/refused", opcode)
    assert.deepStrictEqual(readdirSync(outside), ["secret.txt"])
  })

  it("refuses symbolic links out of the root, also in a parent folder, and to absent targets", async () => {
    const { at, channel, outside } = opened()
    writeFileSync(at("inside.txt"), "inside")
    mkdirSync(at("a"))
    symlinkSync(join(outside, "secret.txt"), at("file"))
    symlinkSync(outside, at("a/folder"))
    symlinkSync("../../outside", at("a/relative"))
    symlinkSync(join(outside, "new.txt"), at("absent"))
    symlinkSync("loop", at("loop"))
    symlinkSync("a/folder", at("twice"))
    const paths = [
      "file", "a/folder", "a/folder/secret.txt", "a/folder/new/b.txt", "a/relative/secret.txt", "absent", "loop", "twice/secret.txt"
    ]
    for (const path of paths) {
      for (const [opcode, payload] of asked) {
        assert.strictEqual(await fails(channel, opcode, payload(path)), "file/refused", `${opcode} ${path}`)
      }
    }
    assert.strictEqual(await fails(channel, "glob", { pattern: "a/folder/*" }), "file/refused")
    assert.deepStrictEqual(await value(channel)("glob", { pattern: "**" }), { paths: ["inside.txt"] })
    assert.deepStrictEqual(readdirSync(outside), ["secret.txt"])
    assert.strictEqual(readFileSync(join(outside, "secret.txt"), "utf8"), "secret")
  })

  it("refuses a file or folder that another program replaces by a link after its check", async () => {
    const { at, outside, root } = opened()
    const jail = new Jail(root, "file")
    mkdirSync(at("a"))
    writeFileSync(at("a/secret.txt"), "inside")
    writeFileSync(at("b.txt"), "inside")
    const located = [await jail.locate("a/secret.txt"), await jail.locate("b.txt")]
    rmSync(at("a"), { recursive: true })
    rmSync(at("b.txt"))
    symlinkSync(outside, at("a"))
    symlinkSync(join(outside, "secret.txt"), at("b.txt"))
    for (const each of located) {
      const failure = await jail.open(each, constants.O_RDONLY).then(() => "opened", (error: Channel.ChannelError) => error.code)
      assert.strictEqual(failure, "file/refused", each.path)
    }
    const entered = jail.within("a", at("a"), async () => "entered")
    assert.strictEqual(await entered.catch((error: Channel.ChannelError) => error.code), "file/refused")
  })

  it("follows links within the root, and moves and deletes a link itself", async () => {
    const { at, channel } = opened()
    mkdirSync(at("real"))
    writeFileSync(at("real/a.txt"), "a")
    symlinkSync("real", at("alias"))
    symlinkSync("real/a.txt", at("direct"))
    assert.deepInclude(await value(channel)("read", { path: "alias/a.txt" }), { text: "a" })
    await value(channel)("write", { path: "direct", text: "b" })
    assert.strictEqual(readFileSync(at("real/a.txt"), "utf8"), "b")
    await value(channel)("move", { from: "direct", to: "moved" })
    await value(channel)("delete", { path: "moved" })
    assert.strictEqual(readFileSync(at("real/a.txt"), "utf8"), "b")
  })

  it("takes names that look like rules and are none", async () => {
    const { channel } = opened()
    for (const path of ["...", "..a", "a..b/c", "-rf", "; rm -rf", "$(id)", "a b", "ä", "*"]) {
      await value(channel)("write", { path, text: path })
      assert.deepInclude(await value(channel)("read", { path }), { text: path })
    }
  })

  it("refuses folders and other files that are no regular ones", async () => {
    const { at, channel } = opened()
    mkdirSync(at("folder"))
    assert.strictEqual(await fails(channel, "read", { path: "folder" }), "io/kind")
    assert.strictEqual(await fails(channel, "append", { path: "folder", text: "x" }), "io/kind")
    assert.strictEqual(await fails(channel, "read", { path: "none" }), "io/absent")
    assert.strictEqual(await fails(channel, "list", { path: "none" }), "io/absent")
    for (const opcode of ["delete", "write"]) {
      assert.strictEqual(await fails(channel, opcode, opcode === "write" ? { path: "", text: "" } : { path: "" }), "file/refused")
    }
  })

  it.each<readonly [string, Value]>([
    ["read", {}], ["read", { path: 7 }], ["read", { path: "a", mode: 1 }], ["read", "a"], ["write", { path: "a" }],
    ["write", { path: "a", text: "x", data: new Uint8Array() }], ["append", { path: "a", text: 5 }], ["glob", { pattern: "" }],
    ["read", { path: "\ud800" }], ["write", { path: "a", content: "/cas/../x" }], ["chmod", { path: "a" }], ["toString", {}]
  ])("refuses %s %j", async (opcode, payload) => assert.strictEqual(await fails(opened().channel, opcode, payload), "io/invalid"))

  it("refuses options that it does not know", () => {
    for (const options of [{ rot: "x" }, { maxBytes: 0 }, { root: 7 }]) assert.throws(() => opened(options), Plugin.InvalidPlugin)
  })
})
