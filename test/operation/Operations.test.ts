import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { Enzyme, Fatal, replay, Retry, type Space, type Transaction, why } from "systole"
import * as Vocabulary from "../../src/operation/Vocabulary.ts"
import * as Dossier from "../../src/operation/Dossier.ts"
import { TimerQueue } from "../../src/kernel/inbox/TimerQueue.ts"
import { controlled, enzyme, steps } from "../kernel/TestSpace.ts"
import * as TestMachine from "../kernel/TestMachine.ts"
import * as TestKernel from "../support/TestKernel.ts"
import * as Trials from "../support/Trials.ts"

const request = { verb: "op/render", target: "/data/scene", mode: "opm:states" } as const
const OID = "OPS:0.0.0"

/** The digest of all cells of operations and bindings. */
const ledger = (space: Space) =>
  space.examine(({ store }) => {
    const hash = createHash("sha256")
    const keys = ["/rt/ops", "/sys"].flatMap((folder) => store.below(folder, { limit: 10_000 }))
    for (const key of keys.filter((key) => !key.startsWith("/sys/index/over/fact"))) hash.update(`${key} ${store.read(key)}\n`)
    return hash.digest("hex")
  })

const isReplayedEqual = Effect.fnUntraced(function*(space: Space) {
  const head = yield* space.head
  for (const from of Trials.beats(head)) {
    const { difference } = yield* space.examine((archive) => replay(archive, from, head))
    assert.isUndefined(difference, `from ${from}: ${JSON.stringify(difference)}`)
  }
})

/** Enzymes that start and await an operation on `/wait/start`, and run `verb` on `/signals/do`. */
const pair = (verb: (tx: Transaction) => unknown, ttl = 0) => [
  enzyme("waiter", (tx, { signal }) => {
    if (signal !== "/wait/start") return tx.append("/data/heard", [signal, tx.beat])
    tx.op.await(tx.op.start(request), "ist:plan", { signal: "/wait/cont", ttl })
  }, { query: "/wait/*" }),
  enzyme("timed", (tx) => tx.append("/data/heard", ["tmo", tx.beat]), { query: "/op/tmo", bind: ["/rt/ops"] }),
  enzyme("do", verb)
]

describe("The vocabulary of operations", () => {
  it("accepts states, statuses, modes and verbs only", () => {
    assert.deepStrictEqual(
      ["ist:plan", "ist:cxl", "ist:", "plan", "sts:ok", "ist:a/b", 4].map(Vocabulary.state),
      ["ist:plan", "ist:cnl", undefined, undefined, undefined, undefined, undefined]
    )
    assert.deepStrictEqual(
      ["sts:ok", "sts:fail", "sts:cnl", "sts:no", "constructor"].map(Vocabulary.stateOf),
      ["ist:ok", "ist:fail", "ist:cnl", undefined, undefined]
    )
    assert.deepStrictEqual(["ist:cxl", "sts:cnl", "sts:no", undefined].map(Vocabulary.want), ["ist:cnl", "sts:cnl", undefined, undefined])
    assert.deepStrictEqual(["opm:direct", "opm:x", "direct", undefined].map(Vocabulary.isMode), [true, true, false, false])
    assert.deepStrictEqual(["op/boot", "x", "", "a//b", "/x", 3].map(Vocabulary.isVerb), [true, true, false, false, false, false])
  })

  it("is met by a state or by a status", () => {
    assert.isTrue(Vocabulary.isMet("ist:ok", { state: "ist:ok" }))
    assert.isTrue(Vocabulary.isMet("sts:ok", { state: "ist:ok", status: "sts:ok" }))
    assert.isFalse(Vocabulary.isMet("sts:ok", { state: "ist:ok" }))
  })

  it("orders operations by their creation", () => {
    const oids = ["OPS:10.0.0", "OPS:9.0.0", "OPS:9.x.1", "OPS:9.0.10", "OPS:9.0.9"]
    assert.deepStrictEqual(oids.toSorted(Dossier.byCreation), ["OPS:9.x.1", "OPS:9.0.0", "OPS:9.0.9", "OPS:9.0.10", "OPS:10.0.0"])
  })
})

