/**
 * The pins of a space, each at the durable beat at which it begins.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { Parts } from "../../frame/Parts.ts"
import * as Fibers from "../model/Fibers.ts"
import type { ReadError } from "./Expected.ts"
import type { FlushedReads } from "./FlushedReads.ts"
import * as Pinned from "./Pin.ts"

/** Makes a frame of a pinned state, in pieces. */
export type FrameOf = (pin: Pinned.Pin, parts: Parts) => AsyncGenerator<Uint8Array>

/** The parts of a space that pins need. */
interface Source extends Pinned.Parts {
  readonly reads: Pick<FlushedReads, "read">
  /** Starts the fibers of pins that no caller holds. */
  readonly fork: Fibers.Fork
}

/**
 * The pins of one space.
 */
export class Pins {
  private readonly state: Pinned.State
  private readonly parts: Source

  constructor(state: Pinned.State, parts: Source) {
    this.state = state
    this.parts = parts
  }

  /** Begins a pin at the newest durable beat, until the scope closes. */
  readonly begin: Effect.Effect<Pinned.Pin, ReadError, Scope.Scope> = Effect.suspend(() =>
    Effect.acquireRelease(this.parts.reads.read(() => new Pinned.Pin(this.state, this.parts)), (pin) => Effect.sync(() => pin.release())))

  /** The pieces of a frame of a pin, which ends with them. */
  async *pieces(make: FrameOf, parts: Parts): AsyncGenerator<Uint8Array> {
    const scope = Scope.makeUnsafe()
    const { fork } = this.parts
    const pin = await Fibers.promise(fork, Scope.provide(this.begin, scope))
    try {
      yield* make(pin, parts)
    } finally {
      await Fibers.promise(fork, Scope.close(scope, Exit.void))
    }
  }
}
