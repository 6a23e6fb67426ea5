/**
 * The spaces of a kernel: open ones, and the schedule of closed ones.
 *
 * A space is opened on request, or when its next work is due. Beyond a number of open
 * spaces, the least recently used ones are closed, unless they are in use. Requested
 * spaces are opened before due ones. A space that stopped by itself or failed to open
 * is opened after a delay. The delay doubles with each failure in a row.
 *
 * @module
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { Heap } from "../../cell/Heap.ts"
import * as UnexpectedFailure from "../../diagnostic/UnexpectedFailure.ts"
import type { ContentStore } from "../../persistence/LargeContent.ts"
import type { Persistence } from "../../persistence/Persistence.ts"
import { PersistenceError } from "../../persistence/PersistenceError.ts"
import { Cursor } from "../view/Cursor.ts"
import { expected } from "../view/Expected.ts"
import * as Journal from "../journal/Journal.ts"
import type { Peer, ResolvePeer } from "../live/Delivery.ts"
import { Access } from "../api/Access.ts"
import * as SpaceClient from "../api/SpaceClient.ts"
import type { LiveState } from "../beat/loop/LiveState.ts"
import { clear } from "../live/LargeUploads.ts"
import { LiveSpace } from "../live/LiveSpace.ts"
import { PageTurns } from "../view/PageTurns.ts"
import type { ReaderState } from "../view/ReaderState.ts"
import * as Recovery from "../live/Recovery.ts"
import { type OpenSpace, OpenSpaces } from "./OpenSpaces.ts"
import { ScheduledSpaces } from "./ScheduledSpaces.ts"
import { SpaceNames } from "./SpaceNames.ts"
import { SpaceStopped } from "../model/SpaceError.ts"
import * as SpaceMode from "../model/SpaceMode.ts"
import type { Stops } from "../model/Stops.ts"
import { WakeQueue } from "./WakeQueue.ts"

/** Most spaces inspected in one sweep. */
const LOOKS = 64

/** The failures of an opening that may pass by themselves, such as that of a full disk. */
const PASSING: ReadonlySet<string> = new Set(["store/unavailable", "store/busy", "store/locked"])

/** The first and the longest delay until a failed space is opened again, in milliseconds. Each failure doubles it. */
const RETRY_BASE = 1000
const RETRY_MAX = 60_000

/** A closed space with due work. */
interface DueSpace {
  readonly name: string
  readonly moment: number
  /** Its place among those of one moment. */
  readonly number: number
}

/** The dependencies of the spaces. */
interface Dependencies {
  readonly persistence: Persistence["Service"]
  readonly parts: Recovery.Parts
  readonly api: SpaceClient.Api
  readonly stops: Stops
  /** The reach to spaces of other kernels. */
  readonly remote: ResolvePeer | undefined
  readonly contents: ContentStore | undefined
  /** Its end closes all stores. */
  readonly scope: Scope.Scope
}

/**
 * The spaces of one kernel.
 */
export class Spaces {
  private readonly deps: Dependencies
  private readonly spaces = new OpenSpaces()
  /** The turns of the pages of all lists. */
  readonly pages: PageTurns
  /** The names of the spaces. */
  readonly names: SpaceNames
  /** The spaces of schedules. */
  readonly scheduled: ScheduledSpaces
  private readonly wakeQueue: WakeQueue
  private readonly opening = Semaphore.makeUnsafe(1)
  /** The removals whose objects in the content store are being deleted. */
  private readonly removing = new Map<string, Promise<void>>()
  /** The reader states of closed spaces. */
  private readonly readerStates = new Map<string, ReaderState>()
  /** Due spaces. The one whose work is due for the longest time is opened first. */
  private readonly due = new Heap<DueSpace>((a, b) => a.moment - b.moment || a.number - b.number)
  private added = 0
  /** Number of callers that wait for a space to open. */
  private asked = 0
  /** The number of stops and failed openings of a space since its last durable beat, by its name. */
  private readonly failures = new Map<string, number>()
  private isOpening = false
  /** Whether the moments of all spaces are being read. Until then the first due space is unknown. */
  private isReading = false
  private isSweeping = false
  private isClosed = false

