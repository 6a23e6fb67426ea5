import { assert, describe, it } from "@effect/vitest"
import type { Entry } from "../../src/rendezvous/Entry.ts"
import * as Entries from "../../src/rendezvous/Entry.ts"
import { nextDue, transition } from "../../src/rendezvous/Transition.ts"
import { isOver } from "../../src/stage/Due.ts"
import * as Dice from "../support/Dice.ts"

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

  it("writes one event for each completion, and changes no finished entry", () => {
    for (const state of ["applied", "timeout", "killed"] as const) {
      const now = { beat: 5, now: 0, tempo: 10 }
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
})
