/**
 * The partners of the shop as one HTTP server: a warehouse, a bank and a carrier.
 *
 *     node partners.ts
 *
 * Each call has its effect once for each `Idempotency-Key`: a repeated call gets the first answer again. The bank
 * is unavailable at the first charge of each order, and declines the card `declined`.
 *
 * @module
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import process from "node:process"
import { fileURLToPath } from "node:url"

/** A call of a client. */
export interface Call {
  readonly step: string
  readonly order: string
  readonly key: string
}

/** A moment of a call: it arrived, the bank was unavailable, its effect is there, or its answer was sent. */
export type Moment = "arrived" | "unavailable" | "done" | "answered"

/** An answer: its status and its JSON. */
type Answer = readonly [status: number, body: object]

/** The most bytes of a call. */
const MAX_BYTES = 65_536

const textOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MAX_BYTES) throw new Error(`A call has more than ${MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString("utf8")
}

/** The partners, with a record of all calls and effects. */
export class Partners {
  readonly calls: Array<Call> = []
  /** The effects, such as `charge 17`. */
  readonly effects: Array<string> = []
  /** Called at each moment of a call, which goes on when the promise resolves. */
  at: (call: Call, moment: Moment) => Promise<void> | void = () => {}
  private readonly answers = new Map<string, Answer>()
  private readonly known = new Set<string>()
  private readonly server = createServer((request, response) => void this.serve(request, response))

  /** Listens on a free port of this machine. Returns the URL. */
  async listen(): Promise<string> {
    await new Promise<void>((resolve) => void this.server.listen(0, "127.0.0.1", resolve))
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => void this.server.close(() => resolve()))
    this.server.closeAllConnections()
    await closed
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const body = JSON.parse(await textOf(request)) as { readonly order: string; readonly card: string }
      const call: Call = { step: (request.url ?? "").slice(1), order: body.order, key: String(request.headers["idempotency-key"]) }
      this.calls.push(call)
      await this.at(call, "arrived")
      const [status, value] = this.answers.get(call.key) ?? await this.execute(call, body.card)
      const end = new Promise<void>((resolve) => void response.once("close", resolve))
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value))
      await end
      await this.at(call, status === 503 ? "unavailable" : "answered")
    } catch (error) {
      response.writeHead(400).end(String(error))
    }
  }

  /** Executes a call with a new key. The answer is kept, unless the call is to be repeated. */
  private async execute(call: Call, card: string): Promise<Answer> {
    if (call.step === "charge" && !this.known.has(call.key)) {
      this.known.add(call.key)
      return [503, { error: "the bank is unavailable" }]
    }
    const answer = this.answerOf(call, card)
    this.answers.set(call.key, answer)
    await this.at(call, "done")
    return answer
  }

  private answerOf({ order, step }: Call, card: string): Answer {
    const isDone = (step: string): boolean => this.effects.includes(`${step} ${order}`)
    const act = (): Answer => {
      this.effects.push(`${step} ${order}`)
      return [200, { [step]: true }]
    }
    if (step === "charge" && card === "declined") return [402, { error: "the card was declined" }]
    if (step === "reserve" || step === "charge" || step === "ship") return act()
    // Compensation of an effect that never was does nothing.
    if (step === "release") return isDone("reserve") ? act() : [200, { release: false }]
    if (step === "refund") return isDone("charge") ? act() : [200, { refund: false }]
    return [404, { error: `no partner has the step ${step}` }]
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const partners = new Partners()
  partners.at = ({ order, step }, moment) => void (moment === "arrived" && console.log(`${step} ${order}`))
  console.log(`The partners listen at ${await partners.listen()}`)
}
