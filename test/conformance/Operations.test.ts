import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Kernel, type Space, type Transaction } from "systole"
import { enzyme, steps } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"
import { present } from "../support/Present.ts"
import { isReplayedEqual } from "./ReplayCheck.ts"

const request = { verb: "op/render", target: "/data/scene", mode: "opm:states" } as const

/** An enzyme that executes the function named by its payload, and stores the result. */
const doer = (verbs: Readonly<Record<string, (tx: Transaction) => unknown>>) =>
  enzyme("do", (tx, { payload }) => {
    const answer = present(verbs[payload as string])(tx)
    tx.set(`/data/answers/${String(payload)}`, answer ?? null)
  }, { query: "/signals/do" })

const listener = (log: Array<string>) => enzyme("listener", (tx, { payload, signal, target }) => {
  log.push(`${signal} ${target} ${String(payload)} @${tx.beat}`)
}, { query: "/op/*", bind: ["/rt/ops"] })

/** Executes these functions in one beat. */
const ask = Effect.fnUntraced(function*(space: Space, ...names: ReadonlyArray<string>) {
  for (const [i, name] of names.entries()) {
    yield* space.signal({ signal: "/signals/do", payload: name, target: undefined, id: `${name}-${yield* space.head}-${i}` })
  }
  return yield* space.step
})

const answer = (space: Space, name: string) => space.get(`/data/answers/${name}`)

/** The states of a history. */
const history = (space: Space, oid: string) => Effect.map(space.ops.get(oid), (dossier) => dossier?.history.map(({ state }) => state))

const OID = "OPS:0.0.0"

