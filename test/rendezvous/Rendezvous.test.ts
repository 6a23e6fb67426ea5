import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { Space, Transaction } from "systole"
import { controlled, enzyme, steps, turns } from "../kernel/TestSpace.ts"
import * as TestMachine from "../kernel/TestMachine.ts"
import * as TestKernel from "../support/TestKernel.ts"
import * as RendezvousSpace from "./RendezvousSpace.ts"

const { ask, entry, event, events } = RendezvousSpace

const test = (name: string, run: () => Effect.Effect<void, unknown, Effect.Services<ReturnType<typeof RendezvousSpace.space>>>) =>
  it.effect(name, () => run().pipe(Effect.provide(TestKernel.layer()), RendezvousSpace.granted))

const codeOf = Effect.fnUntraced(function*<A, E extends { readonly code: string }>(space: Space, asked: Effect.Effect<A, E>) {
  const answer = yield* controlled(space, asked)
  return answer._tag === "Failure" ? answer.failure.code : "done"
})

describe("An invalid request to rendezvous", () => {
  const bad = [
    {},
    { key: "" },
    { key: "a/b" },
    { key: 3 },
    ...[
      { due: -1 },
      { due: "soon" },
      { due: 1.5 },
      { due: "-1" },
      { due_off: -1 },
      { deadline: Number.MAX_SAFE_INTEGER },
      { max_grace: null },
      { prof: "rv-other" },
      { on_miss: "cry" },
      { signal_path: "a//b" },
      { inst_id: "a b" },
      { telemetry: 3 },
      { dew: 3 },
      { prof: "rv-epoch", epoch_k: 0 },
      { kill_mode: "" }
    ].map((fields) => ({ key: "job", ...fields })),
    [],
    "job",
    3
  ]

  test("is refused by code to a command, and leaves the ledger unchanged", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({
        spawn: (tx) => tx.rv.spawn({ key: "open", due: 100 }),
        done: (tx) => tx.rv.spawn({ key: "done" }),
        finish: (tx) => tx.rv.report("done")
      })
      for (const name of ["spawn", "done", "finish"]) yield* ask(space, name)
      const before = yield* RendezvousSpace.digest(space)
      for (const spec of bad) assert.strictEqual(yield* codeOf(space, space.rv.spawn(spec as never)), "rv/invalid", JSON.stringify(spec))
      const { rv } = space
      const refusals = [
        [rv.spawn(undefined as never), "rv/invalid"],
        [rv.spawn({ key: "x", telemetry: { a: Number.NaN } }), "value/invalid"],
        [rv.report("none", { telemetry: {} }), "rv/absent"],
        [rv.report("a/b", { telemetry: {} }), "rv/absent"],
        [rv.report("done", { telemetry: {} }), "rv/finished"],
        [rv.kill("done"), "rv/finished"],
        [rv.resched("done", { delta: 1 }), "rv/finished"],
        [rv.report("open", { telemetry: [] }), "rv/invalid"],
        [rv.report("open", { telemetry: 3 }), "rv/invalid"],
        [rv.kill("open", { wait: -1 }), "rv/invalid"],
        [rv.kill("open", { mode: "a b" }), "rv/invalid"],
        [rv.kill("open", { wait: 1001 }), "rv/invalid"],
        [rv.spawn({ key: "x", max_grace: 1001 }), "rv/invalid"],
        [rv.spawn({ key: "x", kill_wait: "1001" }), "rv/invalid"],
        [rv.resched("open", { delta: 0.5 }), "rv/invalid"],
        [rv.resched("open", { delta: "soon" }), "rv/invalid"],
        [rv.kill(3 as never), "rv/absent"],
        [rv.report("open", { telemetry: {}, token: "0".repeat(64) }), "rv/token"],
        [rv.report("none", { telemetry: {}, token: "0".repeat(64) }), "rv/token"]
      ] as ReadonlyArray<readonly [Effect.Effect<unknown, { readonly code: string }>, string]>
      for (const [i, [asked, code]] of refusals.entries()) assert.strictEqual(yield* codeOf(space, asked), code, `${i}`)
      assert.strictEqual(yield* RendezvousSpace.digest(space), before)
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("aborts the run that makes it, and leaves the ledger unchanged", () =>
    Effect.gen(function*() {
      const verbs = bad.map((spec) => (tx: Transaction) => {
        tx.rv.spawn({ key: "first" })
        try {
          tx.rv.spawn(spec as never)
        } catch {
          return "caught"
        }
        return "taken"
      })
      const space = yield* RendezvousSpace.space(Object.fromEntries(verbs.map((verb, i) => [`bad${i}`, verb])))
      const before = yield* RendezvousSpace.digest(space)
      for (const i of bad.keys()) assert.strictEqual(yield* ask(space, `bad${i}`), "rv/invalid", JSON.stringify(bad[i]))
      assert.strictEqual(yield* RendezvousSpace.digest(space), before)
    }))

  test("is a spawn over a completion without its event, which succeeds in the next beat", () =>
    Effect.gen(function*() {
      const spawn = (tx: Transaction) => tx.rv.spawn({ key: "job", due_off: 2, deadl_off: 0 }).length > 0
      const space = yield* RendezvousSpace.space({ spawn, both: (tx) => [tx.rv.report("job", {}), spawn(tx)] })
      assert.isTrue(yield* ask(space, "spawn"))
      assert.strictEqual(yield* ask(space, "both"), "rv/untold")
      // The deadline is reached in the capture of the beat whose run spawns again.
      assert.strictEqual(yield* ask(space, "spawn"), "rv/untold")
      assert.deepStrictEqual(yield* events(space, "job"), [3])
      assert.isTrue(yield* ask(space, "spawn"))
      const report = yield* Effect.forkChild(space.rv.report("job", { telemetry: { n: 1 } }), { startImmediately: true })
      const again = yield* Effect.forkChild(Effect.flip(space.rv.spawn({ key: "job" })), { startImmediately: true })
      yield* space.step
      yield* Fiber.join(report)
      assert.strictEqual((yield* Fiber.join(again)).code, "rv/untold")
      assert.deepStrictEqual(yield* events(space, "job"), [3, 5])
      assert.isTrue(yield* ask(space, "spawn"))
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("is a write into the ledger without a grant", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({
        write: (tx) => tx.set("/data/rv/job", { state: "applied" }),
        forge: (tx) => tx.set("/data/inbox/flow/inst_event/job", {})
      })
      for (const name of ["write", "forge"]) assert.strictEqual(yield* ask(space, name), "envelope/outside")
      assert.strictEqual((yield* Effect.flip(space.set("/data/rv/job", 1))).code, "cell/refused")
    }))
})

describe("The token of a worker", () => {
  test("is valid for its key only, until the key is spawned again, and is not in the journal", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space()
      const spawn = (key: string) => Effect.map(
        controlled(space, space.rv.spawn({ key, due_off: 10 })),
        (answer) => (answer as { readonly success: { readonly token: string } }).success.token
      )
      const [one, two, old] = [yield* spawn("one"), yield* spawn("two"), yield* spawn("again")]
      const again = yield* spawn("again")
      assert.strictEqual(new Set([one, two, old, again]).size, 4)
      for (const [key, token] of [["one", two], ["two", one], ["again", old]] as const) {
        assert.strictEqual(yield* codeOf(space, space.rv.report(key, { telemetry: {}, token })), "rv/token")
      }
      for (const [key, token] of [["one", one], ["two", two], ["again", again]] as const) {
        assert.strictEqual(yield* codeOf(space, space.rv.report(key, { telemetry: { by: key }, token })), "done")
      }
      assert.deepInclude(yield* event(space, "two"), { telemetry: { by: "two" } })
      const head = yield* space.head
      const journal = yield* space.examine(({ store }) => [...store.scanJournal(0, head)].map(({ text }) => text).join("\n"))
      for (const token of [one, two, old, again]) assert.notInclude(journal, token)
      yield* RendezvousSpace.isReplayedEqual(space)
    }))
})

