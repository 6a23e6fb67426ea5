/**
 * Frames in their pieces, and the frame of a store as it is on the disk.
 *
 * @module
 */
import { Effect, Exit, Scope } from "effect"
import type { Persistence } from "systole"
import * as Export from "../../src/archive/Export.ts"
import { concat } from "../../src/cell/Bytes.ts"
import { PendingSignal } from "../../src/kernel/model/Signal.ts"
import * as SpaceMode from "../../src/kernel/model/SpaceMode.ts"
import { Pin } from "../../src/kernel/view/Pin.ts"
import { hash } from "../frame/Frames.ts"
import { headerOf, recordsOf } from "./Spaces.ts"

/** A frame in its pieces: the opening, and then one chunk each. */
export type Frame = ReadonlyArray<Uint8Array>

/** The frame of a pinned state. */
export const frameOf = async (pin: Pin, parts: Export.Parts = {}): Promise<Frame> => {
  const pieces: Array<Uint8Array> = []
  for await (const piece of Export.frame(pin, { hash }, parts)) pieces.push(piece)
  return pieces
}

/** Whether two frames have the same bytes. */
export const isSame = (one: Frame, other: Frame): boolean => Buffer.compare(concat(one), concat(other)) === 0

/** The records of a frame as sorted lines. A signal for another space has the origin under which it was sent. */
export const linesOf = async (pieces: Frame): Promise<ReadonlyArray<string>> => {
  const frame = concat(pieces)
  const { origin } = headerOf(frame)
  return (await recordsOf(frame)).map(({ bytes, key, type }) => {
    const text = new TextDecoder().decode(bytes)
    if (type !== "queue") return `${type} ${key} ${text}`
    const [id = "", row = ""] = text.split("\n", 2)
    return `${type} ${key} ${id} ${PendingSignal.fromRow({ seq: Number(key), text: row }).sentUnder(origin).text}`
  }).toSorted()
}

/** The frame of a store as it is on the disk, without an opening of its space. */
export const stored = async (persistence: Persistence["Service"], name: string): Promise<Frame> => {
  const scope = Effect.runSync(Scope.make())
  try {
    const store = await Effect.runPromise(Scope.provide(persistence.open(name, { create: false }), scope))
    const host = { now: () => 0 } as ConstructorParameters<typeof Pin>[0]["host"]
    const state = { host, mode: SpaceMode.open, number: () => Number.MAX_SAFE_INTEGER, space: name, store }
    return await frameOf(new Pin(state, { barrier: { error: undefined }, turn: (run) => void setImmediate(run) }))
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
