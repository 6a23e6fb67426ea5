import { assert, describe, it } from "@effect/vitest"
import { Effect as Fx, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { Event, Space, Transaction } from "systole"
import { Computation, Fatal, Kernel, Link, Retry } from "systole"
import * as RendezvousSpace from "../../rendezvous/RendezvousSpace.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import { controlled, enzyme, steps, turns } from "../TestSpace.ts"
import { present } from "../../support/Present.ts"
import { ended, labels, layer, open, paid } from "./LabelledSpace.ts"

/** The ways in which a run goes on that has read a secret. */
const ways: Readonly<Record<string, (tx: Transaction, event: Event) => unknown>> = {
  ends: () => "a secret",
  "asks for a retry": (_, { attempt }) => attempt === 1 ? new Retry({ reason: "not yet" }) : 1,
  "asks for a late retry": (_, { attempt }) => attempt === 1 ? new Retry({ reason: "not yet", after: "1h" }) : 1,
  "is given up": () => new Retry({ reason: "never" }),
  "loses a conflict": (tx) => tx.set("/data/pay/sum", [tx.get("/data/pay/sum") ?? null]),
  sleeps: (tx) => tx.sleep(3_600_000),
  throws: () => {
    throw new RangeError("a secret")
  },
  "is fatal": () => new Fatal({ reason: "a secret" }),
  "writes below": (tx) => tx.set("/data/open", 1)
}

/** Those that need a later beat. */
const late = ["asks for a retry", "asks for a late retry", "is given up", "loses a conflict", "sleeps"]

/** Runs one beat. An aborted one takes no time: the next takes its input at once. */
const stepped = (space: Space): Fx.Effect<unknown> =>
  Fx.flatMap(Fx.result(space.step), ({ _tag }) => _tag === "Success" ? Fx.void : stepped(space))

/** The answers to a reader without clearance, beat by beat, about an event whose run goes on in one of the ways. */
const sights = Fx.fnUntraced(function*(way: string) {
  const query = { query: "/signals/go" }
  const space = yield* paid(
    enzyme("a", (tx) => tx.set("/data/pay/sum", 1), query),
    enzyme("b", () => "b", query),
    enzyme("spy", (tx, event) => ways[String(tx.get("/data/pay/way"))]?.(tx, event), {
      ...query, durable: true, onFatal: "continue", retry: { attempts: 3 }
    })
  )
  yield* controlled(space, space.set("/data/pay/way", way))
  const reader = space.reader(open)
  const settled: Array<unknown> = []
  const fail = ({ message }: Error): void => assert.fail(message)
  reader.post({ signal: "/signals/go", id: "mine" }, { settled: (receipt) => void settled.push(receipt), fail })
  const seen: Array<unknown> = []
  for (let beat = 0; beat < 12; beat++) {
    yield* stepped(space)
    yield* turns(1)
    seen.push([yield* reader.receipt("mine"), (yield* reader.waiting({ limit: 10 })).waiting])
    yield* TestClock.adjust("10 minutes")
  }
  return { seen, settled }
})

describe("A reader", () => {
  it.effect("is refused a place above its clearance, with or without a value, and each refusal is recorded", () =>
    Fx.gen(function*() {
      const space = yield* paid()
      const reader = space.reader(open)
      for (const address of ["/data/pay/ann", "/data/pay/nobody", "/rt/dead/x/y", "/data/mailbox/diag/msgs/0.0"]) {
        const refused = yield* Fx.flip(reader.get(address))
        assert.strictEqual(refused.code, "label/withheld")
        assert.strictEqual(
          refused.message,
          `${address} is withheld from reader "web", whatever is there. Ask with the token of a reader that is cleared for it`
        )
      }
      assert.deepStrictEqual((yield* space.denials).map(({ address, reader }) => [reader, address]).slice(0, 2), [
        ["web", "/data/pay/ann"],
        ["web", "/data/pay/nobody"]
      ])
      assert.strictEqual((yield* controlled(space, space.reader({ name: "hr", atoms: ["salary"] }).get("/data/pay/ann")))._tag, "Success")
      assert.deepStrictEqual(yield* reader.list("/data/pay"), [])
      assert.deepStrictEqual((yield* reader.below("/data", { limit: 10 })).keys, [])
      assert.strictEqual((yield* Fx.flip(Stream.runDrain(reader.watch("/data/pay/ann")))).code, "label/withheld")
      assert.strictEqual((yield* Fx.flip(reader.blobPart("a".repeat(64), 0))).code, "label/withheld")
    }).pipe(Fx.provide(layer)))

  it.effect("sees no withheld name, also not in the scope of a session", () =>
    Fx.gen(function*() {
      const scope = "session:7"
      const space = yield* paid()
      for (const cell of ["/data/pay/bob", "/data/open"]) yield* controlled(space, space.set(`${cell}?scope=${scope}`, 1))
      const reader = space.reader(open)
      assert.deepStrictEqual(yield* space.list(`/data/pay?scope=${scope}`), ["bob"])
      assert.deepStrictEqual(yield* reader.list(`/data/pay?scope=${scope}`), [])
      assert.deepStrictEqual((yield* reader.names(`/data/pay?scope=${scope}`, { limit: 10 })).names, [])
      assert.deepStrictEqual(yield* reader.list(`/data?scope=${scope}`), ["open"])
      assert.deepStrictEqual(yield* reader.list("/data"), [])
    }).pipe(Fx.provide(layer)))

  it.effect("sees no withheld value through a link", () =>
    Fx.gen(function*() {
      const space = yield* paid(enzyme("link", (tx) => tx.set("/data/link", Link.make("/data/pay/ann"))))
      yield* ended(space, "link")
      const shown = yield* controlled(space, space.reader(open).get("/data/link"))
      assert.strictEqual(shown._tag === "Failure" && shown.failure.code, "label/withheld")
    }).pipe(Fx.provide(layer)))

  it.effect("sees no index of the runtime with keys of withheld cells", () =>
    Fx.gen(function*() {
      const spawn = (tx: Transaction) => {
        for (const key of ["payAnn", "payBob"]) tx.rv.spawn({ key })
        tx.rv.report("payAnn")
      }
      const tie = (tx: Transaction) => tx.set("/data/link", Link.make("/sys/index/over/rv/0000000000000001-000000"))
      const kernel = yield* Kernel
      yield* kernel.register(Computation.make({ name: "notes", output: "/data/notes", run: (tx) => tx.list("/sys/index/rv") }))
      const told = {
        list: (tx: Transaction) => tx.set("/data/open", tx.list("/sys/index/rv")),
        get: (tx: Transaction) => tx.set("/data/open", tx.get("/sys/index/rv/payBob") ?? 0),
        names: (tx: Transaction) => tx.set("/data/open", tx.list("/sys"))
      }
      const space = yield* RendezvousSpace.space({ spawn, tie, ...told })
      yield* RendezvousSpace.ask(space, "spawn")
      yield* RendezvousSpace.ask(space, "tie")
      const [note] = yield* space.list("/sys/index/over/rv")
      assert.deepStrictEqual([note, yield* space.list("/sys/index/rv")], ["0000000000000001-000000", ["payBob"]])
      const places = [
        "/sys/index/rv/payBob", "/sys/index/rv/payNobody", "/sys/index/over/rv", `/sys/index/over/rv/${note}`,
        "/sys/index/over/rv/x?scope=user:1", "/sys/index/flow", "/sys/index"
      ]
      const reader = space.reader(open)
      for (const place of places) {
        assert.strictEqual((yield* Fx.flip(reader.get(place))).code, "label/withheld", place)
        assert.strictEqual((yield* Fx.flip(Stream.runDrain(reader.watch(place)))).code, "label/withheld", place)
      }
      const linked = yield* controlled(space, reader.get("/data/link"))
      assert.strictEqual(linked._tag === "Failure" && linked.failure.code, "label/withheld")
      for (const folder of ["/sys/index", "/sys/index/rv", "/sys/index/over", "/sys/index/over/rv"]) {
        assert.deepStrictEqual([yield* reader.list(folder), (yield* reader.below(folder, { limit: 10 })).keys], [[], []], folder)
      }
      assert.notInclude(yield* reader.list("/sys"), "index")
      for (const after of [undefined, "/sys/index", "/sys/index/over/rv"]) {
        for (const key of (yield* reader.below("/", { after, limit: 100 })).keys) assert.notMatch(key, /index|pay/)
      }
      for (const name of Object.keys(told)) assert.strictEqual(yield* RendezvousSpace.ask(space, name), "label/below", name)
      const node = yield* controlled(space, space.pull("/data/notes"))
      assert.notInclude(JSON.stringify(node), "payBob")
      assert.deepStrictEqual(yield* space.reader({ name: "hr", atoms: ["salary"] }).list("/sys/index/rv"), ["payBob"])
    }).pipe(Fx.provide(TestKernel.layer({ labels: {
      cells: { "/data/rv/pay*": ["salary"], "/data/inbox/flow/inst_event/pay*": ["salary"], "/sys/index/**": ["salary"] },
      declassify: {}
    } })), RendezvousSpace.granted))

  it.effect("needs all atoms of the space for the indexes, whichever a rule names, as a run does", () =>
    Fx.gen(function*() {
      const spawn = (tx: Transaction) => tx.rv.spawn({ key: "payAnn" })
      const list = (tx: Transaction) => tx.set("/data/shared", tx.list("/sys/index/rv"))
      const get = (tx: Transaction) => tx.set("/data/shared", tx.get("/sys/index/rv/payAnn") ?? 0)
      const space = yield* RendezvousSpace.space({ spawn, list, get })
      yield* RendezvousSpace.ask(space, "spawn")
      const staff = space.reader({ name: "staff", atoms: ["staff"] })
      assert.strictEqual((yield* Fx.flip(staff.get("/sys/index/rv/payAnn"))).code, "label/withheld")
      assert.deepStrictEqual([yield* staff.list("/sys/index/rv"), (yield* staff.below("/sys/index", { limit: 10 })).keys], [[], []])
      assert.deepStrictEqual(yield* space.reader({ name: "hr", atoms: ["staff", "salary"] }).list("/sys/index/rv"), ["payAnn"])
      for (const name of ["list", "get"]) assert.strictEqual(yield* RendezvousSpace.ask(space, name), "label/below", name)
      assert.isUndefined(yield* space.get("/data/shared"))
    }).pipe(Fx.provide(TestKernel.layer({ labels: {
      cells: {
        "/data/rv/pay*": ["salary"], "/data/inbox/flow/inst_event/pay*": ["salary"], "/sys/index/**": ["staff"], "/data/shared": ["staff"]
      },
      declassify: {}
    } })), RendezvousSpace.granted))

  it.effect("sees the cleared parts of receipts, and no receipt of a secret event", () =>
    Fx.gen(function*() {
      const space = yield* paid(
        enzyme("a", (tx) => tx.get("/data/pay/ann"), { query: "/signals/all" }),
        enzyme("b", () => "b", { query: "/signals/all" })
      )
      const reader = space.reader(open)
      const { id } = yield* reader.signal({ signal: "/signals/all" })
      assert.match(id, /^[0-9a-f]{32}$/)
      const secret = (yield* space.signal({ signal: "/signals/all", label: ["salary"], payload: 1 })).id
      yield* steps(space, 2)
      assert.deepStrictEqual(yield* reader.receipt(id), {
        id,
        status: "handled",
        handlings: [{ enzyme: "b", outcome: "ok", value: "b" }, { enzyme: "a", outcome: "withheld" }]
      })
      assert.isUndefined(yield* reader.receipt(secret))
    }).pipe(Fx.provide(layer)))

  it.effect("is told by the time alone at which an event is over how a run went on that had read a secret", () =>
    Fx.gen(function*() {
      for (const way of Object.keys(ways)) {
        const { seen, settled } = yield* Fx.provide(sights(way), TestKernel.layer({ labels }))
        const [receipt] = settled as ReadonlyArray<{ readonly id: string }>
        const { id } = present(receipt)
        const handlings = [{ enzyme: "b", outcome: "ok", value: "b" }, { enzyme: "a", outcome: "withheld" }]
        const pending = { id, own: "mine", status: "pending", handlings }
        const over = { id, own: "mine", status: "handled", handlings: [...handlings, { enzyme: "spy", outcome: "withheld" }] }
        const end = seen.findIndex((answer) => JSON.stringify(answer).includes("spy"))
        assert.deepStrictEqual(settled, [over], way)
        assert.deepStrictEqual(seen, seen.map((_, beat) => [beat < end ? pending : over, []]), way)
        assert.strictEqual(end > 0, late.includes(way), way)
      }
    }))

  it.effect("is not told whether a run hears a signal at a place above its clearance", () =>
    Fx.gen(function*() {
      const place = "/data/pay/answers"
      const told: Array<unknown> = []
      for (const isHeard of [true, false]) {
        yield* Fx.gen(function*() {
          const space = yield* paid(enzyme("listen", async (tx) => {
            tx.hear("/signals/answer", place)
            for (let n = 0; n < 3; n++) await tx.waitForSignal("/signals/answer", place)
          }, { durable: true }))
          if (isHeard) yield* space.signal({ signal: "/signals/listen", label: ["salary"] })
          yield* space.step
          const reader = space.reader(open)
          const settled: Array<unknown> = []
          const answer = { signal: "/signals/answer", target: place, payload: 1, id: "mine" }
          const fail = ({ message }: Error): void => assert.fail(message)
          reader.post(answer, { settled: (receipt) => void settled.push(receipt), fail })
          const { id } = yield* space.reader({ name: "hr", atoms: ["salary"] }).signal({ ...answer, id: "theirs" })
          const { id: other } = yield* reader.signal({ signal: "/signals/answer", target: "/data/open", payload: 1 })
          yield* steps(space, 3)
          yield* turns(1)
          assert.strictEqual((yield* reader.receipt(other))?.status, "no-match")
          const cleared = yield* space.reader({ name: "hr", atoms: ["salary"] }).receipt(id)
          assert.strictEqual(cleared?.status, isHeard ? "handled" : "no-match")
          told.push([settled, yield* reader.receipt("mine")])
        }).pipe(Fx.provide(TestKernel.layer({ labels })))
      }
      const [heard, unheard] = told
      assert.deepStrictEqual(heard, unheard)
      assert.deepInclude(present((heard as ReadonlyArray<unknown>)[1]), { status: "withheld", handlings: [] })
    }))

  it.effect("follows a place by opaque cursors, and continues after one", () =>
    Fx.gen(function*() {
      const space = yield* paid()
      const reader = space.reader(open)
      const follow = (last?: string) => Fx.gen(function*() {
        const seen: Array<{ readonly cursor: string; readonly value: unknown; readonly isReset: boolean }> = []
        const fiber = yield* Fx.forkChild(
          Stream.runForEach(reader.watch("/data/x", last), (value) => Fx.sync(() => void seen.push(value))),
          { startImmediately: true }
        )
        yield* turns()
        return { seen, fiber }
      })
      yield* controlled(space, space.set("/data/x", 1))
      const first = yield* follow()
      yield* Fiber.interrupt(first.fiber)
      yield* controlled(space, space.set("/data/x", 2))
      const { cursor } = present(first.seen[0])
      assert.match(cursor, /^[0-9a-f]{16}$/)
      const next = yield* follow(cursor)
      assert.deepStrictEqual(next.seen.map(({ isReset, value }) => [value, isReset]), [[2, false]])
      for (const wrong of ["0", "ffffffffffffffff", "x"]) {
        const { seen } = yield* follow(wrong)
        assert.deepStrictEqual(seen.map(({ isReset, value }) => [value, isReset]), [[2, true]], wrong)
      }
    }).pipe(Fx.provide(layer)))
})
