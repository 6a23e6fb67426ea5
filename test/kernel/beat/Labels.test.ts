import { assert, describe, it } from "@effect/vitest"
import { Effect as Fx, Stream } from "effect"
import type { Settings, Transaction } from "systole"
import { Computation, Kernel, Link, Materializer, Reaction, replay, Retry } from "systole"
import * as TestKernel from "../../support/TestKernel.ts"
import { controlled, enzyme, handlingOf, steps, turns } from "../TestSpace.ts"
import * as TestMachine from "../TestMachine.ts"
import { present } from "../../support/Present.ts"
import { ended, labels, layer, paid } from "./LabelledSpace.ts"

describe("A run", () => {
  it.effect("leaves no write below its label, in any order of writes and reads, whether or not it catches the refusal", () =>
    Fx.gen(function*() {
      const space = yield* paid(
        enzyme("late", (tx) => (tx.set("/data/open", 1), tx.get("/data/pay/ann"))),
        enzyme("early", (tx) => tx.set("/data/open", tx.get("/data/pay/ann"))),
        enzyme("count", (tx) => (tx.list("/data/pay"), tx.set("/data/open", 1))),
        enzyme("link", (tx) => tx.set("/data/link", Link.make("/data/pay/ann"))),
        enzyme("linked", (tx) => (tx.get("/data/link"), tx.set("/data/open", 1))),
        enzyme("upon", (tx) => (tx.increment("/data/pay/ann"), tx.set("/data/open", 1))),
        enzyme("bound", (tx) => (tx.get("/data/pay/ann"), tx.bind("/data/open", "late"))),
        enzyme(
          "attached",
          (tx, { payload }) =>
            (tx.get("/data/pay/ann"), tx.report({ severity: "sev:crit", topic: "pay/odd", note: "odd", attach: payload as string }))
        ),
        enzyme("opened", (tx) => (tx.get("/data/pay/ann"), tx.op.start({ verb: "op/pay", target: "/data/x", mode: "opm:states" }))),
        enzyme("abroad", (tx) => (tx.get("/data/pay/ann"), void tx.signal({ space: "other", signal: "/signals/x" })))
      )
      assert.deepInclude(yield* ended(space, "link"), { outcome: "ok", label: [] })
      const started = yield* controlled(space, space.ops.start({ verb: "op/pay", target: "/data/x", mode: "opm:states" }))
      assert(started._tag === "Success")
      for (const name of ["late", "early", "count", "linked", "upon", "bound", "attached", "opened", "abroad"]) {
        assert.deepInclude(
          yield* ended(space, name, started.success.oid),
          { outcome: "dead", code: "label/below", label: ["salary"] },
          name
        )
      }
      assert.isUndefined(yield* space.get("/data/open"))
      assert.strictEqual(yield* space.get("/data/pay/ann"), 5)
    }).pipe(Fx.provide(layer)))

  it.effect("writes at cells with its whole label, and its signals carry it", () =>
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

  it.effect("of an event with a label has it from the beginning; atoms without a rule are refused", () =>
    Fx.gen(function*() {
      const space = yield* paid(enzyme("put", (tx) => tx.set("/data/open", 1)))
      const { id } = yield* space.signal({ signal: "/signals/put", label: ["salary"] })
      yield* space.step
      assert.deepInclude(present(yield* space.receipt(id)), { status: "dead", label: ["salary"] })
      assert.strictEqual((yield* Fx.flip(space.signal({ signal: "/signals/put", label: ["salray"] }))).code, "signal/invalid")
    }).pipe(Fx.provide(layer)))

  it.effect("of an enzyme with the grant may leave atoms out, which is reported", () =>
    Fx.gen(function*() {
      const space = yield* paid(enzyme("publish", (tx) => tx.set("/data/average", Number(tx.get("/data/pay/ann")))))
      assert.deepInclude(yield* ended(space, "publish"), { outcome: "ok", label: [] })
      assert.strictEqual(yield* space.get("/data/average"), 5)
      const [told = assert.fail(), ...others] = yield* TestKernel.diagnostics(space)
      assert.deepInclude(told, { topic: "label/declassified" })
      assert.include(String(told["note"]), "publish left out salary")
      assert.lengthOf(others, 0)
    }).pipe(Fx.provide(layer)))

  it.effect("that lost a conflict and has a higher label blocks no run with a lower one", () =>
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

  it.effect("that is redelivered from the dead letters keeps its label", () =>
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
      assert.deepInclude((yield* handlingOf(space, id)).error, { code: "label/below" })
      assert.isUndefined(yield* space.get("/data/open"))
    }).pipe(Fx.provide(layer)))
})