describe("A profile", () => {
  test("takes missing fields from the cell of its defaults, which user code may write", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({
        defaults: (tx) => tx.set(
          "/defaults/rv-fixed",
          { due_off: "7", deadl_off: 5, max_grace: "2", on_miss: "kill", telemetry: { from: "defaults" }, signal: "app:done" }
        ),
        spawn: (tx) => tx.rv.spawn({ key: "job", on_miss: "grace" })
      })
      yield* ask(space, "defaults")
      yield* ask(space, "spawn")
      assert.deepInclude(yield* entry(space, "job"), {
        spawn_beat: "2", due: "9", deadline: "14", max_grace: "2", on_miss: "grace", signal_path: "app:done",
        telemetry: { from: "defaults" }
      })
    }))

  test("rv-cas applies a report with stored content, and quarantines any other", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({
        keep: (tx) => tx.blob(new Uint8Array([1, 2, 3])),
        spawn: (tx) => ["good", "bad", "none"].map((key) => tx.rv.spawn({ key, prof: "rv-cas", input: { n: 1 } })),
        bad: (tx) =>
          [tx.rv.report("bad", { cas_hash: "0".repeat(64) }), tx.rv.report("none", { cas_hash: 3 }), tx.rv.report("none", { again: true })],
        kill: (tx) => tx.rv.kill("bad")
      })
      const address = (yield* ask(space, "keep")) as string
      yield* ask(space, "spawn")
      yield* ask(space, "bad")
      assert.strictEqual(yield* codeOf(space, space.rv.report("good", { telemetry: { cas_hash: address } })), "done")
      const { cas_hash, input_fp, state } = yield* entry(space, "good") as Effect.Effect<Readonly<Record<string, string>>>
      assert.deepStrictEqual([state, cas_hash], ["applied", address.slice(5)])
      assert.match(input_fp!, /^[1-9]\d{1,15}$/)
      assert.deepInclude(yield* entry(space, "bad"), { state: "quarantine", cas_hash: "" })
      assert.deepInclude(yield* entry(space, "none"), { state: "quarantine", telemetry: { again: true } })
      assert.deepStrictEqual([yield* events(space, "bad"), yield* events(space, "none")], [[], []])
      yield* ask(space, "kill")
      yield* space.step
      assert.deepInclude(yield* event(space, "bad"), { outcome: "killed" })
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("observer keeps the newest report, is never late and sends no event", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({
        spawn: (tx) => tx.rv.spawn({ key: "job", prof: "observer", due_off: 1, deadline: 4, max_grace: 1 }),
        report: (tx) => tx.rv.report("job", { at: tx.beat }),
        kill: (tx) => tx.rv.kill("job")
      })
      yield* ask(space, "spawn")
      for (let i = 0; i < 4; i++) yield* ask(space, "report")
      assert.deepInclude(yield* entry(space, "job"), { state: "ready", telemetry: { at: 5 } })
      yield* ask(space, "kill")
      yield* steps(space, 2)
      assert.deepInclude(yield* entry(space, "job"), { state: "killed" })
      assert.deepStrictEqual(yield* events(space, "job"), [])
    }))

  test("spec applies the first report of its variants, also of two in one beat, and kills the other variants", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({
        spawn: (tx) => ["a", "b", "c"].map((key) => tx.rv.spawn({ key, prof: "spec", inst_id: "q:1", due_off: 50 })),
        other: (tx) => tx.rv.spawn({ key: "d", prof: "spec", inst_id: "q:2", due_off: 50 }),
        report: (tx) => [tx.rv.report("b", { won: true }), tx.rv.report("a", { won: false })]
      })
      for (const name of ["spawn", "other", "report"]) yield* ask(space, name)
      const outcomes = yield* Effect.forEach(
        ["a", "b", "c", "d"],
        (key) => Effect.map(entry(space, key), (entry) => (entry as { readonly state: string }).state)
      )
      assert.deepStrictEqual(outcomes, ["killed", "applied", "killed", "pending"])
      assert.deepStrictEqual(yield* Effect.forEach(["a", "b", "c", "d"], (key) => events(space, key)), [[3], [3], [3], []])
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("spec sends the events of killed variants in the order of their keys, whatever the order of spawns", () =>
    Effect.gen(function*() {
      const spawn = (key: string) => (tx: Transaction) => tx.rv.spawn({ key, prof: "spec", inst_id: "q", due_off: 50 })
      const space = yield* RendezvousSpace.space({ c: spawn("c"), b: spawn("b"), a: spawn("a"), report: (tx) => tx.rv.report("c", {}) })
      for (const name of ["c", "b", "a", "report"]) yield* ask(space, name)
      yield* RendezvousSpace.isReplayedEqual(space)
    }))
})

