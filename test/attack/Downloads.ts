/**
 * Clients that request large responses and read them slowly or not at all.
 *
 * @module
 */
import { createHash } from "node:crypto"
import { connect, type Socket } from "node:net"
import type { Attack } from "./Attack.ts"
import { hold, memory, PATIENCE, processor, type Target, tokens } from "./Targets.ts"

const SIZE = 32 * 1_048_576
const SLOW = 200
const STREAMS = 500
const GUEST_STREAMS = 1000

/** The limit on the CPU time of one change under all streams, in milliseconds. */
const MOST_MILLIS = 1000

/** Connections that send a request and never read the response. */
const stalled = async (
  target: Target,
  { count, path, token }: { readonly count: number; readonly path: string; readonly token?: string },
  accept = "*/*"
): Promise<ReadonlyArray<Socket>> => {
  const { port } = new URL(target.server.url)
  const authorization = token === undefined ? "" : `authorization: Bearer ${token}\r\n`
  const sockets = await Promise.all(Array.from({ length: count }, () =>
    new Promise<Socket>((resolve, reject) => {
      const socket = connect({ host: "127.0.0.1", port: Number(port) }, () => {
        socket.pause()
        socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost:${port}\r\naccept: ${accept}\r\n${authorization}\r\n`)
        resolve(socket)
      })
      socket.once("error", reject)
    })))
  for (const socket of sockets) socket.on("error", () => {})
  await rest(1000)
  return sockets
}

const rest = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

const drop = (sockets: ReadonlyArray<Socket>): void => sockets.forEach((socket) => socket.destroy())

const uploaded = async (target: Target): Promise<string> => {
  const bytes = Buffer.alloc(SIZE, 7)
  const { status } = await target.ask("/v1/spaces/files/blobs", { method: "PUT", body: bytes })
  hold(status === 201, `the upload is answered ${status}`)
  return createHash("sha256").update(bytes).digest("hex")
}

export const content: ReadonlyArray<Attack> = [
  {
    name: "13 slow downloads",
    holds: "200 of 32 MiB take less than 400 MiB together, and other clients are served",
    run: async ({ open }) => {
      const digest = await uploaded(open)
      const before = memory(open.server.process.pid)
      const sockets = await stalled(open, { count: SLOW, path: `/v1/spaces/files/blobs/${digest}` })
      try {
        const taken = memory(open.server.process.pid) - before
        hold(taken < 400, `they take ${taken} MiB`)
        await open.check()
      } finally {
        drop(sockets)
      }
      const range = await open.ask(`/v1/spaces/files/blobs/${digest}`, { headers: { range: "bytes=5-9" } })
      hold(range.status === 206 && range.text.length === 5, `a range is answered ${range.status}`)
      const beyond = await open.ask(`/v1/spaces/files/blobs/${digest}`, { headers: { range: `bytes=${SIZE}-` } })
      hold(beyond.status === 416, `a range beyond the end is answered ${beyond.status}`)
      return SLOW + 2
    }
  }
]

export const streams: ReadonlyArray<Attack> = [
  {
    name: "15 a reader that takes all streams",
    holds: "the operator still gets one",
    run: async ({ guarded }) => {
      const path = "/v1/spaces/shop/cells/data/open"
      const accept = "text/event-stream"
      await guarded.ask(path, { method: "PUT", headers: { "content-type": "application/json" }, body: "1" })
      const sockets = await stalled(guarded, { count: GUEST_STREAMS, path, token: tokens.web }, accept)
      try {
        const openStream = (token: string) => guarded.ask(path, { headers: { accept, authorization: `Bearer ${token}` } })
        let more = await openStream(tokens.web)
        // A slow server accepts the last streams later.
        for (const end = performance.now() + PATIENCE; more.status === 200 && performance.now() < end;) more = await openStream(tokens.web)
        hold(more.status === 429, `one more of the reader is answered ${more.status}`)
        for (const token of [tokens.operator, tokens.office]) {
          const { status } = await openStream(token)
          hold(status === 200, `a stream of another is answered ${status}`)
        }
      } finally {
        drop(sockets)
      }
      return GUEST_STREAMS + 3
    }
  },
  {
    name: "15 a large cell under many streams",
    holds: "a change of 200 KB takes less than a second of the server, and slow readers hold no more than the newest",
    run: async ({ open }) => {
      const put = async (i: number): Promise<number> => {
        const began = processor(open.server.process.pid)
        const { status } = await open.ask("/v1/spaces/wide/cells/data/large", {
          method: "PUT",
          headers: { "content-type": "application/json" },
          body: JSON.stringify([i, "x".repeat(200_000)])
        })
        hold(status === 200, `a write is answered ${status}`)
        return processor(open.server.process.pid) - began
      }
      await put(0)
      const sockets = await stalled(open, { count: STREAMS, path: "/v1/spaces/wide/cells/data/large" }, "text/event-stream")
      try {
        await open.check()
        const times: Array<number> = []
        for (let i = 1; i <= 4; i++) times.push(await put(i))
        // A collection of garbage falls into one of them.
        const least = Math.round(Math.min(...times))
        hold(least < MOST_MILLIS, `a write takes ${least} ms of the server's processor`)
        await open.check()
      } finally {
        drop(sockets)
      }
      return STREAMS
    }
  }
]