describe("An invalid request to operations", () => {
  it.effect("is refused by code to a command, and leaves the digest of the ledger unchanged", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space(pair(() => undefined))
      yield* space.signal({ signal: "/wait/start" })
      yield* space.step
      yield* controlled(space, space.ops.start(request))
      yield* controlled(space, space.ops.close("OPS:1.x.0", { status: "sts:ok" }))
      const before = yield* ledger(space)
      const { ops } = space
      for (const [ask, code] of [
        [ops.state("OPS:7.0.0", { state: "ist:plan" }), "ops/absent"],
        [ops.state("/data/x", { state: "ist:plan" }), "ops/absent"],
        [ops.close("OPS:7.0.0", { status: "sts:ok" }), "ops/absent"],
        [ops.cancel("OPS:1.x.0"), "ops/closed"],
        [ops.state("OPS:1.x.0", { state: "ist:ok" }), "ops/closed"],
        [ops.state(OID, { state: "plan" }), "ops/invalid"],
        [ops.state(OID, { state: "ist:plan", code: 0.5 }), "ops/invalid"],
        [ops.state(OID, { state: "ist:plan", note: "x".repeat(3000) }), "ops/invalid"],
        [ops.close(OID, { status: "ist:ok" }), "ops/invalid"],
        [ops.close(OID, { status: 4 as never }), "ops/invalid"],
        [ops.close(OID, { status: "sts:ok", summary: () => 1 }), "value/invalid"],
        [ops.start({ ...request, verb: "" }), "ops/invalid"],
        [ops.start({ ...request, target: "x".repeat(3000) }), "ops/invalid"],
        [ops.start({ ...request, payload: Number.NaN }), "value/invalid"]
      ] as ReadonlyArray<readonly [Effect.Effect<unknown, { readonly code: string }>, string]>) {
        const answer = yield* controlled(space, ask)
        assert.strictEqual(answer._tag === "Failure" && answer.failure.code, code)
      }
      assert.strictEqual((yield* controlled(space, ops.close("OPS:1.x.0", { status: "sts:ok" })))._tag, "Success")
      assert.strictEqual(yield* ledger(space), before)
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("returns false to a run or aborts it, and leaves the ledger unchanged", () =>
    Effect.gen(function*() {
      const verbs: ReadonlyArray<readonly [(tx: Transaction) => unknown, string | false]> = [
        [(tx) => tx.op.setState("OPS:9.9.9", "ist:plan"), false],
        [(tx) => tx.op.setState("", "ist:plan"), false],
        [(tx) => tx.op.setState(OID, "nothing"), false],
        [(tx) => tx.op.setState(OID, "ist:plan", { code: Number.NaN }), false],
        [(tx) => tx.op.close("OPS:9.9.9", "sts:ok"), false],
        [(tx) => tx.op.close(OID, "ist:ok" as never), false],
        [(tx) => tx.op.await("OPS:9.9.9", "ist:plan", { signal: "/signals/x" }), "ops/absent"],
        [(tx) => tx.op.await(OID, "plan", { signal: "/signals/x" }), "ops/invalid"],
        [(tx) => tx.op.await(OID, "ist:plan", { signal: "/signals/x", ttl: 1.5 }), "ops/invalid"],
        [(tx) => tx.op.await(OID, "ist:plan", { signal: "no path" }), "signal/invalid"],
        [(tx) => tx.op.await(OID, "ist:plan", { signal: "/nobody" }), "ops/unheard"],
        [(tx) => tx.set(`/rt/ops/${OID}#/state`, "ist:ok"), "cell.store.readonly"],
        [(tx) => tx.delete(`/rt/ops/${OID}/history/OPH:1`), "cell.store.readonly"]
      ]
      const space = yield* TestKernel.space([
        ...pair(() => undefined),
        ...verbs.map(([verb], i) => enzyme(`v${i}`, verb, { query: `/signals/v/${i}` }))
      ])
      yield* space.signal({ signal: "/wait/start" })
      yield* space.step
      const before = yield* ledger(space)
      for (const [i, [, expected]] of verbs.entries()) {
        const { id } = yield* space.signal({ signal: `/signals/v/${i}` })
        yield* space.step
        const handling = (yield* space.receipt(id))?.handlings[0]
        assert.strictEqual(expected === false ? handling?.value as unknown : handling?.error?.code, expected, `v${i}`)
      }
      assert.strictEqual(yield* ledger(space), before)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("is a write to a dossier, even by an enzyme with a grant for the runtime's cells", () =>
    Effect.gen(function*() {
      const { check, make } = yield* Effect.promise(() => import("../../src/stage/Envelope.ts"))
      const { parse } = yield* Effect.promise(() => import("../../src/cell/Address.ts"))
      const system = make(["/rt/**"], true)
      assert.doesNotThrow(() => check(system, parse("/rt/other")))
      assert.throws(() => check(system, parse(`/rt/ops/${OID}`)))
    }))
})

describe("One beat of operations", () => {
  it.effect("has a conflict if one run closes an operation and another sets the same state", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        ...pair(() => undefined),
        enzyme("a", (tx) => tx.op.close(OID, "sts:ok"), { query: "/signals/both" }),
        enzyme("b", (tx) => tx.op.setState(OID, "ist:ok"), { query: "/signals/both" })
      ])
      yield* space.signal({ signal: "/wait/start" })
      yield* space.step
      const { id } = yield* space.signal({ signal: "/signals/both" })
      yield* steps(space, 3)
      assert.deepStrictEqual(
        (yield* space.receipt(id))?.handlings.map(({ beat, enzyme, value }) => [enzyme, beat, value]),
        [["a", 1, true], ["b", 2, false]]
      )
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("keeps its watchers, and leaves its time-outs to the next beat, if it is aborted", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([...pair(() => new Fatal({ reason: "no" }), 2)])
      yield* space.signal({ signal: "/wait/start" })
      yield* steps(space, 2)
      yield* space.signal({ signal: "/signals/do" })
      yield* Effect.flip(space.step)
      assert.deepInclude(yield* space.get(`/rt/ops/${OID}`), { watchers: 1 })
      yield* steps(space, 3)
      assert.deepStrictEqual(yield* space.get("/data/heard"), [["tmo", 3]])
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))
})

describe("A continuation", () => {
  it.effect("is retried if it fails, and can be redelivered from the dead letters to the enzyme that awaited it", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("waiter", (tx, { attempt, payload, signal }) => {
          if (signal === "/wait/start") {
            return void tx.op.await(tx.op.start(request), "ist:run", { signal: "/wait/cont", payload: { a: 1 } })
          }
          if (attempt < 2) return new Retry({ reason: "not yet" })
          if (tx.get("/data/mended") === undefined) throw new TypeError("broken")
          tx.set("/data/heard", payload)
        }, { query: "/wait/*" })
      ])
      yield* space.signal({ signal: "/wait/start" })
      yield* steps(space, 4)
      const { letters } = yield* space.dead({ limit: 5 })
      assert.deepStrictEqual(letters.map(({ attempt, awaits, id, target }) => [id, target, awaits, attempt]), [
        ["0.op.0", `/rt/ops/${OID}`, "waiter", 2]
      ])
      yield* controlled(space, space.set("/data/mended", true))
      yield* controlled(space, space.redeliver("0.op.0", "waiter"))
      yield* steps(space, 3)
      assert.deepStrictEqual(yield* space.get("/data/heard"), { a: 1 })
      assert.strictEqual((yield* space.receipt("0.op.0"))?.status, "handled")
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("reaches the enzyme that awaits it, and no other with the same query that is not bound there", () =>
    Effect.gen(function*() {
      const other = Enzyme.make({ name: "zother", query: "/wait/*", run: (tx) => tx.append("/data/other", tx.beat) })
      const space = yield* TestKernel.space([...pair((tx) => tx.op.setState(OID, "ist:plan")), other])
      yield* space.signal({ signal: "/wait/start" })
      yield* space.step
      yield* space.signal({ signal: "/signals/do" })
      yield* steps(space, 2)
      assert.deepStrictEqual([yield* space.get("/data/heard"), yield* space.get("/data/other")], [[["/wait/cont", 2]], [0]])
      assert.deepStrictEqual(yield* TestKernel.ledger(space, 1, "stage"), ["commit: promoted 1 impulse -> beat 2"])
      assert.deepStrictEqual(yield* TestKernel.ledger(space, 2, "inbox"), [`signal=/wait/cont target=/rt/ops/${OID}`])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("that another caller forges runs no enzyme, and does not replace the real one", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space(pair((tx) => tx.op.setState(OID, "ist:plan")))
      yield* space.signal({ signal: "/wait/start" })
      yield* space.step
      yield* space.signal({ signal: "/wait/cont", target: `/rt/ops/${OID}`, payload: "forged" })
      yield* steps(space, 2)
      assert.isUndefined(yield* space.get("/data/heard"))
      yield* space.signal({ signal: "/signals/do" })
      yield* steps(space, 2)
      assert.deepStrictEqual(yield* space.get("/data/heard"), [["/wait/cont", 4]])
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))
})

describe("The explanation of an operation", () => {
  it.effect("names the writers of its state, its history and its time-outs, with the enzyme that requested them", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space(pair((tx) => tx.op.setState(OID, "ist:skel"), 3))
      yield* space.signal({ signal: "/wait/start" })
      yield* space.step
      yield* space.signal({ signal: "/signals/do" })
      yield* steps(space, 5)
      const by = (address: string) => space.examine(async (archive) => (await why(archive, address))?.writers.map((writer) => writer.by))
      assert.deepStrictEqual(yield* by(`/rt/ops/${OID}#/state`), ["do"])
      assert.deepStrictEqual(yield* by(`/rt/ops/${OID}/history/OPH:2`), ["do"])
      assert.deepStrictEqual(yield* by(`/rt/ops/${OID}/envelope`), ["waiter"])
      assert.deepStrictEqual(yield* by(`/rt/ops/${OID}#/watchers`), ["commit"])
      const heard = yield* space.examine((archive) => why(archive, "/data/heard"))
      assert.deepStrictEqual(heard?.writers[0]?.chain.map(({ sentBy, signal }) => [signal, sentBy]), [["/op/tmo", "commit"]])
    }).pipe(Effect.provide(TestKernel.layer())))
})

describe("An await by command", () => {
  it.effect("sends its signal and the original payload to the enzymes bound at the cell, also after a power cut", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const enzymes = [enzyme("heard", (tx, { payload, signal }) => tx.append("/data/heard", [signal, payload, tx.beat]), {
        query: "/op/*",
        bind: ["/rt/ops"]
      })]
      const before = yield* machine.boot(enzymes)
      yield* controlled(before, before.ops.start(request))
      const payload = { a: [1] }
      const asked = before.ops.await("OPS:0.x.0", { want: "sts:cnl", signal: "/op/cont", payload })
      yield* Effect.forkChild(asked, { startImmediately: true })
      assert.throws(() => payload.a.push(2))
      yield* controlled(before, before.ops.await("OPS:0.x.0", { want: "ist:plan", signal: "/op/late", ttl: 3 }))
      assert.deepInclude(yield* before.get("/rt/ops/OPS:0.x.0"), { watchers: 2 })
      const after = yield* machine.boot(enzymes)
      yield* controlled(after, after.ops.cancel("OPS:0.x.0"))
      yield* steps(after, 3)
      assert.deepStrictEqual(yield* after.get("/data/heard"), [["/op/cont", { a: [1] }, 3], ["/op/tmo", undefined, 3]])
      assert.isUndefined(yield* after.get("/sys/bind/rt/ops/OPS:0.x.0"))
      yield* isReplayedEqual(after)
    }))

  it.effect("is refused if no enzyme takes its signal", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space(pair(() => undefined))
      yield* controlled(space, space.ops.start(request))
      const before = yield* ledger(space)
      const asks = [
        ["ist:plan", "/nobody", "ops/unheard"],
        ["plan", "/op/tmo", "ops/invalid"],
        ["ist:plan", "no path", "signal/invalid"]
      ] as const
      for (const [want, signal, code] of asks) {
        const answer = yield* controlled(space, space.ops.await("OPS:0.x.0", { want, signal }))
        assert.strictEqual(answer._tag === "Failure" && answer.failure.code, code)
      }
      assert.strictEqual(yield* ledger(space), before)
    }).pipe(Effect.provide(TestKernel.layer())))
})

