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
import type { Face as LedgerFace } from "../../contract/Face.ts"
import { face as runs } from "../../durable/Face.ts"
import { face as flows } from "../../flow/Face.ts"
import { face as requests } from "../../reactor/Face.ts"
import { face as rendezvous } from "../../rendezvous/Face.ts"
import { face as operations } from "../../operation/Face.ts"
import type { LiveSpace } from "./LiveSpace.ts"
import type { ReaderState } from "../view/ReaderState.ts"
import type {
  Clearance,
  PostedSignal,
  PostHears,
  Reader,
  Space,
  SpaceControl,
  SpaceDebug,
  SpaceGraph,
  SpaceIo
} from "../view/Space.ts"
import { type FeatureName, FeatureNotBuilt } from "../model/Feature.ts"
import { asStopped, type SpaceStopped } from "../model/SpaceError.ts"

/** Members that return an effect: a method, or the effect itself. */
type Members<Names extends PropertyKey> = Readonly<Record<Names, "method" | "effect">>

type Plain = Exclude<
  keyof Space,
  | "name" | "post" | "watch" | "beats" | "reader" | "denials" | "head"
  | "ops" | "rv" | "flows" | "io" | "runs" | "control" | "graph" | "debug"
>

const members: Members<Plain> = {
  signal: "method", handled: "method", receipt: "method", settled: "method", set: "method", integrate: "method",
  bind: "method", unbind: "method", dead: "method", letter: "method", redeliver: "method", start: "method",
  stop: "method", step: "effect", idle: "effect", get: "method", list: "method", names: "method", below: "method",
  cells: "method", beatsBefore: "method", pull: "method",
  journal: "method", examine: "method", content: "effect", receive: "method", blob: "method", blobPart: "method", waiting: "method"
}

/** The members of the API of a ledger. */
const membersOf = ({ verbs }: LedgerFace): Members<string> =>
  Object.fromEntries([...Object.keys(verbs), "list", "get"].map((name) => [name, "method"] as const))

const control: Members<Exclude<keyof SpaceControl, "state">> = {
  pause: "method", rollback: "method", resume: "method", shutdown: "method", restart: "method", lock: "method",
  unlock: "method", command: "method", hold: "effect", release: "effect",
  clock: "effect", resetClock: "method"
}
const graph: Members<keyof SpaceGraph> = { view: "effect", page: "method", failed: "method", trace: "method", traces: "effect" }
const debug: Members<keyof SpaceDebug> = { view: "effect", breakAt: "method" }
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
  readonly partOf: (space: LiveSpace) => object | undefined
  /** The feature that adds the part; none if each kernel has it. */
  readonly feature: string

  constructor(door: Door, partOf: (space: LiveSpace) => object | undefined, feature = "") {
    this.door = door
    this.partOf = partOf
    this.feature = feature
  }

  use(see: (part: object) => Effect.Effect<unknown, unknown>): Effect.Effect<unknown, unknown> {
    return this.door.use((space) => {
      const part = this.partOf(space)
      return part === undefined ? Effect.fail(new FeatureNotBuilt({ feature: this.feature })) : see(part)
    })
  }
}

/** The class of a part. */
type FaceClass<Part extends object> = new(door: Door, partOf: (space: LiveSpace) => Part | undefined, feature?: FeatureName) => Part

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
const Operations = faceOf<Space["ops"]>(membersOf(operations))
const Rendezvous = faceOf<Space["rv"]>(membersOf(rendezvous))
const Flows = faceOf<Space["flows"]>(membersOf(flows))
const Io = faceOf<SpaceIo>({ ...membersOf(requests), channels: "effect", drains: "method" } as Members<keyof SpaceIo>)
const Runs = faceOf<Space["runs"]>(membersOf(runs))
const Controlling = faceOf<Omit<SpaceControl, "state">>(control)
const Graph = faceOf<SpaceGraph>(graph)
const Debug = faceOf<SpaceDebug>(debug)
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

/**
 * The handle of an open space.
 *
 * @category models
 * @since 0.1.0
 */
export class Handle extends Plainly implements Space {
  readonly name: string
  readonly ops: Space["ops"]
  readonly rv: Space["rv"]
  readonly flows: Space["flows"]
  readonly io: SpaceIo
  readonly runs: Space["runs"]
  readonly control: SpaceControl
  readonly graph: SpaceGraph
  readonly debug: SpaceDebug
  readonly beats: Space["beats"]
  readonly head: Space["head"]
  readonly denials: Space["denials"]
  private readonly way: Door

  constructor({ readerState, reopen, space }: Dependencies) {
    const { name } = space
    const door = new Door(space, Effect.mapError(reopen, (error) => asStopped(name, error)))
    super(door, (space) => space)
    this.name = name
    this.way = door
    this.ops = new Operations(door, (space) => space.ops)
    this.rv = new Rendezvous(door, ({ parts }) => parts.rv, "rendezvous")
    this.flows = new Flows(door, ({ parts }) => parts.flows, "flows")
    this.io = new Io(door, ({ parts }) => parts.io, "requests")
    this.runs = new Runs(door, ({ parts }) => parts.runs, "durable")
    this.control = new ControlHandle(door)
    this.graph = new Graph(door, ({ parts }) => parts.graph, "graph")
    this.debug = new Debug(door, ({ parts }) => parts.debug, "debug")
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
