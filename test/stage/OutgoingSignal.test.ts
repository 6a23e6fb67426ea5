import { assert, describe, it } from "@effect/vitest"
import type { SignalRequest } from "systole"
import { code, TestBeat } from "./TestBeat.ts"

const refused = (request: unknown): string => code(() => new TestBeat().draft().signal(request as SignalRequest))

describe("a signal that a run sends", () => {
  it("needs a signal path or a target", () => {
    assert.strictEqual(refused({}), "signal/invalid")
    assert.strictEqual(refused({ payload: 1 }), "signal/invalid")
    assert.strictEqual(refused({ signal: "/s" }), "none")
    assert.strictEqual(refused({ target: "/data/a" }), "none")
  })

  it("has a path of names", () => {
    for (const signal of ["s", "/", "/a//b", "/a/*", "/a?b", "/a#b", 7, null, "/a".repeat(65)]) {
      assert.strictEqual(refused({ signal }), "signal/invalid", String(signal))
    }
  })

  it("has a cell as its target, of any scope", () => {
    assert.strictEqual(refused({ target: "data" }), "address/invalid")
    assert.strictEqual(refused({ target: "/data/a#/x" }), "signal/invalid")
    const tx = new TestBeat().draft()
    tx.signal({ target: "/data/a?scope=user:1" })
    assert.strictEqual(tx.emissions[0]?.target, "/data/a?scope=user:1")
  })

  it("carries any value of a cell", () => {
    assert.strictEqual(refused({ signal: "/s", payload: () => 1 }), "value/invalid")
    const tx = new TestBeat().draft()
    tx.signal({ signal: "/s", payload: null })
    assert.strictEqual(tx.emissions[0]?.payload?.text, "null")
  })

  it("waits for a whole number of beats or milliseconds, or for a beat to come", () => {
    for (const at of [{ beats: -1 }, { beats: 0.5 }, { ms: Infinity }, { ms: "1" }, { beat: 7 }, { beat: 3 }, { beats: 2 ** 43 + 1 }]) {
      assert.strictEqual(refused({ signal: "/s", at }), "signal/invalid", JSON.stringify(at))
    }
    for (const at of [{ beats: 0 }, { beats: 2 ** 43 }, { ms: 0 }, { beat: 8 }]) {
      assert.strictEqual(refused({ signal: "/s", at }), "none", JSON.stringify(at))
    }
  })

  it("waits for exactly one of them", () => {
    for (const at of [null, 5, {}, { beat: 9, ms: 5 }, { other: 1 }]) {
      assert.strictEqual(refused({ signal: "/s", at }), "signal/invalid", JSON.stringify(at))
    }
  })

  it("that is refused leaves no change, and aborts the run", () => {
    const tx = new TestBeat().draft()
    code(() => tx.signal({}))
    assert.lengthOf(tx.emissions, 0)
    assert.isDefined(tx.refusal)
  })
})
