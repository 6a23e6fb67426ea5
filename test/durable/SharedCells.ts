/**
 * Runs that count in shared cells, and the reference model of what they leave.
 *
 * Each reads a number, and writes the next one: at once, or after awaits. The model knows no beat, no segment and no
 * conflict: whatever the order of the runs that were handled, each saw the number that the one before it had left.
 *
 * @module
 */
import { Computation, Enzyme, Retry, type Space, type Transaction, type Value } from "systole"
import { Effect } from "effect"
import * as Random from "../support/Random.ts"

/** The way of a run: what it reads, and what it writes. */
const ways = {
  value: {
    read: (tx) => Number(tx.get("/data/shared/value") ?? 0),
    write: (tx, { next }) => tx.set("/data/shared/value", next)
  },
  field: {
    read: (tx) => (tx.get("/data/shared/box") as { readonly count?: number } | undefined)?.count ?? 0,
    write: (tx, { next, other }) => other ? tx.set("/data/shared/box#/other", next) : tx.merge("/data/shared/box", { count: next })
  },
  keys: {
    read: (tx) => tx.keys("/data/shared/keys")?.length ?? 0,
    write: (tx, { next }) => tx.set(`/data/shared/keys#/${next}`, true)
  },
  names: {
    read: (tx) => tx.list("/data/names").length,
    write: (tx, { next }) => tx.set(`/data/names/${next}`, true)
  },
  derived: {
    read: (tx) => Number(tx.get("/data/tens")) / 10,
    write: (tx, { next }) => tx.set("/data/shared/units", next)
  },
  indirect: {
    read: (tx) => Number(tx.get("/data/hundreds")) / 100,
    write: (tx, { next }) => tx.set("/data/shared/units", next)
  }
} as const satisfies Record<string, Way>

interface Way {
  readonly read: (tx: Transaction) => number
  readonly write: (tx: Transaction, how: { readonly next: number; readonly other: boolean }) => void
}

/** The ways that count in one cell. */
const groups = [["value"], ["field"], ["keys"], ["names"], ["derived", "indirect"]] as const

/** One run: its way, its awaits, and whether its last segment fails in some beats. */
export interface Take {
  readonly way: keyof typeof ways
  /** The lengths of its sleeps in milliseconds; none for a run of one segment. A negative one waits for the signal. */
  readonly awaits: ReadonlyArray<number>
  readonly isRetried: boolean
  readonly isSerializable: boolean
  /** Whether it writes another field or the same value between its read and its write. */
  readonly isBusy: boolean
}

/** The signal that ends waits. */
export const WAKE = { signal: "/signals/wake", target: "/data/wake" } as const

export const takeOf = (draw: Random.Random): Take => ({
  way: Random.pick(draw, Object.keys(ways) as ReadonlyArray<Take["way"]>),
  awaits: Array.from({ length: draw(4) }, () => Random.pick(draw, [-1, -1, 0, 2, 5])),
  isRetried: draw(4) === 0,
  isSerializable: draw(3) === 0,
  isBusy: draw(3) === 0
})

const run = async (tx: Transaction, { payload }: { readonly payload: Value }): Promise<Value> => {
  const { awaits, isBusy, isRetried, way } = payload as unknown as Take
  const { read, write } = ways[way]
  const seen = read(tx)
  for (const ms of awaits) {
    // A write of the value that it read is one of its own, and changes nothing.
    if (isBusy && way !== "keys" && way !== "names") write(tx, { next: seen, other: way === "field" })
    await (ms < 0 ? tx.waitForSignal(WAKE.signal, WAKE.target) : tx.sleep(ms))
  }
  if (isRetried && tx.beat % 3 === 0) throw new Retry({ reason: "not in this beat" })
  write(tx, { next: seen + 1, other: false })
  return seen
}

const options = { durable: true, order: "loose", repeatable: true } as const

/** The enzymes of takes, and the nodes that derive from their cells. */
export const modules = [
  Enzyme.make({ ...options, name: "take", query: "/signals/take/:n", hears: [WAKE], run }),
  Enzyme.make({ ...options, name: "exact", query: "/signals/exact/:n", hears: [WAKE], isolation: "serializable", run }),
  Enzyme.make({ name: "plain", query: "/signals/plain/:n", order: "loose", run: (tx, { payload }) => {
    const { read, write } = ways[(payload as unknown as Take).way]
    const seen = read(tx)
    write(tx, { next: seen + 1, other: false })
    return seen
  } }),
  Computation.make({ name: "tens", output: "/data/tens", run: (tx) => Number(tx.get("/data/shared/units") ?? 0) * 10 }),
  Computation.make({ name: "hundreds", output: "/data/hundreds", run: (tx) => Number(tx.get("/data/tens")) * 10 })
]

/** The signal that starts a take. */
export const signalOf = (take: Take, n: number) => {
  const kind = take.awaits.length === 0 && !take.isRetried ? "plain" : take.isSerializable ? "exact" : "take"
  return { signal: `/signals/${kind}/${n}`, payload: take as unknown as Value, id: `take-${n}` }
}

/** The numbers in the shared cells. */
const countsOf = (space: Space) => Effect.gen(function*() {
  const keys = (yield* space.get("/data/shared/keys")) as object | undefined
  const box = (yield* space.get("/data/shared/box")) as { readonly count?: number } | undefined
  const [value, units] = [yield* space.get("/data/shared/value"), yield* space.get("/data/shared/units")]
  return [value ?? 0, box?.count ?? 0, Object.keys(keys ?? {}).length, (yield* space.list("/data/names")).length, units ?? 0]
})

/** The takes of a history, and the ids of their events. */
interface History {
  readonly takes: ReadonlyArray<Take>
  readonly taken: ReadonlyArray<string>
}

/** The takes of a history whose results fit no order of them, and the number of those that were refused as stale. */
export const check = Effect.fnUntraced(function*(space: Space, { taken, takes }: History) {
  const seen = new Map<Take["way"], Array<number>>()
  let stale = 0
  const wrong: Array<unknown> = []
  for (const [n, take] of takes.entries()) {
    const [handling] = (yield* space.receipt(taken[n] ?? ""))?.handlings ?? []
    if (handling?.outcome === "ok") seen.set(take.way, [...seen.get(take.way) ?? [], Number(handling.value)])
    else if (handling?.error?.code === "run/stale" && take.awaits.length > 0) stale++
    else wrong.push([n, take, handling])
  }
  const counts = yield* countsOf(space)
  groups.forEach((group, i) => {
    const found = group.flatMap((way) => seen.get(way) ?? []).sort((a, b) => a - b)
    const isSerial = found.every((number, at) => number === at)
    if (!isSerial || counts[i] !== found.length) wrong.push([group, found, counts[i]])
  })
  return { stale, wrong }
})
