/**
 * The disk of a world: a memory store that takes time to flush, and fails as a plan says.
 *
 * @module
 */
import { Effect } from "effect"
import { type Persistence, PersistenceError, type PlacedStore, StoreBusy, StoreUnavailable } from "systole"
import { over } from "./Over.ts"

/** The faults of a flush: it has no effect, or it has its effect and fails, or it may be repeated, or it never ends. */
export const faultKinds = ["fail", "doubt", "busy", "hang"] as const
export type FaultKind = typeof faultKinds[number]

/** The flush with this number, counted over all spaces since the world began, fails in this way. */
export interface Fault {
  readonly flush: number
  readonly kind: FaultKind
}

/** One life of a host. */
interface Life {
  readonly isOver: () => boolean
  readonly turn: (run: () => void) => void
  /** Whether the host has this space. The platform gives each space to one host. */
  readonly owns: (space: string) => boolean
}

/** The state of the disk, which all hosts share. */
export class Disk {
  private flushes = 0
  private readonly faults: ReadonlyMap<number, FaultKind>
  /** Whether there are no faults: before the first action, and at the end. Such flushes have no number. */
  isWell = true

  private readonly count: (kind: string) => void
  /** The spaces that came with a frame, until their release is durable: before and after their first beat. */
  private readonly detached = new Map<string, "arriving" | "arrived">()

  constructor(faults: ReadonlyArray<Fault>, count: (kind: string) => void) {
    this.count = count
    this.faults = new Map(faults.map(({ flush, kind }) => [flush, kind]))
  }

  /** The store as one life of a host sees it. Its flushes take a turn, and none completes after its end. */
  over(memory: Persistence["Service"], life: Life): Persistence["Service"] {
    return {
      ...memory,
      spaces: Effect.map(memory.spaces, (names) => Array.from(names).filter(life.owns)),
      open: (name, options) => Effect.map(memory.open(name, options), (store) => this.wrap(store, life))
    }
  }

  /** An import into a space begins. */
  arrives(space: string): void {
    this.detached.set(space, "arriving")
  }

  /** A space is removed. */
  forget(space: string): void {
    this.detached.delete(space)
  }

  /** Whether no release of a space is durable. */
  isDetached(space: string): boolean {
    return this.detached.has(space)
  }

  private flushed(store: PlacedStore): void {
    const { space } = store
    const isDetached = store.read("/sys/state/detached") !== undefined
    if (this.detached.has(space) && isDetached) this.detached.set(space, "arrived")
    else if (this.detached.get(space) === "arrived") this.detached.delete(space)
  }

  private wrap(store: PlacedStore, { isOver, turn }: Life): PlacedStore {
    const later = Effect.callback<void>((resume) => turn(() => resume(Effect.void)))
    const flush = Effect.gen({ self: this }, function*() {
      yield* later
      if (isOver()) return yield* Effect.never
      const kind = this.take()
      if (kind === "hang") return yield* Effect.never
      if (kind === "fail") return yield* failure(store.space)
      if (kind === "busy") return yield* new PersistenceError({ reason: new StoreBusy({ space: store.space, place: "the disk" }) })
      yield* store.flush
      this.flushed(store)
      if (kind === "doubt") return yield* failure(store.space)
      yield* later
    })
    return over(store, { flush, raise: (to) => Effect.suspend(() => isOver() ? Effect.never : store.raise(to)) })
  }

  private take(): FaultKind | undefined {
    const kind = this.isWell ? undefined : this.faults.get(this.flushes++)
    if (kind !== undefined) this.count(`disk ${kind}`)
    return kind
  }
}

const failure = (space: string) =>
  new PersistenceError({ reason: new StoreUnavailable({ space, place: "the disk", detail: "the plan says so" }) })
