/**
 * The recorded stories: together they use every part of the runtime that leaves
 * a trace in a store.
 *
 * @module
 */
import { Effect as Fx } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Computation, Link, Mailroom, Materializer, Reaction, Retry, type Transaction, type Value } from "systole"
import instIng from "../../enzymes/inst_ing.ts"
import mrInit from "../../enzymes/mr_init.ts"
import mrRoute from "../../enzymes/mr_route.ts"
import rvRoute from "../../enzymes/rv_route.ts"
import rvInit from "../faults/RecordedInit.ts"
import * as Scenarios from "../faults/Scenarios.ts"
import { enzyme, put } from "../kernel/TestSpace.ts"
import { beats, make, modules, ofScenario, type Story, together } from "./Story.ts"

const number = (value: Value): number => Number(value ?? 0)

const sum = (tx: Transaction, folder: string): number =>
  tx.list(folder).reduce((total, name) => total + number(tx.get(`${folder}/${name}`)), 0)

/** Writes through the enzyme `put`, in one event. */
const write = (...writes: ReadonlyArray<readonly [string, unknown]>) => ({ signal: "/signals/put", payload: writes })

/** Effects deliver into the void: a delivery leaves no trace in a store. */
const deliver = (): void => {}

const derived: Story = make({
  name: "derived cells, pieces, gates and a rollback",
  enzymes: [
    put,
    enzyme("open", (tx, { params: { cart }, payload }) => {
      const line = tx.start("line", { cart, rate: payload ?? 1 })
      return [line, tx.start("show", { cart })]
    }, { query: "/signals/open/:cart" }),
    enzyme("close", (tx, { payload }) => tx.stop(String(payload))),
    enzyme("look", (tx) => tx.set("/data/looked", [tx.get("/data/total"), tx.get("/data/slow"), tx.get("/data/via")]))
  ],
  nodes: [
    Computation.make({ name: "total", output: "/data/total", run: (tx) => sum(tx, "/data/carts") }),
    Computation.make({ name: "double", output: "/data/double", run: (tx) => 2 * number(tx.get("/data/total")) }),
    Computation.make({ name: "via", output: "/data/via", run: (tx) => tx.get("/data/link") ?? null }),
    Computation.make({ name: "slow", output: "/data/slow", throttle: 35, run: (tx) => number(tx.get("/data/total")) + tx.now }),
    Computation.make({ name: "fails", output: "/data/fails", run: (tx) => {
      if (number(tx.get("/data/total")) > 9) throw new RangeError("too much")
      return "well"
    } }),
    Computation.make({ name: "shy", output: "/data/shy", run: (tx) => {
      if (number(tx.get("/data/total")) === 3) throw new Retry({ reason: "not three" })
      return number(tx.get("/data/total"))
    } }),
    Computation.make({
      name: "line",
      inputs: ["cart", "rate"],
      output: "/data/lines/:cart",
      run: (tx, { cart, rate }) => number(tx.get(`/data/carts/${cart}`)) * number(rate)
    }),
    Reaction.make<Value>({ name: "show", inputs: ["cart"], read: (tx, { cart }) => tx.get(`/data/lines/${cart}`) ?? null, deliver }),
    Reaction.make<Value>({
      name: "quiet",
      debounce: 25,
      read: (tx) => ["double", "fails", "shy"].map((name) => tx.get(`/data/${name}`) ?? 0),
      deliver
    }),
    Reaction.make<Value>({ name: "starts", read: (tx) => {
      for (const cart of tx.list("/data/carts")) tx.start("line", { cart, rate: 7 })
      return tx.list("/data/carts").length
    }, deliver }),
    Materializer.make({ name: "index", writes: ["/data/index/*"], run: (tx) => {
      for (const cart of tx.list("/data/carts")) tx.set(`/data/index/${number(tx.get(`/data/carts/${cart}`)) % 3}`, cart)
    } })
  ],
  act: Fx.fnUntraced(function*({ kernel }) {
    const space = yield* kernel.space("home")
    yield* together(space, [
      space.signal(write(["/data/carts/a", 1], ["/data/link", Link.make("/data/total")])),
      space.signal({ signal: "/signals/look" })
    ])
    yield* together(space, [space.signal({ signal: "/signals/open/a", payload: 3 }), space.signal(write(["/data/carts/b", 2]))])
    yield* beats(space, 4)
    const mark = yield* space.head
    yield* together(space, [space.signal(write(["/data/carts/c", 9])), space.signal({ signal: "/signals/look" })])
    yield* beats(space, 6)
    yield* together(space, [space.start("line", { cart: "z", rate: 2 })])
    yield* together(space, [space.signal({ signal: "/signals/look" }), space.pull("/data/double")])
    yield* together(space, [space.control.pause()])
    yield* beats(space, 6)
    yield* together(space, [space.signal(write(["/data/carts/d", 4])), space.control.rollback(mark)])
    yield* beats(space, 8)
    yield* together(space, [space.control.resume()])
    yield* beats(space, 8)
    const changes = [{ address: "/data/carts/e", value: 5 }]
    yield* together(space, [space.integrate({ kind: "integrate", group: "far", changes }), space.signal({ signal: "/signals/look" })])
    yield* beats(space, 8)
  })
})

