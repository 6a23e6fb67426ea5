import { assert, describe, it } from "@effect/vitest"
import { Effect as Fx, Fiber, Stream } from "effect"
import type { Settings, Space, Transaction } from "systole"
import { Computation, Effect, Kernel, Link, Materializer, replay, Retry } from "systole"
import * as RendezvousSpace from "../../rendezvous/RendezvousSpace.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import { controlled, enzyme, steps, turns } from "../TestSpace.ts"
import * as TestMachine from "../TestMachine.ts"

const labels = { cells: { "/data/pay/**": ["salary"], "/data/both": ["salary", "health"], "/cas/*": ["salary"] }, declassify: { publish: ["salary"] } }
const layer = TestKernel.layer({ labels })
const open = { name: "web", atoms: [] }

/** How the only handling of a signal ended, and what it was told by. */
const ended = Fx.fnUntraced(function*(space: Space, name: string, payload?: unknown) {
  const { id } = yield* space.signal({ signal: `/signals/${name}`, ...(payload === undefined ? {} : { payload }) })
  yield* space.step
  const { error, label, outcome, value } = (yield* space.receipt(id))!.handlings[0]!
  return { outcome, code: error?.code, label: label ?? [], value, id }
})

const paid = Fx.fnUntraced(function*(...enzymes: Parameters<typeof TestKernel.space>[0]) {
  const space = yield* TestKernel.space(enzymes)
  yield* controlled(space, space.set("/data/pay/ann", 5))
  return space
})

