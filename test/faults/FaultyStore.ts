/**
 * A store that breaks at a call: the k-th of its appends, flushes or reads, or of
 * the statements that SQLite runs for it; and then perhaps at one more.
 *
 * It goes over any persistence and counts what is asked of it, from the first
 * opening on.
 *
 * @module
 */
import { Effect, type Scope } from "effect"
import { StatementSync } from "node:sqlite"
import { type Persistence, PersistenceError, type SpaceStore, StoreUnavailable } from "systole"

/** What is counted. */
export type Call = "append" | "flush" | "read" | "statement"

/**
 * How a call breaks.
 *
 * - `fail`: nothing happens, and it says so.
 * - `doubt`: it happens, and says that it did not.
 * - `delay`: it happens a turn later, and is answered one more turn later.
 * - `tear`: it breaks off in its middle.
 * - `kill`: the power goes; whoever holds the store can do no more with it.
 */
export type Kind = "fail" | "doubt" | "delay" | "tear" | "kill"

/** One fault: the call with this number, from 1 up since the fault before it, breaks in this way. */
export interface Fault {
  readonly call: Call
  readonly at: number
  readonly kind: Kind
}

/** In which ways each call can break. An append and a read are over when they return, and so are never late; a statement is the middle of a flush. */
export const kinds: Readonly<Record<Call, ReadonlyArray<Kind>>> = {
  append: ["fail", "doubt", "kill"],
  flush: ["fail", "doubt", "delay", "tear", "kill"],
  read: ["fail", "kill"],
  statement: ["tear", "kill"]
}

/** Each call that was counted, broken in each way. */
export const singles = (counts: Counts): ReadonlyArray<ReadonlyArray<Fault>> =>
  calls.flatMap((call) => kinds[call].flatMap((kind) => Array.from({ length: counts[call] }, (_, i) => [{ call, at: i + 1, kind }])))

/** What breaks once more: mostly while the space opens again, or with the first that it does then. */
const seconds: ReadonlyArray<Fault> = [
  { call: "read", at: 1, kind: "fail" },
  { call: "read", at: 2, kind: "kill" },
  { call: "append", at: 1, kind: "fail" },
  { call: "flush", at: 1, kind: "kill" }
]

/** Each append and each flush that was counted, broken, and then once more. */
export const pairs = (counts: Counts): ReadonlyArray<ReadonlyArray<Fault>> =>
  singles({ ...counts, read: 0, statement: 0 }).flatMap(([first]) => seconds.map((second) => [first!, second]))

/** Everything that only looks. */
const reads = new Set<string | symbol>(["read", "anchor", "children", "below", "entry", "scanJournal", "receipts", "queue", "blob", "blobPart", "holds"])

/** How often each call came. */
export type Counts = Readonly<Record<Call, number>>

const calls: ReadonlyArray<Call> = ["append", "flush", "read", "statement"]

const none: Counts = { append: 0, flush: 0, read: 0, statement: 0 }

/** Counts calls, and breaks some of them. */
export class Faults {
  /** Since the beginning, or since the newest fault. */
  counts: Record<Call, number> = { ...none }
  /** How many faults came true. */
  fired = 0
  /** Whether the power is gone. */
  dead = false
  /** Flushes of handles that had failed before: what they would say means nothing. */
  flushedAgain = 0
  private readonly turn: (run: () => void) => void
  private faults: ReadonlyArray<Fault>

  constructor(turn: (run: () => void) => void, faults: ReadonlyArray<Fault>) {
    this.turn = turn
    this.faults = faults
  }

  /** No more faults: what broke stays broken. */
  disarm(): void {
    this.faults = []
  }

  /** Counts a call, and says how it breaks, where it does. */
  reach(call: Call): Kind | undefined {
    if (this.dead) return "kill"
    const count = ++this.counts[call]
    const [fault, ...others] = this.faults
    if (fault?.call !== call || fault.at !== count) return undefined
    this.faults = others
    this.fired++
    this.counts = { ...none }
    this.dead = fault.kind === "kill"
    return fault.kind
  }

  /** The persistence with the fault in it. */
  over(persistence: Persistence["Service"]): Persistence["Service"] {
    return {
      ...persistence,
      open: (space, options) => Effect.suspend(() => this.dead ? Effect.fail(failure(space)) : Effect.map(persistence.open(space, options), (store) => this.wrap(store)))
    }
  }

  private wrap(store: SpaceStore): SpaceStore {
    const handle = { failed: false }
    const broken = (): PersistenceError => {
      handle.failed = true
      return failure(store.space)
    }
    const append: SpaceStore["append"] = (batch) => {
      const kind = this.reach("append")
      if (kind === undefined || kind === "doubt") store.append(batch)
      if (kind !== undefined) throw broken()
    }
    const flush = Effect.suspend(() => {
      if (handle.failed && !this.dead) this.flushedAgain++
      const kind = this.reach("flush")
      if (kind === undefined) return store.flush
      if (kind === "delay") return this.late(store.flush)
      if (kind === "doubt") return Effect.andThen(store.flush, Effect.suspend(() => Effect.fail(broken())))
      if (kind === "tear") tear(store)
      return Effect.andThen(kind === "tear" ? store.flush : Effect.void, Effect.suspend(() => Effect.fail(broken())))
    })
    return new Proxy(store, {
      get: (target, key) => {
        if (key === "append") return append
        if (key === "flush") return flush
        const value: unknown = Reflect.get(target, key, target)
        if (typeof value !== "function") return value
        if (!reads.has(key)) return value.bind(target)
        return (...args: ReadonlyArray<unknown>) => {
          if (this.reach("read") !== undefined) throw failure(store.space)
          return Reflect.apply(value, target, args) as unknown
        }
      }
    })
  }

  private late<A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> {
    const turn = Effect.callback<void>((resume) => this.turn(() => resume(Effect.void)))
    return turn.pipe(Effect.andThen(effect), Effect.tap(() => turn))
  }
}

/** Puts a row behind all others whose text cannot be made, so that the commit breaks off when all else is written. */
const tear = (store: SpaceStore): void =>
  store.append({
    entry: undefined,
    cells: [],
    receipts: [],
    queued: [{
      seq: Number.MAX_SAFE_INTEGER,
      get text(): string {
        throw failure(store.space)
      }
    }],
    dequeued: [],
    blobs: [],
    observations: []
  })

const failure = (space: string) => new PersistenceError({ reason: new StoreUnavailable({ space, place: "a broken disk", detail: "as the test asked" }) })

/** As long as the scope is open, each statement with which SQLite writes is counted too, its transactions' ends among them. */
export const tearStatements = (faults: Faults): Effect.Effect<void, never, Scope.Scope> =>
  Effect.asVoid(Effect.acquireRelease(
    Effect.sync(() => {
      const { run } = StatementSync.prototype
      StatementSync.prototype.run = function(this: StatementSync, ...values: ReadonlyArray<never>) {
        if (!faults.dead && faults.reach("statement") !== undefined) throw Object.assign(new Error("the disk is full, as the test asked"), { errcode: 13 })
        return Reflect.apply(run, this, values) as ReturnType<typeof run>
      }
      return run
    }),
    (run) => Effect.sync(() => void (StatementSync.prototype.run = run))
  ))
