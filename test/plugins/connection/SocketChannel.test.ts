import { afterEach, assert, describe, it, vi } from "@effect/vitest"
import { createSocket } from "node:dgram"
import { once } from "node:events"
import { createServer as createSecureServer } from "node:tls"
import { type AddressInfo, Socket } from "node:net"
import { type Channel, Plugin } from "systole"
import * as SocketChannel from "../../../plugins/socket/SocketChannel.ts"
import { current } from "../../scripts/Host.ts"
import { present } from "../../support/Present.ts"
import * as TestJob from "../../support/TestJob.ts"
import { authority, serverCertificate, serverKey } from "../http/Certificates.ts"
import { LocalServers } from "../http/LocalServer.ts"
import * as TestWorld from "./TestWorld.ts"

const servers = new LocalServers()
const channels: Array<Channel.Definition> = []

afterEach(async () => {
  delete process.env["SYSTOLE_TEST_CA"]
  await Promise.all(channels.splice(0).map(({ close }) => close?.()))
  await servers.close()
})

const define = (options: object, world?: Parameters<typeof SocketChannel.define>[1]): Channel.Definition => {
  const settings = { id: "wire", root: import.meta.dirname, folder: import.meta.dirname, host: current() }
  const channel = SocketChannel.define({ ...settings, options: { allow: ["127.0.0.1"], ...options } }, world)
  channels.push(channel)
  return channel
}

const asking = (opcode: string, payload: object, options: object = {}) =>
  TestJob.run(define(options), TestJob.make(opcode, payload as never))
    .then(({ value }) => value, ({ code }: { readonly code: string }) => code)

const exchange = (port: number, payload: object, options: object = {}) =>
  asking("exchange", { host: "127.0.0.1", port, ...payload }, options)

/** A server that answers each line. */
const answering = (answer: (line: string, socket: Socket) => void) =>
  servers.sockets((socket) => {
    let text = ""
    socket.on("data", (bytes) => {
      text += bytes.toString()
      const lines = text.split("\n")
      text = lines.pop() ?? ""
      for (const line of lines) answer(line, socket)
    })
  })

