import { afterEach, assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { open, readFile, writeFile } from "node:fs/promises"
import { createServer, type Server, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Channel, Plugin } from "systole"
import { define as make } from "../../../plugins/pipe.ts"
import { current } from "../../scripts/Host.ts"
import * as TestJob from "../../support/TestJob.ts"
import * as TestWorld from "./TestWorld.ts"

const root = realpathSync(mkdtempSync(join(tmpdir(), "systole-pipe-")))
const pipes = join(root, "pipes")
mkdirSync(pipes)
const servers: Array<Server> = []
const channels: Array<Channel.Definition> = []
let made = 0

afterEach(async () => {
  await Promise.all(channels.splice(0).map(({ close }) => close?.()))
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))))
})
process.on("exit", () => rmSync(root, { recursive: true, force: true }))

const define = (options: object, world?: Parameters<typeof make>[1]): Channel.Definition => {
  const channel = make({ id: "pipe", root, folder: root, host: current(), options: { ...options } }, world)
  channels.push(channel)
  return channel
}

const exchange = (payload: object, options: object = {}) =>
  TestJob.run(define(options), TestJob.make("exchange", payload as never))
    .then(({ value }) => value, ({ code }: { readonly code: string }) => code)

/** A Unix socket, by its path below the root. */
const listening = async (connected: (socket: Socket) => void): Promise<string> => {
  const path = `s${++made}`
  const server = createServer((socket) => {
    socket.on("error", () => undefined)
    connected(socket)
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(join(pipes, path), resolve))
  return path
}

const fifo = (): string => {
  const path = `f${++made}`
  execFileSync("mkfifo", [join(pipes, path)])
  return path
}

const inbound = { space: "home", signal: "/signals/line" }

describe("The channel pipe", () => {
  it("N45 exchanges bytes over a Unix socket", async () => {
    const path = await listening((socket) => void socket.on("data", (bytes) => socket.end(`re:${bytes.toString()}`)))
    assert.deepStrictEqual(await exchange({ path, text: "a" }), { bytes: 4, text: "re:a" })
    assert.deepStrictEqual(await exchange({ path, text: "a", until: { bytes: 2 } }), { bytes: 2, text: "re" })
  })

  it("leads out of its root neither by a path nor by a link, and to nothing but sockets and FIFOs", async () => {
    const outside = join(root, "outside")
    const server = createServer((socket) => void socket.end("secret"))
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(outside, resolve))
    symlinkSync(outside, join(pipes, "link"))
    writeFileSync(join(pipes, "file"), "")
    assert.strictEqual(await exchange({ path: "link" }), "pipe/refused")
    assert.strictEqual(await exchange({ path: "../outside" }), "pipe/refused")
    assert.strictEqual(await exchange({ path: "file" }), "io/kind")
    assert.strictEqual(await exchange({ path: "absent" }), "io/absent")
    assert.strictEqual(await exchange({ path: "absent", until: "datagram" }), "io/invalid")
  })

  it("N45 reads a FIFO from its first writer to its last, or to a delimiter", async () => {
    const path = fifo()
    const read = exchange({ path })
    await writeFile(join(pipes, path), "a\nb")
    assert.deepStrictEqual(await read, { bytes: 3, text: "a\nb" })
    const line = exchange({ path, until: { delimiter: "\n" } })
    const writer = await open(join(pipes, path), "w")
    await writer.write("a\nb")
    assert.deepStrictEqual(await line, { bytes: 1, text: "a" })
    await writer.close()
  })

  it("writes to a FIFO more than it holds, as its reader takes it", async () => {
    const path = fifo()
    const text = "x".repeat(300_000)
    const read = readFile(join(pipes, path), "utf8")
    let sent: unknown = "io/unreachable"
    // No reader is there until the thread of the host has opened the other end.
    while (sent === "io/unreachable") sent = await exchange({ path, text, until: "none" })
    assert.deepStrictEqual(sent, { bytes: 0, text: "" })
    assert.strictEqual(await read, text)
  })

  it("N45 makes signals of the lines of a FIFO, whose writers come and go", async () => {
    const path = fifo()
    const { ingress, taken, until } = TestWorld.ingress()
    const channel = define({ connect: { path }, messages: "lines", inbound }, TestWorld.make().world)
    channel.begin?.(ingress)
    for (const text of ["a\nb", "c\n", "d\n"]) await writeFile(join(pipes, path), text)
    await until(() => taken.length === 3)
    assert.deepStrictEqual(taken.map(({ id, payload }) => [id, payload]), [
      ["pipe:c1:1", { text: "a" }], ["pipe:c1:2", { text: "bc" }], ["pipe:c1:3", { text: "d" }]
    ])
    assert.strictEqual((await TestJob.failure(channel, TestJob.make("send", { text: "x" }))).code, "io/invalid")
  })

  it("N45 sends lines over a Unix socket that stays open", async () => {
    const seen: Array<string> = []
    let count = 0
    const path = await listening((socket) => {
      count += 1
      socket.on("data", (bytes) => seen.push(bytes.toString()))
    })
    const channel = define({ connect: { path }, messages: "lines" })
    for (const text of ["a", "b"]) assert.deepStrictEqual((await TestJob.run(channel, TestJob.make("send", { text }))).value, { bytes: 1 })
    assert.strictEqual((await TestJob.failure(channel, TestJob.make("send", { text: "a\nb" }))).code, "io/invalid")
    assert.strictEqual((await TestJob.failure(channel, TestJob.make("send", { text: "x".repeat(70_000) }))).code, "pipe/size")
    while (seen.join("") !== "a\nb\n") await new Promise((resolve) => setImmediate(resolve))
    assert.strictEqual(count, 1)
  })

  it("refuses datagrams", () => {
    assert.throws(() => define({ connect: { path: "a" }, messages: "datagram" }), Plugin.InvalidPlugin, /streams alone/)
  })
})