describe("D: operations", () => {
  it.effect("D1 an operation in opm:direct has a sealed envelope, a history and no watchers, and ends in ist:ok with a sealed close", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([doer({
        start: (tx) => tx.op.start({ ...request, mode: "opm:direct", payload: { size: [1, 2] }, ttl: 7 }),
        close: (tx) => tx.op.close(OID, "sts:ok", { frames: 3 })
      })])
      yield* ask(space, "start")
      assert.strictEqual(yield* answer(space, "start"), OID)
      assert.deepStrictEqual(yield* space.get(`/rt/ops/${OID}`), {
        beat: 0, code: 0, hist_next: 2, state: "ist:run", watchers: 0, wtch_next: 1
      })
      assert.deepInclude(yield* space.get(`/rt/ops/${OID}/envelope`), {
        verb: "op/render", target: "/data/scene", mode: "opm:direct", ttl: 7, issued_beat: 0
      })
      assert.deepStrictEqual(yield* space.get(`/rt/ops/${OID}/envelope#/payload_id/size`), [1, 2])
      assert.deepStrictEqual(yield* space.list(`/rt/ops/${OID}/history`), ["OPH:1"])
      yield* ask(space, "close")
      assert.strictEqual(yield* answer(space, "close"), true)
      assert.deepInclude(yield* space.get(`/rt/ops/${OID}`), { state: "ist:ok", status: "sts:ok" })
      assert.deepInclude(yield* space.get(`/rt/ops/${OID}/close`), { status: "sts:ok", closed_beat: 1 })
      assert.deepStrictEqual(yield* space.get(`/rt/ops/${OID}/close#/summary_id`), { frames: 3 })
      assert.strictEqual((yield* Effect.flip(space.set(`/rt/ops/${OID}/close`, 1))).code, "cell/refused")
      assert.strictEqual((yield* Effect.flip(space.set(`/rt/ops/${OID}/envelope#/verb`, "x"))).code, "cell/refused")
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("D2 the same state twice in one beat is one entry of the history", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([doer({
        all: (tx) => {
          const oid = tx.op.start(request)
          for (const state of ["ist:skel", "ist:skel", "ist:unveil"]) tx.op.setState(oid, state)
          tx.op.close(oid, "sts:ok")
          return tx.list(`/rt/ops/${oid}/history`)
        }
      })])
      yield* ask(space, "all")
      assert.deepStrictEqual(yield* history(space, OID), ["ist:run", "ist:skel", "ist:unveil", "ist:ok"])
      assert.deepStrictEqual(yield* answer(space, "all"), ["OPH:1", "OPH:2", "OPH:3", "OPH:4"])
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("D3, D4 the same state is an entry in a later beat, and changes code and note alone in the same beat", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([doer({
        start: (tx) => tx.op.start(request),
        skel: (tx) => tx.op.setState(OID, "ist:skel", { code: 1, note: "one" }) && tx.op.setState(OID, "ist:skel", { code: 2, note: "two" })
      })])
      yield* ask(space, "start")
      yield* ask(space, "skel")
      assert.deepInclude(yield* space.get(`/rt/ops/${OID}`), { state: "ist:skel", code: 2, note: "two", hist_next: 3 })
      assert.deepInclude(yield* space.get(`/rt/ops/${OID}/history/OPH:2`), { code: 1, note: "one", beat: 1 })
      yield* ask(space, "skel")
      assert.deepStrictEqual(yield* history(space, OID), ["ist:run", "ist:skel", "ist:skel"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("D5, D8 no state is set after the close, and an invalid status closes no operation", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([doer({
        start: (tx) => tx.op.start(request),
        odd: (tx) => ["ist:ok", "sts:maybe", ""].map((status) => tx.op.close(OID, status as "sts:ok")),
        close: (tx) => [tx.op.close(OID, "sts:fail"), tx.op.close(OID, "sts:fail"), tx.op.close(OID, "sts:ok")],
        state: (tx) => tx.op.setState(OID, "ist:skel")
      })])
      yield* ask(space, "start")
      yield* ask(space, "odd")
      assert.deepStrictEqual(yield* answer(space, "odd"), [false, false, false])
      yield* ask(space, "close")
      assert.deepStrictEqual(yield* answer(space, "close"), [true, true, false])
      yield* ask(space, "state")
      assert.strictEqual(yield* answer(space, "state"), false)
      assert.deepStrictEqual(yield* history(space, OID), ["ist:run", "ist:fail"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("D7 a cancelled operation is in ist:cnl, with the alias ist:cxl", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const space = yield* TestKernel.space([listener(log), doer({
        start: (tx) => {
          const oid = tx.op.start(request)
          tx.op.await(oid, "ist:cnl", { signal: "/op/a" })
          tx.op.await(oid, "ist:cxl", { signal: "/op/b" })
        },
        close: (tx) => tx.op.close(OID, "sts:cnl")
      })])
      yield* ask(space, "start")
      yield* ask(space, "close")
      assert.deepInclude(yield* space.get(`/rt/ops/${OID}`), { state: "ist:cnl", watchers: 0 })
      yield* space.step
      assert.deepStrictEqual(log, [`/op/a /rt/ops/${OID} undefined @2`, `/op/b /rt/ops/${OID} undefined @2`])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("D9 an await is continued once, in the beat after the state is set, and its watcher is removed", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const space = yield* TestKernel.space([listener(log), doer({
        start: (tx) => tx.op.await(tx.op.start(request), "ist:unveil", { signal: "/op/cont", payload: "go" }),
        unveil: (tx) => tx.op.setState(OID, "ist:unveil")
      })])
      yield* ask(space, "start")
      assert.deepStrictEqual(yield* space.list(`/rt/ops/${OID}/watchers`), ["OPW:1"])
      assert.deepInclude(yield* space.get(`/rt/ops/${OID}/watchers/OPW:1`), {
        want: "ist:unveil", deadline: 0, cont: "/op/cont", enzyme: "do"
      })
      yield* space.step
      yield* ask(space, "unveil")
      assert.deepStrictEqual([log, yield* space.list(`/rt/ops/${OID}/watchers`)], [[], []])
      yield* steps(space, 3)
      assert.deepStrictEqual(log, [`/op/cont /rt/ops/${OID} go @3`])
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("D11 sts:ok is met by a close with it, and sts:fail is dropped with op/tmo", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const space = yield* TestKernel.space([listener(log), doer({
        start: (tx) => tx.op.close(tx.op.start(request), "sts:ok"),
        late: (tx) => {
          tx.op.await(OID, "sts:ok", { signal: "/op/ok" })
          tx.op.await(OID, "sts:fail", { signal: "/op/fail" })
        }
      })])
      yield* ask(space, "start")
      yield* ask(space, "late")
      yield* steps(space, 3)
      assert.deepStrictEqual(log, [`/op/ok /rt/ops/${OID} undefined @2`, `/op/tmo /rt/ops/${OID} undefined @2`])
      assert.deepStrictEqual(yield* space.list(`/rt/ops/${OID}/watchers`), [])
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("D12, D13 a ttl of one beat ends in the next, op/tmo runs once in the one after, with one diagnostic", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const space = yield* TestKernel.space([
        listener(log),
        doer({ start: (tx) => tx.op.await(tx.op.start(request), "ist:unveil", { signal: "/op/cont", ttl: 1 }) })
      ])
      yield* ask(space, "start")
      assert.deepInclude(yield* space.get(`/rt/ops/${OID}/watchers/OPW:1`), { deadline: 1 })
      assert.deepInclude(yield* space.get(`/rt/ops/${OID}`), { watchers: 1 })
      yield* space.step
      assert.deepInclude(yield* space.get(`/rt/ops/${OID}`), { watchers: 0 })
      assert.deepStrictEqual(log, [])
      yield* steps(space, 3)
      assert.deepStrictEqual(log, [`/op/tmo /rt/ops/${OID} undefined @2`])
      const told = yield* TestKernel.diagnostics(space)
      assert.lengthOf(told, 1)
      assert.deepInclude(told[0], { sev: "sev:warn", topic: "ops/watchers", note: `watcher timeout on oid=${OID} want=ist:unveil` })
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("D23 a continuation and a time-out carry the ids of the operation's pipeline", () =>
    Effect.gen(function*() {
      const pipeline = { pipeline_id: "p:1", stage_id: "s:2", dag_run_id: "r:3", hop_index: 4 }
      const heard: Array<unknown> = []
      const space = yield* TestKernel.space([
        enzyme("hear", (_, event) => void heard.push([event.signal, event.pipeline]), { query: "/op/*", bind: ["/rt/ops"] }),
        doer({
          start: (tx) => {
            const oid = tx.op.start({ ...request, pipeline })
            tx.op.await(oid, "ist:unveil", { signal: "/op/cont" })
            tx.op.await(oid, "ist:never", { signal: "/op/cont", ttl: 2 })
            tx.op.await(tx.op.start(request), "ist:run", { signal: "/op/plain" })
          },
          unveil: (tx) => tx.op.setState(OID, "ist:unveil")
        })
      ])
      yield* ask(space, "start")
      yield* ask(space, "unveil")
      assert.deepInclude(yield* space.get(`/rt/ops/${OID}/envelope`), { pipeline })
      for (let i = 0; i < 3; i++) yield* space.step
      assert.deepStrictEqual(heard, [["/op/plain", undefined], ["/op/cont", pipeline], ["/op/tmo", pipeline]])
      const tooMany = Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`id${i}`, i]))
      for (const bad of ["p", [1], { id: 1.5 }, { "a b": 1 }, { id: "x".repeat(256) }, tooMany]) {
        assert.strictEqual((yield* Effect.flip(space.ops.start({ ...request, pipeline: bad as never }))).code, "ops/invalid")
      }
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("D14 a watcher that is armed in the beat of its deadline gets its continuation and no time-out", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const space = yield* TestKernel.space([listener(log), doer({
        start: (tx) => tx.op.await(tx.op.start(request), "ist:unveil", { signal: "/op/cont", ttl: 1 }),
        unveil: (tx) => tx.op.setState(OID, "ist:unveil")
      })])
      yield* ask(space, "start")
      yield* ask(space, "unveil")
      yield* steps(space, 3)
      assert.deepStrictEqual(log, [`/op/cont /rt/ops/${OID} undefined @2`])
      assert.lengthOf(yield* TestKernel.diagnostics(space), 0)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("D16 a state already left does not end an await", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const space = yield* TestKernel.space([listener(log), doer({
        start: (tx) => {
          const oid = tx.op.start(request)
          tx.op.setState(oid, "ist:skel")
          tx.op.setState(oid, "ist:unveil")
        },
        await: (tx) => tx.op.await(OID, "ist:skel", { signal: "/op/cont" })
      })])
      yield* ask(space, "start")
      yield* ask(space, "await")
      yield* steps(space, 3)
      assert.deepStrictEqual(log, [])
      assert.deepInclude(yield* space.get(`/rt/ops/${OID}`), { watchers: 1 })
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("D18 a start without a target or with no verb leaves no trace", () =>
    Effect.gen(function*() {
      const bad = [
        { target: "" }, { target: undefined }, { verb: "" }, { verb: "a b" }, { mode: "direct" }, { ttl: -1 }, { payload: () => 1 }
      ]
      const space = yield* TestKernel.space([doer(Object.fromEntries(bad.map((part, i) => [`bad${i}`, (tx: Transaction) => {
        tx.set("/data/trace", i)
        try {
          tx.op.start({ ...request, ...part } as never)
        } catch {
          return "caught"
        }
        return "taken"
      }])))])
      for (const i of bad.keys()) yield* ask(space, `bad${i}`)
      assert.deepStrictEqual(yield* space.below("/rt/ops", { limit: 10 }), [])
      assert.isUndefined(yield* space.get("/data/trace"))
      const { letters } = yield* space.dead({ limit: 10 })
      assert.deepStrictEqual(letters.map(({ code }) => code).toSorted(), [...Array<string>(6).fill("ops/invalid"), "value/invalid"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("D19 a start by a run that fails later leaves no trace", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const space = yield* TestKernel.space([listener(log), doer({
        half: (tx) => {
          const oid = tx.op.start(request)
          tx.op.await(oid, "ist:run", { signal: "/op/cont" })
          throw new Error("half way")
        }
      })])
      yield* ask(space, "half")
      yield* steps(space, 2)
      const left = (yield* space.below("/sys", { limit: 10 })).filter((key) => !key.startsWith("/sys/index/over/fact"))
      assert.deepStrictEqual([yield* space.below("/rt/ops", { limit: 10 }), left, log], [[], [], []])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("D21 get describes an operation in one line, including the changes of the run", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([listener([]), doer({
        all: (tx) => {
          const oid = tx.op.start(request)
          tx.op.await(oid, "ist:plan", { signal: "/op/cont" })
          const open = tx.op.get(oid)
          tx.op.close(oid, "sts:fail")
          return [open, tx.op.get(oid), tx.op.get("OPS:9.9.9") ?? "none"]
        }
      })])
      yield* ask(space, "all")
      assert.deepStrictEqual(yield* answer(space, "all"), [
        `oid=${OID} state=ist:run closed=0 status=- watchers=1`,
        `oid=${OID} state=ist:fail closed=1 status=sts:fail watchers=1`,
        "none"
      ])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("D22 a continuation goes to the operation's cell: refused if unheard, not run if its enzyme is gone, bound until then", () =>
    Effect.gen(function*() {
      const own: Array<string> = []
      const waiter = enzyme("waiter", (tx, { signal, target }) => {
        if (signal === "/wait/start") {
          const oid = tx.op.start(request)
          tx.op.await(oid, "ist:plan", { signal: "/wait/cont" })
          return
        }
        own.push(`${signal} ${target}`)
      }, { query: "/wait/*" })
      const space = yield* TestKernel.space([waiter, doer({
        unheard: (tx) => tx.op.await(OID, "ist:plan", { signal: "/nobody/hears" }),
        plan: (tx) => tx.op.setState("OPS:0.0.0", "ist:plan"),
        other: (tx) => tx.op.setState("OPS:4.0.0", "ist:plan")
      })])
      yield* space.signal({ signal: "/wait/start" })
      yield* space.step
      assert.deepStrictEqual(yield* space.get(`/sys/bind/rt/ops/${OID}`), [
        { awaits: true, beat: 0, enzyme: "waiter", propagate: false, tombstone: false }
      ])
      yield* ask(space, "unheard")
      assert.deepStrictEqual((yield* space.dead({ limit: 10 })).letters.map(({ code }) => code), ["ops/unheard"])
      yield* ask(space, "plan")
      assert.isUndefined(yield* space.get(`/sys/bind/rt/ops/${OID}`))
      yield* space.step
      assert.deepStrictEqual(own, [`/wait/cont /rt/ops/${OID}`])
      yield* space.signal({ signal: "/wait/start" })
      yield* space.step
      yield* (yield* Kernel).unregister(waiter)
      yield* ask(space, "other")
      const last = yield* space.step
      assert.lengthOf(own, 1)
      assert.deepStrictEqual(yield* TestKernel.ledger(space, last, "agenda"), ["no-match signal=/wait/cont target=/rt/ops/OPS:4.0.0"])
    }).pipe(Effect.provide(TestKernel.layer())))
})

describe("operations in one beat", () => {
  it.effect("commute for awaits, and conflict for set and close, so that the loser sees the closed one", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const run = (name: string, verb: (tx: Transaction) => unknown) => enzyme(name, (tx) => {
        tx.append("/data/answers", [name, verb(tx) ?? null])
      }, { query: "/signals/all" })
      const space = yield* TestKernel.space([listener(log), doer({ start: (tx) => tx.op.start(request) }),
        run("a", (tx) => tx.op.await(OID, "sts:ok", { signal: "/op/a" })),
        run("b", (tx) => tx.op.close(OID, "sts:ok")),
        run("c", (tx) => tx.op.await(OID, "ist:ok", { signal: "/op/c" })),
        run("d", (tx) => tx.op.setState(OID, "ist:plan")),
        run("e", (tx) => tx.op.await(OID, "ist:never", { signal: "/op/e" }))
      ])
      for (const name of ["a", "c", "e"]) {
        yield* (yield* Kernel).register(enzyme(`${name}-hears`, () => undefined, { query: `/op/${name}`, bind: ["/rt/ops"] }))
      }
      yield* ask(space, "start")
      yield* space.signal({ signal: "/signals/all" })
      yield* steps(space, 4)
      assert.deepStrictEqual(yield* space.get("/data/answers"), [["a", null], ["b", true], ["c", null], ["e", null], ["d", false]])
      assert.deepStrictEqual(log.toSorted(), [
        `/op/a /rt/ops/${OID} undefined @2`, `/op/c /rt/ops/${OID} undefined @2`, `/op/tmo /rt/ops/${OID} undefined @2`
      ])
      assert.deepStrictEqual(yield* space.get(`/rt/ops/${OID}`), {
        beat: 1, code: 0, hist_next: 3, state: "ist:ok", status: "sts:ok", watchers: 0, wtch_next: 4
      })
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("agree if two runs set the same state: one entry, and no number is lost", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([doer({ start: (tx) => tx.op.start(request) }),
        ...["a", "b"].map((name) => enzyme(name, (tx) => tx.op.setState(OID, "ist:plan"), { query: "/signals/all" }))])
      yield* ask(space, "start")
      yield* space.signal({ signal: "/signals/all" })
      yield* space.step
      assert.deepStrictEqual(yield* history(space, OID), ["ist:run", "ist:plan"])
      assert.deepInclude(yield* space.get(`/rt/ops/${OID}`), { hist_next: 3 })
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))
})