describe("Time-outs", () => {
  it.effect("fire after a power cut, at their beat and moment", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const enzymes = pair(() => undefined, 3)
      const before = yield* machine.boot(enzymes)
      yield* before.signal({ signal: "/wait/start" })
      yield* before.step
      const after = yield* machine.boot(enzymes)
      yield* steps(after, 3)
      assert.isUndefined(yield* after.get("/data/heard"))
      assert.deepInclude(yield* after.get(`/rt/ops/${OID}`), { watchers: 0 })
      const again = yield* machine.boot(enzymes)
      yield* steps(again, 2)
      assert.deepStrictEqual(yield* again.get("/data/heard"), [["tmo", 4]])
      yield* isReplayedEqual(again)
    }))

  it("of removed watchers delay no other timer, and are deleted", () => {
    const waits = new TimerQueue()
    let seq = 0
    const how = { number: () => seq++, urgent: true }
    const timers = Array.from({ length: 4000 }, (_, i) => ({ key: `${OID}/${i}`, due: { beat: i + 1, moment: i }, gone: false }))
    waits.rebook({ gone: [], next: timers }, how)
    for (const timer of timers.slice(0, 3999)) {
      timer.gone = true
      waits.rebook({ gone: [timer], next: [] }, how)
    }
    assert.isBelow(waits.size, 1100)
    assert.isFalse(waits.isDue(3999, 5000))
    assert.deepStrictEqual(waits.next({ beat: 0, clock: 0, tempo: 1 }), { moment: 3999, beat: 4000 })
    assert.deepStrictEqual(waits.take(4000, 4000, 10).map(({ seq }) => seq), [3999])
    assert.strictEqual(waits.size, 0)
  })
})

