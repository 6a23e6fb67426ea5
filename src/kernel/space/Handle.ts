/**
 * Handles: spaces as their users hold them, open or closed.
 *
 * An unused space may be closed. Its handle remains valid: a request opens the space
 * first and keeps it open until the answer. Only a space that stopped because its store
 * failed stays stopped for its handle.
 *
 * @module
 */
import * as Channel from "effect/Channel"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Cause from "effect/Cause"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { PersistenceError } from "../../persistence/PersistenceError.ts"
import type { LiveSpace } from "./LiveSpace.ts"
import type { ReaderState } from "../view/ReaderState.ts"
import type {
  Clearance,
  PartName,
  PostedSignal,
  PostHears,
  Reader,
  Space,
  SpaceControl
} from "../view/Space.ts"
import { places, SliceAbsent, type SliceName } from "../../ledger/Slices.ts"
import type { Members, SpacePart } from "./SpacePart.ts"
import { asStopped, type SpaceStopped } from "../model/SpaceError.ts"

type Plain = Exclude<
  keyof Space,
  "name" | "post" | "watch" | "beats" | "reader" | "denials" | "head" | "control" | PartName
>

const members: Members<Plain> = {
  signal: "method", handled: "method", receipt: "method", receipts: "method", settled: "method", set: "method", integrate: "method",
  bind: "method", unbind: "method", dead: "method", letter: "method", redeliver: "method", start: "method",
  stop: "method", step: "effect", idle: "effect", get: "method", list: "method", names: "method", below: "method",
  cells: "method", beatsBefore: "method", pull: "method",
  journal: "method", examine: "method", content: "effect", receive: "method", blob: "method", blobPart: "method", waiting: "method"
}

const control: Members<Exclude<keyof SpaceControl, "state">> = {
  pause: "method", rollback: "method", resume: "method", shutdown: "method", restart: "method", lock: "method",
  unlock: "method", command: "method", hold: "effect", release: "effect",
  clock: "effect", resetClock: "method"
}
const reader: Members<Exclude<keyof Reader, "watch">> = {
  get: "method", list: "method", names: "method", below: "method", receipt: "method", settled: "method", signal: "method",
  blobPart: "method", admit: "method", waiting: "method"
}

/** The dependencies of a handle. */
interface Dependencies {
  readonly space: LiveSpace
  readonly readerState: ReaderState
  /** Opens the space again. */
  readonly reopen: Effect.Effect<LiveSpace, PersistenceError | SpaceStopped>
}

/** One request to an open space, from its begin to its end. */
class Visit {
  private space: LiveSpace | undefined

  enter(space: LiveSpace): LiveSpace {
    space.enter()
    this.space = space
    return space
  }

  leave(): void {
    this.space?.leave()
  }
}

/** Access to a space: opens it if it is closed, and counts requests in progress. */
class Door {
  private space: LiveSpace
  private readonly reopen: Effect.Effect<LiveSpace, SpaceStopped>

  constructor(space: LiveSpace, reopen: Effect.Effect<LiveSpace, SpaceStopped>) {
    this.space = space
    this.reopen = reopen
  }

  // The finalizer is in place before the entry: an acquisition of its own costs each request several microseconds more.
  use<A, E>(see: (space: LiveSpace) => Effect.Effect<A, E>): Effect.Effect<A, E | SpaceStopped> {
    return Effect.suspend(() => {
      const visit = new Visit()
      return Effect.onExit(this.visited(visit, see), () => Effect.sync(() => visit.leave()))
    })
  }

  // As an unwrapped stream, but with one finalizer and no scope of its own.
  stream<A, E>(see: (space: LiveSpace) => Stream.Stream<A, E>): Stream.Stream<A, E | SpaceStopped> {
    return Stream.fromChannel(Channel.fromTransform((upstream, scope) => {
      const visit = new Visit()
      return Effect.flatMap(
        Scope.addFinalizer(scope, Effect.sync(() => visit.leave())),
        () => this.visited(visit, (space) => Channel.toTransform(see(space).channel)(upstream, scope))
      )
    }))
  }

  private visited<A, E>(visit: Visit, see: (space: LiveSpace) => Effect.Effect<A, E>): Effect.Effect<A, E | SpaceStopped> {
    return Effect.suspend(() => this.space.isRetired
      ? Effect.flatMap(this.open(visit), see)
      : see(visit.enter(this.space)))
  }

  /** Opens the space again and enters it; a space that retires in between is opened once more. */
  private open(visit: Visit): Effect.Effect<LiveSpace, SpaceStopped> {
    return Effect.flatMap(this.reopen, (space) => {
      this.space = space
      return space.isRetired ? this.open(visit) : Effect.succeed(visit.enter(space))
    })
  }

