import { assert, describe, it } from "@effect/vitest"
import { Effect as Fx, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { Enzyme, Event, KeyPage, NodeDefinition, Space, Transaction, Value } from "systole"
import { Computation, Fatal, Kernel, Reaction, replay, Retry } from "systole"
import * as Random from "../../support/Random.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import * as Trials from "../../support/Trials.ts"
import { controlled, enzyme, turns } from "../TestSpace.ts"

const SEEDS = Trials.seeds(200, { least: 20 })
const LOW = [0, 1, 2].map((i) => `/data/low/${i}`)
const HIGH = [0, 1, 2].map((i) => `/data/high/${i}`)
const [LOWER, HIGHER, MIXED, BRITTLE] = ["/data/low/derived", "/data/high/derived", "/data/low/mixed", "/data/low/brittle"] as const
const DERIVED = [LOWER, HIGHER, MIXED, BRITTLE]

const labels = { cells: { "/data/high/**": ["secret"], "/data/high": ["secret"], "/rt/ops/**": [] }, declassify: {} }

/** An act of a random run; `known` is a digest of all its earlier reads. */
type Act = (tx: Transaction, event: Event, known: number) => number | Retry | Fatal

const number = (value: Value): number => typeof value === "number" ? value : value === undefined ? 1 : JSON.stringify(value).length

/** The acts of random runs: every capability of a run, depending on its earlier reads. */
const acts: ReadonlyArray<(draw: Random.Random) => Act> = [
  (draw) => read(Random.pick(draw, [...LOW, ...HIGH, ...DERIVED])),
  (draw) => read(Random.pick(draw, HIGH)),
  (draw) => read(Random.pick(draw, LOW)),
  (draw) => write(Random.pick(draw, LOW)),
  (draw) => write(Random.pick(draw, [...LOW, ...HIGH])),
  (draw) => {
    const address = Random.pick(draw, [...LOW, ...HIGH])
    return (tx, _, known) => (tx.increment(address, known % 3), known)
  },
  (draw) => {
    const folder = Random.pick(draw, ["/data/low", "/data/high", "/data"])
    return (tx, _, known) => known * 3 + tx.list(folder).length
  },
  (draw) => {
    const n = draw(4)
    return (tx, { payload }, known) => {
      const depth = (payload as ReadonlyArray<number>)[1] ?? 0
      if (depth < 1 && known % 2 === 0) tx.signal({ signal: `/signals/act/${n}`, payload: [known % 7, depth + 1] })
      return known
    }
  },
  () => (tx, { id }, known) => (tx.set(`/data/${known % 2 === 0 ? "low" : "high"}/made-${id.length < 20 ? "run" : id}`, known % 5), known),
  () => (tx, _, known) => {
    if (known % 3 === 0) tx.report({ severity: "sev:crit", topic: "odd/number", note: `it is ${known}` })
    return known
  },
  () => (tx, _, known) => {
    const oid = tx.op.start({ verb: "op/act", target: "/data/low", mode: "opm:states" })
    if (known % 2 === 0) tx.op.close(oid, "sts:ok", known % 9)
    tx.set("/data/low/oid", oid)
    return known
  },
  () => (tx, _, known) => {
    const oid = tx.get("/data/low/oid")
    if (typeof oid === "string" && known % 2 === 0) {
      tx.report({ severity: "sev:crit", topic: "odd/operation", note: `it is ${known}`, attach: oid })
    }
    return known
  },
  () => (_, { attempt }, known) => known % 3 === 0 && attempt < 3 ? new Retry({ reason: "not yet" }) : known,
  () => (_tx, _event, known) => {
    if (known % 5 === 0) throw new RangeError(`it is ${known}`)
    return known
  },
  () => (_tx, _event, known) => known % 11 === 0 ? new Fatal({ reason: `it is ${known}` }) : known,
  () => (tx, _, known) => {
    try {
      tx.set("/data/low/caught", known % 4)
    } catch {
      // A refusal is not undone by this catch.
    }
    return known
  }
]

const read = (address: string): Act => (tx, _, known) => (known * 7 + number(tx.get(address))) % 1009

const write = (address: string): Act => (tx, _, known) => (tx.set(address, known % 100 === 13 ? undefined : known % 100), known)

/** An enzyme of random acts, which takes some of the signals. */
const random = (draw: Random.Random, name: string): Enzyme.Enzyme => {
  const list = Array.from({ length: 1 + draw(5) }, () => Random.pick(draw, acts)(draw))
  return enzyme(name, (tx, event) => {
    let known = number((event.payload as ReadonlyArray<number>)[0])
    for (const act of list) {
      const next = act(tx, event, known)
      if (typeof next !== "number") return next
      known = next
    }
    if (known % 2 === 0) tx.append("/data/low/log", known % 1000)
    return known
  }, {
    query: `/signals/act/${draw(2) === 0 ? "*" : draw(4)}`,
    lane: Random.pick(draw, ["pair", "target", "space"] as const),
    // The shutdown of a space is visible to every reader.
    onFatal: "continue",
    onDead: "/signals/died",
    retry: { attempts: 4 },
    isolation: draw(2) === 0 ? "serializable" : "snapshot"
  })
}

/** Takes the signals of handlings that were given up. */
const died = enzyme("died", (tx, { payload }) => {
  const { code, enzyme } = payload as { readonly code: string; readonly enzyme: string }
  tx.append("/data/low/died", [code, enzyme])
})

/** The time gate of a node, if any. */
const gate = (draw: Random.Random) =>
  Random.pick(draw, [{}, {}, { throttle: 400 }, { throttle: 5000 }, { debounce: 200 }, { debounce: 200, throttle: 400 }])

/** Nodes that read below their label, depending on a secret. */
const above = (draw: Random.Random): ReadonlyArray<NodeDefinition> => {
  const [secret, low] = [Random.pick(draw, HIGH), Random.pick(draw, DERIVED.filter((address) => address.startsWith("/data/low")))]
  const isNosy = (tx: Transaction): boolean => number(tx.get(secret)) % 2 === 0
  const sum = (tx: Transaction): number => number(tx.get(low)) + tx.list("/data/low").length
  return [
    Computation.make({ name: "nosy", output: "/data/high/nosy", ...gate(draw), run: (tx) => isNosy(tx) ? sum(tx) : 0 }),
    ...(draw(2) === 0 ? [Reaction.make({ name: "looker", read: (tx) => isNosy(tx) ? sum(tx) : 0, deliver: () => {} })] : []),
    ...(draw(2) === 0 ? [Reaction.make({ name: "follower", read: (tx) => tx.get("/data/high/nosy"), deliver: () => {} })] : [])
  ]
}

const nodes = (draw: Random.Random): ReadonlyArray<NodeDefinition> => {
  const [a, b, c] = [Random.pick(draw, LOW), Random.pick(draw, [...LOW, ...HIGH]), Random.pick(draw, HIGH)]
  return [
    Computation.make({ name: "low", output: LOWER, ...gate(draw), run: (tx) => number(tx.get(a)) % 4 }),
    Computation.make({ name: "high", output: HIGHER, ...gate(draw), run: (tx) => number(tx.get(b)) + number(tx.get(c)) }),
    // Reads a secret depending on an open cell, and is then refused.
    Computation.make({
      name: "mixed", output: MIXED, ...gate(draw), run: (tx) => number(tx.get(a)) % 3 === 0 ? number(tx.get(c)) : 7
    }),
    // Fails at times, so that its last derived value differs from its current one.
    Computation.make({
      name: "brittle",
      output: BRITTLE,
      ...gate(draw),
      run: (tx) => {
        const value = number(tx.get(a)) + number(tx.get("/data/low/0")) + number(tx.get(LOWER))
        if (value % 3 === 0) throw new Retry({ reason: `it is ${value}` })
        if (value % 2 === 0) throw new RangeError(`it is ${value}`)
        return value
      }
    }),
    ...above(draw),
    ...(draw(2) === 0 ? [Reaction.make({ name: "demand", read: (tx) => [tx.get(HIGHER), tx.get(MIXED)], deliver: () => {} })] : [])
  ]
}

/** Runs one beat. An aborted one takes no time: the next takes its input at once. */
const stepped = (space: Space): Fx.Effect<unknown> =>
  Fx.flatMap(Fx.result(space.step), ({ _tag }) => _tag === "Success" ? Fx.void : stepped(space))

/** Advances the clock until the space is idle. */
const rest = (space: Space) =>
  Fx.forEach(
    Array.from({ length: 30 }),
    () => Fx.andThen(Fx.forEach([1, 2], () => stepped(space)), TestClock.adjust(2000)),
    { discard: true }
  )

/** The answer to a caller within one beat and a millisecond. */
const answered = <A, E>(space: Space, ask: Fx.Effect<A, E>) =>
  Fx.gen(function*() {
    const fiber = yield* Fx.forkChild(Fx.result(ask), { startImmediately: true })
    yield* stepped(space)
    yield* turns(1)
    yield* TestClock.adjust(1)
    return yield* Fiber.join(fiber)
  })

/** Reads derived cells depending on its earlier reads. */
const look = enzyme("look", (tx) => {
  const known = number(tx.get("/data/high/0"))
  if (known % 2 === 0) tx.set("/data/high/looked", DERIVED.reduce((sum, address) => (sum * 7 + number(tx.get(address))) % 1009, known))
})

/** The repeated answers to a reader, while gates are closed and runs above may read, too. */
const glimpsed = Fx.fnUntraced(function*(space: Space, draw: Random.Random) {
  const reader = space.reader({ name: "web", atoms: [] })
  const seen: Array<unknown> = []
  for (let round = 0; round < 8; round++) {
    yield* answered(space, space.set(Random.pick(draw, LOW), draw(50)))
    yield* space.signal({ signal: "/signals/look", ...(draw(2) === 0 ? { label: ["secret"] } : {}) })
    yield* stepped(space)
    const address = Random.pick(draw, [...LOW, ...DERIVED])
    const answer = yield* answered(space, reader.get(address, { wait: 1 }))
    seen.push([address, answer._tag === "Success" ? answer.success : [answer.failure.code, answer.failure.message]])
    yield* TestClock.adjust(draw(4) * 100)
  }
  return seen
})

/** The final answers to a reader without clearance. */
const shown = Fx.fnUntraced(function*(space: Space, ids: ReadonlyArray<string>) {
  const reader = space.reader({ name: "web", atoms: [] })
  const asked = <A>(effect: Fx.Effect<A, { readonly code: string; readonly message: string }>) =>
    Fx.map(answered(space, effect), (result) => result._tag === "Success" ? result.success : [result.failure.code, result.failure.message])
  const seen: Record<string, unknown> = {}
  for (const address of [
    ...LOW, ...HIGH, ...DERIVED, "/data/low/log", "/data/low/died", "/data/low/caught", "/rt/dead/x/y",
    "/data/mailbox/diag/msgs/0.0", "/sys/index/over/fact"
  ]) {
    seen[address] = yield* asked(reader.get(address, { wait: 1 }))
  }
  for (const folder of [
    "/data", "/data/low", "/data/high", "/rt/dead", "/data/mailbox/diag/msgs", "/sys", "/sys/index", "/sys/index/over/fact"
  ]) {
    seen[`list ${folder}`] = yield* asked(reader.list(folder))
  }
  // The ends of its pages are outside the promise, as the number of cells is that they pass over.
  seen["below"] = yield* asked(Fx.gen(function*() {
    const keys: Array<string> = []
    for (let after: string | undefined; ;) {
      const page: KeyPage = yield* reader.below("/data", { after, limit: 3 })
      keys.push(...page.keys)
      if (page.next === undefined) return keys
      after = page.next
    }
  }))
  // Ids of operations contain the beat, and their numbers of changes are as public as they are.
  const oid = yield* space.get("/data/low/oid")
  const dossier = typeof oid === "string" ? yield* asked(reader.get(`/rt/ops/${oid}`, { wait: 1 })) : undefined
  const { code, state, status } = (dossier ?? {}) as Readonly<Record<string, unknown>>
  seen["operation"] = [code, state, status]
  seen["waiting"] = yield* asked(Fx.map(reader.waiting({ limit: 100 }), ({ waiting }) => waiting))
  seen["receipts"] = yield* Fx.forEach(ids, (id) => asked(reader.receipt(id)))
  return seen
})

/** One of two worlds that differ in secret cells and secret signals. */
const world = (seed: number, isOther: boolean) =>
  Fx.gen(function*() {
    const draw = Random.make(seed)
    const enzymes = Array.from({ length: 5 }, (_, i) => random(draw, `e${i}`))
    const kernel = yield* Kernel
    for (const node of nodes(draw)) yield* kernel.register(node)
    const space = yield* TestKernel.space([...enzymes, look, died])
    const own = Random.make(seed + (isOther ? 1000 : 0))
    for (const address of HIGH) yield* controlled(space, space.set(address, own(50)))
    yield* Fx.result(space.step)
    const reader = space.reader({ name: "web", atoms: [] })
    const followed: Array<unknown> = []
    for (const address of [...LOW, LOWER, "/data/low/log"]) {
      yield* Fx.forkChild(
        Stream.runForEach(reader.watch(address), ({ isReset, value }) => Fx.sync(() => void followed.push([address, value, isReset]))),
        { startImmediately: true }
      )
    }
    const ids: Array<string> = []
    for (let wave = 0; wave < 2; wave++) {
      for (let i = 0; i < 6; i++) {
        if (own(3) === 0) {
          yield* space.signal({ signal: `/signals/act/${own(4)}`, payload: [own(20), 0], label: ["secret"], id: `high-${wave}-${i}` })
        }
        ids.push((yield* reader.signal({ signal: `/signals/act/${draw(4)}`, payload: [draw(20), 0], id: `low-${wave}-${i}` })).id)
      }
      yield* rest(space)
    }
    yield* turns()
    const glimpses = yield* glimpsed(space, draw)
    yield* rest(space)
    const seen = yield* shown(space, ids)
    const secrets = yield* Fx.forEach(HIGH, (address) => space.get(address))
    const byAddress = [...LOW, LOWER, "/data/low/log"].map(
      (address) => followed.filter((item) => (item as ReadonlyArray<unknown>)[0] === address)
    )
    return { space, secrets, seen: { ...seen, glimpses, followed: byAddress } }
  })

describe("Two spaces that differ in secrets", () => {
  it.effect("give a reader without clearance the same cells, lists, receipts and problems, and the same values in the same order", () =>
    Fx.gen(function*() {
      let differing = 0
      let logged = 0
      let risen = 0
      let operated = 0
      let held = 0
      let died = 0
      for (const seed of SEEDS) {
        const [one = assert.fail(), other = assert.fail()] = yield* Fx.forEach([false, true], (isOther) =>
          Fx.provide(Fx.map(world(seed, isOther), ({ secrets, seen }) => ({ secrets, seen })), TestKernel.layer({ labels })))
        assert.deepStrictEqual(other.seen, one.seen, `seed ${seed}`)
        if (JSON.stringify(one.secrets) !== JSON.stringify(other.secrets)) differing++
        if (
          (
            (one.seen as Record<string, unknown>)["/data/low/log"] as ReadonlyArray<number> | undefined
          )?.every((item) => typeof item === "number") === true
        ) {
          logged++
        }
        if (JSON.stringify(one.seen).includes("\"withheld\"")) risen++
        if (Array.isArray((one.seen as Record<string, unknown>)["/data/low/died"])) died++
        if (JSON.stringify((one.seen as Record<string, unknown>)["glimpses"]).includes("cell/held")) held++
        if (((one.seen as Record<string, unknown>)["operation"] as ReadonlyArray<unknown>)[1] !== undefined) operated++
      }
      // The worlds do differ, and both have much activity below and above the label.
      assert.isAbove(differing, SEEDS.length * 0.9)
      assert.isAbove(logged, SEEDS.length / 3)
      assert.isAbove(risen, SEEDS.length / 3)
      assert.isAbove(operated, SEEDS.length / 10)
      assert.isAbove(held, SEEDS.length / 3)
      assert.isAbove(died, SEEDS.length / 3)
    }))

  it.effect("replay to the same entries, by the labels of each beat", () =>
    Fx.forEach(Trials.seeds(25, { least: 2 }), (seed) =>
      Fx.gen(function*() {
        const { space } = yield* world(seed, true)
        const { difference } = yield* space.examine((archive) => replay(archive, 0, Infinity))
        assert.isUndefined(difference, `seed ${seed}: ${JSON.stringify(difference)}`)
      }).pipe(Fx.provide(TestKernel.layer({ labels }))), { discard: true }))
})
