/**
 * A server of streams whose connections a test drives.
 *
 * @module
 */

/** A connection of a stream: the path and the headers of its request, and its bytes. */
export interface Connection {
  readonly path: string
  readonly headers: Headers
  readonly send: (text: string) => void
  readonly end: () => void
  readonly break: () => void
  /** Whether the client has ended it. */
  readonly isEnded: () => boolean
}

/** The connections of a server, in the order in which they are opened. */
export class Connections {
  /** The answers in place of streams, in order: a refusal, or no answer. */
  readonly refusals: Array<Response | Error> = []
  private readonly opened: Array<Connection> = []
  private awaited: ((connection: Connection) => void) | undefined

  /** The next connection. */
  next(): Promise<Connection> {
    const connection = this.opened.shift()
    return connection === undefined ? new Promise((resolve) => this.awaited = resolve) : Promise.resolve(connection)
  }

  /** The number of connections that no test has taken. */
  get waiting(): number {
    return this.opened.length
  }

  readonly fetch = async (path: string, { headers, signal }: RequestInit): Promise<Response> => {
    const refusal = this.refusals.shift()
    if (refusal instanceof Error) throw refusal
    if (refusal !== undefined) return refusal
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>(undefined, undefined, { highWaterMark: 100 })
    const writer = writable.getWriter()
    signal?.addEventListener("abort", () => void writer.abort().catch(() => {}))
    const connection: Connection = {
      path,
      headers: new Headers(headers),
      send: (text) => void writer.write(new TextEncoder().encode(text)).catch(() => {}),
      end: () => void writer.close().catch(() => {}),
      break: () => void writer.abort(new Error("cut")).catch(() => {}),
      isEnded: () => signal?.aborted === true
    }
    if (this.awaited === undefined) this.opened.push(connection)
    else this.awaited(connection)
    this.awaited = undefined
    return new Response(readable, { headers: { "content-type": "text/event-stream" } })
  }
}

/** The event of a value. */
export const value = (id: number, data: unknown): string => `id: ${id}\nevent: value\ndata: ${JSON.stringify(data)}\n\n`

/** Runs the client until it waits for time or for bytes. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

export const turns = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await turn()
}
