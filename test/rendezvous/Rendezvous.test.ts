import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { Space, Transaction } from "systole"
import type { Entry } from "../../src/rendezvous/Entry.ts"
import * as Entries from "../../src/rendezvous/Entry.ts"
import { nextDue, transition } from "../../src/rendezvous/Transition.ts"
import { isOver } from "../../src/stage/Due.ts"
import { controlled, enzyme, steps, turns } from "../kernel/TestSpace.ts"
import * as TestMachine from "../kernel/TestMachine.ts"
import * as Dice from "../support/Dice.ts"
import * as TestKernel from "../support/TestKernel.ts"
import * as RendezvousSpace from "./RendezvousSpace.ts"

const { ask, entry, event, events } = RendezvousSpace

const test = (name: string, run: () => Effect.Effect<void, unknown, Effect.Services<ReturnType<typeof RendezvousSpace.space>>>) =>
  it.effect(name, () => run().pipe(Effect.provide(TestKernel.layer()), RendezvousSpace.granted))

const codeOf = Effect.fnUntraced(function*<A, E extends { readonly code: string }>(space: Space, asked: Effect.Effect<A, E>) {
  const answer = yield* controlled(space, asked)
  return answer._tag === "Failure" ? answer.failure.code : "done"
})

const blank: Entry = {
  state: "pending", prof: "rv-fixed", spawn_beat: 0, due: 0, due_ms: 0, epoch_k: 0, input_fp: 0, deadline: 0, deadline_ms: 0, grace_delta: 0, max_grace: 0, kill_wait: 0, kill_ms: 0, event_flag: 0,
  grace_used: 0, on_miss: "timeout", kill_mode: "none", cas_hash: "", signal_path: "x", inst_id: undefined, token_id: "", telemetry: {}
}

describe("the table of transitions", () => {
  it("does nothing before the first of the times that nextDue names, and something then", () => {
    const roll = Dice.make(7)
    for (let n = 0; n < 3000; n++) {
      let own: Entry = {
        ...blank,
        state: Dice.pick(roll, ["pending", "ready", "late", "applied", "timeout", "killed", "quarantine"] as const),
        prof: Dice.pick(roll, Entries.profiles),
        due: roll(8),
        due_ms: roll(2) * roll(80),
        epoch_k: roll(3),
        deadline: roll(2) * roll(12),
        deadline_ms: roll(2) * roll(120),
        grace_delta: roll(3),
        max_grace: roll(3),
        grace_used: roll(3),
        kill_wait: roll(4),
        kill_ms: roll(2) * roll(40),
        kill_mode: Dice.pick(roll, ["none", "none", "kill"]),
        on_miss: Dice.pick(roll, Entries.misses),
        event_flag: roll(2)
      }
      let now = { beat: 0, now: 0, tempo: 10 }
      let next = nextDue(own, now)
      while (now.beat < 40) {
        now = { ...now, beat: now.beat + 1 + roll(2), now: now.now + roll(25) }
        const step = transition(own, now)
        const at = `${JSON.stringify(own)} at ${JSON.stringify(now)}`
        if (!next.some((due) => isOver(due, now))) {
          assert.isUndefined(step === undefined || Entries.write(step.entry).text === Entries.write(own).text ? undefined : step, at)
          continue
        }
        assert.isDefined(step, at)
        own = step!.entry
        next = nextDue(own, now)
      }
    }
  })

  it("gives each completion one event, and changes what is over no more", () => {
    for (const state of ["applied", "timeout", "killed"] as const) {
      const now = { beat: 5, now: 0, tempo: 10 }
      const told = transition({ ...blank, state, event_flag: 1 }, now)!
      assert.deepStrictEqual([told.event, told.entry.event_flag], [state, 0])
      assert.isUndefined(transition(told.entry, { ...now, beat: 6 }))
      assert.deepStrictEqual(nextDue(told.entry, { ...now, beat: 6 }), [])
    }
  })

  it("keeps an entry as it was read", () => {
    const own: Entry = { ...blank, due: 12, inst_id: "a:b", telemetry: { a: [1] }, max_grace: 3 }
    const document = Entries.write(own)
    assert.deepStrictEqual(Entries.read(document.plain), own)
    assert.deepStrictEqual(Entries.read({ state: "odd", due: "-4", deadline: "x", max_grace: "3" }), { ...blank, max_grace: 3, signal_path: "" })
    for (const value of [undefined, null, 3, "x", [1]]) assert.isUndefined(Entries.read(value))
  })
})

