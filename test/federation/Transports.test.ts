import { afterAll, assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { existsSync, mkdtempSync, realpathSync, renameSync, rmSync } from "node:fs"
import { createServer, connect, type AddressInfo, type Server } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Transport } from "systole"
import { MockNetwork, type TransportPlace, transportContract } from "systole/testing"
import * as Messages from "../../plugins/connection/Messages.ts"
import * as PipeTransport from "../../plugins/pipe/PipeTransport.ts"
import * as Tcp from "../../plugins/tcp.ts"
import { authority, clientCertificate, clientKey, serverCertificate, serverKey } from "../plugins/http/Certificates.ts"
import { current } from "../scripts/Host.ts"
import * as Random from "../support/Random.ts"

const root = realpathSync(mkdtempSync(join(tmpdir(), "systole-transports-")))

afterAll(() => rmSync(root, { recursive: true, force: true }))

const place = { root, folder: root, host: current() }

Object.assign(process.env, {
  SYSTOLE_TEST_TLS_CA: authority, SYSTOLE_TEST_TLS_CERT: serverCertificate, SYSTOLE_TEST_TLS_KEY: serverKey,
  SYSTOLE_TEST_TLS_CLIENT: clientCertificate, SYSTOLE_TEST_TLS_CLIENT_KEY: clientKey
})

const env = (name: string) => ({ env: `SYSTOLE_TEST_TLS_${name}` })
const certified = { ca: env("CA"), cert: env("CERT"), key: env("KEY") }

const tcp = (options: object = {}) => Tcp.make({ ...place, id: "tcp", options: { ...options } })
const pipe = (options: object = {}) => PipeTransport.make({ ...place, id: "pipe", options: { ...options } })
let made = 0
const socketPath = () => `unix:t${++made}`
const network = new MockNetwork()

const places: Readonly<Record<string, TransportPlace>> = {
  "tcp": { transport: () => tcp(), url: () => "tcp://127.0.0.1:0", absent: "tcp://127.0.0.1:1" },
  "tcp over TLS": { transport: () => tcp(certified), url: () => "tls://127.0.0.1:0", absent: "tls://127.0.0.1:1" },
  "pipe": { transport: () => pipe(), url: socketPath, absent: "unix:absent" },
  "mock": { transport: () => network.transport(), url: () => `mock:${++made}`, absent: "mock:absent" },
  "mock-sync": { transport: () => network.transport("mock-sync"), url: () => `mock:${++made}`, absent: "mock:absent" }
}

for (const [name, each] of Object.entries(places)) {
  describe(`The transport ${name}`, () => {
    for (const { name, run } of transportContract(each)) it(name, run)
  })
}

const silent = { frame: () => {}, event: () => {} }
const never = new AbortController().signal

/** Frames and events of lines that are accepted or opened. */
const heard = () => {
  const frames: Array<string> = []
  const events: Array<string> = []
  let wake = (): void => {}
  const on: Transport.Callbacks = {
    frame: (bytes) => {
      frames.push(Buffer.from(bytes).toString())
      wake()
    },
    event: (kind) => {
      events.push(kind)
      wake()
    }
  }
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise<void>((resolve) => { wake = resolve })
  }
  return { frames, events, on, until }
}

