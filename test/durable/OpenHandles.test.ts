import { assert, describe, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme, type Kernel, type Space, type Transaction } from "systole"
import { TestReactor } from "systole/testing"
import { Continuation } from "../../src/durable/Continuation.ts"
import { type AwaitedObject, Handle, type HandleOwner, type HandleResult } from "../../src/durable/Handle.ts"
import { type NotedObject, OpenHandles } from "../../src/durable/OpenHandles.ts"
import { ContinuationCache } from "../../src/durable/ContinuationCache.ts"
import * as Due from "../../src/stage/Due.ts"
import { Stage } from "../../src/stage/Stage.ts"
import { replays, steps } from "../kernel/TestSpace.ts"
import * as Random from "../support/Random.ts"
import * as TestKernel from "../support/TestKernel.ts"
import * as Trials from "../support/Trials.ts"

/** A transaction that hears nothing of its handles. */
const unheard: HandleOwner = { listen: () => {}, cancel: () => false }

/** A beat, and the results that there are by then. */
interface Moment {
  readonly now: { readonly beat: number; readonly clock: number }
  readonly answered: ReadonlySet<string>
  /** The number of heard signals, by pair. */
  readonly heard: ReadonlyArray<number>
}

/** The handles that have a result, by a look at all of them. */
const plainly = (open: ReadonlyMap<number, AwaitedObject>, { answered, heard, now }: Moment): ReadonlyArray<number> =>
  [...open].flatMap(([number, awaited]) => {
    if (awaited.kind === "request") return answered.has(awaited.rid) ? [number] : []
    if (awaited.kind === "event") return answered.has(awaited.id) ? [number] : []
    if (awaited.kind === "sleep") return Due.isOver(awaited.due, now) ? [number] : []
    return awaited.nth < (heard[awaited.pair] ?? 0) ? [number] : []
  })

const idOf = (awaited: NotedObject): string => awaited.kind === "request" ? awaited.rid : awaited.id

/** The handles with a result, and the number of looks that this took. */
const looked = (handles: OpenHandles, { answered, heard, now }: Moment) => {
  let looks = 0
  const look = (number: number, isThere: boolean): HandleResult | undefined => {
    looks++
    return isThere ? [number, "ok"] : undefined
  }
  const settled = handles.settled({
    now,
    answered: (number, awaited) => look(number, answered.has(idOf(awaited))),
    heard: (number, { nth, pair }) => look(number, nth < (heard[pair] ?? 0))
  })
  const dues = handles.dues(({ nth, pair }) => {
    looks++
    return nth < (heard[pair] ?? 0)
  }, { beat: now.beat, moment: undefined })
  return { dues, looks, numbers: settled.map(([number]) => number) }
}

const isBefore = (a: Due.Due, b: Due.Due): boolean => (a.moment ?? 0) <= (b.moment ?? 0) && (a.beat ?? 0) <= (b.beat ?? 0)

