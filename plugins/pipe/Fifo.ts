/**
 * FIFOs as connections: one that reads, or one that writes.
 *
 * A host reads and writes files on a few threads, which a FIFO without another side would hold. So it is opened without waiting,
 * and tried again after short times.
 *
 * @module
 */
import type { FileHandle } from "node:fs/promises"
import { Channel } from "systole"
import type { Callbacks, Duplex } from "../connection/Duplex.ts"
import type * as Wait from "../connection/Wait.ts"

/** The waits before another attempt, in milliseconds: each is twice the one before, up to the longest. */
const FIRST = 2
const LAST = 100

/** The bytes of one read. */
const PART = 65_536

/** The bytes of one write: a FIFO takes as many whole or not at all, on each host. */
const PIECE = 512

/** A FIFO that is open without waiting. */
export interface Fifo {
  readonly handle: FileHandle
  readonly sleep: Wait.World["sleep"]
}

const isBusy = (error: unknown): boolean => {
  const { code, name } = Object(error) as { readonly code?: unknown; readonly name?: unknown }
  return code === "EAGAIN" || name === "WouldBlock"
}

/** The result of an attempt; `undefined` if it would wait. */
const attempt = async <A>(call: Promise<A>): Promise<A | undefined> => {
  try {
    return await call
  } catch (error) {
    if (isBusy(error)) return undefined
    throw error
  }
}

/** The reading side. It begins with the first writer, and ends with the last one, unless it also holds the other end itself. */
export const reading = ({ handle, sleep }: Fifo): Duplex => {
  const ending = new AbortController()
  let isPaused = false
  let wake = (): void => {}
  const run = async ({ data }: Callbacks): Promise<void> => {
    const part = new Uint8Array(PART)
    let wait = FIRST
    for (let isBegun = false; !ending.signal.aborted;) {
      if (isPaused) await new Promise<void>((resolve) => { wake = resolve })
      const read = await attempt(handle.read(part, 0, PART, null))
      const count = read?.bytesRead ?? 0
      if (ending.signal.aborted || read !== undefined && count === 0 && isBegun) return
      if (count > 0) {
        isBegun = true
        wait = FIRST
        data(part.slice(0, count))
      } else {
        await sleep(wait, ending.signal).catch(() => undefined)
        wait = Math.min(2 * wait, LAST)
      }
    }
  }
  const resume = (): void => {
    isPaused = false
    wake()
  }
  const close = (): void => {
    ending.abort()
    resume()
  }
  return {
    hear: (callbacks) => void run(callbacks).then(() => undefined, (error: unknown) => error)
      .then(async (error) => {
        await handle.close().catch(() => undefined)
        callbacks.closed(error)
      }),
    write: () => Promise.reject(Channel.fail("io/invalid", "the FIFO is read on this connection, and not written", { errno: -22 })),
    end: () => {},
    pause: () => {
      isPaused = true
    },
    resume,
    close
  }
}

/** The writing side. */
export const writing = ({ handle, sleep }: Fifo): Duplex => {
  const ending = new AbortController()
  let heard: Callbacks | undefined
  let isOpen = true
  let last: Promise<unknown> = Promise.resolve()
  const close = (error?: unknown): void => {
    if (!isOpen) return
    isOpen = false
    ending.abort()
    // A write in progress ends before its handle.
    void last.then(() => handle.close()).catch(() => undefined).then(() => heard?.closed(error))
  }
  const all = async (bytes: Uint8Array): Promise<void> => {
    let wait = FIRST
    for (let at = 0; at < bytes.length;) {
      if (ending.signal.aborted) throw Object.assign(new Error("the FIFO is closed"), { code: "ECONNRESET" })
      const written = await attempt(handle.write(bytes, at, Math.min(PIECE, bytes.length - at), null))
      at += written?.bytesWritten ?? 0
      wait = written === undefined ? Math.min(2 * wait, LAST) : FIRST
      if (written === undefined) await sleep(wait, ending.signal)
    }
  }
  return {
    hear: (callbacks) => {
      heard = callbacks
    },
    write: (bytes) => {
      const written = all(bytes)
      last = written.catch(() => undefined)
      return written.catch((error: unknown) => {
        close(error)
        throw error
      })
    },
    end: () => close(),
    pause: () => {},
    resume: () => {},
    close: () => close()
  }
}