/** A proxy that ends each connection after so many bytes. */
const cutting = async (port: number, bytes: () => number): Promise<Server & { readonly port: number }> => {
  const server = createServer((from) => {
    const to = connect(port, "127.0.0.1")
    let left = bytes()
    for (const socket of [from, to]) socket.on("error", () => undefined)
    from.on("data", (part) => {
      to.write(part.subarray(0, left))
      left -= part.length
      if (left > 0) return
      to.end()
      from.destroy()
    })
    to.on("close", () => from.destroy())
    from.on("close", () => to.end())
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return Object.assign(server, { port: (server.address() as AddressInfo).port })
}

describe("A line", () => {
  it.each([1, 2, 3])("that is cut at any byte gives whole frames up to there, and one reset on each side (seed %d)", async (seed) => {
    const draw = Random.make(seed)
    const frames = Array.from({ length: 20 }, (_, n) => `${n}`.repeat(1 + draw(30)))
    const total = frames.reduce((sum, frame) => sum + frame.length + 4, 0)
    const transport = tcp()
    const far = heard()
    const listening = await transport.listen?.("tcp://127.0.0.1:0", () => far.on) ?? assert.fail("it listens")
    for (let round = 0; round < 5; round++) {
      const at = 1 + draw(total - 1)
      const proxy = await cutting(Number(new URL(listening.url).port), () => at)
      const near = heard()
      far.frames.length = far.events.length = 0
      const line = await transport.open({ peer: "a", url: `tcp://127.0.0.1:${proxy.port}`, signal: never }, near.on)
      for (const frame of frames) await line.send(Buffer.from(frame), "data").catch(() => undefined)
      await Promise.all([near, far].map(({ events, until }) => until(() => events.length > 0)))
      let whole = 0
      for (let bytes = 4 + (frames[0]?.length ?? 0); bytes <= at; bytes += 4 + (frames[whole]?.length ?? Infinity)) whole += 1
      assert.deepStrictEqual(far.frames, frames.slice(0, whole), `cut at ${at}`)
      assert.deepStrictEqual([near.events, far.events], [["reset"], ["reset"]])
      proxy.close()
    }
    await listening.close()
  })

  it("ends for good by a giant length, of which nothing is kept, and by no drip of single bytes", async () => {
    const transport = tcp()
    const far = heard()
    const listening = await transport.listen?.("tcp://127.0.0.1:0", () => far.on) ?? assert.fail("it listens")
    const port = Number(new URL(listening.url).port)
    const giant = connect(port, "127.0.0.1", () => void giant.write(new Uint8Array([255, 255, 255, 255])))
    giant.on("error", () => undefined)
    await far.until(() => far.events.length > 0)
    assert.deepStrictEqual(far.events, ["fatal"])
    const drip = connect(port, "127.0.0.1", () => {
      drip.setNoDelay(true)
      for (const byte of Messages.prefixed(Buffer.from("drip"))) drip.write(new Uint8Array([byte]))
    })
    await far.until(() => far.frames.length > 0)
    assert.deepStrictEqual(far.frames, ["drip"])
    drip.destroy()
    await listening.close()
  })

  it("ends alone by an error of its receiver, and the place goes on", async () => {
    const transport = tcp()
    const far = heard()
    const frame = (bytes: Uint8Array): void => {
      if (bytes[0] === 0) throw new RangeError("no such frame")
      far.on.frame(bytes, "data")
    }
    let accepted = 0
    const accept = () => {
      if (++accepted === 1) throw new Error("it takes no line yet")
      return { ...far.on, frame }
    }
    const listening = await transport.listen?.("tcp://127.0.0.1:0", accept) ?? assert.fail("it listens")
    const near = heard()
    const open = () => transport.open({ peer: "a", url: listening.url, signal: never }, near.on)
    await open()
    await near.until(() => near.events.length === 1)
    const wrong = await open()
    await wrong.send(new Uint8Array([0]), "data")
    await near.until(() => near.events.length === 2)
    assert.deepStrictEqual([near.events, far.events], [["reset", "reset"], ["fatal"]])
    const line = await open()
    await line.send(Buffer.from("good"), "data")
    await far.until(() => far.frames.length > 0)
    assert.deepStrictEqual(far.frames, ["good"])
    line.close("done")
    await listening.close()
  })

  it("beyond the most lines of a place is closed, and one that ends makes room", async () => {
    const transport = tcp({ lines: 1 })
    const listening = await transport.listen?.("tcp://127.0.0.1:0", () => silent) ?? assert.fail("it listens")
    const first = heard()
    const line = await transport.open({ peer: "a", url: listening.url, signal: never }, first.on)
    const second = heard()
    await transport.open({ peer: "a", url: listening.url, signal: never }, second.on)
    await second.until(() => second.events.length > 0)
    assert.deepStrictEqual([first.events, second.events], [[], ["reset"]])
    line.close("done")
    await listening.close()
  })
})

describe("The options of a transport", () => {
  it.each<[() => unknown, RegExp]>([
    [() => tcp({ lines: 0 }), /options of transport "tcp" are refused: its field "lines"/],
    [() => tcp({ cert: env("CERT") }), /options of transport "tcp" are refused: it has one of cert and key/],
    [() => tcp({ ca: env("ABSENT") }), /options of transport "tcp" are refused: its field "ca"/],
    [() => pipe({ maxFrame: 1 }), /options of transport "pipe" are refused: its field "maxFrame"/]
  ])("are refused by their transport: %#", (make, message) => {
    assert.throws(make, message)
  })
})

describe("The transport tcp", () => {
  it.each([
    "tcp://192.0.2.1:1", "tcp://localhost:1", "tcp://127.0.0.1", "http://127.0.0.1:1", "tls://a:1/path", "tls://u:p@a:1", "tls://:1", "x"
  ])("refuses the place %s", async (url) => {
    const error = await tcp().open({ peer: "a", url, signal: never }, silent).catch((error: unknown) => error)
    assert.instanceOf(error, Transport.TransportRefused)
    assert.strictEqual((error as Transport.TransportRefused).code, "transport/url")
  })

  it("takes a side with a certificate of its authority alone", async () => {
    const far = heard()
    const listening = await tcp(certified).listen?.("tls://127.0.0.1:0", () => far.on) ?? assert.fail("it listens")
    const to = { peer: "a", url: listening.url, signal: never }
    const bare = heard()
    const opened = await tcp({ ca: env("CA") }).open(to, bare.on).catch(() => undefined)
    if (opened !== undefined) await bare.until(() => bare.events.length > 0)
    const line = await tcp({ ca: env("CA"), cert: env("CLIENT"), key: env("CLIENT_KEY") }).open(to, silent)
    await line.send(Buffer.from("known"), "data")
    await far.until(() => far.frames.length > 0)
    assert.deepStrictEqual(far.frames, ["known"])
    const strange = await tcp().open(to, silent).catch(({ code }: { readonly code: string }) => code)
    assert.isString(strange)
    line.close("done")
    await listening.close()
  })

  it("counts connections in a handshake of TLS as lines, and ends them with the place", async () => {
    const listening = await tcp({ ...certified, lines: 1 }).listen?.("tls://127.0.0.1:0", () => silent) ?? assert.fail("it listens")
    const begun = () => connect(Number(new URL(listening.url).port), "127.0.0.1").on("error", () => undefined)
    const first = begun()
    await once(first, "connect")
    const second = begun()
    await once(second, "close")
    assert.isFalse(first.destroyed)
    const closed = once(first, "close")
    await listening.close()
    await closed
  })

  it("listens on TLS with a certificate alone", async () => {
    const error = await tcp().listen?.("tls://127.0.0.1:0", () => silent).catch((error: unknown) => error)
    assert.match(String((error as Error).message), /cert and key/)
  })
})

describe("The transport pipe", () => {
  it("takes the place of a socket that a process left behind, and of none that is heard", async () => {
    const url = socketPath()
    const path = join(root, "pipes", url.slice(5))
    const left = createServer()
    await new Promise<void>((resolve) => left.listen(path, resolve))
    const error = await pipe().listen?.(url, () => silent).catch(({ code }: { readonly code: string }) => code)
    assert.strictEqual(error, "EADDRINUSE")
    // A server removes its socket by its name, so under another one it stays as after a crash.
    renameSync(path, `${path}.left`)
    await new Promise((resolve) => left.close(resolve))
    renameSync(`${path}.left`, path)
    assert.isTrue(existsSync(path))
    const listening = await pipe().listen?.(url, () => silent) ?? assert.fail("it listens")
    await listening.close()
    assert.isFalse(existsSync(path))
  })

  it.each(["unix:../out", "unix:/tmp/out", "tcp://127.0.0.1:1"])("refuses the place %s", async (url) => {
    const code = await pipe().open({ peer: "a", url, signal: never }, silent).catch(({ code }: { readonly code: string }) => code)
    assert.include(["pipe/refused", "transport/url"], code)
  })
})

describe("The mock", () => {
  it("loses, delays, refuses and resets as its script says", async () => {
    const turns: Array<() => void> = []
    const network = new MockNetwork({
      isLost: (n) => n === 2, delay: (n) => n === 3 ? 3 : 1, isFull: (attempt) => attempt === 4, isReset: (n) => n === 5,
      next: (turn) => turns.push(turn)
    })
    const transport = network.transport()
    const [near, far] = [heard(), heard()]
    await transport.listen?.("mock:a", () => far.on)
    const line = await transport.open({ peer: "a", url: "mock:a", signal: never }, near.on)
    const answers: Array<string> = []
    for (const text of ["1", "2", "3", "full", "4"]) answers.push(await line.send(Buffer.from(text), "data"))
    assert.deepStrictEqual(answers, ["sent", "sent", "sent", "full", "sent"])
    const arrived: Array<string> = []
    while (turns.length > 0) {
      turns.shift()?.()
      arrived.push(far.frames.join(""))
    }
    assert.deepStrictEqual([arrived[0], arrived.at(-1)], ["1", "134"])
    assert.deepStrictEqual(near.events, ["backpressure", "ready_rx"])
    await line.send(Buffer.from("5"), "upd_latest")
    while (turns.length > 0) turns.shift()?.()
    assert.deepStrictEqual([far.frames.join(""), near.events.at(-1), far.events], ["1345", "reset", ["reset"]])
  })
})
