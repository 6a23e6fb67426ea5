/**
 * The exports, or the imports, that clients have in progress at one host: one for each space, and at most so many.
 *
 * @module
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"

/** The time without a request after which a session ends. */
const IDLE = "10 minutes"

/**
 * As many exports, or imports, are in progress at the host as its limit allows.
 */
export class ArchiveFull extends Data.TaggedError("ArchiveFull")<{
  readonly space: string
  readonly kind: "export" | "import"
  readonly limit: number
}> {
  readonly code = "archive/full"
  override get message() {
    const { kind, limit, space } = this
    return `No ${kind} of space "${space}" can begin: ${limit} are in progress at this host, which is the limit archiveSessions. ` +
      "Try again once one has ended"
  }
}

/** Starts a fiber that ends with the runtime. */
export type Fork = (effect: Effect.Effect<void>) => Fiber.Fiber<void>

/** The choices of a host. */
export interface Options<S> {
  readonly kind: ArchiveFull["kind"]
  /** Absent on a host that its platform takes out of memory when it is idle: a timer would keep it there. */
  readonly fork: Fork | undefined
  /** The most sessions at once. */
  readonly limit: () => number
  /** Whether a session may end in favour of another one: its client loses nothing. */
  readonly isSpare: (session: S) => boolean
}

/** A session with its resources. */
interface Held<S> {
  readonly session: S
  readonly scope: Scope.Closeable
  idle: Fiber.Fiber<void> | undefined
}

/** Releases the resources of a session. */
const release = ({ idle, scope }: Held<unknown>): Effect.Effect<void> =>
  Effect.andThen(Scope.close(scope, Exit.void), Effect.sync(() => idle?.interruptUnsafe()))

/**
 * The sessions of one host. Each ends {@link IDLE} after its newest request, or with the host.
 */
export class Sessions<S> {
  private readonly options: Options<S>
  /** The sessions by their spaces. The one that rests for the longest time is the first. */
  private readonly held = new Map<string, Held<S>>()
  /** The scopes of all sessions, with those that begin. */
  private readonly scopes = new Set<Scope.Closeable>()

  constructor(options: Options<S>) {
    this.options = options
  }

  /** The session of a space. */
  of(space: string): S | undefined {
    return this.held.get(space)?.session
  }

  /** Begins the session of a space, which ends the one before. Its resources are released with its end. */
  begin<E>(space: string, make: Effect.Effect<S, E, Scope.Scope>): Effect.Effect<S, E | ArchiveFull> {
    return Effect.uninterruptible(Effect.gen({ self: this }, function*() {
      yield* this.makeRoom(space)
      const scope = yield* Scope.make()
      this.scopes.add(scope)
      yield* Scope.addFinalizer(scope, Effect.sync(() => this.scopes.delete(scope)))
      const session = yield* Effect.onError(Scope.provide(make, scope), () => Scope.close(scope, Exit.void))
      // Also one that began meanwhile: no other place would ever release it.
      const before = this.held.get(space)
      this.held.set(space, { session, scope, idle: undefined })
      this.rest(space, session)
      if (before !== undefined) yield* release(before)
      return session
    }))
  }

  /** A request of the session begins: it ends by itself no more. */
  use(space: string, session: S): void {
    const held = this.held.get(space)
    if (held?.session === session) held.idle?.interruptUnsafe()
  }

  /** A request of the session is over: the next one has time from now on. */
  rest(space: string, session: S): void {
    const held = this.held.get(space)
    if (held?.session !== session) return
    this.held.delete(space)
    this.held.set(space, held)
    held.idle?.interruptUnsafe()
    held.idle = this.options.fork?.(Effect.andThen(Effect.sleep(IDLE), Effect.suspend(() => this.end(space, session))))
  }

  /** Ends the session of a space, and releases its resources. */
  end(space: string, session: S): Effect.Effect<void> {
    return Effect.suspend(() => {
      const held = this.held.get(space)
      if (held?.session !== session) return Effect.void
      this.held.delete(space)
      return release(held)
    }).pipe(Effect.uninterruptible)
  }

  /** Ends all sessions. */
  readonly endAll: Effect.Effect<void> = Effect.suspend(() =>
    Effect.forEach([...this.held], ([space, { session }]) => this.end(space, session), { discard: true }))

  private makeRoom(space: string): Effect.Effect<void, ArchiveFull> {
    const { isSpare, kind } = this.options
    const limit = this.options.limit()
    if (this.scopes.size < limit) return Effect.void
    for (const [name, { session }] of this.held) if (isSpare(session)) return this.end(name, session)
    return Effect.fail(new ArchiveFull({ space, kind, limit }))
  }
}