describe("A run", () => {
  it.effect("leaves nothing in the open once it was told more, in whatever order it wrote and read, caught or not", () =>
    Fx.gen(function*() {
      const space = yield* paid(
        enzyme("late", (tx) => (tx.set("/data/open", 1), tx.get("/data/pay/ann"))),
        enzyme("early", (tx) => tx.set("/data/open", tx.get("/data/pay/ann"))),
        enzyme("count", (tx) => (tx.list("/data/pay"), tx.set("/data/open", 1))),
        enzyme("link", (tx) => tx.set("/data/link", Link.make("/data/pay/ann"))),
        enzyme("linked", (tx) => (tx.get("/data/link"), tx.set("/data/open", 1))),
        enzyme("upon", (tx) => (tx.increment("/data/pay/ann"), tx.set("/data/open", 1))),
        enzyme("bound", (tx) => (tx.get("/data/pay/ann"), tx.bind("/data/open", "late"))),
        enzyme("attached", (tx, { payload }) => (tx.get("/data/pay/ann"), tx.report({ severity: "sev:crit", topic: "pay/odd", note: "odd", attach: payload as string }))),
        enzyme("opened", (tx) => (tx.get("/data/pay/ann"), tx.op.start({ verb: "op/pay", target: "/data/x", mode: "opm:states" }))),
        enzyme("abroad", (tx) => (tx.get("/data/pay/ann"), void tx.signal({ space: "other", signal: "/signals/x" })))
      )
      assert.deepInclude(yield* ended(space, "link"), { outcome: "ok", label: [] })
      const started = yield* controlled(space, space.ops.start({ verb: "op/pay", target: "/data/x", mode: "opm:states" }))
      assert(started._tag === "Success")
      for (const name of ["late", "early", "count", "linked", "upon", "bound", "attached", "opened", "abroad"]) {
        assert.deepInclude(yield* ended(space, name, started.success.oid), { outcome: "dead", code: "label/below", label: ["salary"] }, name)
      }
      assert.isUndefined(yield* space.get("/data/open"))
      assert.strictEqual(yield* space.get("/data/pay/ann"), 5)
    }).pipe(Fx.provide(layer)))

  it.effect("writes where all that it knows may be known, and what it sends carries that on", () =>
    Fx.gen(function*() {
      const space = yield* paid(
        enzyme("raise", (tx) => {
          tx.set("/data/pay/bob", Number(tx.get("/data/pay/ann")) + 1)
          tx.signal({ signal: "/signals/heard", payload: 1 })
        }),
        enzyme("heard", (tx) => tx.set("/data/open", 1)),
        enzyme("mix", (tx) => (tx.get("/data/both"), tx.set("/data/pay/bob", 9)))
      )
      assert.deepInclude(yield* ended(space, "raise"), { outcome: "ok", label: ["salary"] })
      yield* space.step
      assert.strictEqual(yield* space.get("/data/pay/bob"), 6)
      assert.isUndefined(yield* space.get("/data/open"))
      const [heard] = yield* TestKernel.diagnostics(space)
      assert.deepInclude(heard, { code: "label/below" })
      assert.deepInclude(yield* ended(space, "mix"), { outcome: "dead", code: "label/below", label: ["health", "salary"] })
    }).pipe(Fx.provide(layer)))

  it.effect("of an event with a label knows that from the beginning; atoms that no rule knows are refused", () =>
    Fx.gen(function*() {
      const space = yield* paid(enzyme("put", (tx) => tx.set("/data/open", 1)))
      const { id } = yield* space.signal({ signal: "/signals/put", label: ["salary"] })
      yield* space.step
      assert.deepInclude((yield* space.receipt(id))!, { status: "dead", label: ["salary"] })
      assert.strictEqual((yield* Fx.flip(space.signal({ signal: "/signals/put", label: ["salray"] }))).code, "signal/invalid")
    }).pipe(Fx.provide(layer)))

  it.effect("of a name that the rules grant it to may leave atoms out, which is told", () =>
    Fx.gen(function*() {
      const space = yield* paid(enzyme("publish", (tx) => tx.set("/data/average", Number(tx.get("/data/pay/ann")))))
      assert.deepInclude(yield* ended(space, "publish"), { outcome: "ok", label: [] })
      assert.strictEqual(yield* space.get("/data/average"), 5)
      const [told, ...others] = yield* TestKernel.diagnostics(space)
      assert.deepInclude(told, { topic: "label/declassified" })
      assert.include(String(told!["note"]), "publish left out salary")
      assert.lengthOf(others, 0)
    }).pipe(Fx.provide(layer)))

  it.effect("that lost a conflict and knows more stands in the way of none that does not", () =>
    Fx.gen(function*() {
      const query = "/signals/contend"
      let losses = 0
      const space = yield* paid(
        enzyme("a", (tx) => tx.set("/data/turn", "a"), { query }),
        enzyme("b", (tx) => {
          losses++
          tx.set("/data/pay/seen", [tx.get("/data/turn") ?? "", tx.get("/data/pay/ann")])
        }, { query, isolation: "serializable" }),
        enzyme("c", (tx) => tx.set("/data/turn", "c"), { query })
      )
      yield* space.signal({ signal: query })
      yield* steps(space, 2)
      assert.strictEqual(losses, 2)
      assert.strictEqual(yield* space.get("/data/turn"), "c")
    }).pipe(Fx.provide(layer)))

  it.effect("that was sent again from the dead letters knows what it knew", () =>
    Fx.gen(function*() {
      let isWell = false
      const space = yield* paid(enzyme("late", (tx) => {
        if (isWell) return tx.set("/data/open", 1)
        tx.get("/data/pay/ann")
        throw new Error("no")
      }))
      const { id } = yield* ended(space, "late")
      isWell = true
      yield* controlled(space, space.redeliver(id, "late"))
      yield* space.step
      assert.deepInclude((yield* space.receipt(id))!.handlings[0]!.error, { code: "label/below" })
      assert.isUndefined(yield* space.get("/data/open"))
    }).pipe(Fx.provide(layer)))
})

