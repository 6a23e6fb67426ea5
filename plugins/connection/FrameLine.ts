/**
 * A line of a transport over a connection: frames after their lengths.
 *
 * @module
 */
import { Channel, Transport } from "systole"
import type { Duplex } from "./Duplex.ts"
import * as Messages from "./Messages.ts"

/** The bytes that wait in the host before a line is full, and those below which it has room again. */
const FULL = 1_048_576
const ROOM = FULL / 2

/** The code or the name of an error, whose message may hold anything. */
const nameOf = (error: unknown): string => {
  const { code, name } = Object(error) as { readonly code?: unknown; readonly name?: unknown }
  return typeof code === "string" ? code : String(name ?? "the other side closed it")
}

/** A line that is open: `hear` gives it its callbacks, once. */
export interface FrameLine extends Transport.Line {
  readonly hear: (on: Transport.Callbacks) => void
}

/**
 * The line over a connection. It is full beyond 1 MiB that the host has not taken, except for one frame.
 */
export const make = (duplex: Duplex, maxFrame: number): FrameLine => {
  let waiting = 0
  let isFull = false
  let isOpen = true
  let on: Transport.Callbacks | undefined
  const end = (kind: "fatal" | "reset", detail: string): void => {
    if (!isOpen) return
    isOpen = false
    duplex.close()
    tell(kind, detail)
  }
  /** An error of a callback ends its line alone. */
  const tell = (...event: Parameters<Transport.Callbacks["event"]>): void => {
    try {
      on?.event(...event)
    } catch (error) {
      end("fatal", `its receiver failed: ${nameOf(error)}`)
    }
  }
  const taken = (bytes: number): void => {
    waiting -= bytes
    if (!isFull || waiting > ROOM || !isOpen) return
    isFull = false
    tell("ready_rx", "there is room again")
  }
  return {
    hear: (callbacks) => {
      on = callbacks
      const reader = Messages.lengthPrefixed(() => Math.min(maxFrame, callbacks.limit?.() ?? maxFrame))
      duplex.hear({
        data: (bytes) => {
          if (!isOpen) return
          reader.push(bytes)
          try {
            for (let frame = reader.next(true); isOpen && frame !== undefined; frame = reader.next(true)) callbacks.frame(frame, "data")
          } catch (error) {
            const isLong = error instanceof Channel.ChannelError && error.code === "io/protocol"
            end("fatal", isLong ? "a frame is longer than its limit" : `its receiver failed: ${nameOf(error)}`)
          }
        },
        closed: (error) => end("reset", nameOf(error))
      })
    },
    send: async (frame, mode) => {
      if (!isOpen) throw Transport.refuse("closed", "the line is closed")
      if (mode !== "data") throw Transport.refuse("mode", "the transport is reliable, so it has no upd_latest")
      if (frame.length > maxFrame) throw Transport.refuse("frame", `the frame has ${frame.length} bytes, and the limit is ${maxFrame}`)
      if (waiting > 0 && waiting + frame.length > FULL) {
        const isNew = !isFull
        isFull = true
        if (isNew) queueMicrotask(() => tell("backpressure", `more than ${ROOM} bytes wait`))
        return "full"
      }
      const whole = Messages.prefixed(frame)
      waiting += whole.length
      duplex.write(whole).then(() => taken(whole.length), (error: unknown) => end("reset", nameOf(error)))
      return "sent"
    },
    close: () => {
      isOpen = false
      duplex.close()
    }
  }
}
