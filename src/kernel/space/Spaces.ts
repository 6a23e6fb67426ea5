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
import { attempt } from "../../persistence/Backend.ts"
import type { ContentStore } from "../../persistence/LargeContent.ts"
import type { Persistence, PlacedStore, Progress } from "../../persistence/Persistence.ts"
import { PersistenceError } from "../../persistence/PersistenceError.ts"
import { Cursor } from "../view/Cursor.ts"
import { expect } from "../view/Expected.ts"
import * as Journal from "../journal/Journal.ts"
import type { Peer, ResolvePeer } from "../live/Delivery.ts"
import { Access } from "../api/Access.ts"
import * as Fibers from "../model/Fibers.ts"
import * as SpaceClient from "../api/SpaceClient.ts"
import type { LiveState } from "../beat/loop/LiveState.ts"
import { LiveSpace } from "../live/LiveSpace.ts"
import { PageTurns } from "../view/PageTurns.ts"
import type { FrameOf } from "../view/Pins.ts"
import type { ReaderState } from "../view/ReaderState.ts"
import * as Recovery from "../live/Recovery.ts"
import { ContentRemoval } from "./ContentRemoval.ts"
import { DueSpaces } from "./DueSpaces.ts"
import { type OpenSpace, OpenSpaces } from "./OpenSpaces.ts"
import { ScheduledSpaces } from "./ScheduledSpaces.ts"
import { type Importer, UnfinishedImports } from "./UnfinishedImports.ts"
import { SpaceNames } from "./SpaceNames.ts"
import { SpaceStopped } from "../model/SpaceError.ts"
import type { Stops } from "../model/Stops.ts"

/** The failures of an opening that may pass by themselves, such as that of a full disk. */
const PASSING: ReadonlySet<string> = new Set(["store/unavailable", "store/busy", "store/locked"])

/** The dependencies of the spaces. */
interface Dependencies {
  readonly persistence: Persistence["Service"]
  readonly parts: Recovery.Parts
  readonly api: SpaceClient.Api
  readonly stops: Stops
  /** The reach to spaces of other kernels. */
  readonly remote: ResolvePeer | undefined
  readonly contents: ContentStore | undefined
  /** Makes the frames of jobs. */
  readonly frame: FrameOf | undefined
  /** Its end closes all stores. */
  readonly scope: Scope.Scope
}

/**
 * The spaces of one kernel.
 */
export class Spaces {
  private readonly deps: Dependencies
  private readonly spaces: OpenSpaces
  /** The turns of the pages of all lists. */
  readonly pages: PageTurns
  /** The names of the spaces. */
  readonly names: SpaceNames
  /** The spaces of schedules. */
  readonly scheduled: ScheduledSpaces
  private readonly due: DueSpaces
  private readonly imports: UnfinishedImports
  private readonly opening = Semaphore.makeUnsafe(1)
  private readonly removals: ContentRemoval
  /** The reader states of closed spaces. */
  private readonly readerStates = new Map<string, ReaderState>()
  private isClosed = false

  constructor(deps: Dependencies) {
    this.deps = deps
    const { host, pacemaker: { turn }, registry, reporter, settings, watchdog } = deps.parts
    this.spaces = new OpenSpaces({ host, turn, settings, retire: ({ lifetime, name }) => {
      this.due.set(name, lifetime.due)
      watchdog?.close(name)
      lifetime.retire()
    } })
    const { behindMillis } = settings.limits
    this.due = new DueSpaces({ host, turn, behindMillis, reporter, open: (name) => this.openDue(name) })
    const wake = (name: string, moment: number): void => this.due.set(name, moment)
    const alone = Semaphore.withPermits(this.opening, 1)
    const remove = (name: string): Effect.Effect<void, PersistenceError> => this.remove(name)
    this.imports = new UnfinishedImports({ ...deps, hash: deps.parts.hash, now: host.now, wake, alone, remove })
    this.removals = new ContentRemoval(deps.contents, reporter)
    this.scheduled = new ScheduledSpaces({ registry, settings, reporter, fork: host.fork, open: (name) => this.openAhead(name) })
    this.pages = new PageTurns(turn)
    this.names = new SpaceNames(deps.persistence, this.pages)
  }