  post(posted: PostedSignal, hears: PostHears): () => void {
    if (!this.space.isRetired) return this.space.post(posted, hears)
    let isHeard = true
    let cancel = (): void => {
      isHeard = false
    }
    const visit = new Visit()
    Effect.runFork(this.open(visit)).addObserver((exit) => {
      if (Exit.isFailure(exit)) return isHeard ? hears.fail(asStopped(this.space.name, Cause.squash(exit.cause))) : undefined
      if (isHeard) cancel = exit.value.post(posted, hears)
      visit.leave()
    })
    return () => cancel()
  }
}

/** A part of a space whose members all go through its door. */
class Face {
  readonly door: Door
  readonly partOf: (space: LiveSpace) => object

  constructor(door: Door, partOf: (space: LiveSpace) => object) {
    this.door = door
    this.partOf = partOf
  }

  use(see: (part: object) => Effect.Effect<unknown, unknown>): Effect.Effect<unknown, unknown> {
    return this.door.use((space) => see(this.partOf(space)))
  }
}

/** The class of a part. */
type FaceClass<Part extends object> = new(door: Door, partOf: (space: LiveSpace) => Part) => Part

/** The class of a part with these members. They are on the prototype, since each open space has a handle. */
const faceOf = <Part extends object>(members: Members<keyof Part>): FaceClass<Part> => {
  class Own extends Face {}
  for (const [name, kind] of Object.entries<"method" | "effect">(members)) {
    Object.defineProperty(Own.prototype, name, kind === "effect"
      ? {
        get(this: Face) {
          return this.use((part) => (part as Effects)[name]!)
        }
      }
      : {
        writable: true,
        value(this: Face, ...args: ReadonlyArray<unknown>) {
          return this.use((part) => (part as Methods)[name]!(...args))
        }
      })
  }
  return Own as unknown as FaceClass<Part>
}

type Methods = Readonly<Record<string, (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown, unknown>>>
type Effects = Readonly<Record<string, Effect.Effect<unknown, unknown>>>

const Plainly = faceOf<Pick<Space, Plain>>(members)
const Controlling = faceOf<Omit<SpaceControl, "state">>(control)
const Reading = faceOf<Omit<Reader, "watch">>(reader)

class ControlHandle extends Controlling implements SpaceControl {
  readonly state: SpaceControl["state"]

  constructor(door: Door) {
    super(door, (space) => space.control)
    this.state = Effect.orDie(door.use((space) => space.control.state))
  }
}

class ReaderHandle extends Reading implements Reader {
  readonly watch: Reader["watch"]

  constructor(door: Door, clearance: Clearance) {
    super(door, (space) => space.reader(clearance))
    this.watch = (text, last) => door.stream((space) => space.reader(clearance).watch(text, last))
  }
}

/** The handle of an open space, without the parts of slices. */
class Handle extends Plainly implements Omit<Space, PartName> {
  readonly name: string
  readonly control: SpaceControl
  readonly beats: Space["beats"]
  readonly head: Space["head"]
  readonly denials: Space["denials"]
  private readonly way: Door

  constructor({ door, readerState, space: { name } }: Pick<Dependencies, "readerState" | "space"> & { readonly door: Door }) {
    super(door, (space) => space)
    this.name = name
    this.way = door
    this.control = new ControlHandle(door)
    this.beats = Stream.orDie(door.stream((space) => space.beats))
    this.head = Effect.orDie(door.use((space) => space.head))
    this.denials = Effect.sync(() => [...readerState.denials])
  }

  post(posted: PostedSignal, hears: PostHears): () => void {
    return this.way.post(posted, hears)
  }

  watch(address: string, options?: Parameters<Space["watch"]>[1]): ReturnType<Space["watch"]> {
    return this.way.stream((space) => space.watch(address, options))
  }

  reader(clearance: Clearance): Reader {
    return new ReaderHandle(this.way, clearance)
  }
}

/** The parts of the API of each space of a kernel, and the slices whose parts it has not. */
export interface Api {
  readonly parts: ReadonlyArray<SpacePart>
  readonly absent: ReadonlyArray<SliceName>
}

/** Makes the handle of an open space. */
export type Make = (deps: Dependencies) => Space

/**
 * The handles of a kernel. The use of a part that it has not throws `SliceAbsent`.
 *
 * @category constructors
 * @since 0.2.0
 */
export const maker = ({ absent, parts }: Api): Make => {
  class Own extends Handle {}
  for (const slice of absent) {
    const { part } = places[slice]
    if (part !== undefined) Object.defineProperty(Own.prototype, part, {
      get: () => {
        throw new SliceAbsent({ slice })
      }
    })
  }
  const classes = parts.map(({ members, name }) => [name, faceOf<object>(members)] as const)
  return ({ readerState, reopen, space }) => {
    const door = new Door(space, Effect.mapError(reopen, (error) => asStopped(space.name, error)))
    const made = classes.map(([name, Part]) => [name, new Part(door, ({ parts }) => parts[name]!)] as const)
    return Object.assign(new Own({ door, readerState, space }), Object.fromEntries(made)) as Handle as unknown as Space
  }
}