  constructor(deps: Dependencies) {
    this.deps = deps
    const { host, pacemaker, settings: { limits } } = deps.parts
    const { registry, reporter, settings } = deps.parts
    this.scheduled = new ScheduledSpaces({ registry, settings, reporter, fork: host.fork, open: (name) => this.openAhead(name) })
    this.pages = new PageTurns(pacemaker.turn)
    this.names = new SpaceNames(deps.persistence, this.pages)
    this.wakeQueue = new WakeQueue(host, limits.behindMillis, (name, moment) => {
      this.due.push({ name, moment, number: this.added++ })
      this.openNext()
    })
  }

  /** The space of this name, if it is open. */
  opened(name: string): OpenSpace | undefined {
    this.spaces.touch(name)
    return this.spaces.get(name)
  }

  /** The space of this name, opened if it is closed, and created if `create` is set. */
  find(name: string, create: boolean): Effect.Effect<OpenSpace, PersistenceError> {
    const known = this.opened(name)
    return known === undefined ? this.ask(name, create) : Effect.succeed(known)
  }

  /** Opens a space that nobody waits for, after the host's turn, unless the kernel ends before. */
  private openAhead(name: string): Effect.Effect<unknown, PersistenceError> {
    const { create } = this.deps.parts.settings
    return Effect.andThen(this.turn, Effect.suspend(() => this.isClosed ? Effect.void : this.find(name, create === "on-demand")))
  }

  private readonly turn = Effect.callback<void>((resume) => this.deps.parts.pacemaker.turn(() => resume(Effect.void)))

  /** The text of a document, as the store of a closed space has it. The space is not opened. */
  stored(name: string, key: string): Effect.Effect<string | undefined, PersistenceError> {
    const { persistence } = this.deps
    const read = Effect.scoped(Effect.map(persistence.open(name, { create: false }), (store) => store.read(key)))
    return Semaphore.withPermits(this.opening, 1)(read)
  }

  /** The space of this name as a receiver of signals, created if the configuration permits. */
  peer(name: string): Effect.Effect<Peer, PersistenceError> {
    return Effect.map(this.find(name, this.deps.parts.settings.create === "on-demand"), ({ space }) => space.signals)
  }

  /**
   * Removes a space with all its data. Requests in progress fail with `SpaceStopped`; later ones find no space. A removal that ended
   * half-way is repeated: it finds no store, and deletes the objects that are left. A space that could not be removed opens again.
   */
  remove(name: string): Effect.Effect<void, PersistenceError> {
    const removal = Semaphore.withPermits(this.opening, 1)(Effect.uninterruptible(Effect.suspend(() => {
      const open = this.spaces.get(name)
      open?.space.lifetime.retire(true)
      const { persistence } = this.deps
      return Effect.flatMap(Effect.result(persistence.remove(name)), (removed) =>
        Effect.map(Effect.result(persistence.due(name)), (due) => {
          // A removal may fail once its store is gone.
          const isGone = removed._tag === "Success" || (due._tag === "Failure" && due.failure.code === "space/unknown")
          if (isGone) this.forget(name)
          else if (open !== undefined) this.openLater(name)
          return removed
        }))
    })))
    // Other spaces open meanwhile. This name has no space until its objects are gone, so that no new ones are among them.
    return Effect.flatMap(removal, (removed) => Effect.andThen(this.removed(name), Effect.fromResult(removed)))
  }

  /** Forgets a space without a store, and begins to delete its objects. */
  private forget(name: string): void {
    const { contents, parts: { held, lostBeats } } = this.deps
    this.wakeQueue.forget(name)
    this.readerStates.delete(name)
    this.failures.delete(name)
    held.delete(name)
    lostBeats.journaled(name)
    this.deps.stops.opened(name)
    if (contents !== undefined && !this.removing.has(name)) this.removing.set(name, this.removeContent(contents, name))
  }

  /** Objects that are left belong to no space. A failure is reported, since the space is gone. */
  private async removeContent(contents: ContentStore, name: string): Promise<void> {
    try {
      await clear(contents, name)
    } catch (error) {
      this.deps.parts.reporter.report(UnexpectedFailure.of(error))
    } finally {
      this.removing.delete(name)
    }
  }

