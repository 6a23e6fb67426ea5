/**
 * The pins of a space, each at the durable beat at which it begins.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { ReadError } from "./Expected.ts"
import type { FlushedReads } from "./FlushedReads.ts"
import { type Parts, Pin, type State } from "./Pin.ts"

/** The parts of a space that pins need. */
interface Source extends Parts {
  readonly reads: Pick<FlushedReads, "read">
}

/**
 * The pins of one space.
 */
export class Pins {
  private readonly state: State
  private readonly parts: Source

  constructor(state: State, parts: Source) {
    this.state = state
    this.parts = parts
  }

  /** Begins a pin at the newest durable beat, until the scope closes. */
  readonly begin: Effect.Effect<Pin, ReadError, Scope.Scope> = Effect.suspend(() =>
    Effect.acquireRelease(this.parts.reads.read(() => new Pin(this.state, this.parts)), (pin) => Effect.sync(() => pin.release())))
}