describe("Many watchers", () => {
  it.effect("that are due at once get one time-out each, spread over beats by the limit, and the space becomes idle", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const limits = { ...TestKernel.settings.limits, captureSignals: 10 }
      const space = yield* machine.boot([
        enzyme("open", (tx) => {
          const oid = tx.op.start(request)
          for (let i = 0; i < 35; i++) tx.op.await(oid, "ist:never", { signal: "/signals/open", ttl: 2, payload: i })
        }),
        enzyme("timed", (tx, { payload }) => tx.append("/data/heard", payload), { query: "/op/tmo", bind: ["/rt/ops"] })
      ], { pace: "demand", limits })
      yield* space.signal({ signal: "/signals/open" })
      yield* space.idle
      const heard = (yield* space.get("/data/heard")) as ReadonlyArray<number>
      assert.deepStrictEqual(heard.toSorted((a, b) => a - b), Array.from({ length: 35 }, (_, i) => i))
      assert.deepInclude(yield* space.get(`/rt/ops/${OID}`), { watchers: 0 })
      const head = yield* space.head
      const dueOf = (text: string) => (JSON.parse(text) as { readonly due?: ReadonlyArray<unknown> }).due?.length ?? 0
      const dues = yield* space.examine(({ store }) => [...store.scanJournal(0, head)].map(({ text }) => dueOf(text)))
      assert.deepStrictEqual(dues.filter((due) => due > 0), [10, 10, 10, 5])
      yield* isReplayedEqual(space)
    }))

  it.effect("of one operation are refused beyond the limit, and the run that requests them leaves no change", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("open", (tx, { payload }) => {
        const oid = tx.op.start(request)
        for (let i = 0; i < (payload as number); i++) tx.op.await(oid, "ist:never", { signal: "/signals/open" })
      })])
      for (const count of [1024, 1025]) yield* space.signal({ signal: "/signals/open", payload: count })
      yield* steps(space, 2)
      assert.deepInclude(yield* space.get(`/rt/ops/${OID}`), { watchers: 1024 })
      assert.lengthOf((yield* space.ops.list({ limit: 5 })).operations, 1)
      assert.deepStrictEqual((yield* space.dead({ limit: 5 })).letters.map(({ code }) => code), ["ops/full"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("and a long history do not add to the cost of a change of state, which writes two cells", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("open", (tx) => {
        const oid = tx.op.start(request)
        for (let i = 0; i < 500; i++) tx.op.await(oid, "ist:never", { signal: "/signals/open" })
        for (let i = 0; i < 500; i++) tx.op.setState(oid, `ist:s${i}`)
      })])
      yield* space.signal({ signal: "/signals/open" })
      yield* space.step
      yield* controlled(space, space.ops.state(OID, { state: "ist:plan" }))
      const { cells } = JSON.parse((yield* space.journal(1))!.text) as { readonly cells: ReadonlyArray<readonly [string]> }
      assert.deepStrictEqual(cells.map(([key]) => key), [`/rt/ops/${OID}`, `/rt/ops/${OID}/history/OPH:502`])
    }).pipe(Effect.provide(TestKernel.layer())))
})
