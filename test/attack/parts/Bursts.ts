/**
 * Bursts of pages: one client asks for many pages of a list in one packet, and another one for something small right after it.
 *
 * @module
 */
import { connect, type Socket } from "node:net"
import process from "node:process"
import { bystander } from "../Part.ts"
import { hold, type Target, tokens } from "../Targets.ts"

/** The pages of a burst. */
const PAGES = 100

/** The most bursts of each list. The median of their counts decides: now and then the small request is read first, or late. */
const BURSTS = 5

/** The bursts on one side of the bound that decide their median. */
const MAJORITY = (BURSTS + 1) / 2

/**
 * The most pages that may be answered before the small request, which takes some turns. Of a list that does not give way all are
 * answered before it; of a short one with its turns, half of them have been.
 */
const MOST = 0.8 * PAGES

/** The time that a burst may take, in milliseconds. */
const LONG = 120_000

/** A connection that counts the answers to its requests. */
class Line {
  answers = 0
  /** The first answer, up to its body. */
  head = ""
  private readonly socket: Socket
  private heard: () => void = () => {}

  private constructor(socket: Socket) {
    this.socket = socket
    socket.setNoDelay(true).setEncoding("latin1").on("error", () => this.heard()).on("close", () => this.heard())
    socket.on("data", (chunk: string) => {
      if (this.answers === 0) this.head = chunk.slice(0, 100)
      this.answers += chunk.split("HTTP/1.1 ").length - 1
      this.heard()
    })
  }

  static to({ server: { url } }: Target): Promise<Line> {
    return new Promise((resolve, reject) => {
      const socket = connect(Number(new URL(url).port), "127.0.0.1", () => resolve(new Line(socket)))
      socket.once("error", reject)
    })
  }

  write(text: string): void {
    this.socket.write(text)
  }

  /** Waits for a number of answers. */
  async until(count: number): Promise<void> {
    const limit = setTimeout(() => this.end(), LONG)
    while (this.answers < count && !this.socket.destroyed) await new Promise<void>((resolve) => this.heard = resolve)
    clearTimeout(limit)
    hold(this.answers >= count, `${this.answers} of ${count} pages are answered within ${LONG} ms`)
  }

  end(): void {
    this.socket.destroy()
  }
}

const body = JSON.stringify({ signal: "/signals/small" })

const head = (line: string, token: string): string => `${line} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n`

const small = `${head(`POST ${bystander}`, tokens.operator)}prefer: wait=30\r\ncontent-type: application/json\r\n` +
  `content-length: ${body.length}\r\n\r\n${body}`

/** The pages of one burst that are answered before the small request. */
const before = async (target: Target, path: string, token: string): Promise<number> => {
  const [many, one] = await Promise.all([Line.to(target), Line.to(target)])
  try {
    // Both connections have been read from, so a packet costs each the same.
    many.write(`${head("GET /livez", token)}\r\n`)
    one.write(`${head("GET /livez", token)}\r\n`)
    await Promise.all([many.until(1), one.until(1)])
    // The server stands still meanwhile: on a busy machine it would answer many pages before the small request is written.
    process.kill(target.server.process.pid ?? 0, "SIGSTOP")
    many.write(`${head(`GET ${path}`, token)}\r\n`.repeat(PAGES))
    one.write(small)
    process.kill(target.server.process.pid ?? 0, "SIGCONT")
    await one.until(2)
    const found = many.answers - 1
    await many.until(PAGES + 1)
    return found
  } finally {
    many.end()
    one.end()
  }
}

/** A list of a server: its path and the token of its reader. */
export type List = readonly [path: string, token: string]

/** Holds that a small request overtakes the pages of each list, which one client asked for before it. */
export const overtaken = async (target: Target, lists: ReadonlyArray<List>): Promise<void> => {
  for (const [path, token] of lists) {
    const [held, late]: readonly [Array<number>, Array<number>] = [[], []]
    while (held.length < MAJORITY && late.length < MAJORITY) {
      const found = await before(target, path, token)
      ;(found <= MOST ? held : late).push(found)
    }
    const who = token === tokens.operator ? "the operator" : "a reader"
    const told = `${late.join(", ")} of ${PAGES} pages of ${path} for ${who} are answered before a small request of another space`
    hold(late.length < MAJORITY, told)
  }
}