const labelled: Story = make({
  name: "labels, withheld cells and declassification",
  settings: {
    labels: { cells: { "/data/pay/**": ["salary"], "/data/both": ["salary", "health"] }, declassify: { publish: ["salary"] } }
  },
  enzymes: [
    put,
    enzyme("leak", (tx) => tx.set("/data/open", tx.get("/data/pay/ann"))),
    enzyme("publish", (tx) => tx.set("/data/mean", sum(tx, "/data/pay"))),
    enzyme("raise", (tx) => {
      tx.increment("/data/pay/ann", 1)
      tx.signal({ signal: "/signals/heard", payload: tx.get("/data/pay/ann") })
    }),
    enzyme("heard", (tx) => tx.set("/data/pay/heard", true))
  ],
  nodes: [
    Computation.make({ name: "top", output: "/data/pay/top", run: (tx) => number(tx.get("/data/pay/ann")) }),
    Computation.make({ name: "nosy", output: "/data/nosy", run: (tx) => tx.get("/data/pay/ann") ?? null })
  ],
  act: Fx.fnUntraced(function*({ kernel }) {
    const space = yield* kernel.space("home")
    yield* together(space, [space.set("/data/pay/ann", 5), space.set("/data/both", "x")])
    for (const name of ["leak", "publish", "raise"]) yield* together(space, [space.signal({ signal: `/signals/${name}`, payload: 1 })])
    const raise = space.signal({ signal: "/signals/raise", payload: 1, label: ["salary"] })
    yield* together(space, [raise, space.pull("/data/pay/top"), space.pull("/data/nosy")])
    yield* beats(space, 6)
  })
})

const posted: Story = make({
  name: "mailroom",
  grants: ["mr_init", "mr_route", "rv_init", "inst_ing"],
  enzymes: [mrInit, mrRoute, rvInit, rvRoute, instIng, put],
  act: Fx.fnUntraced(function*({ kernel }) {
    const space = yield* kernel.space("home")
    yield* together(space, [space.signal({ signal: "/CEP:sig_sys/init" })])
    yield* beats(space, 2)
    for (const name of ["r1", "r2"]) {
      const lobby = `/data/inbox/coh/be_create/${name}`
      yield* together(space, [space.signal(write([lobby, { kind: "being", name }]))])
      yield* together(space, [space.signal({ signal: Mailroom.ADDED, target: lobby })])
      yield* beats(space, 3)
    }
    yield* beats(space, 4)
  })
})

const neighbours: Story = make({
  name: "signals between spaces",
  spaces: ["home", "away"],
  enzymes: [
    enzyme("send", (tx, { payload }) => {
      for (const item of payload as ReadonlyArray<Value>) tx.signal({ signal: "/signals/take", space: "away", payload: item })
      tx.signal({ signal: "/signals/take", space: "nowhere-it-could-be!", payload: 0 })
    }),
    enzyme("take", (tx, { id, payload }) => tx.append("/data/taken", [payload, id]))
  ],
  act: Fx.fnUntraced(function*({ kernel }) {
    const [home, away] = [yield* kernel.space("home"), yield* kernel.space("away")]
    for (const items of [[1, new Map([["two", 2n]])], [new Date(3), new Set(["four"])]]) {
      yield* together(home, [home.signal({ signal: "/signals/send", payload: items })])
      yield* Fx.promise(() => new Promise<void>((resolve) => void setImmediate(() => setImmediate(resolve))))
      yield* together(away, [away.signal({ signal: "/signals/take", payload: "own" })])
      yield* beats(away, 3)
      yield* beats(home, 3)
    }
  })
})

