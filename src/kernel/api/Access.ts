/**
 * Access to a space, open or closed.
 *
 * An unused space may be closed. Its access remains valid: a request opens the space
 * first and keeps it open until the answer. Only a space that stopped because its store
 * failed stays stopped.
 *
 * @module
 */
import * as Cause from "effect/Cause"
import * as Channel from "effect/Channel"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { PersistenceError } from "../../persistence/PersistenceError.ts"
import { asStopped, type SpaceStopped } from "../model/SpaceError.ts"
import type { PostHears } from "../view/Space.ts"
import type { Fork } from "../model/Fibers.ts"
import type { LiveSpace } from "../live/LiveSpace.ts"

/** The use of an open space by one request, from its begin to its end. */
class Use {
  private space: LiveSpace | undefined

  acquire(space: LiveSpace): LiveSpace {
    space.lifetime.acquire()
    this.space = space
    return space
  }

  release(): void {
    this.space?.lifetime.release()
  }
}

/**
 * Opens a space if it is closed, and counts requests in progress.
 */
export class Access {
  readonly name: string
  private space: LiveSpace
  private readonly fork: Fork
  private readonly reopen: Effect.Effect<LiveSpace, SpaceStopped>

  constructor(space: LiveSpace, { fork, reopen }: {
    readonly fork: Fork
    readonly reopen: Effect.Effect<LiveSpace, PersistenceError | SpaceStopped>
  }) {
    this.name = space.name
    this.space = space
    this.fork = fork
    this.reopen = Effect.mapError(reopen, (error) => asStopped(space.name, error))
  }

  // The finalizer is in place before the entry: an acquisition of its own costs each request several microseconds more.
  use<A, E>(see: (space: LiveSpace) => Effect.Effect<A, E>): Effect.Effect<A, E | SpaceStopped> {
    return Effect.suspend(() => {
      const use = new Use()
      return Effect.onExit(this.used(use, see), () => Effect.sync(() => use.release()))
    })
  }

  // As an unwrapped stream, but with one finalizer and no scope of its own.
  stream<A, E>(see: (space: LiveSpace) => Stream.Stream<A, E>): Stream.Stream<A, E | SpaceStopped> {
    return Stream.fromChannel(Channel.fromTransform((upstream, scope) => {
      const use = new Use()
      return Effect.flatMap(
        Scope.addFinalizer(scope, Effect.sync(() => use.release())),
        () => this.used(use, (space) => Channel.toTransform(see(space).channel)(upstream, scope))
      )
    }))
  }

  /** A use until the scope closes. */
  hold<A, E>(see: (space: LiveSpace) => Effect.Effect<A, E, Scope.Scope>): Effect.Effect<A, E | SpaceStopped, Scope.Scope> {
    return Effect.suspend(() => {
      const use = new Use()
      return Effect.andThen(Effect.addFinalizer(() => Effect.sync(() => use.release())), this.used(use, see))
    })
  }

  private used<A, E, R = never>(use: Use, see: (space: LiveSpace) => Effect.Effect<A, E, R>): Effect.Effect<A, E | SpaceStopped, R> {
    return Effect.suspend(() => this.space.lifetime.isRetired
      ? Effect.flatMap(this.open(use), see)
      : see(use.acquire(this.space)))
  }

  /** Opens the space again and enters it; a space that retires in between is opened once more. */
  private open(use: Use): Effect.Effect<LiveSpace, SpaceStopped> {
    return Effect.flatMap(this.reopen, (space) => {
      this.space = space
      return space.lifetime.isRetired ? this.open(use) : Effect.succeed(use.acquire(space))
    })
  }

  /** Posts a signal by `send`. Returns the call that cancels its callbacks. */
  post(fail: PostHears["fail"], send: (space: LiveSpace) => () => void): () => void {
    if (!this.space.lifetime.isRetired) return send(this.space)
    let isHeard = true
    let cancel = (): void => {
      isHeard = false
    }
    const use = new Use()
    this.fork(this.open(use)).addObserver((exit) => {
      if (Exit.isFailure(exit)) return isHeard ? fail(asStopped(this.name, Cause.squash(exit.cause))) : undefined
      try {
        if (isHeard) cancel = send(exit.value)
      } finally {
        use.release()
      }
    })
    return () => cancel()
  }
}
