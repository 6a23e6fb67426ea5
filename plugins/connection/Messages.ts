/**
 * Messages of a stream of bytes: lines, or bytes after their length.
 *
 * @module
 */
import { Channel } from "systole"
import { Gathered } from "./Gathered.ts"

/** The form of messages on a connection. */
export type Form = "lines" | "length-prefixed" | "datagram"

/** The bytes of a length, which is big endian. */
const LENGTH = 4
const NEWLINE = 0x0a
const RETURN = 0x0d
const newline = new Uint8Array([NEWLINE])

/** The bytes of datagrams that wait, each with the ones of its record. */
const QUEUED = 1_048_576
const EACH = 128

/** The failure for a message of more bytes than the limit. */
export const tooLong = (limit: number): Channel.ChannelError =>
  Channel.fail("io/protocol", `a message has more than ${limit} bytes, which is the limit; raise the option maxMessage`, { errno: -71 })

/** Finds messages in bytes as they arrive. */
export interface Reader {
  /** Adds bytes. `false` if they are lost. */
  readonly push: (bytes: Uint8Array) => boolean
  /**
   * The next whole message; `undefined` until more bytes arrive. A stream whose next message is too long has none after it.
   *
   * @throws ChannelError `io/protocol` for a message above the limit, as soon as that is known and `isFirst`
   */
  readonly next: (isFirst: boolean) => Uint8Array | undefined
}

/** Ends a stream at a message that is too long, after the ones before it. */
const refused = (limit: number, isFirst: boolean): undefined => {
  if (isFirst) throw tooLong(limit)
}

/** Lines, which end with a line feed. A carriage return before it is no part of its line. */
const lines = (limit: number): Reader => {
  const gathered = new Gathered()
  // The bytes without a line feed are not looked at again.
  let seen = 0
  return {
    push: (bytes) => {
      gathered.add(bytes)
      return true
    },
    next: (isFirst) => {
      const end = gathered.indexOf(newline, seen)
      seen = end === -1 ? gathered.size : end
      // A carriage return and the line feed may stand behind the message.
      if ((end === -1 ? gathered.size : end) > limit + 1) return refused(limit, isFirst)
      if (end === -1) return undefined
      const line = gathered.take(end)
      gathered.drop(1)
      seen = 0
      return line.at(-1) === RETURN ? line.subarray(0, -1) : line
    }
  }
}

/** Bytes after their number as an unsigned integer of 32 bits, big endian. */
export const lengthPrefixed = (limit: () => number): Reader => {
  const gathered = new Gathered()
  return {
    push: (bytes) => {
      gathered.add(bytes)
      return true
    },
    next: (isFirst) => {
      if (gathered.size < LENGTH) return undefined
      const length = gathered.uint32()
      const most = limit()
      if (length > most) return refused(most, isFirst)
      if (gathered.size < LENGTH + length) return undefined
      gathered.drop(LENGTH)
      return gathered.take(length)
    }
  }
}

/** Bytes after their length. */
export const prefixed = (bytes: Uint8Array): Uint8Array => {
  const whole = new Uint8Array(LENGTH + bytes.length)
  new DataView(whole.buffer).setUint32(0, bytes.length)
  whole.set(bytes, LENGTH)
  return whole
}

/** Datagrams that wait. A host does not hold them back, so one beyond the limits is lost. */
const datagrams = (limit: number): Reader => {
  const waiting: Array<Uint8Array> = []
  let size = 0
  return {
    push: (bytes) => {
      if (bytes.length > limit || size + bytes.length + EACH > QUEUED) return false
      size += bytes.length + EACH
      waiting.push(new Uint8Array(bytes))
      return true
    },
    next: () => {
      const first = waiting.shift()
      if (first !== undefined) size -= first.length + EACH
      return first
    }
  }
}

const readers: Readonly<Record<Form, (limit: number) => Reader>> = {
  lines,
  "length-prefixed": (limit) => lengthPrefixed(() => limit),
  datagram: datagrams
}

/** The reader of a form, for messages of at most `limit` bytes. */
export const reader = (form: Form, limit: number): Reader => readers[form](limit)

/** The bytes of a message on a connection. @throws ChannelError `io/invalid` for a line with a line feed */
export const encode = (form: Form | undefined, bytes: Uint8Array): Uint8Array => {
  if (form === "length-prefixed") return prefixed(bytes)
  if (form !== "lines") return bytes
  if (bytes.includes(NEWLINE)) {
    throw Channel.fail("io/invalid", "the message has a line feed, and a line ends with one; send two messages", { errno: -22 })
  }
  const line = new Uint8Array(bytes.length + 1)
  line.set(bytes)
  line[bytes.length] = NEWLINE
  return line
}
