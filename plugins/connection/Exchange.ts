/**
 * One exchange over a connection of its own: bytes out, and bytes in until an end.
 *
 * @module
 */
import { Channel } from "systole"
import * as Fields from "../channel/Fields.ts"
import type { Duplex } from "./Duplex.ts"
import { Gathered } from "./Gathered.ts"

/** The most bytes of a delimiter. */
const DELIMITER = 64

/** The time for the other side to close after the last byte to it, in milliseconds. */
const LINGER = 1000

/** The end of what is read: the close of the other side, nothing at all, a number of bytes, a delimiter, or one datagram. */
export type Until = "close" | "none" | "datagram" | { readonly bytes: number } | { readonly delimiter: string }

const isUntil = (value: unknown): value is Until => {
  if (value === "close" || value === "none" || value === "datagram") return true
  const [[name, end] = [], ...others] = typeof value === "object" && value !== null ? Object.entries(value) : []
  if (others.length > 0) return false
  if (name === "bytes") return Number.isSafeInteger(end) && (end as number) > 0
  return name === "delimiter" && typeof end === "string" && end.isWellFormed() && end !== "" && Buffer.byteLength(end) <= DELIMITER
}

/** The field of an end. */
export const until = Fields.guard(
  `"close", "none", "datagram", { bytes: number } or { delimiter: text } of 1 to ${DELIMITER} bytes`,
  isUntil
)

/** An exchange: the bytes to write, the end of the answer, and the most bytes that are read. */
export interface Exchange {
  readonly channel: string
  readonly bytes: Uint8Array
  readonly until: Until
  readonly limit: number
}

/** The bytes of an answer before its end; `undefined` while more is needed. */
type Find = (gathered: Gathered) => Uint8Array | undefined

const finders = {
  bytes: (count: number): Find => (gathered) => gathered.size < count ? undefined : gathered.take(count),
  delimiter: (text: string): Find => {
    const bytes = new TextEncoder().encode(text)
    let seen = 0
    return (gathered) => {
      const at = gathered.indexOf(bytes, seen)
      // The beginning of a delimiter may have arrived.
      seen = Math.max(0, gathered.size - bytes.length + 1)
      return at === -1 ? undefined : gathered.take(at)
    }
  },
  datagram: (): Find => (gathered) => gathered.take(gathered.size)
}

const findOf = (until: Until): Find => {
  if (until === "datagram") return finders.datagram()
  if (typeof until === "string") return () => undefined
  return "bytes" in until ? finders.bytes(until.bytes) : finders.delimiter(until.delimiter)
}

/** The most bytes of an answer, with its delimiter. */
const mostOf = (until: Until, limit: number): number =>
  typeof until === "object" && "delimiter" in until ? limit + Buffer.byteLength(until.delimiter) : limit

/** The failure for a connection that closed before the end of the answer. */
const short = (size: number): Channel.ChannelError =>
  Channel.fail("io/closed", `the other side closed the connection after ${size} bytes of its answer`, { errno: -104, retryable: true })

const reading = (duplex: Duplex, { channel, limit, until }: Exchange, signal: AbortSignal): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const gathered = new Gathered()
    const find = findOf(until)
    const most = mostOf(until, limit)
    const abort = (): void => reject(signal.reason)
    signal.addEventListener("abort", abort, { once: true })
    const settled = (): void => signal.removeEventListener("abort", abort)
    duplex.hear({
      data: (bytes) => {
        if (until === "none") return
        gathered.add(bytes)
        const found = find(gathered)
        if (found !== undefined && found.length <= limit) resolve(found)
        else if (found !== undefined || gathered.size > most) {
          reject(Channel.fail(`${channel}/size`, `the answer has more than ${limit} bytes, which is the limit; give a larger maxBytes`, {
            errno: -27
          }))
        }
      },
      closed: (error) => {
        settled()
        if (error !== undefined) reject(error)
        else if (until === "close" || until === "none") resolve(gathered.take(gathered.size))
        else reject(short(gathered.size))
      }
    })
    if (signal.aborted) abort()
  })

/** Ends when the other side has closed, or after {@link LINGER}: a close before would discard bytes that it did not read yet. */
const lingered = async (answer: Promise<unknown>): Promise<void> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, LINGER)
  })
  await Promise.race([answer, over]).finally(() => clearTimeout(timer))
}

/**
 * Writes the bytes, reads the answer, and closes the connection. What follows the end of the answer is dropped.
 *
 * @throws ChannelError `<channel>/size` for more bytes than the limit, `io/closed` for a close before the end; errors of the host
 */
export const exchange = async (duplex: Duplex, asked: Exchange, signal: AbortSignal): Promise<Uint8Array> => {
  const { bytes, until } = asked
  const answer = reading(duplex, asked, signal)
  try {
    const sent = (bytes.length === 0 && until !== "datagram" ? Promise.resolve() : duplex.write(bytes)).then(() => {
      if (until === "none" || until === "close") duplex.end()
    })
    // An answer may come, or fail, while the bytes are being written.
    if (until !== "none") return await Promise.race([answer, sent.then(() => answer)])
    await Promise.race([sent, answer.then(() => sent)])
    await lingered(answer)
    return new Uint8Array()
  } finally {
    answer.catch(() => undefined)
    duplex.close()
  }
}