describe("A node", () => {
  it.effect("stops before what those may not know who see what it writes, and no change there runs it", () =>
    Fx.gen(function*() {
      const kernel = yield* Kernel
      let runs = 0
      yield* kernel.register(Computation.make({
        name: "peek",
        output: "/data/seen",
        run: (tx) => {
          runs++
          return tx.get("/data/how") === "peek" ? tx.get("/data/pay/ann") : Number(tx.get("/data/n") ?? 0)
        }
      }))
      const space = yield* paid(
        enzyme("both", (tx, { payload }) => (tx.set("/data/how", payload), tx.set("/data/n", 7))),
        enzyme("pay", (tx) => tx.increment("/data/pay/ann"))
      )
      yield* Fx.forkChild(Stream.runDrain(space.watch("/data/seen")), { startImmediately: true })
      yield* turns()
      yield* ended(space, "both", "look away")
      assert.strictEqual(yield* space.get("/data/seen"), 7)
      yield* ended(space, "both", "peek")
      assert.deepInclude((yield* TestKernel.diagnostics(space))[0]!, { topic: "node/failed", code: "label/below" })
      // When it last went well would tell who asked for it.
      assert.isUndefined(yield* space.get("/data/seen"))
      const before = runs
      yield* ended(space, "pay")
      assert.strictEqual(runs, before)
      // What is secret and changes with what is open is no reason that it could know.
      yield* space.signal({ signal: "/signals/pay" })
      yield* ended(space, "both", "look away")
      assert.strictEqual(yield* space.get("/data/seen"), 7)
      const { difference } = yield* space.examine((archive) => replay(archive, 0, 99))
      assert.isUndefined(difference)
    }).pipe(Fx.provide(layer)))

  it.effect("knows what all have that it may write, and what it is granted", () =>
    Fx.gen(function*() {
      const kernel = yield* Kernel
      const look = (tx: Transaction) => Number(tx.get("/data/pay/ann"))
      yield* kernel.register(Computation.make({ name: "within", output: "/data/pay/sum", run: look }))
      yield* kernel.register(Computation.make({ name: "publish", output: "/data/granted", run: look }))
      yield* kernel.register(Computation.make({ name: "beside", output: "/data/pay/beside", writes: ["/data/open"], run: look }))
      yield* kernel.register(Computation.make({ name: "upon", output: "/data/upon", writes: ["/data/pay/upon"], run: (tx) => (tx.set("/data/pay/upon", 1), 1) }))
      yield* kernel.register(Materializer.make({ name: "inside", writes: ["/data/pay/m/**", "/data/pay/n"], run: (tx) => tx.set("/data/pay/m/a", look(tx)) }))
      yield* kernel.register(Materializer.make({ name: "around", writes: ["/data/**"], run: (tx) => tx.set("/data/pay/around", look(tx)) }))
      const space = yield* paid()
      const pulled = (address: string) => Fx.map(controlled(space, space.pull(address)), (result) => result._tag === "Success" ? result.success : result.failure.code)
      assert.strictEqual(yield* pulled("/data/pay/sum"), 5)
      assert.strictEqual(yield* pulled("/data/granted"), 5)
      for (const address of ["/data/pay/beside", "/data/upon", "/data/pay/upon", "/data/pay/around"]) assert.isUndefined(yield* pulled(address), address)
      assert.strictEqual(yield* pulled("/data/pay/m/a"), 5)
      const failed = yield* TestKernel.diagnostics(space)
      assert.sameMembers(failed.filter(({ code }) => code === "label/below").map(({ origin }) => (origin as { readonly name: string }).name), ["beside", "upon", "around"])
      const { difference } = yield* space.examine((archive) => replay(archive, 0, 99))
      assert.isUndefined(difference)
    }).pipe(Fx.provide(layer)))

  it.effect("starts others only where all that it may know may be known", () =>
    Fx.gen(function*() {
      const kernel = yield* Kernel
      const child = (output: string) => Computation.make({ name: `at${output.replaceAll("/", "_")}`, output, run: () => 1 })
      const starts = (output: string) => (tx: Transaction) => void tx.start(child(output))
      yield* kernel.register(Effect.make({ name: "show", read: starts("/data/open"), deliver: () => {} }))
      yield* kernel.register(Computation.make({ name: "pay", output: "/data/pay/a", run: (tx) => (starts("/data/less")(tx), 1) }))
      yield* kernel.register(Computation.make({ name: "paid", output: "/data/pay/b", run: (tx) => (starts("/data/pay/c")(tx), 1) }))
      yield* kernel.register(Computation.make({ name: "open", output: "/data/d", run: (tx) => (starts("/data/e")(tx), 1) }))
      const space = yield* paid()
      for (const address of ["/data/pay/a", "/data/pay/b", "/data/d"]) yield* controlled(space, space.pull(address))
      const failed = yield* TestKernel.diagnostics(space)
      assert.sameMembers(failed.filter(({ code }) => code === "label/below").map(({ origin }) => (origin as { readonly name: string }).name), ["show", "pay"])
      const { nodes } = yield* space.graph.view
      assert.sameMembers(nodes.map(({ name }) => name).filter((name) => name.startsWith("at_")), ["at_data_pay_c", "at_data_e"])
      const { difference } = yield* space.examine((archive) => replay(archive, 0, 99))
      assert.isUndefined(difference)
    }).pipe(Fx.provide(layer)))

  it.effect("comes back by the rules of now", () =>
    Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const copy = Computation.make({ name: "copy", output: "/data/copy", run: (tx) => tx.get("/data/pay/ann") })
      const demand = Effect.make({ name: "demand", read: (tx) => tx.get("/data/copy"), deliver: () => {} })
      const boot = (settings: Partial<Settings>) => machine.boot([copy, demand], settings)
      const before = yield* boot({})
      yield* controlled(before, before.set("/data/pay/ann", 5))
      yield* before.step
      assert.strictEqual(yield* before.get("/data/copy"), 5)
      const during = yield* boot({ labels })
      yield* steps(during, 2)
      assert.isUndefined(yield* during.get("/data/copy"))
      const after = yield* boot({})
      yield* steps(after, 2)
      assert.strictEqual(yield* after.get("/data/copy"), 5)
    }))
})

