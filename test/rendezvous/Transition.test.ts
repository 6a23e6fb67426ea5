import { assert, describe, it } from "@effect/vitest"
import type { Entry } from "../../src/rendezvous/Entry.ts"
import * as Entries from "../../src/rendezvous/Entry.ts"
import { nextDue, released, transition } from "../../src/rendezvous/Transition.ts"
import { isOver } from "../../src/stage/Due.ts"
import * as Random from "../support/Random.ts"

const blank: Entry = {
  state: "pending",
  prof: "rv-fixed",
  spawn_beat: 0,
  due: 0,
  due_ms: 0,
  epoch_k: 0,
  input_fp: 0,
  deadline: 0,
  deadline_ms: 0,
  grace_delta: 0,
  max_grace: 0,
  grace_used: 0,
  on_miss: "timeout",
  kill_mode: "none",
  kill_wait: 0,
  kill_ms: 0,
  event_flag: 0,
  cas_hash: "",
  signal_path: "x",
  inst_id: undefined,
  token_id: "",
  telemetry: {}
}

describe("The table of transitions", () => {
  it("changes no entry before the first time of nextDue, and changes it then", () => {
    const draw = Random.make(7)
    for (let n = 0; n < 3000; n++) {
      let own: Entry = {
        ...blank,
        state: Random.pick(draw, ["pending", "ready", "late", "applied", "timeout", "killed", "quarantine"] as const),
        prof: Random.pick(draw, Entries.profiles),
        due: draw(8),
        due_ms: draw(2) * draw(80),
        epoch_k: draw(3),
        deadline: draw(2) * draw(12),
        deadline_ms: draw(2) * draw(120),
        grace_delta: draw(3),
        max_grace: draw(3),
        grace_used: draw(3),
        kill_wait: draw(4),
        kill_ms: draw(2) * draw(40),
        kill_mode: Random.pick(draw, ["none", "none", "kill"]),
        on_miss: Random.pick(draw, Entries.misses),
        event_flag: draw(2)
      }
      let now = { beat: 0, clock: 0, tempo: 10 }
      let next = nextDue(own, now)
      while (now.beat < 40) {
        now = { ...now, beat: now.beat + 1 + draw(2), clock: now.clock + draw(25) }
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

  it("writes one event for each completion, and changes no finished entry", () => {
    for (const state of ["applied", "timeout", "killed"] as const) {
      const now = { beat: 5, clock: 0, tempo: 10 }
      const told = transition({ ...blank, state, event_flag: 1 }, now)!
      assert.deepStrictEqual([told.event, told.entry.event_flag], [state, 0])
      assert.isUndefined(transition(told.entry, { ...now, beat: 6 }))
      assert.deepStrictEqual(nextDue(told.entry, { ...now, beat: 6 }), [])
    }
  })

  it("reads an entry as it was written, with defaults for invalid fields", () => {
    const own: Entry = { ...blank, due: 12, inst_id: "a:b", telemetry: { a: [1] }, max_grace: 3 }
    const document = Entries.write(own)
    assert.deepStrictEqual(Entries.read(document.plain), own)
    assert.deepStrictEqual(
      Entries.read({ state: "odd", due: "-4", deadline: "x", max_grace: "3" }),
      { ...blank, max_grace: 3, signal_path: "" }
    )
    for (const value of [undefined, null, 3, "x", [1]]) assert.isUndefined(Entries.read(value))
  })

  it("gives a released entry its time again, and replays earlier beats with their rule", () => {
    const graces = { grace_delta: 3, grace_used: 2, max_grace: 2 }
    const quarantined: Entry = { ...blank, ...graces, state: "quarantine", spawn_beat: 10, due: 26, due_ms: 260 }
    const now = { beat: 50, clock: 500, tempo: 10 }
    const due = (semantics: number, changed: Partial<Entry> = {}) => {
      const { due, due_ms, grace_used, state } = released({ ...quarantined, ...changed }, { ...now, semantics })
      return [state, due, due_ms, grace_used]
    }
    assert.deepStrictEqual(due(1), ["ready", 50, 500, 0])
    assert.deepStrictEqual(due(2), ["ready", 60, 600, 0])
    // An absolute due beat becomes a number of beats from now.
    assert.deepStrictEqual(due(2, { due_ms: 0 }), ["ready", 60, 600, 0])
    assert.deepStrictEqual(due(2, { prof: "rv-epoch", epoch_k: 7 }), ["ready", 57, 570, 0])
    assert.deepStrictEqual(due(2, { spawn_beat: 20 }), ["ready", 51, 510, 0])
  })
})