/** The signal that wakes the runs below. */
const wake = { signal: "/signals/wake", target: "/data/wake" } as const

const earlierReads: Story = make({
  name: "durable runs that write from earlier reads",
  enzymes: [
    put,
    enzyme("take", async (tx) => {
      const left = number(tx.get("/data/stock"))
      await tx.waitForSignal(wake.signal, wake.target)
      tx.set("/data/stock", left - 1)
    }, { query: "/signals/take/:n", durable: true, hears: [wake] }),
    enzyme("parts", async (tx) => {
      const seen = [tx.get("/data/order"), tx.keys("/data/linked") ?? null, tx.list("/data/all")]
      await tx.waitForSignal(wake.signal, wake.target)
      tx.set("/data/order#/b", 3)
      tx.set(`/data/all/${tx.list("/data/all").length}`, 1)
      await tx.waitForSignal(wake.signal, wake.target)
      tx.set("/data/order#/a", 4)
      return seen
    }, { durable: true, hears: [wake] })
  ],
  nodes: [Computation.make({ name: "worth", output: "/data/worth", run: (tx) => 10 * number(tx.get("/data/stock")) })],
  act: Fx.fnUntraced(function*({ kernel }) {
    const space = yield* kernel.space("home")
    const cells = [["/data/stock", 7], ["/data/order", { a: 1, b: 2 }], ["/data/linked", Link.make("/data/order")]] as const
    yield* together(space, [space.signal(write(...cells))])
    const runs = ["/signals/take/1", "/signals/take/2", "/signals/parts"].map((signal) => space.signal({ signal }))
    yield* together(space, [...runs, space.pull("/data/worth")])
    yield* together(space, [space.signal(write(["/data/order#/a", 5], ["/data/all/x", 1]))])
    for (let i = 0; i < 2; i++) {
      yield* together(space, [space.signal(wake)])
      yield* beats(space, 3)
    }
  })
})

/** The signal that the runs below hear or miss. */
const heard = (target: string) => ({ signal: "/signals/heard", target, payload: target })

/** Under the first rules a run hears from its first wait on, and the undo of a cancelled one is lost. */
const undone: Story = make({
  name: "durable runs that hear and are cancelled",
  enzymes: [
    enzyme("early", async (tx) => {
      const first = await tx.waitForSignal("/signals/heard", "/data/early")
      return [first.payload, (await tx.waitForSignal("/signals/heard", "/data/early")).payload]
    }, { durable: true }),
    enzyme("late", async (tx) => {
      await tx.sleep({ beats: 3 })
      return (await tx.waitForSignal("/signals/heard", "/data/late")).payload
    }, { durable: true }),
    enzyme("room", async (tx) => {
      tx.set("/data/room", "held")
      try {
        await tx.sleep({ beats: 10_000 })
      } finally {
        tx.set("/data/room", "free")
        tx.signal({ signal: "/signals/freed", payload: "room" })
      }
    }, { durable: true }),
    enzyme("fails", async (tx) => {
      await tx.sleep({ beats: 1 })
      tx.set("/data/room", "broken")
      throw new RangeError("it is broken")
    }, { durable: true }),
    enzyme("freed", (tx) => tx.increment("/data/freed")),
    enzyme("lasting", async (tx) => {
      await tx.sleep({ beats: 60 })
      return (await tx.waitForSignal("/signals/heard", "/data/lasting")).payload
    }, { durable: true })
  ],
  act: Fx.fnUntraced(function*({ kernel }) {
    const space = yield* kernel.space("home")
    yield* together(space, ["early", "late", "room", "fails", "lasting"].map((name) => space.signal({ signal: `/signals/${name}` })))
    const cells = ["/data/early", "/data/late"]
    yield* together(space, cells.map((target) => space.signal(heard(target))))
    yield* beats(space, 4)
    yield* together(space, cells.map((target) => space.signal(heard(target))))
    const { runs } = yield* space.runs.list({ limit: 10 })
    yield* together(space, runs.filter(({ enzyme }) => enzyme === "room").map(({ oid }) => space.runs.cancel(oid)))
    yield* beats(space, 4)
  })
})