/** A run that makes handles, drops some, and takes the results of one beat after another. */
const trial = (seed: number): void => {
  const draw = Random.make(seed)
  const [handles, open] = [new OpenHandles(), new Map<number, AwaitedObject>()]
  const [answered, heard, waits] = [new Set<string>(), [0, 0], [0, 0]]
  let [beat, now, made] = [0, 0, 0]
  const awaitedOf = (): AwaitedObject => {
    const kind = draw(5)
    const pair = draw(2)
    if (kind === 0) return { kind: "request", rid: `r${made}` }
    if (kind === 4) return { kind: "event", id: `e${made}` }
    if (kind === 1) return { kind: "signal", pair, nth: waits[pair]!++ }
    if (kind === 2) return { kind: "sleep", due: { beat: undefined, moment: now + draw(40) } }
    // The tempo may change, so later beats may come at earlier times.
    return { kind: "sleep", due: { beat: beat + draw(10), moment: now + draw(40) } }
  }
  for (let move = 0; move < 120; move++) {
    for (let i = draw(4); i > 0; i--) {
      const awaited = awaitedOf()
      handles.add(Handle.pending(made, awaited, { ...unheard, listen: (handle) => void handles.await(handle) }))
      open.set(made++, awaited)
    }
    for (const [number, awaited] of open) {
      if (draw(20) === 0) {
        handles.take(number)
        open.delete(number)
      } else if ((awaited.kind === "request" || awaited.kind === "event") && draw(10) === 0) {
        answered.add(idOf(awaited))
        handles.note(idOf(awaited))
      }
    }
    if (draw(3) === 0) heard[draw(2)]!++
    if (draw(8) === 0) handles.doubt()
    beat += draw(3)
    now += draw(10)
    const moment = { now: { beat, clock: now }, answered, heard }
    const { numbers } = looked(handles, moment)
    assert.deepStrictEqual(numbers, plainly(open, moment), `seed ${seed}, move ${move}`)
    for (const number of numbers) {
      handles.take(number)
      open.delete(number)
    }
    assert.deepStrictEqual([...handles.all()], [...open], `seed ${seed}, move ${move}`)
    // Each sleep that is open ends at one of the due times, or after it.
    const { dues } = looked(handles, moment)
    for (const awaited of open.values()) {
      if (awaited.kind === "sleep") assert.isTrue(dues.some(({ due }) => isBefore(due, awaited.due)), `seed ${seed}, move ${move}`)
    }
    assert.deepStrictEqual(dues.map(({ number }) => number), dues.map(({ number }) => number).toSorted((a, b) => a - b))
  }
}

describe("open handles", () => {
  it("look at the pairs with waits alone, however many pairs had some", () => {
    const handles = new OpenHandles()
    for (let pair = 0; pair < 1000; pair++) {
      handles.add(Handle.pending(pair, { kind: "signal", pair, nth: 0 }, unheard))
      handles.take(pair)
    }
    assert.strictEqual(handles["waits"].size, 0)
  })

  it("have the results that a look at all of them finds", () => {
    for (const seed of Trials.seeds(400, { least: 20 })) trial(seed)
  })

  for (const kind of ["request", "event", "signal", "sleep", "beats"] as const) {
    it(`of the kind ${kind} that no result comes for cost a step nothing`, () => {
      const awaitedOf = (n: number): AwaitedObject => {
        if (kind === "request") return { kind, rid: `r${n}` }
        if (kind === "event") return { kind, id: `e${n}` }
        if (kind === "signal") return { kind, pair: 0, nth: n }
        return { kind: "sleep", due: { beat: kind === "beats" ? n + 1000 : undefined, moment: n + 10_000 } }
      }
      const handles = new OpenHandles()
      const moment = { now: { beat: 0, clock: 0 }, answered: new Set(["last"]), heard: [0, 1] }
      let most = 0
      for (let n = 0; n < 1000; n++) {
        handles.add(Handle.pending(2 * n, awaitedOf(n), unheard))
        handles.add(Handle.pending(2 * n + 1, { kind: "request", rid: "last" }, unheard))
        handles.note("last")
        const { dues, looks, numbers } = looked(handles, moment)
        assert.deepStrictEqual(numbers, [2 * n + 1])
        handles.take(2 * n + 1)
        assert.isAtMost(dues.length, 1)
        most = Math.max(most, looks)
      }
      assert.isAtMost(most, 3)
    })
  }
})

