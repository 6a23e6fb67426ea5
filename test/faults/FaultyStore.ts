/**
 * A store that fails at a call: the k-th append, flush, read or statement of
 * SQLite, and then perhaps at a second one.
 *
 * It wraps any persistence and counts its calls from the first opening on.
 *
 * @module
 */
import { Effect, type Scope } from "effect"
import { StatementSync } from "node:sqlite"
import { type Persistence, PersistenceError, type PlacedStore, StoreBusy, StoreUnavailable } from "systole"
import * as Random from "../support/Random.ts"

/** The kinds of counted calls. */
export type Call = "append" | "flush" | "read" | "statement"

/**
 * The fault of a call.
 *
 * - `fail`: the call has no effect and reports a failure.
 * - `doubt`: the call has its effect and reports a failure.
 * - `delay`: the call takes effect a turn later, and returns one more turn later.
 * - `tear`: the call stops half-way.
 * - `kill`: the power fails; all later calls fail.
 * - `busy`: the call has no effect, says so, and can be repeated.
 * - `hang`: the call has no effect and never returns.
 */
export type Kind = "fail" | "doubt" | "delay" | "tear" | "kill" | "busy" | "hang"

/** One fault: the call with this number fails in this way. Numbers begin at 1 after the previous fault. */
export interface Fault {
  readonly call: Call
  readonly at: number
  readonly kind: Kind
}

/** The possible faults of each call. An append and a read are synchronous, so they have no delay; a statement is part of a flush. */
export const kinds: Readonly<Record<Call, ReadonlyArray<Kind>>> = {
  append: ["fail", "doubt", "kill"],
  flush: ["fail", "doubt", "delay", "tear", "kill", "busy", "hang"],
  read: ["fail", "kill"],
  statement: ["tear", "kill"]
}

/** Each counted call with each of its faults. */
export const singles = (counts: Counts): ReadonlyArray<ReadonlyArray<Fault>> =>
  calls.flatMap((call) => kinds[call].flatMap((kind) => Array.from({ length: counts[call] }, (_, i) => [{ call, at: i + 1, kind }])))

/** The second faults: during the recovery of the space, or at its first work afterwards. */
const seconds: ReadonlyArray<Fault> = [
  { call: "read", at: 1, kind: "fail" },
  { call: "read", at: 2, kind: "kill" },
  { call: "append", at: 1, kind: "fail" },
  { call: "flush", at: 1, kind: "kill" }
]

/** Each counted append and flush with each of its faults, followed by a second fault. */
export const pairs = (counts: Counts): ReadonlyArray<ReadonlyArray<Fault>> =>
  singles({ ...counts, read: 0, statement: 0 }).flatMap(([first]) => seconds.map((second) => [first!, second]))

/** One list of faults for each seed: up to five appends and flushes, one after another. */
export const randoms = (seeds: ReadonlyArray<number>) => (counts: Counts): ReadonlyArray<ReadonlyArray<Fault>> =>
  seeds.map((seed) => {
    const draw = Random.make(seed)
    return Array.from({ length: 1 + draw(5) }, (_, i): Fault => {
      const call = draw(4) === 0 ? "append" : "flush"
      // The first fault occurs in any case.
      return { call, at: 1 + draw(i === 0 ? counts[call] : 3), kind: Random.pick(draw, kinds[call]) }
    })
  })

/** The methods that only read. */
const reads = new Set<string | symbol>([
  "read", "anchor", "children", "below", "entry", "scanJournal", "receipts", "queue", "blob", "blobPart", "holds"
])

/** The number of calls of each kind. */
export type Counts = Readonly<Record<Call, number>>

const calls: ReadonlyArray<Call> = ["append", "flush", "read", "statement"]

const none: Counts = { append: 0, flush: 0, read: 0, statement: 0 }

/** Counts calls, and lets some of them fail. */
export class Faults {
  /** The calls since the newest fault, or since the beginning. */
  counts: Record<Call, number> = { ...none }
  /** The number of faults that occurred. */
  fired = 0
  /** Whether the power has failed. */
  dead = false
  /** The number of flushes of a handle after a failure, whose result is meaningless. */
  flushedAgain = 0
  private readonly turn: (run: () => void) => void
  private faults: ReadonlyArray<Fault>

  constructor(turn: (run: () => void) => void, faults: ReadonlyArray<Fault>) {
    this.turn = turn
    this.faults = faults
  }

  /** Cancels all further faults. Past faults keep their effect. */
  disarm(): void {
    this.faults = []
  }

  /** Counts a call. Returns its fault, if it has one. */
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

  /** Wraps a persistence with the faults. */
  over(persistence: Persistence["Service"]): Persistence["Service"] {
    return {
      ...persistence,
      open: (space, options) => Effect.suspend(
        () => this.dead ? Effect.fail(failure(space)) : Effect.map(persistence.open(space, options), (store) => this.wrap(store))
      )
    }
  }

  private wrap(store: PlacedStore): PlacedStore {
    const handle = { failed: false }
    const broken = (): PersistenceError => {
      handle.failed = true
      return failure(store.space)
    }
    const append: PlacedStore["append"] = (batch) => {
      const kind = this.reach("append")
      if (kind === undefined || kind === "doubt") store.append(batch)
      if (kind !== undefined) throw broken()
    }
    const flush = Effect.suspend(() => {
      if (handle.failed && !this.dead) this.flushedAgain++
      const kind = this.reach("flush")
      if (kind === undefined) return store.flush
      if (kind === "delay") return this.late(store.flush)
      if (kind === "busy") return Effect.fail(new PersistenceError({ reason: new StoreBusy({ space: store.space, place: "a busy disk" }) }))
      if (kind === "hang") {
        handle.failed = true
        return Effect.never
      }
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

/** Appends a last row whose text throws, so that the commit stops after it has written all others. */
const tear = (store: PlacedStore): void =>
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

const failure = (space: string) =>
  new PersistenceError({ reason: new StoreUnavailable({ space, place: "a broken disk", detail: "as the test asked" }) })

/** Counts the writing statements of SQLite too, including those that end transactions, until the scope closes. */
export const tearStatements = (faults: Faults): Effect.Effect<void, never, Scope.Scope> =>
  Effect.asVoid(Effect.acquireRelease(
    Effect.sync(() => {
      const { run } = StatementSync.prototype
      StatementSync.prototype.run = function(this: StatementSync, ...values: ReadonlyArray<never>) {
        if (!faults.dead && faults.reach("statement") !== undefined) {
          throw Object.assign(new Error("the disk is full, as the test asked"), { errcode: 13 })
        }
        return Reflect.apply(run, this, values) as ReturnType<typeof run>
      }
      return run
    }),
    (run) => Effect.sync(() => void (StatementSync.prototype.run = run))
  ))
