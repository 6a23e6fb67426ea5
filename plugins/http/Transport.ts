/**
 * The port of hosts that send HTTP requests: one exchange over one connection.
 *
 * @module
 */

/** The headers of a message, in the order of the wire. A name may occur more than once. */
export type Headers = ReadonlyArray<readonly [name: string, value: string]>

/** A request on its way. */
export interface OutgoingRequest {
  readonly url: URL
  readonly method: string
  readonly headers: Headers
  readonly body: Uint8Array | undefined
  /** The checked addresses, of which the connection goes to one; empty on a host that cannot pin. */
  readonly addresses: ReadonlyArray<string>
  /** Whether the URL has the origin that the author named, which alone sees the client's certificate. */
  readonly isNamed: boolean
  /** Aborts the exchange, also while the body of the answer is read. Its reason is an error. */
  readonly signal: AbortSignal
}

/** The answer of a server. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: AsyncIterable<Uint8Array>
  /** Closes the connection. It is called after each exchange. */
  readonly close: () => void
}

/** The means of a host. */
export interface Transport {
  /** The addresses of a name; `undefined` on a host that cannot connect to an address that was checked. */
  readonly resolve: ((name: string) => Promise<ReadonlyArray<string>>) | undefined
  readonly send: (outgoing: OutgoingRequest) => Promise<Answer>
}

/** The first value of a header, by its name in lower case. */
export const header = (headers: Headers, name: string): string | undefined =>
  headers.find(([each]) => each.toLowerCase() === name)?.[1]