describe("the bodies in memory", () => {
  const number = (rid: string): HandleResult => [Number(rid), "ok"]

  /** The results of a body, of which each request that is looked at has one. */
  const resultsOf = ({ tx: { handles } }: Continuation): ReadonlyArray<number> =>
    handles.settled({ now: { beat: 0, clock: 0 }, answered: (_, awaited) => number(idOf(awaited)), heard: () => undefined }).map(([n]) => n)

  it("get notes of results, and doubt them after a result that came while their segment was merged", () => {
    const bodies = new ContinuationCache()
    const body = new Continuation("OPS:a")
    for (const n of [0, 1]) body.tx.handles.add(Handle.pending(n, { kind: "request", rid: String(n) }, unheard))
    assert.deepStrictEqual(resultsOf(body), [0, 1], "a new body knows of no result")
    bodies.keep("OPS:a", body, 10)
    bodies.note("OPS:a", "1")
    bodies.note("OPS:a", "unknown")
    assert.strictEqual(bodies.take("OPS:a", 0), body)
    assert.deepStrictEqual(resultsOf(body), [1])
    bodies.note("OPS:a", "0")
    bodies.keep("OPS:a", body, 10)
    assert.deepStrictEqual(resultsOf(body), [0, 1])
    bodies.keep("OPS:a", body, 10)
    assert.deepStrictEqual(resultsOf(body), [])
  })
})

/** Makes a request that it never awaits, and awaits another one, so many times. */
const careless = Enzyme.make({
  name: "careless",
  query: "/signals/careless",
  durable: true,
  run: async (tx: Transaction, { payload }) => {
    const values: Array<unknown> = []
    for (let i = 0; i < Number(payload); i++) {
      const left = tx.io.request({ channel: "bank", opcode: "leave" })
      if (i === 0) void left.then(({ value }) => values.push(value))
      values.push((await tx.io.request({ channel: "bank", opcode: "ask" })).value)
    }
    return values
  }
})

describe("a run with handles that it never awaits", () => {
  const channels = { bank: { opcodes: { ask: { repeatable: true }, leave: { repeatable: true } } } }

  const inSpace = <A, E>(test: (space: Space, reactor: TestReactor) => Effect.Effect<A, E, Kernel>) => {
    const reactor = new TestReactor(channels)
    return Effect.flatMap(TestKernel.space([careless]), (space) => test(space, reactor)).pipe(
      Effect.provide(TestKernel.layer({}, undefined, { reactor: reactor.layer }))
    )
  }

  const asked = ({ jobs }: TestReactor, opcode: string): string => jobs.find((job) => job.opcode === opcode)?.rid ?? ""

  it.effect("reads as many cells in a late step as in an early one", () => inSpace((space, reactor) => Effect.gen(function*() {
    yield* space.signal({ signal: "/signals/careless", payload: 60 })
    yield* space.step
    const reads = vi.spyOn(Stage.prototype, "visible")
    const counts: Array<number> = []
    for (let i = 0; i < 58; i++) {
      reads.mockClear()
      reactor.complete(asked(reactor, "ask"), { value: i })
      yield* space.step
      counts.push(reads.mock.calls.length)
    }
    reads.mockRestore()
    // The second segment looks at each request once, since its body was new.
    assert.deepStrictEqual(counts.slice(2), counts.slice(2).map(() => counts[1]), counts.join(" "))
  })))

  it.effect("writes as much in a late step as in an early one", () => inSpace((space, reactor) => Effect.gen(function*() {
    yield* space.signal({ signal: "/signals/careless", payload: 60 })
    yield* space.step
    for (let i = 0; i < 58; i++) {
      reactor.complete(asked(reactor, "ask"), { value: i })
      yield* space.step
    }
    const written = yield* space.examine(({ store }) => Array.from(store.scanJournal(11, 58), ({ text }) => text.length))
    // Numbers become longer.
    assert.isBelow(Math.max(...written) - Math.min(...written), 64, written.join(" "))
  })))

  it.effect("gets their results in the order of the calls", () => inSpace((space, reactor) => Effect.gen(function*() {
    const { id } = yield* space.signal({ signal: "/signals/careless", payload: 3 })
    yield* space.step
    for (let i = 0; i < 3; i++) {
      if (i === 1) reactor.complete(asked(reactor, "leave"), { value: "left" })
      reactor.complete(asked(reactor, "ask"), { value: i })
      yield* steps(space, 1)
    }
    assert.deepStrictEqual((yield* space.receipt(id))?.handlings.map(({ value }) => value), [[0, "left", 1, 2]])
    yield* replays(space)
  })))
})
