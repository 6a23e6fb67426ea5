import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Link, type RendezvousSpec, type Transaction } from "systole"
import { controlled, enzyme, steps } from "../kernel/TestSpace.ts"
import * as TestMachine from "../kernel/TestMachine.ts"
import * as RendezvousSpace from "../rendezvous/RendezvousSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

const test = (name: string, run: () => Effect.Effect<void, unknown, Effect.Services<ReturnType<typeof RendezvousSpace.space>>>) =>
  it.effect(name, () => run().pipe(Effect.provide(TestKernel.layer()), RendezvousSpace.granted))

const spawning = (spec: Omit<RendezvousSpec, "key"> & { readonly key?: string }) =>
  ({ spawn: (tx: Transaction) => tx.rv.spawn({ key: "job", ...spec }) })

const { ask, entry, event, events } = RendezvousSpace

/** The states of the entry `job` after each of this number of beats. */
const states = Effect.fnUntraced(function*(space: Effect.Success<ReturnType<typeof RendezvousSpace.space>>, count: number) {
  const seen: Array<string> = []
  for (let i = 0; i < count; i++) {
    const beat = yield* space.step
    const {
      due, grace_used, state
    } = yield* entry(space, "job") as Effect.Effect<{ readonly state: string; readonly due: string; readonly grace_used: string }>
    seen.push(`${beat} ${state} ${due} ${grace_used}`)
  }
  return seen
})