describe("The exchange of the channel socket", () => {
  it("N45 ends at a number of bytes, a delimiter or the close of the other side, and drops the rest", async () => {
    const { port } = await answering((line, socket) => void socket.end(`re:${line}\r\nrest`))
    assert.deepStrictEqual(await exchange(port, { text: "a\n", until: { bytes: 4 } }), { bytes: 4, text: "re:a" })
    assert.deepStrictEqual(await exchange(port, { text: "a\n", until: { delimiter: "\r\n" } }), { bytes: 4, text: "re:a" })
    assert.deepStrictEqual(await exchange(port, { text: "a\n" }), { bytes: 10, text: "re:a\r\nrest" })
    assert.deepStrictEqual(await exchange(port, { data: new Uint8Array([97, 10]), until: "none" }), { bytes: 0, text: "" })
  })

  it("ends what it writes, so that a server which waits for all of it answers", async () => {
    const { port } = await servers.sockets((socket) => {
      socket.on("data", () => undefined)
      socket.on("end", () => socket.end("all"))
    })
    assert.deepStrictEqual(await exchange(port, { text: "x" }), { bytes: 3, text: "all" })
  })

  it("finds a delimiter that arrives in parts, and stores bytes that are no text", async () => {
    const { port } = await servers.sockets(async (socket) => {
      socket.setNoDelay(true)
      for (const byte of [255, 0, 45, 45, 33, 45, 45, 45]) {
        socket.write(new Uint8Array([byte]))
        await new Promise((resolve) => setImmediate(resolve))
      }
    })
    const job = TestJob.make("exchange", { host: "127.0.0.1", port, until: { delimiter: "---" } })
    const { value } = await TestJob.run(define({}), job)
    const { bytes, content } = value as { readonly bytes: number; readonly content: string }
    assert.deepStrictEqual([bytes, [...present(job.contents.get(content))]], [5, [255, 0, 45, 45, 33]])
  })

  it("fails for a side that sends without end, or closes before the end", async () => {
    const endless = await servers.sockets((socket) => {
      const drip = () => void (socket.destroyed || socket.write("x".repeat(1000), () => setImmediate(drip)))
      drip()
    })
    assert.strictEqual(await exchange(endless.port, { until: { delimiter: "\n" }, maxBytes: 5000 }), "socket/size")
    assert.strictEqual(await exchange(endless.port, { until: { delimiter: "\n" } }, { maxBytes: 5000 }), "socket/size")
    await endless.closed
    const short = await servers.sockets((socket) => void socket.end("abc"))
    assert.strictEqual(await exchange(short.port, { until: { bytes: 4 } }), "io/closed")
    assert.strictEqual(await exchange(short.port, { until: { delimiter: "\n" } }), "io/closed")
    const reset = await servers.sockets((socket) => void socket.resetAndDestroy())
    assert.strictEqual(await exchange(reset.port, { text: "x", until: { bytes: 4 } }), "io/unreachable")
  })

  it("N45 ends at its deadline, and the connection with it", async () => {
    const { closed, port } = await servers.sockets((socket) => void socket.write("half"))
    const job = TestJob.make("exchange", { host: "127.0.0.1", port, until: { bytes: 10 } })
    assert.strictEqual((await TestJob.failure(define({ timeoutMs: 50 }), job)).code, "io/timeout")
    await closed
  })

  it("reaches the addresses of its policy alone", async () => {
    const { port } = await answering((_, socket) => void socket.end())
    assert.strictEqual(await exchange(port, {}, { allow: [] }), "socket/refused")
    assert.strictEqual(await exchange(port, {}, { deny: ["127.0.0.0/8"] }), "socket/refused")
    assert.strictEqual(await exchange(port, { host: "localhost" }, { allow: [] }), "socket/refused")
    for (const host of ["0x7f.1", "127.1", "2130706433", "127.0.0.1."]) {
      assert.include(["io/invalid", "socket/refused", "io/unreachable"], await exchange(port, { host }, { allow: [] }), host)
    }
    assert.strictEqual(await exchange(1, {}), "io/unreachable")
  })

  it("verifies the certificate of TLS for the name, and looks whether the other side is there", async () => {
    process.env["SYSTOLE_TEST_CA"] = authority
    const server = createSecureServer({ cert: serverCertificate, key: serverKey }, (socket) => {
      socket.on("error", () => undefined)
      socket.end("secret")
    })
    await once(server.listen(0, "127.0.0.1"), "listening")
    const { port } = server.address() as AddressInfo
    const secure = { protocol: "tls", until: { bytes: 6 } }
    assert.strictEqual(await exchange(port, secure), "io/tls")
    const kept = vi.spyOn(Socket.prototype, "setKeepAlive")
    assert.deepStrictEqual(await exchange(port, secure, { ca: { env: "SYSTOLE_TEST_CA" } }), { bytes: 6, text: "secret" })
    assert.deepStrictEqual(kept.mock.calls.filter(([isKept]) => isKept), [[true, 60_000]])
    kept.mockRestore()
    server.close()
  })

  it("sends a datagram, and takes the answer of that address alone", async () => {
    const server = createSocket("udp4")
    server.on("message", (bytes, { address, port }) => {
      const stranger = createSocket("udp4")
      stranger.send("forged", port, address, () => {
        stranger.close()
        server.send(`re:${bytes.toString()}`, port, address)
      })
    })
    await new Promise<void>((resolve) => server.bind(0, "127.0.0.1", resolve))
    const { port } = server.address()
    assert.deepStrictEqual(await exchange(port, { protocol: "udp", text: "a" }), { bytes: 4, text: "re:a" })
    assert.deepStrictEqual(await exchange(port, { protocol: "udp", text: "a", until: "none" }), { bytes: 0, text: "" })
    assert.strictEqual(await exchange(port, { protocol: "udp", text: "a", until: "close" }), "io/invalid")
    assert.strictEqual(await exchange(port, { protocol: "udp", data: new Uint8Array(70_000) }), "io/invalid")
    server.close()
  })

  it.each([
    { port: 0 }, { until: { bytes: 0 } }, { until: { delimiter: "" } }, { until: { bytes: 1, delimiter: "x" } }, { until: "datagram" },
    { until: { bytes: 2 ** 21 } }, { host: "EXAMPLE.com" }, { protocol: "sctp" }, { text: "a", content: "b" },
    { text: "a", data: new Uint8Array() }
  ])("refuses the payload %j", async (payload) => {
    assert.strictEqual(await exchange(1, payload), "io/invalid")
  })

  it("is repeatable if the options say so", () => {
    assert.deepStrictEqual(define({}).opcodes, { exchange: { repeatable: false } })
    assert.deepStrictEqual(define({ repeatable: true }).opcodes, { exchange: { repeatable: true } })
  })

  it.each<[object, RegExp]>([
    [{ messages: "lines" }, /no connect/],
    [{ connect: { host: "127.0.0.1", port: 1 }, inbound: { space: "home", signal: "/signals/x" } }, /no messages/],
    [{ connect: { host: "127.0.0.1", port: 1, protocol: "udp" }, messages: "lines" }, /those of udp are not/],
    [{ connect: { host: "127.0.0.1", port: 1 }, messages: "datagram" }, /those of tcp are not/],
    [
      {
        connect: { host: "127.0.0.1", port: 1 }, messages: "lines", maxMessage: 65_537,
        inbound: { space: "a", signal: "/signals/b", as: "bytes" }
      },
      /at most 65536 bytes/
    ],
    [{ connect: { host: "127.0.0.1" } }, /"connect" is Object/]
  ])("refuses the options %j", (options, reason) => {
    assert.throws(() => define(options), Plugin.InvalidPlugin, reason)
  })
})