const charge = { channel: "bank", opcode: "charge" } as const

/** Under the first rules a request outlives its run, and no record tells of an attempt on its way. */
const outlived: Story = make({
  name: "requests of durable runs that end",
  channels: { bank: { opcodes: { charge: { repeatable: true }, refund: { repeatable: true }, pay: {} } } },
  enzymes: [
    enzyme("careless", async (tx, { payload, signal }) => {
      if (signal === "/signals/careless/told") return tx.set("/data/told", payload)
      void tx.io.request(charge)
      tx.io.request({ ...charge, signal: "/signals/careless/told" })
      await tx.sleep({ beats: 1 })
      return "careless"
    }, { durable: true, match: "prefix" }),
    enzyme("impatient", async (tx) => {
      const first = await Promise.race([tx.io.request(charge), tx.sleep({ beats: 2 })])
      if (first !== undefined) return "charged"
      await tx.io.request({ ...charge, opcode: "refund" })
      return "refunded"
    }, { durable: true }),
    enzyme("fails", async (tx) => {
      void tx.io.request({ ...charge, opcode: "pay" })
      await tx.sleep({ beats: 1 })
      throw new RangeError("it is broken")
    }, { durable: true }),
    enzyme("asks", (tx, { payload, signal }) => {
      if (signal === "/signals/asks/told") return tx.append("/data/asked", payload)
      return tx.io.request({ ...charge, signal: "/signals/asks/told", ...payload as object })
    }, { match: "prefix" })
  ],
  act: Fx.fnUntraced(function*({ kernel, reactor }) {
    const space = yield* kernel.space("home")
    const complete = (opcode: string): void => {
      for (const job of reactor.jobs) if (job.opcode === opcode) reactor.complete(job.rid, { value: opcode })
    }
    yield* together(space, ["careless", "impatient", "fails"].map((name) => space.signal({ signal: `/signals/${name}` })))
    for (const payload of [{ budget: 3 }, { timeoutMs: 30 }]) yield* together(space, [space.signal({ signal: "/signals/asks", payload })])
    yield* beats(space, 8)
    complete("refund")
    yield* beats(space, 4)
    complete("charge")
    yield* beats(space, 4)
    yield* together(space, [space.signal({ signal: "/signals/asks", payload: {} })])
    yield* together(space, [space.control.pause()])
    yield* beats(space, 4)
    yield* together(space, [space.control.pause()])
    yield* together(space, [space.control.resume()])
    yield* beats(space, 4)
  })
})

/** A module's text in each of its versions. */
const source = (version: string): string => `import { Computation, Enzyme } from "systole"
export default [
  Computation.make({ name: "scale", output: "/data/scale", run: (tx) => ["${version}", tx.get("/data/copy") ?? 0] }),
  Enzyme.make({
    name: "copy",
    label: "copies ${version}",
    query: "/signals/copy",
    run: (tx) => tx.set("/data/copy", ["${version}", tx.now, tx.random()])
  })
]
`

const swapped: Story = make({
  name: "modules that are swapped",
  act: Fx.fnUntraced(function*({ kernel, load, root }) {
    const space = yield* kernel.space("home")
    mkdirSync(modules(root), { recursive: true })
    for (const version of ["one", "two", "three"]) {
      writeFileSync(join(modules(root), "m.ts"), source(version))
      yield* load
      yield* together(space, [space.signal({ signal: "/signals/copy" })])
      yield* together(space, [space.signal({ signal: "/signals/copy" }), space.pull("/data/scale")])
      yield* beats(space, 2)
    }
  })
})

/** All stories, each recorded under its name. */
export const all: ReadonlyArray<Story> = [
  ...Scenarios.all.map(ofScenario), derived, labelled, posted, neighbours, swapped, earlierReads, undone, outlived
]

/** The space whose store is from before spaces had an incarnation. */
const young = all
  .filter(({ name }) => name === "a space that is paused, rolled back, shut down and started again")
  .map((story) => ({ ...story, name: "a space without an incarnation" }))

/**
 * Stories whose recorded stores have an earlier form, or followed earlier rules: they open and replay, and are not made
 * again.
 */
export const earlier: ReadonlyArray<Story> = [...young, ...all.map((story) => ({ ...story, name: `${story.name}, semantics 1` }))]