describe("what cannot be taken", () => {
  const bad = [
    {}, { key: "" }, { key: "a/b" }, { key: 3 }, { key: "job", due: -1 }, { key: "job", due: "soon" }, { key: "job", due: 1.5 }, { key: "job", due: "-1" }, { key: "job", due_off: -1 },
    { key: "job", deadline: Number.MAX_SAFE_INTEGER }, { key: "job", max_grace: null }, { key: "job", prof: "rv-other" }, { key: "job", on_miss: "cry" }, { key: "job", signal_path: "a//b" },
    { key: "job", inst_id: "a b" }, { key: "job", telemetry: 3 }, { key: "job", dew: 3 }, { key: "job", prof: "rv-epoch", epoch_k: 0 }, { key: "job", kill_mode: "" }, [], "job", 3
  ]

  test("from outside is refused by name, and leaves the ledger as it was", () =>
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
        [rv.spawn(undefined as never), "rv/no-spec"],
        [rv.spawn({ key: "x", telemetry: { a: Number.NaN } }), "value/invalid"],
        [rv.report("none", {}), "rv/absent"],
        [rv.report("a/b", {}), "rv/absent"],
        [rv.report("done", {}), "rv/finished"],
        [rv.kill("done"), "rv/finished"],
        [rv.resched("done", 1), "rv/finished"],
        [rv.report("open", [] as never), "rv/invalid"],
        [rv.report("open", 3), "rv/invalid"],
        [rv.kill("open", { wait: -1 }), "rv/invalid"],
        [rv.kill("open", { mode: "a b" }), "rv/invalid"],
        [rv.kill("open", { wait: 1001 }), "rv/invalid"],
        [rv.spawn({ key: "x", max_grace: 1001 }), "rv/invalid"],
        [rv.spawn({ key: "x", kill_wait: "1001" }), "rv/invalid"],
        [rv.resched("open", 0.5), "rv/invalid"],
        [rv.resched("open", "1" as never), "rv/invalid"],
        [rv.kill(3 as never), "rv/invalid"],
        [rv.report("open", {}, { token: "0".repeat(64) }), "rv/token"],
        [rv.report("none", {}, { token: "0".repeat(64) }), "rv/token"]
      ] as ReadonlyArray<readonly [Effect.Effect<unknown, { readonly code: string }>, string]>
      for (const [i, [asked, code]] of refusals.entries()) assert.strictEqual(yield* codeOf(space, asked), code, `${i}`)
      assert.strictEqual(yield* RendezvousSpace.digest(space), before)
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("in a run aborts it, and leaves the ledger as it was", () =>
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

  test("is a spawn over a completion that nobody was told of yet, which the next beat takes", () =>
    Effect.gen(function*() {
      const spawn = (tx: Transaction) => tx.rv.spawn({ key: "job", due_off: 2, deadl_off: 0 }).length > 0
      const space = yield* RendezvousSpace.space({ spawn, both: (tx) => [tx.rv.report("job", {}), spawn(tx)] })
      assert.isTrue(yield* ask(space, "spawn"))
      assert.strictEqual(yield* ask(space, "both"), "rv/untold")
      // Its deadline is reached at the capture of the beat whose run spawns again.
      assert.strictEqual(yield* ask(space, "spawn"), "rv/untold")
      assert.deepStrictEqual(yield* events(space, "job"), [3])
      assert.isTrue(yield* ask(space, "spawn"))
      const report = yield* Effect.forkChild(space.rv.report("job", { n: 1 }), { startImmediately: true })
      const again = yield* Effect.forkChild(Effect.flip(space.rv.spawn({ key: "job" })), { startImmediately: true })
      yield* space.step
      yield* Fiber.join(report)
      assert.strictEqual((yield* Fiber.join(again)).code, "rv/untold")
      assert.deepStrictEqual(yield* events(space, "job"), [3, 5])
      assert.isTrue(yield* ask(space, "spawn"))
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("is a write into the ledger by anyone who was not granted that", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({
        write: (tx) => tx.set("/data/rv/job", { state: "applied" }),
        forge: (tx) => tx.set("/data/inbox/flow/inst_event/job", {})
      })
      for (const name of ["write", "forge"]) assert.strictEqual(yield* ask(space, name), "envelope/outside")
      assert.strictEqual((yield* Effect.flip(space.set("/data/rv/job", 1))).code, "cell/refused")
    }))
})

describe("a worker's token", () => {
  test("is good for its key alone, and until that is spawned again; the journal does not have it", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space()
      const spawn = (key: string) => Effect.map(controlled(space, space.rv.spawn({ key, due_off: 10 })), (answer) => (answer as { readonly success: { readonly token: string } }).success.token)
      const [one, two, old] = [yield* spawn("one"), yield* spawn("two"), yield* spawn("again")]
      const again = yield* spawn("again")
      assert.strictEqual(new Set([one, two, old, again]).size, 4)
      for (const [key, token] of [["one", two], ["two", one], ["again", old]] as const) assert.strictEqual(yield* codeOf(space, space.rv.report(key, {}, { token })), "rv/token")
      for (const [key, token] of [["one", one], ["two", two], ["again", again]] as const) assert.strictEqual(yield* codeOf(space, space.rv.report(key, { by: key }, { token })), "done")
      assert.deepInclude(yield* event(space, "two"), { telemetry: { by: "two" } })
      const head = yield* space.head
      const journal = yield* space.examine(({ store }) => [...store.scanJournal(0, head)].map(({ text }) => text).join("\n"))
      for (const token of [one, two, old, again]) assert.notInclude(journal, token)
      yield* RendezvousSpace.isReplayedEqual(space)
    }))
})