  /** Waits for the end of a removal of this name. */
  private removed(name: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      const removing = this.removing.get(name)
      return removing === undefined ? Effect.void : Effect.promise(() => removing)
    })
  }

  /** Signals possible work to all open spaces. */
  wake(): void {
    for (const { space } of this.spaces.all()) space.group.wake()
  }

  /** Reads when each space has its next work, and opens due spaces one after another. */
  readonly resume: Effect.Effect<void, PersistenceError> = Effect.suspend(() => {
    this.isReading = true
    return Effect.ensuring(this.readMoments(), Effect.sync(() => {
      this.isReading = false
      this.openNext()
      this.scheduled.begin()
    }))
  })

  close(): void {
    this.isClosed = true
    this.wakeQueue.stop()
    for (const { space } of this.spaces.all()) space.lifetime.close("the runtime is closing")
  }

  private readMoments = Effect.fnUntraced(function*(this: Spaces): Effect.fn.Return<void, PersistenceError> {
    const { parts: { host, settings: { limits } }, persistence, stops } = this.deps
    let since = host.now()
    for (const name of yield* this.names.all) {
      if (host.now() - since >= limits.groupMillis) {
        yield* this.turn
        since = host.now()
      }
      const due = yield* Effect.exit(Effect.tapError(persistence.due(name), (error) => Effect.sync(() => stops.refused(name, error))))
      if (Exit.isFailure(due)) this.retryLater(name, Cause.squash(due.cause))
      else if (!this.isClosed && this.spaces.get(name) === undefined) this.wakeQueue.set(name, due.value)
    }
  })

  /** An opening completes even if its caller is interrupted. An unregistered copy would otherwise run beside the next one. */
  private ask(name: string, create: boolean): Effect.Effect<OpenSpace, PersistenceError> {
    return Effect.suspend(() => {
      this.asked++
      const opening = Effect.tapError(this.openAlone(name, create), (error) => Effect.sync(() => {
        // Nobody may ask again, and the kernel counts the space as stopped until it is open.
        if (PASSING.has(error.code)) this.openLater(name)
      }))
      return Effect.ensuring(opening, Effect.sync(() => {
        this.asked--
        this.openNext()
      }))
    })
  }

  private openAlone(name: string, create: boolean): Effect.Effect<OpenSpace, PersistenceError> {
    const opened = Semaphore.withPermits(this.opening, 1)(Effect.uninterruptible(Effect.suspend(() =>
      this.removing.has(name) ? Effect.undefined : this.open(name, create))))
    return Effect.flatMap(opened, (found) =>
      found === undefined ? Effect.andThen(this.removed(name), this.openAlone(name, create)) : Effect.succeed(found))
  }

  private open = Effect.fnUntraced(function*(this: Spaces, name: string, create: boolean): Effect.fn.Return<OpenSpace, PersistenceError> {
    const known = this.opened(name)
    if (known !== undefined) return known
    const { api, parts, persistence, remote, scope, stops } = this.deps
    const own = yield* Scope.fork(scope)
    const close = (exit: Exit.Exit<unknown, unknown>) => Scope.close(own, exit)
    const readerState = this.readerStateOf(name)
    const { hash, settings: { retention } } = parts
    const space = yield* persistence.open(name, { create, retention, digest: (text) => hash.hex(Journal.hashed(text)) }).pipe(
      Scope.provide(own),
      Effect.flatMap((store) => Effect.try({
        try: () => begun(Recovery.recover(store, parts), {
          turn: parts.pacemaker.turn,
          pages: this.pages,
          resolvePeer: (peer) => remote === undefined || peer === name ? this.peer(peer) : remote(peer),
          used: () => this.spaces.touch(name),
          rested: () => this.sweepLater(),
          stopped: (space, end) => {
            this.left(space, readerState)
            if (end.hasAdvanced || end.error === undefined) this.failures.delete(name)
            if (end.error !== undefined) {
              stops.stopped(end.error, store.place)
              this.openLater(name)
            }
            parts.host.fork(Effect.uninterruptible(close(Exit.void)))
          },
          readerState,
          contents: this.deps.contents
        }),
        catch: expected(PersistenceError)
      })),
      Effect.tapError((error) => Effect.sync(() => stops.refused(name, error))),
      Effect.onError((cause) => close(Exit.failCause(cause)))
    )
    const resident = { space, client: SpaceClient.make(api, new Access(space, this.reopen(name)), readerState) }
    // A damaged store may have stopped it at once.
    if (space.barrier.error !== undefined) return resident
    this.wakeQueue.forget(name)
    this.readerStates.delete(name)
    this.spaces.add(resident)
    stops.opened(name)
    this.sweepLater()
    return resident
  })

  private reopen(name: string): Effect.Effect<LiveSpace, PersistenceError | SpaceStopped> {
    return Effect.suspend((): Effect.Effect<LiveSpace, PersistenceError | SpaceStopped> =>
      this.isClosed
        ? Effect.fail(new SpaceStopped({ space: name, reason: "the runtime is closing" }))
        : Effect.map(this.find(name, false), ({ space }) => space)
    )
  }

  private readerStateOf(name: string): ReaderState {
    const { parts: { cursorKey, hash, pacemaker } } = this.deps
    // The first cursor draws the key. Before its boot, a space has the origin of each earlier one of its name.
    const key = (): string => {
      const mode = this.spaces.get(name)?.space.state.mode
      const origin = mode === undefined ? name : SpaceMode.origin(mode, name)
      return cursorKey === undefined || origin === name ? pacemaker.seed() : cursorKey(origin)
    }
    return this.readerStates.get(name) ?? { denials: [], cursor: new Cursor(hash.hex, key) }
  }

  /** A space stopped or was closed. */
  private left(space: LiveSpace, readerState: ReaderState): void {
    this.spaces.remove(space)
    if (readerState.denials.length > 0 || !readerState.cursor.isBlank) this.readerStates.set(space.name, readerState)
  }

  /** Opens the next due space, if no caller waits, after the host's turn. */
  private openNext(): void {
    if (this.isOpening || this.isReading || this.asked > 0 || this.due.size === 0 || this.isClosed) return
    this.isOpening = true
    this.deps.parts.pacemaker.turn(() => {
      const name = this.asked > 0 || this.isClosed ? undefined : this.due.pop()?.name
      if (name === undefined) return void (this.isOpening = false)
      this.deps.parts.host.fork(this.openAlone(name, false)).addObserver((exit) => {
        this.isOpening = false
        if (Exit.isFailure(exit)) this.retryLater(name, Cause.squash(exit.cause))
        this.openNext()
      })
    })
  }

  /** A due space failed to open, or its wake time to be read: reports the first failure, and opens it later. Ignores a deleted space. */
  private retryLater(name: string, error: unknown): void {
    if (!this.failures.has(name)) this.deps.parts.reporter.report(UnexpectedFailure.of(error))
    if (error instanceof PersistenceError && error.code === "space/unknown") return void this.failures.delete(name)
    this.openLater(name)
  }

  /** Opens a space after a delay, which doubles until a beat of the space is durable. */
  private openLater(name: string): void {
    if (this.isClosed) return
    const attempt = this.failures.get(name) ?? 0
    this.failures.set(name, attempt + 1)
    this.wakeQueue.set(name, this.deps.parts.host.now() + Math.min(RETRY_BASE * 2 ** attempt, RETRY_MAX))
  }

  /** Closes spaces in the host's next turn, if too many are open. */
  private sweepLater(): void {
    if (this.isSweeping || this.isClosed || this.spaces.size <= this.deps.parts.settings.open) return
    this.isSweeping = true
    this.deps.parts.pacemaker.turn(() => {
      this.isSweeping = false
      this.sweep()
    })
  }

  private sweep(): void {
    const { open } = this.deps.parts.settings
    for (let looks = Math.min(LOOKS, this.spaces.size); looks > 0 && this.spaces.size > open && !this.isClosed; looks--) {
      const space = this.spaces.first()?.space
      if (space === undefined) return
      // A space in use counts as just used.
      if (!space.lifetime.isResting) this.spaces.touch(space.name)
      else {
        this.wakeQueue.set(space.name, space.lifetime.due)
        this.deps.parts.supervision?.closed(space.name)
        space.lifetime.retire()
      }
    }
  }
}

/** A live space. A new one receives its initial signal once, if enzymes match that. */
const begun = (state: LiveState, deps: ConstructorParameters<typeof LiveSpace>[1]): LiveSpace => {
  const space = new LiveSpace(state, deps)
  // The fixed id keeps a space that ends before its first beat from receiving the signal twice.
  if (Recovery.isBeginning(state)) space.signals.post({ signal: Recovery.INIT, qos: "control", id: "init" }, { fail: () => {} })
  return space
}