describe("A reader", () => {
  it.effect("is told that a place is withheld, whatever is there, and of each refusal there is a record", () =>
    Fx.gen(function*() {
      const space = yield* paid()
      const reader = space.reader(open)
      for (const address of ["/data/pay/ann", "/data/pay/nobody", "/rt/dead/x/y", "/data/mailbox/diag/msgs/0.0"]) {
        const refused = yield* Fx.flip(reader.get(address))
        assert.strictEqual(refused.code, "label/withheld")
        assert.strictEqual(refused.message, `${address} is withheld from reader "web", whatever is there. Ask with the token of a reader that is cleared for it`)
      }
      assert.deepStrictEqual((yield* space.denials).map(({ address, reader }) => [reader, address]).slice(0, 2), [["web", "/data/pay/ann"], ["web", "/data/pay/nobody"]])
      assert.strictEqual((yield* controlled(space, space.reader({ name: "hr", atoms: ["salary"] }).get("/data/pay/ann")))._tag, "Success")
      assert.deepStrictEqual(yield* reader.list("/data/pay"), [])
      assert.deepStrictEqual(yield* reader.below("/data", { limit: 10 }), [])
      assert.strictEqual((yield* Fx.flip(Stream.runDrain(reader.watch("/data/pay/ann")))).code, "label/withheld")
      assert.strictEqual((yield* Fx.flip(reader.blobPart("a".repeat(64), 0))).code, "label/withheld")
    }).pipe(Fx.provide(layer)))

  it.effect("is shown nothing through a link", () =>
    Fx.gen(function*() {
      const space = yield* paid(enzyme("link", (tx) => tx.set("/data/link", Link.make("/data/pay/ann"))))
      yield* ended(space, "link")
      const shown = yield* controlled(space, space.reader(open).get("/data/link"))
      assert.strictEqual(shown._tag === "Failure" && shown.failure.code, "label/withheld")
    }).pipe(Fx.provide(layer)))

  it.effect("is shown nothing of how the runtime finds things again, where keys stand of what is withheld", () =>
    Fx.gen(function*() {
      const spawn = (tx: Transaction) => {
        for (const key of ["payAnn", "payBob"]) tx.rv.spawn({ key })
        tx.rv.report("payAnn")
      }
      const tie = (tx: Transaction) => tx.set("/data/link", Link.make("/sys/index/over/rv/0000000000000001-000000"))
      const kernel = yield* Kernel
      yield* kernel.register(Computation.make({ name: "notes", output: "/data/notes", run: (tx) => tx.list("/sys/index/rv") }))
      const told = { list: (tx: Transaction) => tx.set("/data/open", tx.list("/sys/index/rv")), get: (tx: Transaction) => tx.set("/data/open", tx.get("/sys/index/rv/payBob") ?? 0), names: (tx: Transaction) => tx.set("/data/open", tx.list("/sys")) }
      const space = yield* RendezvousSpace.space({ spawn, tie, ...told })
      yield* RendezvousSpace.ask(space, "spawn")
      yield* RendezvousSpace.ask(space, "tie")
      const [note] = yield* space.list("/sys/index/over/rv")
      assert.deepStrictEqual([note, yield* space.list("/sys/index/rv")], ["0000000000000001-000000", ["payBob"]])
      const places = ["/sys/index/rv/payBob", "/sys/index/rv/payNobody", "/sys/index/over/rv", `/sys/index/over/rv/${note}`, "/sys/index/over/rv/x?scope=user:1", "/sys/index/flow", "/sys/index"]
      const reader = space.reader(open)
      for (const place of places) {
        assert.strictEqual((yield* Fx.flip(reader.get(place))).code, "label/withheld", place)
        assert.strictEqual((yield* Fx.flip(Stream.runDrain(reader.watch(place)))).code, "label/withheld", place)
      }
      const linked = yield* controlled(space, reader.get("/data/link"))
      assert.strictEqual(linked._tag === "Failure" && linked.failure.code, "label/withheld")
      for (const folder of ["/sys/index", "/sys/index/rv", "/sys/index/over", "/sys/index/over/rv"]) {
        assert.deepStrictEqual([yield* reader.list(folder), yield* reader.below(folder, { limit: 10 })], [[], []], folder)
      }
      assert.notInclude(yield* reader.list("/sys"), "index")
      for (const after of [undefined, "/sys/index", "/sys/index/over/rv"]) {
        for (const key of yield* reader.below("/", { after, limit: 100 })) assert.notMatch(key, /index|pay/)
      }
      for (const name of Object.keys(told)) assert.strictEqual(yield* RendezvousSpace.ask(space, name), "label/below", name)
      const node = yield* controlled(space, space.pull("/data/notes"))
      assert.notInclude(JSON.stringify(node), "payBob")
      assert.deepStrictEqual(yield* space.reader({ name: "hr", atoms: ["salary"] }).list("/sys/index/rv"), ["payBob"])
    }).pipe(Fx.provide(TestKernel.layer({ labels: {
      cells: { "/data/rv/pay*": ["salary"], "/data/inbox/flow/inst_event/pay*": ["salary"], "/sys/index/**": ["salary"] },
      declassify: {}
    } })), RendezvousSpace.granted))

  it.effect("needs all atoms of the space for the indexes, whichever of them a rule names, and so does a run", () =>
    Fx.gen(function*() {
      const spawn = (tx: Transaction) => tx.rv.spawn({ key: "payAnn" })
      const list = (tx: Transaction) => tx.set("/data/shared", tx.list("/sys/index/rv"))
      const get = (tx: Transaction) => tx.set("/data/shared", tx.get("/sys/index/rv/payAnn") ?? 0)
      const space = yield* RendezvousSpace.space({ spawn, list, get })
      yield* RendezvousSpace.ask(space, "spawn")
      const staff = space.reader({ name: "staff", atoms: ["staff"] })
      assert.strictEqual((yield* Fx.flip(staff.get("/sys/index/rv/payAnn"))).code, "label/withheld")
      assert.deepStrictEqual([yield* staff.list("/sys/index/rv"), yield* staff.below("/sys/index", { limit: 10 })], [[], []])
      assert.deepStrictEqual(yield* space.reader({ name: "hr", atoms: ["staff", "salary"] }).list("/sys/index/rv"), ["payAnn"])
      for (const name of ["list", "get"]) assert.strictEqual(yield* RendezvousSpace.ask(space, name), "label/below", name)
      assert.isUndefined(yield* space.get("/data/shared"))
    }).pipe(Fx.provide(TestKernel.layer({ labels: {
      cells: { "/data/rv/pay*": ["salary"], "/data/inbox/flow/inst_event/pay*": ["salary"], "/sys/index/**": ["staff"], "/data/shared": ["staff"] },
      declassify: {}
    } })), RendezvousSpace.granted))

  it.effect("is shown of receipts what it may learn, and those of secret events not at all", () =>
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
      assert.deepStrictEqual(yield* reader.receipt(id), { id, status: "handled", handlings: [{ enzyme: "b", outcome: "ok", value: "b" }, { enzyme: "a", outcome: "withheld" }] })
      assert.isUndefined(yield* reader.receipt(secret))
    }).pipe(Fx.provide(layer)))

  it.effect("follows a place by cursors that say nothing, and goes on after one", () =>
    Fx.gen(function*() {
      const space = yield* paid()
      const reader = space.reader(open)
      const follow = (last?: string) => Fx.gen(function*() {
        const seen: Array<{ readonly cursor: string; readonly value: unknown; readonly isReset: boolean }> = []
        const fiber = yield* Fx.forkChild(Stream.runForEach(reader.watch("/data/x", last), (value) => Fx.sync(() => void seen.push(value))), { startImmediately: true })
        yield* turns()
        return { seen, fiber }
      })
      yield* controlled(space, space.set("/data/x", 1))
      const first = yield* follow()
      yield* Fiber.interrupt(first.fiber)
      yield* controlled(space, space.set("/data/x", 2))
      const { cursor } = first.seen[0]!
      assert.match(cursor, /^[0-9a-f]{16}$/)
      const next = yield* follow(cursor)
      assert.deepStrictEqual(next.seen.map(({ isReset, value }) => [value, isReset]), [[2, false]])
      for (const wrong of ["0", "ffffffffffffffff", "x"]) {
        const { seen } = yield* follow(wrong)
        assert.deepStrictEqual(seen.map(({ isReset, value }) => [value, isReset]), [[2, true]], wrong)
      }
    }).pipe(Fx.provide(layer)))
})