describe("profiles", () => {
  test("take what is not said from the cell of their defaults, which user code may write", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({
        defaults: (tx) => tx.set("/defaults/rv-fixed", { due_off: "7", deadl_off: 5, max_grace: "2", on_miss: "kill", telemetry: { from: "defaults" }, signal: "app:done" }),
        spawn: (tx) => tx.rv.spawn({ key: "job", on_miss: "grace" })
      })
      yield* ask(space, "defaults")
      yield* ask(space, "spawn")
      assert.deepInclude(yield* entry(space, "job"), { spawn_beat: "2", due: "9", deadline: "14", max_grace: "2", on_miss: "grace", signal_path: "app:done", telemetry: { from: "defaults" } })
    }))

  test("rv-cas is applied with content that is kept, and set aside with any other", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({
        keep: (tx) => tx.blob(new Uint8Array([1, 2, 3])),
        spawn: (tx) => ["good", "bad", "none"].map((key) => tx.rv.spawn({ key, prof: "rv-cas", input: { n: 1 } })),
        bad: (tx) => [tx.rv.report("bad", { cas_hash: "0".repeat(64) }), tx.rv.report("none", { cas_hash: 3 }), tx.rv.report("none", { again: true })],
        kill: (tx) => tx.rv.kill("bad")
      })
      const address = (yield* ask(space, "keep")) as string
      yield* ask(space, "spawn")
      yield* ask(space, "bad")
      assert.strictEqual(yield* codeOf(space, space.rv.report("good", { cas_hash: address })), "done")
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

  test("an observer keeps what it is told, is never late and tells nobody", () =>
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

  test("of several variants the first that is applied wins, also of two in one beat, and the others are killed", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({
        spawn: (tx) => ["a", "b", "c"].map((key) => tx.rv.spawn({ key, prof: "spec", inst_id: "q:1", due_off: 50 })),
        other: (tx) => tx.rv.spawn({ key: "d", prof: "spec", inst_id: "q:2", due_off: 50 }),
        report: (tx) => [tx.rv.report("b", { won: true }), tx.rv.report("a", { won: false })]
      })
      for (const name of ["spawn", "other", "report"]) yield* ask(space, name)
      const outcomes = yield* Effect.forEach(["a", "b", "c", "d"], (key) => Effect.map(entry(space, key), (entry) => (entry as { readonly state: string }).state))
      assert.deepStrictEqual(outcomes, ["killed", "applied", "killed", "pending"])
      assert.deepStrictEqual(yield* Effect.forEach(["a", "b", "c", "d"], (key) => events(space, key)), [[3], [3], [3], []])
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("that lose are told of in the order of their keys, in whichever they were spawned", () =>
    Effect.gen(function*() {
      const spawn = (key: string) => (tx: Transaction) => tx.rv.spawn({ key, prof: "spec", inst_id: "q", due_off: 50 })
      const space = yield* RendezvousSpace.space({ c: spawn("c"), b: spawn("b"), a: spawn("a"), report: (tx) => tx.rv.report("c", {}) })
      for (const name of ["c", "b", "a", "report"]) yield* ask(space, name)
      yield* RendezvousSpace.isReplayedEqual(space)
    }))
})

describe("two runs of one beat", () => {
  test("that report on one rendezvous are in conflict: one is taken in, and the other is told that it is over", () =>
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

describe("rendezvous that wait", () => {
  it.effect("go on after a power cut between any two steps, with one event for each completion", () =>
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
        for (const key of ["late", "epoch", "kill"]) told.push([yield* entry(space, key), yield* event(space, key), yield* events(space, key)])
        yield* RendezvousSpace.isReplayedEqual(space)
        return told.map((one) => JSON.stringify(one).replaceAll(/"token_id":"[0-9a-f]+"/g, ""))
      })
      assert.deepStrictEqual(yield* story(true), yield* story(false))
    }).pipe(RendezvousSpace.granted))

  it.effect("arm one wake for an idle space, which then skips to the beat that is due", () =>
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

  test("cost a beat nothing: of many, those that are due are looked at and no other", () =>
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

  it.effect("that are due at once take as many beats as the limit asks for, and each has its turn", () =>
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

describe("a worker who shows a token that is not good", () => {
  test("is refused at once, and has no beat and nothing in the journal", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space()
      const spawned = yield* controlled(space, space.rv.spawn({ key: "k", due_off: 50 }))
      const token = spawned._tag === "Success" ? spawned.success.token : ""
      for (const [key, shown] of [["k", "0"], ["none", token], ["a/b", token]] as const) {
        assert.strictEqual((yield* Effect.flip(space.rv.report(key, { x: 1 }, { token: shown }))).code, "rv/token", key)
      }
      assert.strictEqual(yield* codeOf(space, space.rv.report("k", { x: 1 }, { token })), "done")
    }))
})
