/**
 * A foreign server that keeps to no protocol. The last segment of a path chooses how.
 *
 * @module
 */
import { type AddressInfo, createServer, type Server, type Socket } from "node:net"
import { gzipSync } from "node:zlib"

/** The interval of the bytes of a slow answer, in milliseconds. */
const DRIP = 50

/** The size of a compressed answer once it is read, in bytes. */
const INFLATED = 64 * 1_048_576

/** The objects on a page of the list that never ends. */
const OBJECTS = 1000

const head = (status: string, ...fields: ReadonlyArray<string>): string => `HTTP/1.1 ${[status, ...fields].join("\r\n")}\r\n\r\n`

/** Writes a text again and again, until the connection closes. */
const drip = (socket: Socket, text: string): void => {
  const timer = setInterval(() => socket.write(text), DRIP)
  socket.on("close", () => clearInterval(timer))
}

const flood = (socket: Socket): void => {
  const chunk = Buffer.alloc(65_536, "x")
  const more = (): void => {
    while (!socket.destroyed && socket.write(chunk)) continue
  }
  socket.on("drain", more)
  more()
}

/** A page of a list that begins with the same keys each time: with entities that are none, and as large as a page may be. */
const page = `<ListBucketResult><IsTruncated>true</IsTruncated>${
  Array.from({ length: OBJECTS }, (_, n) => {
    const key = `cloud/&#x110000;&#99999999999;&bad;&#0;${"&amp;".repeat(60)}${n}`
    return `<Contents><Key>${key}</Key><LastModified>2013-05-24T00:00:00.000Z</LastModified></Contents>`
  }).join("")
}</ListBucketResult>`

/** Documents whose elements begin and never end. */
const unclosed = `<ListBucketResult>${"<Contents><Key>".repeat(30_000)}`
const failures = `<Error><Code>${"A".repeat(60)}`.repeat(1000)

/** Values of header fields that a careless expression reads in quadratic time. */
const long = [`retry-after: ${" ".repeat(7000)}x`, `content-type: text/plain;${" ;".repeat(3500)}`, `etag: ${"\"".repeat(7000)}`]

const answers: Readonly<Record<string, (socket: Socket) => void>> = {
  upgrade: (socket) => void socket.write(head("101 Switching Protocols", "connection: upgrade", "upgrade: nothing")),
  silent: () => {},
  drip: (socket) => {
    socket.write(head("200 OK", "content-length: 100000"))
    drip(socket, "x")
  },
  headers: (socket) => {
    socket.write("HTTP/1.1 200 OK\r\n")
    drip(socket, "x: y\r\n")
  },
  continue: (socket) => drip(socket, head("100 Continue")),
  flood: (socket) => {
    socket.write(head("200 OK"))
    flood(socket)
  },
  inflated: (socket) => void socket.end(Buffer.concat([Buffer.from(head("200 OK", "content-encoding: gzip")), zipped])),
  garbage: (socket) => void socket.end("\u0000\u0001 HTTP/9 no\r\n\r\n".repeat(1000)),
  fields: (socket) => void socket.end(head("503 Busy", ...long)),
  broken: (socket) => void socket.end(head("500 Broken") + failures),
  redirect: (socket) => void socket.end(head("302 Found", "location: redirect"))
}

const zipped = gzipSync(Buffer.alloc(INFLATED))

/** The ways of the server, by their names. */
export const ways: ReadonlyArray<string> = Object.keys(answers)

/** Answers a list of objects: one that never ends, or documents that are none. */
const list = (socket: Socket, count: number): void => {
  const [never, ...others] = [page, unclosed, failures, page.replaceAll("amp", "#x110000")]
  void socket.end(head("200 OK", "content-type: application/xml") + (others[count % 8] ?? never))
}

/** A hostile server that listens. */
export interface HostileServer {
  readonly url: string
  /** The number of its connections. */
  readonly connections: () => number
  readonly end: () => void
}

/** Starts a server on loopback. */
export const start = (): Promise<HostileServer> =>
  new Promise((resolve) => {
    const sockets = new Set<Socket>()
    let lists = 0
    const take = (socket: Socket, line: string): void => {
      const [method = "", target = ""] = line.split(" ")
      const { pathname, searchParams } = new URL(target, "http://host")
      const answer = answers[pathname.split("/").at(-1) ?? ""]
      if (searchParams.has("list-type")) list(socket, lists++)
      else if (answer !== undefined) answer(socket)
      // A part of content is taken, so that a list follows it.
      else socket.on("data", () => {}).on("end", () => {}).write(head("200 OK", "content-length: 0", "etag: \"1\""))
      if (method === "") socket.destroy()
    }
    const server: Server = createServer((socket) => {
      sockets.add(socket)
      socket.on("error", () => {}).on("close", () => sockets.delete(socket))
      socket.once("data", (chunk) => take(socket, chunk.toString("latin1").split("\r\n")[0] ?? ""))
    })
    server.listen(0, "127.0.0.1", () => resolve({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      connections: () => sockets.size,
      end: () => {
        server.close()
        for (const socket of sockets) socket.destroy()
      }
    }))
  })