describe("Two runs of one beat", () => {
  test("conflict if they report on one rendezvous: the first report is applied, the second is refused a beat later", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space(
        { spawn: (tx) => tx.rv.spawn({ key: "job" }) },
        ["x", "y"].map((by) => enzyme(by, (tx) => tx.rv.report("job", { by }), { query: "/signals/both" }))
      )
      yield* ask(space, "spawn")
      const { id } = yield* space.signal({ signal: "/signals/both", payload: 1 })
      yield* steps(space, 3)
      const { handlings } = (yield* space.receipt(id))!
      assert.deepStrictEqual(handlings.map(({ beat, enzyme, value }) => [enzyme, beat, value]), [["x", 2, true], ["y", 3, false]])
      assert.deepInclude(yield* event(space, "job"), { telemetry: { by: "x" } })
      assert.deepStrictEqual(yield* events(space, "job"), [2])
      yield* RendezvousSpace.isReplayedEqual(space)
    }))
})

describe("Pending rendezvous", () => {
  it.effect("continue after a power cut between any two steps, with one event for each completion", () =>
    Effect.gen(function*() {
      const verbs = {
        spawn: (tx: Transaction) => {
          tx.rv.spawn({ key: "late", due_off: 2, max_grace: 2, grace_delta: 1 })
          tx.rv.spawn({ key: "epoch", prof: "rv-epoch", epoch_k: 2 })
          tx.rv.spawn({ key: "kill", due_off: 30, kill_mode: "stop", kill_wait: 4 })
        },
        report: (tx: Transaction) => tx.rv.report("epoch", { at: tx.beat })
      }
      const story = Effect.fnUntraced(function*(cut: boolean) {
        const machine = yield* TestMachine.make
        let space = yield* RendezvousSpace.begin(yield* machine.boot(RendezvousSpace.enzymes(verbs)))
        yield* ask(space, "spawn")
        for (let beat = 2; beat < 12; beat++) {
          if (cut) space = yield* machine.boot(RendezvousSpace.enzymes(verbs))
          if (beat % 4 === 0) yield* ask(space, "report")
          else yield* space.step
        }
        const told: Array<unknown> = []
        for (const key of ["late", "epoch", "kill"]) {
          told.push([yield* entry(space, key), yield* event(space, key), yield* events(space, key)])
        }
        yield* RendezvousSpace.isReplayedEqual(space)
        return told.map((one) => JSON.stringify(one).replaceAll(/"token_id":"[0-9a-f]+"/g, ""))
      })
      assert.deepStrictEqual(yield* story(true), yield* story(false))
    }).pipe(RendezvousSpace.granted))

  it.effect("set one wake of an idle space, which then skips to the due beat", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const space = yield* machine.boot(
        RendezvousSpace.enzymes({ spawn: (tx) => tx.rv.spawn({ key: "job", due: 50, deadline: 60 }) }),
        { pace: "demand", tempo: 100 }
      )
      yield* space.handled({ signal: "/CEP:sig_sys/init" })
      yield* space.handled({ signal: "/signals/do", payload: "spawn" })
      const before = yield* space.head
      yield* TestClock.adjust(4000)
      yield* turns()
      assert.strictEqual(yield* space.head, before)
      yield* TestClock.adjust(5000)
      yield* turns()
      yield* space.idle
      assert.deepInclude(yield* event(space, "job"), { outcome: "timeout", beat: "60" })
      const head = yield* space.head
      const beats = yield* space.examine(({ store }) => [...store.scanJournal(before + 1, head)].map(({ beat }) => beat))
      assert.deepStrictEqual(beats, [50, 60, 61])
    }).pipe(RendezvousSpace.granted))

  test("cost a beat no work: it reads the due ones only", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({
        many: (tx) => {
          for (let i = 0; i < 2000; i++) tx.rv.spawn({ key: `idle${i}`, due: 1_000_000 })
        },
        few: (tx) => {
          for (let i = 0; i < 10; i++) tx.rv.spawn({ key: `soon${i}`, due: tx.beat + 2 })
        }
      })
      yield* ask(space, "many")
      const head = yield* space.head
      yield* ask(space, "few")
      yield* steps(space, 2)
      const mets = yield* space.examine(({ store }) => [...store.scanJournal(head, head + 4)].map(({ text }) => {
        const { cells, met = [] } = JSON.parse(text) as { readonly met?: ReadonlyArray<string>; readonly cells: ReadonlyArray<unknown> }
        return [met.length, met.length === 0 ? 0 : cells.length]
      }))
      assert.deepStrictEqual(mets, [[0, 0], [0, 0], [0, 0], [10, 10]])
    }))

  it.effect("that are due at once are spread over beats by the limit, and each completes once", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const space = yield* RendezvousSpace.begin(yield* machine.boot(RendezvousSpace.enzymes({
        many: (tx) => {
          for (let i = 0; i < 25; i++) tx.rv.spawn({ key: `job${i}`, due: 3, deadline: 3 })
        }
      }), { limits: { ...TestKernel.settings.limits, captureSignals: 10 } }))
      yield* ask(space, "many")
      yield* steps(space, 6)
      const { rendezvous } = yield* space.rv.list({ limit: 100 })
      assert.deepStrictEqual([...new Set(rendezvous.map(({ state }) => state))], ["timeout"])
      for (let i = 0; i < 25; i++) assert.lengthOf(yield* events(space, `job${i}`), 1)
      yield* RendezvousSpace.isReplayedEqual(space)
    }).pipe(RendezvousSpace.granted))
})

describe("A report with an invalid token", () => {
  test("is refused at once, without a beat and without an entry in the journal", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space()
      const spawned = yield* controlled(space, space.rv.spawn({ key: "k", due_off: 50 }))
      const token = spawned._tag === "Success" ? spawned.success.token : ""
      for (const [key, shown] of [["k", "0"], ["none", token], ["a/b", token]] as const) {
        assert.strictEqual((yield* Effect.flip(space.rv.report(key, { telemetry: { x: 1 }, token: shown }))).code, "rv/token", key)
      }
      assert.strictEqual(yield* codeOf(space, space.rv.report("k", { telemetry: { x: 1 }, token })), "done")
    }))
})
