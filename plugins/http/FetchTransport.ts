/**
 * HTTP over the `fetch` of a host such as Workers, which resolves names itself: connections are not pinned.
 *
 * @module
 */
import { Channel } from "systole"
import type { Answer, Transport } from "./Transport.ts"

async function* chunksOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (body !== null) yield* body
}

const answerOf = (response: Response): Answer => {
  const cookies = response.headers.getSetCookie().map((cookie) => ["set-cookie", cookie] as const)
  const others = [...response.headers].filter(([name]) => name !== "set-cookie")
  const body = chunksOf(response.body)
  return {
    status: response.status,
    headers: [...others, ...cookies],
    body,
    close: () => {
      // A stream that is being read is locked, and ends with its reader.
      if (response.body?.locked === false) response.body.cancel().catch(() => {})
    }
  }
}

/** Such a host tells no codes, so each failure of the network is retryable. */
const failure = (error: unknown): Channel.ChannelError =>
  error instanceof Channel.ChannelError
    ? error
    : Channel.fail("io/unreachable", error instanceof Error ? error.message : String(error), { retryable: true })

/**
 * The `fetch` of this host.
 */
export const make = (): Transport => ({
  resolve: undefined,
  send: async ({ body, headers, method, signal, url }) => {
    const init = { method, headers: headers.map(([name, value]): [string, string] => [name, value]), redirect: "manual", signal } as const
    try {
      return answerOf(await fetch(url, body === undefined ? init : { ...init, body: body as Uint8Array<ArrayBuffer> }))
    } catch (error) {
      throw failure(signal.aborted ? signal.reason : error)
    }
  }
})