describe("A node", () => {
  it.effect("cannot read above the label of its output, and no change there runs it", () =>
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
      assert.deepInclude(present((yield* TestKernel.diagnostics(space))[0]), { topic: "node/failed", code: "label/below" })
      // The time of its last success would reveal the requests for it.
      assert.isUndefined(yield* space.get("/data/seen"))
      const before = runs
      yield* ended(space, "pay")
      assert.strictEqual(runs, before)
      // A secret that changes together with an open cell does not appear among its causes.
      yield* space.signal({ signal: "/signals/pay" })
      yield* ended(space, "both", "look away")
      assert.strictEqual(yield* space.get("/data/seen"), 7)
      const { difference } = yield* space.examine((archive) => replay(archive, 0, 99))
      assert.isUndefined(difference)
    }).pipe(Fx.provide(layer)))

  it.effect("has the label common to all its outputs, and its grant", () =>
    Fx.gen(function*() {
      const kernel = yield* Kernel
      const look = (tx: Transaction) => Number(tx.get("/data/pay/ann"))
      yield* kernel.register(Computation.make({ name: "within", output: "/data/pay/sum", run: look }))
      yield* kernel.register(Computation.make({ name: "publish", output: "/data/granted", run: look }))
      yield* kernel.register(Computation.make({ name: "beside", output: "/data/pay/beside", writes: ["/data/open"], run: look }))
      yield* kernel.register(Computation.make({
        name: "upon", output: "/data/upon", writes: ["/data/pay/upon"], run: (tx) => (tx.set("/data/pay/upon", 1), 1)
      }))
      yield* kernel.register(Materializer.make({
        name: "inside",
        writes: ["/data/pay/m/**", "/data/pay/n"],
        run: (tx) => tx.set("/data/pay/m/a", look(tx))
      }))
      yield* kernel.register(Materializer.make({ name: "around", writes: ["/data/**"], run: (tx) => tx.set("/data/pay/around", look(tx)) }))
      const space = yield* paid()
      const pulled = (address: string) =>
        Fx.map(controlled(space, space.pull(address)), (result) => result._tag === "Success" ? result.success : result.failure.code)
      assert.strictEqual(yield* pulled("/data/pay/sum"), 5)
      assert.strictEqual(yield* pulled("/data/granted"), 5)
      for (const address of ["/data/pay/beside", "/data/upon", "/data/pay/upon", "/data/pay/around"]) {
        assert.isUndefined(yield* pulled(address), address)
      }
      assert.strictEqual(yield* pulled("/data/pay/m/a"), 5)
      const failed = yield* TestKernel.diagnostics(space)
      assert.sameMembers(
        failed.filter(({ code }) => code === "label/below").map(({ origin }) => (origin as { readonly name: string }).name),
        ["beside", "upon", "around"]
      )
      const { difference } = yield* space.examine((archive) => replay(archive, 0, 99))
      assert.isUndefined(difference)
    }).pipe(Fx.provide(layer)))

  it.effect("starts pieces only at cells with its whole label", () =>
    Fx.gen(function*() {
      const kernel = yield* Kernel
      const child = (output: string) => Computation.make({ name: `at${output.replaceAll("/", "_")}`, output, run: () => 1 })
      const starts = (output: string) => (tx: Transaction) => void tx.start(child(output))
      yield* kernel.register(Reaction.make({ name: "show", read: starts("/data/open"), deliver: () => {} }))
      yield* kernel.register(Computation.make({ name: "pay", output: "/data/pay/a", run: (tx) => (starts("/data/less")(tx), 1) }))
      yield* kernel.register(Computation.make({ name: "paid", output: "/data/pay/b", run: (tx) => (starts("/data/pay/c")(tx), 1) }))
      yield* kernel.register(Computation.make({ name: "open", output: "/data/d", run: (tx) => (starts("/data/e")(tx), 1) }))
      const space = yield* paid()
      for (const address of ["/data/pay/a", "/data/pay/b", "/data/d"]) yield* controlled(space, space.pull(address))
      const failed = yield* TestKernel.diagnostics(space)
      assert.sameMembers(
        failed.filter(({ code }) => code === "label/below").map(({ origin }) => (origin as { readonly name: string }).name),
        ["show", "pay"]
      )
      const { nodes } = yield* space.graph.view
      assert.sameMembers(nodes.map(({ name }) => name).filter((name) => name.startsWith("at_")), ["at_data_pay_c", "at_data_e"])
      const { difference } = yield* space.examine((archive) => replay(archive, 0, 99))
      assert.isUndefined(difference)
    }).pipe(Fx.provide(layer)))

  it.effect("resumes by the current rules", () =>
    Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const copy = Computation.make({ name: "copy", output: "/data/copy", run: (tx) => tx.get("/data/pay/ann") })
      const demand = Reaction.make({ name: "demand", read: (tx) => tx.get("/data/copy"), deliver: () => {} })
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

describe("The rules of a space", () => {
  it.effect("survive a restart: an attempt keeps the label of the previous one, and an event its own", () =>
    Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const enzymes = [
        enzyme(
          "again",
          (tx, { attempt }) => attempt === 1 ? new Retry({ reason: `not with ${tx.get("/data/pay/ann")}` }) : tx.set("/data/open", attempt)
        ),
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
        const { error, label } = yield* handlingOf(after, id)
        assert.deepStrictEqual([error?.code, label], ["label/below", ["salary"]])
      }
      assert.isUndefined(yield* after.get("/data/open"))
      const { difference } = yield* after.examine((archive) => replay(archive, 0, 99))
      assert.isUndefined(difference)
    }))

  it.effect("are in its cell and become active with a beat; a replay uses the rules of each beat", () =>
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