describe("The rules of a space", () => {
  it.effect("hold for what waits when the process ends: an attempt knows what the one before knew, and an event what it tells", () =>
    Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const enzymes = [
        enzyme("again", (tx, { attempt }) => attempt === 1 ? new Retry({ reason: `not with ${tx.get("/data/pay/ann")}` }) : tx.set("/data/open", attempt)),
        enzyme("later", (tx) => tx.set("/data/open", "later"))
      ]
      const before = yield* machine.boot(enzymes, { labels })
      yield* controlled(before, before.set("/data/pay/ann", 5))
      const { id: again } = yield* before.signal({ signal: "/signals/again" })
      const { id: later } = yield* before.signal({ signal: "/signals/later", label: ["salary"], at: { beats: 3 } })
      yield* before.step
      assert.strictEqual((yield* before.receipt(again))?.status, "pending")
      const after = yield* machine.boot(enzymes, { labels })
      yield* steps(after, 4)
      for (const id of [again, later]) {
        const { error, label } = (yield* after.receipt(id))!.handlings[0]!
        assert.deepStrictEqual([error?.code, label], ["label/below", ["salary"]])
      }
      assert.isUndefined(yield* after.get("/data/open"))
      const { difference } = yield* after.examine((archive) => replay(archive, 0, 99))
      assert.isUndefined(difference)
    }))

  it.effect("lie in its cell, become active with a beat, and each beat is run again by those of then", () =>
    Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const copy = enzyme("copy", (tx) => tx.set("/data/copy", tx.get("/data/pay/ann")))
      const before = yield* machine.boot([copy])
      yield* controlled(before, before.set("/data/pay/ann", 5))
      assert.strictEqual((yield* ended(before, "copy")).outcome, "ok")
      const during = yield* machine.boot([copy], { labels })
      assert.strictEqual((yield* ended(during, "copy")).code, "label/below")
      assert.deepInclude(yield* during.get("/sys/labels"), { declassify: { publish: ["salary"] } })
      const after = yield* machine.boot([copy])
      assert.strictEqual((yield* ended(after, "copy")).outcome, "ok")
      assert.isUndefined(yield* after.get("/sys/labels"))
      for (let from = 0; from <= 3; from++) {
        const { difference } = yield* after.examine((archive) => replay(archive, from, 3))
        assert.isUndefined(difference, `from ${from}`)
      }
    }))
})