  /** The space of this name, if it is open. */
  opened(name: string): OpenSpace | undefined {
    this.spaces.touch(name)
    return this.spaces.get(name)
  }

  /** The space of this name, opened if it is closed, and created if `create` is set. */
  find(name: string, create: boolean): Effect.Effect<OpenSpace, PersistenceError> {
    const known = this.opened(name)
    return known === undefined ? this.request(name, create) : Effect.succeed(known)
  }

  /** Opens a space whose work is due. An unfinished import is looked at instead. */
  openDue(name: string): Effect.Effect<OpenSpace | void, PersistenceError> {
    return this.imports.around(name, this.openAlone(name, false))
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

  /** How far a space has come in its store. It is not opened for it, and not used. */
  progress(name: string): Effect.Effect<Progress, PersistenceError> {
    return Effect.suspend(() => {
      const open = this.spaces.get(name)
      return open === undefined ? this.deps.persistence.progress(name) : attempt(() => open.space.lifetime.progress)
    })
  }

  /** The store of an import: a new one, or one that is not whole yet. It is closed with the scope. */
  importing(name: string, importer: Importer): Effect.Effect<PlacedStore, PersistenceError, Scope.Scope> {
    return Effect.andThen(this.removals.done(name), this.imports.open(name, importer))
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
      const { contents, persistence } = this.deps
      const isKnown = contents === undefined || open !== undefined
      return Effect.gen({ self: this }, function*() {
        const uploads = isKnown ? "" : yield* this.imports.uploads(name)
        const removed = yield* Effect.result(Effect.andThen(this.imports.close(name), persistence.remove(name)))
        const due = yield* Effect.result(persistence.due(name))
        // A removal may fail once its store is gone.
        const isGone = removed._tag === "Success" || (due._tag === "Failure" && due.failure.code === "space/unknown")
        if (isGone) this.forget(name, uploads)
        else if (open !== undefined) this.due.openLater(name)
        return removed
      })
    })))
    // Other spaces open meanwhile. This name has no space until its objects are gone, so that no new ones are among them.
    return Effect.flatMap(removal, (removed) => Effect.andThen(this.removals.done(name), Effect.fromResult(removed)))
  }

  /** Forgets a space without a store, and begins to delete its objects: those whose uploads have names that begin with a text. */
  private forget(name: string, uploads: string | undefined): void {
    const { held, lostBeats } = this.deps.parts
    this.due.forget(name)
    this.readerStates.delete(name)
    held.delete(name)
    lostBeats.journaled(name)
    this.deps.stops.opened(name)
    if (uploads !== undefined) this.removals.begin(name, uploads)
  }

  /** Signals possible work to all open spaces. */
  wake(): void {
    for (const { space } of this.spaces.all()) space.group.wake()
  }

  /**
   * Waits until the beats in progress are over. Durable runs then go on from their logs, since their bodies in memory may use services
   * that are replaced.
   */
  readonly renewed: Effect.Effect<void> = Effect.suspend(() =>
    Effect.forEach([...this.spaces.all()], ({ space }) => Effect.callback<void>((resume) => space.group.afterBeat(() => {
      space.runs.forget()
      // The caller goes on in a turn of its own: it may end services, whose code is that of plugins.
      resume(this.turn)
    })), { concurrency: "unbounded", discard: true }))

  /** Reads when each space has its next work, and opens due spaces one after another. */
  readonly resume: Effect.Effect<void, PersistenceError> = Effect.suspend(() =>
    Effect.ensuring(this.due.read(this.readMoments()), Effect.sync(() => this.scheduled.begin())))

  close(): void {
    this.isClosed = true
    this.due.stop()
    this.spaces.stop()
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
      if (Exit.isFailure(due)) this.due.failed(name, Cause.squash(due.cause))
      else if (!this.isClosed && this.spaces.get(name) === undefined) this.due.set(name, due.value)
    }
  })

  /** An opening completes even if its caller is interrupted. An unregistered copy would otherwise run beside the next one. */
  private request(name: string, create: boolean): Effect.Effect<OpenSpace, PersistenceError> {
    return this.due.request(Effect.tapError(this.openAlone(name, create), (error) => Effect.sync(() => {
      // There may be no further request, and the kernel counts the space as stopped until it is open.
      if (PASSING.has(error.code)) this.due.openLater(name)
    })))
  }

  private openAlone(name: string, create: boolean): Effect.Effect<OpenSpace, PersistenceError> {
    const opened = Semaphore.withPermits(this.opening, 1)(Effect.uninterruptible(Effect.suspend(() =>
      this.removals.has(name) ? Effect.undefined : this.open(name, create))))
    return Effect.flatMap(opened, (found) =>
      found === undefined ? Effect.andThen(this.removals.done(name), this.openAlone(name, create)) : Effect.succeed(found))
  }

  private open = Effect.fnUntraced(function*(this: Spaces, name: string, create: boolean): Effect.fn.Return<OpenSpace, PersistenceError> {
    const known = this.opened(name)
    if (known !== undefined) return known
    const { api, contents, frame, parts, persistence, remote, scope, stops } = this.deps
    const own = yield* Scope.fork(scope)
    const close = (exit: Exit.Exit<unknown, unknown>) => Scope.close(own, exit)
    const readerState = this.readerStateOf(name)
    const { hash, settings: { retention } } = parts
    const space = yield* persistence.open(name, { create, retention, digest: (text) => hash.hex(Journal.hashedText(text)) }).pipe(
      Scope.provide(own),
      Effect.flatMap((store) => Effect.try({
        try: () => begun(Recovery.recover(store, parts), {
          turn: parts.pacemaker.turn,
          pages: this.pages,
          resolvePeer: (peer) => remote === undefined || peer === name ? this.peer(peer) : remote(peer),
          used: () => this.spaces.touch(name),
          rested: () => this.spaces.sweepLater(),
          stopped: (space, end) => {
            this.left(space, readerState)
            if (end.hasAdvanced || end.error === undefined) this.due.recovered(name)
            if (end.error !== undefined) {
              stops.stopped(end.error, store.place)
              this.due.openLater(name)
            }
            Fibers.background(parts.host.fork, parts.reporter)(Effect.uninterruptible(close(Exit.void)))
          },
          readerState,
          contents, frame
        }),
        catch: expect(PersistenceError)
      })),
      Effect.tapError((error) => Effect.sync(() => stops.refused(name, error))),
      Effect.onError((cause) => close(Exit.failCause(cause)))
    )
    const access = new Access(space, { fork: parts.host.fork, reopen: this.reopen(name) })
    const resident = { space, client: SpaceClient.make(api, access, readerState) }
    // A damaged store may have stopped it at once.
    if (space.barrier.error !== undefined) return resident
    this.due.opened(name)
    this.readerStates.delete(name)
    this.spaces.add(resident)
    stops.opened(name)
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
      const origin = this.spaces.get(name)?.space.lifetime.origin ?? name
      return cursorKey === undefined || origin === name ? pacemaker.seed() : cursorKey(origin)
    }
    return this.readerStates.get(name) ?? { denials: [], cursor: new Cursor(hash.hex, key) }
  }

  /** A space stopped or was closed. */
  private left(space: LiveSpace, readerState: ReaderState): void {
    this.spaces.remove(space)
    if (readerState.denials.length > 0 || !readerState.cursor.isBlank) this.readerStates.set(space.name, readerState)
  }
}

/** A live space. A new one receives its initial signal once, if enzymes match that. */
const begun = (state: LiveState, deps: ConstructorParameters<typeof LiveSpace>[1]): LiveSpace => {
  const space = new LiveSpace(state, deps)
  // The fixed id keeps a space that ends before its first beat from receiving the signal twice.
  if (Recovery.isBeginning(state)) space.signals.post({ signal: Recovery.INIT, qos: "control", id: "init" }, { fail: () => {} })
  return space
}
