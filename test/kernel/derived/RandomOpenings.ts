/**
 * Random worlds of derived cells under every way of a change from outside: two equal
 * spaces, one of which stays open while the other one opens again and again.
 *
 * @module
 */
import { Effect as Fx, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { NodeDefinition, Space, Transaction, Value } from "systole"
import { Computation, Fatal, Materializer, Reaction } from "systole"
import rvInit from "../../../enzymes/rv_init.ts"
import * as Random from "../../support/Random.ts"
import { enzyme, put, replays } from "../TestSpace.ts"
import * as TestMachine from "../TestMachine.ts"

const COMPUTATIONS = 8
const SOURCES = [0, 1, 2, 3].map((i) => `/s/${i}`)
const OUTPUTS = Array.from({ length: COMPUTATIONS }, (_, i) => `/c/${i}`)

/** A number from any value. */
const digest = (value: Value): number =>
  typeof value === "number" ? value : [...JSON.stringify(value ?? null)].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 997, 7)

type Look = (tx: Transaction) => Value

/** The states of all operations. Their ids differ between the spaces. */
const operations: Look = (tx) =>
  tx.list("/rt/ops").map((oid) => {
    const { state, status } = tx.get(`/rt/ops/${oid}`) as { readonly state?: Value; readonly status?: Value }
    return [state ?? null, status ?? null]
  })

/** The places that a change from outside can concern. */
const looks: ReadonlyArray<Look> = [
  ...SOURCES.flatMap((source): ReadonlyArray<Look> => [(tx) => tx.get(source), (tx) => tx.get(`${source}#/a`)]),
  (tx) => [...tx.list("/s")],
  operations,
  (tx) => tx.list("/data/rv").map((key) => (tx.get(`/data/rv/${key}`) as { readonly state?: Value }).state ?? null),
  (tx) => tx.list("/sys/bind/data").length,
  (tx) => tx.list("/sys/pieces").length,
  (tx) => tx.list("/lines").map((cart) => tx.get(`/lines/${cart}`) ?? null),
  (tx) => tx.list("/k").map((child) => tx.get(`/k/${child}`) ?? null),
  (tx) => tx.get("/m/0")
]

/** Features of a world, by its seed. */
export interface Features {
  readonly gates: boolean
  /** Modules change their code, leave and return. */
  readonly deployments: boolean
  /** Each beat of the other space is the first one after an opening. */
  readonly always: boolean
}

export const featuresOf = (seed: number): Features => ({ gates: seed % 2 === 1, deployments: seed % 4 > 1, always: seed % 3 > 0 })

const sum = (tx: Transaction, parts: ReadonlyArray<Look>): number =>
  parts.reduce((total, look) => (total * 7 + digest(look(tx))) % 1009, 0)

/** The nodes of a world, with the deliveries of its effects; computations by version. */
const nodesOf = (draw: Random.Random, { gates }: Features) => {
  const seen: Record<string, Array<Value>> = {}
  const gate = () => gates && draw(3) === 0 ? draw(2) === 0 ? { throttle: 1 + draw(80) } : { debounce: 1 + draw(80) } : {}
  const parts = (count: number): ReadonlyArray<Look> => {
    const above = OUTPUTS.slice(0, count).map((output): Look => (tx) => tx.get(output))
    return Array.from({ length: 1 + draw(3) }, () => Random.pick(draw, above.length > 0 && draw(2) === 0 ? above : looks))
  }
  const computations = OUTPUTS.map((output, i) => {
    const [own, options, few] = [parts(i), gate(), 2 + draw(5)]
    return (version: number) =>
      Computation.make({ name: `c${i}`, output, ...options, run: (tx) => 100 * version + sum(tx, own) % few })
  })
  const effects = [0, 1].map((i) => {
    const [name, own] = [`e${i}`, parts(COMPUTATIONS)]
    seen[name] = []
    const deliver = (value: number): void => void seen[name]?.push(value)
    return Reaction.make({ name, noDebounce: true, ...gate(), read: (tx) => sum(tx, own), deliver })
  })
  const child = (i: number) => Computation.make({ name: `k${i}`, output: `/k/${i}`, run: (tx) => digest(tx.get(`/s/${i}`)) })
  const children = [0, 1, 2].map(child)
  const more: ReadonlyArray<NodeDefinition> = [
    Computation.make({ name: "line", inputs: ["cart"], output: "/lines/:cart", run: (tx, { cart }) => digest(tx.get(`/s/${cart}`)) }),
    Reaction.make({
      name: "parent",
      read: (tx) => children.slice(0, digest(tx.get("/s/0")) % 4).map((node) => tx.start(node)),
      deliver: () => {}
    }),
    Materializer.make({ name: "written", writes: ["/m/*"], run: (tx) => tx.set("/m/0", digest(tx.get("/s/1"))) })
  ]
  return { computations, others: [...effects, ...more], seen }
}

/** A space with the ids that it gave to operations and pieces. */
interface Known {
  readonly space: Space
  readonly oids: Array<string>
  readonly pieces: Array<string>
}

type Act = (known: Known) => Fx.Effect<unknown, unknown>

const someValue = (draw: Random.Random): Value => ([draw(4), draw(4), { a: draw(3) }, { a: draw(3), b: 1 }, undefined] as const)[draw(5)]

