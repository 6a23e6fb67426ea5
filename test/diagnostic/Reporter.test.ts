import { assert, describe, it } from "@effect/vitest"
import { PersistenceError, Reporter, SpaceStopped, type Told } from "systole"
import * as UnexpectedFailure from "../../src/diagnostic/UnexpectedFailure.ts"
import * as Diagnostic from "../../src/diagnostic/Diagnostic.ts"
import * as Printable from "../../src/diagnostic/Printable.ts"
import { line } from "../../src/diagnostic/Reporter.ts"
import { CodeMissing } from "../../src/durable/RunError.ts"
import { StoreDamaged } from "../../src/persistence/PersistenceError.ts"

const told = (more: Partial<Told> = {}): Told => ({
  ...Diagnostic.of("run/dead", { code: "run/failed", note: "gave up", origin: { kind: "enzyme", name: "resize" }, subject: "/signals/x" }),
  space: "home",
  beat: 3,
  ...more
})

describe("The reporter", () => {
  it("counts by space, severity and topic, and logs each fact", () => {
    const log: Array<string> = []
    const reporter = new Reporter((fact) => log.push(line(fact)))
    reporter.report(told())
    reporter.report(told({ beat: 4 }))
    reporter.report(told({ space: "shop", severity: "sev:warn" }))
    assert.deepStrictEqual(log, [
      "sev:crit run/dead home@3 resize: gave up (run/failed)", "sev:crit run/dead home@4 resize: gave up (run/failed)",
      "sev:warn run/dead shop@3 resize: gave up (run/failed)"
    ])
    assert.deepStrictEqual(reporter.counts("home"), [{ space: "home", severity: "sev:crit", topic: "run/dead", count: 2 }])
    assert.lengthOf(reporter.counts(), 2)
  })

  it("writes one line without control characters for every report", () => {
    const evil = "\u001b]0;owned\u0007\u001b[2J\u009b31m\r\n\u2028sev:debug all/well\u202e gnp\u007f"
    const text = line(told({ note: evil, topic: "x\u001b[1m", code: "y\u001b[0m", origin: { kind: "enzyme", name: evil } }))
    assert.match(text, /^[\u0020-\u007e\u00a0-\u061b]+$/)
    assert.include(text, "\\u001b[2J")
    assert.strictEqual(JSON.parse(Printable.lines(JSON.stringify(evil))), evil)
    assert.strictEqual(Printable.lines("a\tb\nc ä 😀"), "a\tb\nc ä 😀")
  })

  it("writes a line of bounded length, which ends with the remedy of its message", () => {
    const digest = "7".repeat(64)
    const reason = `Segment 0 has tx.get("/data/${"a".repeat(500)}"), and the code made another call`
    const { message } = new CodeMissing({ digest, reason })
    const text = line(told({ note: "hello waits for its module with x.0.0", raised: { message } }))
    assert.isBelow(text.length, 650)
    const remedy = `Start a build with --keep ${digest}, load a module that makes the same calls, or cancel the run`
    assert.isTrue(text.endsWith(`${remedy} (run/failed)`), text)
    assert.include(text, `The run began with module /cas/${digest}, which cannot be loaded`)
  })

  it("reports one failure once, however many callers receive it", () => {
    const log: Array<Told> = []
    const reporter = new Reporter((fact) => log.push(fact))
    const failure = new SpaceStopped({ space: "home", reason: "the disk is full" })
    reporter.report(UnexpectedFailure.of(failure))
    reporter.report(UnexpectedFailure.of(failure))
    assert.deepStrictEqual(log.map(({ space, topic }) => [space, topic]), [["home", "space/stopped"]])
  })

  it("counts diagnostics beyond the limit of topics under one", () => {
    const reporter = new Reporter(() => {})
    for (let i = 0; i < 10_010; i++) reporter.report(told({ topic: `order/${i}` }))
    assert.deepStrictEqual(reporter.counts().filter(({ topic }) => topic === "other"), [
      { space: undefined, severity: "sev:crit", topic: "other", count: 10 }
    ])
  })
})

describe("An accident", () => {
  it("is a store error, a stopped space or an unexpected failure, for every thrown value", () => {
    const damaged = new PersistenceError({ reason: new StoreDamaged({ space: "home", place: "home.sqlite", detail: "torn" }) })
    const unreadable = { toString: () => {
      throw new Error("no")
    } }
    const topic = (failure: unknown) => UnexpectedFailure.of(failure).topic
    assert.strictEqual(topic(damaged), "store/trouble")
    assert.strictEqual(topic(new SpaceStopped({ space: "home", reason: "no" })), "space/stopped")
    const forged = [{ code: "space/stopped" }, { topic: "space/stopped", _tag: "SpaceStopped" }]
    for (const failure of [new TypeError("no"), "no", undefined, null, 7, unreadable, { code: "EACCES" }, ...forged]) {
      assert.strictEqual(topic(failure), "runtime/accident")
    }
    assert.strictEqual(line(UnexpectedFailure.of(new TypeError("it\n  is null"))), "sev:crit runtime/accident: TypeError: it is null")
  })
})