describe("E: rendezvous", () => {
  test("E1 an entry with a due beat alone is pending, with every other field as text", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space(spawning({ due: 5 }))
      yield* ask(space, "spawn")
      const { token_id, ...rest } = yield* entry(space, "job") as Effect.Effect<{ readonly token_id: string }>
      assert.deepStrictEqual(rest as unknown, {
        state: "pending", prof: "rv-fixed", spawn_beat: "1", due: "5", epoch_k: "0", input_fp: "0", deadline: "0",
        grace_delta: "0", max_grace: "0", kill_wait: "0",
        grace_used: "0", event_flag: "0", on_miss: "timeout", kill_mode: "none", cas_hash: "", signal_path: "CEP:sig_rv/job", telemetry: {}
      })
      assert.match(token_id, /^[0-9a-f]{64}$/)
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("E2 the signal of an entry is derived from its key's tag, or kept as given", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({
        all: (tx) => {
          tx.rv.spawn({ key: "app:one" })
          tx.rv.spawn({ key: "two", signal_path: "app:done/two" })
        }
      })
      yield* ask(space, "all")
      assert.deepInclude(yield* entry(space, "app:one"), { signal_path: "CEP:sig_rv/one" })
      assert.deepInclude(yield* entry(space, "two"), { signal_path: "app:done/two" })
    }))

  test("E3, E4 a due entry is ready and stays so, and its report gives exactly one event, with the telemetry", () =>
    Effect.gen(function*() {
      const heard: Array<unknown> = []
      const space = yield* RendezvousSpace.space({ ...spawning({}), report: (tx) => tx.rv.report("job", { frames: [1, 2] }) },
        [enzyme("heard", (tx, { payload, signal, target }) => {
          heard.push([tx.beat, signal, target, (payload as { readonly outcome: string }).outcome])
        }, { query: "/CEP:sig_rv/*", bind: ["/data/inbox/flow"] })])
      yield* ask(space, "spawn")
      assert.deepStrictEqual(yield* states(space, 2), ["2 ready 1 0", "3 ready 1 0"])
      assert.isUndefined(yield* event(space, "job"))
      assert.isTrue(yield* ask(space, "report"))
      yield* space.step
      assert.deepStrictEqual(
        yield* event(space, "job"),
        {
          key: "job", beat: "4", outcome: "applied", state: "applied", signal_path: "CEP:sig_rv/job", telemetry: { frames: [1, 2] }
        } as never
      )
      assert.deepInclude(yield* entry(space, "job"), { state: "applied", event_flag: "0", telemetry: { frames: [1, 2] } })
      yield* steps(space, 5)
      assert.deepStrictEqual(yield* events(space, "job"), [4])
      assert.deepStrictEqual(heard, [[5, "/CEP:sig_rv/job", "/data/inbox/flow/inst_event/job", "applied"]])
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("E5 an immediate kill takes effect in the next scan, with its event", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({ ...spawning({ due: 50 }), kill: (tx) => tx.rv.kill("job", { mode: "kill", wait: 0 }) })
      yield* ask(space, "spawn")
      assert.isTrue(yield* ask(space, "kill"))
      yield* space.step
      assert.deepInclude(yield* entry(space, "job"), { state: "killed", kill_mode: "none", kill_wait: "0" })
      assert.deepInclude(yield* event(space, "job"), { outcome: "killed", state: "killed" })
      yield* steps(space, 3)
      assert.deepStrictEqual(yield* events(space, "job"), [3])
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("E7 a late entry uses its grace first, and then times out", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space(spawning({ due: 3, grace_delta: 1, max_grace: 1, on_miss: "timeout" }))
      yield* ask(space, "spawn")
      assert.deepStrictEqual(yield* states(space, 5), ["2 pending 3 0", "3 ready 3 0", "4 late 4 1", "5 timeout 4 1", "6 timeout 4 1"])
      assert.deepInclude(yield* event(space, "job"), { outcome: "timeout" })
      assert.deepStrictEqual(yield* events(space, "job"), [5])
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("E8 with on_miss grace it is postponed, and then late until a report", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({
        ...spawning({ due: 3, on_miss: "grace", grace_delta: 2, max_grace: 1 }),
        report: (tx) => tx.rv.report("job")
      })
      yield* ask(space, "spawn")
      assert.deepStrictEqual((yield* states(space, 7)).slice(1), [
        "3 ready 3 0", "4 late 5 1", "5 late 5 1", "6 late 5 1", "7 late 5 1", "8 late 5 1"
      ])
      yield* ask(space, "report")
      assert.deepStrictEqual(yield* events(space, "job"), [9])
    }))

  test("E10 a deadline ends it in its beat, and not before", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space(spawning({ due: 2, deadline: 4 }))
      yield* ask(space, "spawn")
      assert.deepStrictEqual(yield* states(space, 4), ["2 ready 2 0", "3 ready 2 0", "4 timeout 2 0", "5 timeout 2 0"])
      assert.deepStrictEqual(yield* events(space, "job"), [4])
    }))

  test("E11 with on_miss kill it is killed when its grace is used up", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space(spawning({ due: 2, on_miss: "kill", grace_delta: 1, max_grace: 1 }))
      yield* ask(space, "spawn")
      assert.deepStrictEqual(yield* states(space, 3), ["2 ready 2 0", "3 late 3 1", "4 killed 3 1"])
      assert.deepInclude(yield* event(space, "job"), { outcome: "killed" })
    }))

  test("E13 an rv-epoch is pending again after each report, and each report gives an event", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({
        ...spawning({ prof: "rv-epoch", epoch_k: 3, grace_delta: 1, max_grace: 5 }),
        report: (tx) => tx.rv.report("job", { at: tx.beat })
      })
      yield* ask(space, "spawn")
      assert.deepStrictEqual(yield* states(space, 2), ["2 ready 1 0", "3 late 2 1"])
      yield* ask(space, "report")
      assert.deepInclude(yield* event(space, "job"), { outcome: "applied", telemetry: { at: 4 } })
      assert.deepInclude(yield* entry(space, "job"), { state: "pending", due: "7", grace_used: "0", event_flag: "0" })
      assert.deepStrictEqual(yield* states(space, 3), ["5 pending 7 0", "6 pending 7 0", "7 ready 7 0"])
      yield* ask(space, "report")
      assert.deepInclude(yield* event(space, "job"), { outcome: "applied", telemetry: { at: 8 } })
      assert.deepInclude(yield* entry(space, "job"), { state: "pending", due: "11" })
      assert.deepStrictEqual(yield* events(space, "job"), [4, 8])
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("E15 it is postponed by exactly the given beats, and killed after the given scans", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({
        ...spawning({ due: 20 }),
        later: (tx) => tx.rv.resched("job", 3),
        kill: (tx) => tx.rv.kill("job", { mode: "stop", wait: 3 })
      })
      yield* ask(space, "spawn")
      assert.isTrue(yield* ask(space, "later"))
      assert.deepInclude(yield* entry(space, "job"), { due: "23" })
      yield* ask(space, "kill")
      const seen: Array<unknown> = []
      for (let i = 0; i < 3; i++) {
        yield* space.step
        const { kill_mode, kill_wait, state } = yield* entry(space, "job") as Effect.Effect<Readonly<Record<string, string>>>
        seen.push([state, kill_mode, kill_wait])
      }
      assert.deepStrictEqual(seen, [["pending", "stop", "2"], ["pending", "stop", "1"], ["killed", "none", "0"]])
    }))

  test("E16 requests for an unknown key are refused, except a postponement by zero", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({
        all: (tx) => [tx.rv.resched("no", 1), tx.rv.kill("no"), tx.rv.report("no", {}), tx.rv.resched("no", 0)]
      })
      assert.deepStrictEqual(yield* ask(space, "all"), [false, false, false, true])
      assert.deepStrictEqual(yield* space.list("/data/rv"), [])
    }))

  test("E17 a spawn by a failed run, and an invalid report, leave the ledger unchanged", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({
        ...spawning({}),
        half: (tx) => {
          tx.rv.spawn({ key: "other" })
          tx.rv.report("job", { a: 1 })
          throw new Error("half way")
        },
        odd: (tx) => tx.rv.report("job", { a: (() => 1) as never }),
        large: (tx) => tx.rv.spawn({ key: "large", telemetry: { text: "x".repeat(2_000_000) } })
      })
      yield* ask(space, "spawn")
      yield* space.step
      const before = yield* RendezvousSpace.digest(space)
      assert.strictEqual(yield* ask(space, "half"), "run/failed")
      assert.strictEqual(yield* ask(space, "odd"), "value/invalid")
      assert.strictEqual(yield* ask(space, "large"), "value/invalid")
      assert.strictEqual(yield* RendezvousSpace.digest(space), before)
    }))

  it.effect("E19 a spawn without a specification, or before the ledger began, is refused with a code", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space(
        RendezvousSpace.enzymes({ none: (tx) => tx.rv.spawn(undefined as never), early: (tx) => tx.rv.spawn({ key: "job" }) })
      )
      assert.strictEqual(yield* ask(space, "none"), "rv/no-spec")
      assert.strictEqual(yield* ask(space, "early"), "rv/ledger-missing")
      const early = yield* controlled(space, space.rv.spawn({ key: "job" }))
      assert.strictEqual(early._tag === "Failure" && early.failure.code, "rv/ledger-missing")
      yield* RendezvousSpace.begin(space)
      assert.isString(yield* ask(space, "early"))
    }).pipe(Effect.provide(TestKernel.layer()), RendezvousSpace.granted))

  test("E20 an unknown state is read as pending", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space(spawning({ due: 4 }), [enzyme("odd", (tx) => tx.set("/data/rv/job#/state", "strange"))])
      yield* ask(space, "spawn")
      yield* space.signal({ signal: "/signals/odd" })
      assert.deepStrictEqual(yield* states(space, 3), ["2 strange 4 0", "3 strange 4 0", "4 ready 4 0"])
    }))

  test("E22 the event carries the id of its receiver", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({ ...spawning({ inst_id: "order:17" }), report: (tx) => tx.rv.report("job") })
      yield* ask(space, "spawn")
      yield* ask(space, "report")
      assert.deepInclude(yield* event(space, "job"), { inst_id: "order:17" })
    }))

  test("E33 an entry in quarantine is a diagnostic, and after a release its next correct report is accepted", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({
        keep: (tx) => tx.blob(new Uint8Array([1, 2, 3])),
        spawn: (tx) =>
          [
            tx.rv.spawn({ key: "job", prof: "rv-cas", deadline: 5 }),
            tx.rv.spawn({ key: "late", due_off: 1, max_grace: 1, on_miss: "quarantine" })
          ],
        wrong: (tx) => tx.rv.report("job", { cas_hash: "0".repeat(64) })
      })
      const address = (yield* ask(space, "keep")) as string
      yield* ask(space, "spawn")
      const facts = Effect.map(
        TestKernel.diagnostics(space),
        (facts) =>
          facts.map(({ note, sev, subject, topic }) => [topic, sev, note, (subject as unknown as Link.Link).$link].join(" ")).toSorted()
      )
      assert.deepStrictEqual(yield* facts, [])
      yield* ask(space, "wrong")
      yield* steps(space, 5)
      const fact = (key: string) => `rv/quarantine sev:warn rendezvous ${key} is in quarantine /data/rv/${key}`
      assert.deepStrictEqual(yield* facts, [fact("job"), fact("late")])
      assert.deepStrictEqual(yield* events(space, "job"), [])
      for (const key of ["job", "late"]) assert.strictEqual((yield* controlled(space, space.rv.release(key)))._tag, "Success")
      assert.deepInclude(yield* entry(space, "job"), { state: "ready", deadline: "0" })
      assert.deepInclude(yield* entry(space, "late"), { state: "ready", grace_used: "0" })
      const again = yield* controlled(space, space.rv.release("job"))
      assert.strictEqual(again._tag === "Failure" && again.failure.code, "rv/not-quarantined")
      yield* controlled(space, space.rv.report("job", { telemetry: { cas_hash: address } }))
      assert.deepInclude(yield* event(space, "job"), { outcome: "applied" })
      const over = yield* controlled(space, space.rv.release("job"))
      assert.strictEqual(over._tag === "Failure" && over.failure.code, "rv/finished")
      // The other one has no report, so it is quarantined again, with a further diagnostic.
      yield* steps(space, 3)
      assert.deepStrictEqual(yield* facts, [fact("job"), fact("late"), fact("late")])
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  it.effect("E24 a ledger begun again after a teardown is empty and usable", () =>
    Effect.gen(function*() {
      for (let cycle = 0; cycle < 3; cycle++) {
        const machine = yield* TestMachine.make
        const space = yield* RendezvousSpace.begin(
          yield* machine.boot(RendezvousSpace.enzymes({ ...spawning({}), report: (tx) => tx.rv.report("job") }))
        )
        assert.deepStrictEqual(yield* space.list("/data/rv"), [])
        yield* ask(space, "spawn")
        const again = yield* RendezvousSpace.begin(yield* machine.boot(RendezvousSpace.enzymes({ report: (tx) => tx.rv.report("job") })))
        assert.deepStrictEqual(yield* again.list("/data/rv"), ["job"])
        assert.isTrue(yield* ask(again, "report"))
        assert.deepInclude(yield* event(again, "job"), { outcome: "applied" })
      }
    }).pipe(RendezvousSpace.granted))
})