/** The signals of a connection, as they arrive. */
const inbound = { space: "home", signal: "/signals/line" }

describe("The open connection of the channel socket", () => {
  it("N45 makes one signal of each message with its id, and opens again after its end", async () => {
    let count = 0
    const { port } = await servers.sockets((socket) => {
      count += 1
      socket.end(`first of ${count}\nsecond\nhalf`)
    })
    const { waits, world } = TestWorld.make()
    const { ingress, reports, taken, until } = TestWorld.ingress()
    define({ connect: { host: "127.0.0.1", port }, messages: "lines", inbound }, world).begin?.(ingress)
    await until(() => taken.length >= 6)
    assert.deepStrictEqual(taken.slice(0, 4).map(({ id, payload, signal }) => [id, signal, payload]), [
      ["wire:c1:1", "/signals/line", { text: "first of 1" }], ["wire:c1:2", "/signals/line", { text: "second" }],
      ["wire:c2:1", "/signals/line", { text: "first of 2" }], ["wire:c2:2", "/signals/line", { text: "second" }]
    ])
    assert.strictEqual(reports.length, 1)
    assert.include(reports[0], "io/connection")
    assert.deepStrictEqual(waits.slice(0, 2), [1000, 2000])
  })

  it("waits 1, 2, 4 … 64 s for a side that is not there, which is reported once until it was open", async () => {
    const { waits, world, pass } = TestWorld.make()
    const { ingress, reports, until } = TestWorld.ingress()
    const { port } = await servers.sockets(() => undefined)
    await servers.close()
    const channel = define({ connect: { host: "127.0.0.1", port }, messages: "lines", inbound }, {
      ...world,
      sleep: async (millis, signal) => {
        if (waits.length === 8) await servers.open(port, (socket) => void socket.end("open\n"))
        await world.sleep(millis, signal)
      }
    })
    channel.begin?.({ ...ingress, take: (...given) => {
      pass(100_000)
      return ingress.take(...given)
    } })
    await until(() => reports.length === 2)
    assert.deepStrictEqual(waits.slice(0, 9), [1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 64_000, 64_000])
    assert.include(reports[0], "ECONNREFUSED")
  })

  it("N45 holds the other side back while a space is full, and offers the same ids again", async () => {
    let pushed = 0
    let isHeld = false
    const { port } = await servers.sockets((socket) => {
      const line = `${"x".repeat(9_999)}\n`
      const push = (): void => {
        while (pushed < 1500 && socket.write(line)) pushed += 1
        if (pushed < 1500) isHeld = true
      }
      socket.on("drain", push)
      push()
    })
    const { world } = TestWorld.make()
    const full = TestWorld.refused("wait", "inbox/full")
    const { ingress, offered, taken, until } = TestWorld.ingress([full, full, TestWorld.refused("wait", "inbox/full", 1)])
    define({ connect: { host: "127.0.0.1", port }, messages: "lines", inbound }, world).begin?.(ingress)
    await until(() => taken.length >= 1500)
    assert.isTrue(isHeld)
    assert.deepStrictEqual([offered[1], offered[2], offered[3]], [offered[0], offered[0], offered[0]?.slice(1)])
    assert.deepStrictEqual(taken.map(({ id }) => id), Array.from({ length: taken.length }, (_, n) => `wire:c1:${n + 1}`))
  })

  it("drops a message that is no text or no signal of its space, and reports it once", async () => {
    const { port } = await servers.sockets((socket) => void socket.write(Buffer.from("a\n\xff\nb\nc\n\xfe\nd\n", "latin1")))
    const { world } = TestWorld.make()
    const { ingress, reports, taken, until } = TestWorld.ingress([TestWorld.refused("drop", "signal/invalid", 1)])
    define({ connect: { host: "127.0.0.1", port }, messages: "lines", inbound }, world).begin?.(ingress)
    await until(() => taken.length === 3)
    assert.deepStrictEqual(taken.map(({ id, payload }) => [id, payload]), [
      ["wire:c1:1", { text: "a" }], ["wire:c1:4", { text: "c" }], ["wire:c1:6", { text: "d" }]
    ])
    assert.strictEqual(reports.length, 1)
    assert.match(reports[0] ?? "", /^io\/inbound .*c1.*UTF-8/)
  })

  it("closes a connection with a giant length, or half a line for ever", async () => {
    for (const [messages, whole] of [["length-prefixed", "\0\0\0\x01a\xff\xff\xff\xff"], ["lines", `a\n${"x".repeat(200)}`]] as const) {
      let count = 0
      const { port } = await servers.sockets((socket) => {
        count += 1
        socket.write(Buffer.from(whole, "latin1"))
      })
      const { world } = TestWorld.make()
      const { ingress, reports, taken, until } = TestWorld.ingress()
      define({ connect: { host: "127.0.0.1", port }, messages, inbound, maxMessage: 100 }, world).begin?.(ingress)
      await until(() => count === 2)
      assert.deepStrictEqual([taken[0]?.payload, taken[0]?.id], [{ text: "a" }, "wire:c1:1"])
      assert.match(reports[0] ?? "", /io\/connection.*more than 100 bytes/)
    }
  })

  it("is not opened for a space that is detached, and closes when one becomes it", async () => {
    let count = 0
    const { port } = await servers.sockets((socket) => {
      count += 1
      socket.write("a\n")
    })
    let asked = 0
    const { world } = TestWorld.make()
    const { ingress, reports, taken, until } = TestWorld.ingress([TestWorld.refused("close", "io/held")], () => ++asked > 3)
    define({ connect: { host: "127.0.0.1", port }, messages: "lines", inbound }, world).begin?.(ingress)
    await until(() => taken.length === 1)
    assert.deepStrictEqual([taken[0]?.id, count], ["wire:c2:1", 2])
    assert.match(reports[0] ?? "", /home is detached/)
  })

  it("N45 sends once it is open, in the order of the jobs and in the form of its messages", async () => {
    const { port } = await servers.sockets(() => undefined)
    await servers.close()
    const channel = define({ connect: { host: "127.0.0.1", port }, messages: "length-prefixed" }, TestWorld.make().world)
    const sent = ["a", "bc"].map((text) => TestJob.run(channel, TestJob.make("send", { text })))
    const seen: Array<number> = []
    await new Promise<void>((resolve, reject) => {
      servers.open(port, (socket) => void socket.on("data", (bytes) => {
        seen.push(...bytes)
        if (seen.length === 11) resolve()
      })).catch(reject)
    })
    assert.deepStrictEqual((await Promise.all(sent)).map(({ value }) => value), [{ bytes: 1 }, { bytes: 2 }])
    assert.deepStrictEqual(seen, [0, 0, 0, 1, 97, 0, 0, 0, 2, 98, 99])
  })

  it("closes a connection whose other side takes no bytes when the time of a job is over, and sends the next one anew", async () => {
    const { port } = await servers.sockets((socket) => void socket.pause())
    const channel = define({ connect: { host: "127.0.0.1", port }, timeoutMs: 300, maxBytes: 2 ** 26 }, TestWorld.make().world)
    const large = TestJob.failure(channel, TestJob.make("send", { data: new Uint8Array(2 ** 26) }))
    assert.strictEqual((await large).code, "io/timeout")
    assert.deepStrictEqual((await TestJob.run(channel, TestJob.make("send", { text: "next" }))).value, { bytes: 4 })
  })

  // The other hosts connect a datagram socket to any address.
  it.runIf(current() === "node")("of UDP is not open where the host refuses its address", async () => {
    const { waits, world } = TestWorld.make()
    const { ingress, reports, until } = TestWorld.ingress()
    const connect = { host: "255.255.255.255", port: 9, protocol: "udp" }
    define({ allow: ["255.255.255.255"], connect, messages: "datagram", inbound }, world).begin?.(ingress)
    await until(() => reports.length === 1)
    assert.include(reports[0], "EACCES")
    assert.strictEqual(waits[0], 1000)
  })

  it("takes datagrams of its other side", async () => {
    const server = createSocket("udp4")
    server.on("message", (_, { address, port }) => {
      for (const text of ["one", "two"]) server.send(text, port, address)
    })
    await new Promise<void>((resolve) => server.bind(0, "127.0.0.1", resolve))
    const { ingress, taken, until } = TestWorld.ingress()
    const connect = { host: "127.0.0.1", port: server.address().port, protocol: "udp" }
    const channel = define({ connect, messages: "datagram", inbound: { ...inbound, as: "bytes" } }, TestWorld.make().world)
    channel.begin?.(ingress)
    await TestJob.run(channel, TestJob.make("send", { text: "hello" }))
    await until(() => taken.length === 2)
    assert.deepStrictEqual(taken.map(({ payload }) => payload), ["one", "two"].map((text) => ({ data: new TextEncoder().encode(text) })))
    server.close()
  })
})