/** A change from outside, or a run that aborts its beat. */
const acts: ReadonlyArray<(draw: Random.Random) => Act> = [
  (draw) => {
    const [source, value] = [Random.pick(draw, SOURCES), someValue(draw)]
    return ({ space }) => space.set(source, value)
  },
  (draw) => {
    const [source, value] = [Random.pick(draw, SOURCES), draw(4)]
    return ({ space }) => space.set(source, value, { group: "far" })
  },
  (draw) => {
    const [address, value] = [Random.pick(draw, SOURCES), someValue(draw)]
    const kind = Random.pick(draw, ["pull", "integrate", "revert"] as const)
    return ({ space }) => space.integrate({ kind, changes: [{ address, value }] })
  },
  (draw) => {
    const payload = [[Random.pick(draw, SOURCES), someValue(draw) ?? null]]
    return ({ space }) => space.signal({ signal: "/signals/put", payload })
  },
  (draw) => {
    const [output, value] = [Random.pick(draw, OUTPUTS), draw(4)]
    return ({ space }) => space.set(output, value)
  },
  () => ({ space, oids }) =>
    Fx.tap(space.ops.start({ verb: "op/act", target: "/data/x", mode: "opm:states" }), ({ oid }) => Fx.sync(() => void oids.push(oid))),
  (draw) => {
    const state = `ist:s${draw(3)}`
    return ({ space, oids }) => space.ops.state(oids.at(-1) ?? "none", { state })
  },
  () => ({ space, oids }) => space.ops.close(oids.at(-1) ?? "none", { status: "sts:ok" }),
  (draw) => {
    const key = `job${draw(3)}`
    return ({ space }) => space.rv.spawn({ key })
  },
  (draw) => {
    const key = `job${draw(3)}`
    return ({ space }) => space.rv.report(key, { telemetry: { n: 1 } })
  },
  (draw) => {
    const [cell, isBound] = [`/data/b${draw(2)}`, draw(2) === 0]
    return ({ space }) => isBound ? space.bind(cell, "put") : space.unbind(cell, "put")
  },
  (draw) => {
    const cart = `${draw(4)}`
    return ({ space, pieces }) => Fx.tap(space.start("line", { cart }), (piece) => Fx.sync(() => void pieces.push(piece)))
  },
  () => ({ space, pieces }) => space.stop(pieces.at(-1) ?? "line~0"),
  () => ({ space }) => space.signal({ signal: "/signals/fatal" })
]

/** A change of the modules: other code of a computation, or its removal or return. */
interface Deployment {
  readonly index: number
  readonly version: number | undefined
}

/** The input of one beat, and a pull after it. */
export interface Round {
  readonly acts: ReadonlyArray<Act>
  readonly deployment: Deployment | undefined
  /** The derived cell that is pulled after the beat. */
  readonly pulled: string
}

export const round = (draw: Random.Random, { deployments }: Features): Round => ({
  acts: Array.from({ length: 1 + draw(3) }, () => Random.pick(draw, acts)(draw)),
  deployment: deployments && draw(3) === 0 ? { index: draw(COMPUTATIONS), version: draw(3) === 0 ? undefined : draw(2) } : undefined,
  pulled: Random.pick(draw, OUTPUTS)
})

const fatal = enzyme("fatal", () => new Fatal({ reason: "as asked" }), { onFatal: "continue" })

/** Runs one beat. An aborted one takes no time: the next takes its input at once. */
const stepped = (space: Space): Fx.Effect<unknown> =>
  Fx.flatMap(Fx.result(space.step), ({ _tag }) => _tag === "Success" ? Fx.void : stepped(space))

/** One of the two spaces. */
export const world = (seed: number) =>
  Fx.gen(function*() {
    const features = featuresOf(seed)
    const { computations, others, seen } = nodesOf(Random.make(seed), features)
    const machine = yield* TestMachine.make
    const versions: Array<number | undefined> = computations.map(() => 0)
    const moduleOf = (index: number, version: number) =>
      [computations[index]?.(version) ?? []].flat().map((module) => ({ module, hash: `${index}-${version}` }))
    const boot = Fx.suspend(() =>
      machine.boot([put, fatal, rvInit, ...versions.flatMap((version, i) => version === undefined ? [] : moduleOf(i, version)), ...others]))
    const known = { space: yield* boot, oids: [] as Array<string>, pieces: [] as Array<string> }
    yield* known.space.signal({ signal: "/CEP:sig_sys/init" })
    yield* stepped(known.space)
    const reopen = Fx.map(boot, (space) => void (known.space = space))
    return {
      seen,
      /** The present computations. */
      present: () => OUTPUTS.filter((_, i) => versions[i] !== undefined),
      reopen,
      /** Applies a deployment, in the open space or by an opening. */
      deploy: ({ index, version }: Deployment, isOpen: boolean) =>
        Fx.gen(function*() {
          const before = versions[index]
          versions[index] = version
          if (!isOpen) return yield* reopen
          if (before !== undefined) for (const { module } of moduleOf(index, before)) yield* machine.unregister(module)
          if (version !== undefined) for (const module of moduleOf(index, version)) yield* machine.register(module)
        }),
      /** One beat with these changes; whether each was accepted. */
      beat: (changes: ReadonlyArray<Act>) =>
        Fx.gen(function*() {
          const fibers = yield* Fx.forEach(changes, (act) => Fx.forkChild(Fx.result(act(known)), { startImmediately: true }))
          yield* stepped(known.space)
          return (yield* Fx.forEach(fibers, Fiber.join)).map(({ _tag }) => _tag)
        }),
      step: Fx.suspend(() => stepped(known.space)),
      /** Replays the journal, which all openings wrote. */
      replayed: Fx.suspend(() => replays(known.space)),
      /** The value at an address; with closed gates, once these have opened. */
      pull: (address: string) =>
        Fx.gen(function*() {
          const fiber = yield* Fx.forkChild(Fx.result(known.space.pull(address)), { startImmediately: true })
          for (let i = 0; i < (features.gates ? 4 : 1); i++) {
            yield* stepped(known.space)
            if (features.gates) yield* TestClock.adjust(100)
          }
          return yield* Fiber.join(fiber)
        })
    }
  })
