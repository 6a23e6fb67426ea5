import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Report, Space, Told, Transaction } from "systole"
import { CurrentReporter, Reaction as Node, Enzyme, Kernel, Link, Reporter, Retry } from "systole"
import { controlled, enzyme, steps, turns } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"
import { isReplayedEqual } from "./ReplayCheck.ts"

const report: Report = {
  severity: "sev:crit", topic: "order/stuck", code: "order/late", note: "nobody ships it", subject: "/data/orders/17", payload: { since: 4 }
}

const reporting = (more: Partial<Report>) => enzyme("reporting", (tx) => tx.report({ ...report, ...more }))

const post = (space: Space, signal: string) => Effect.andThen(space.signal({ signal }), space.step)

const start = (space: Space) => controlled(space, space.ops.start({ verb: "op/ship", target: "/data/orders/17", mode: "opm:states" }))

const OID = "OPS:0.x.0"

describe("D: diagnostics", () => {
  for (const severity of ["sev:fatal", "sev:crit", "sev:usage", "sev:warn", "sev:debug"] as const) {
    const fails = severity === "sev:fatal" || severity === "sev:crit" || severity === "sev:usage"
    it.effect(`D26 a diagnostic of ${severity} attached to an operation ${fails ? "closes it with sts:fail" : "leaves it open"}`, () =>
      Effect.gen(function*() {
        const space = yield* TestKernel.space([reporting({ severity, attach: OID })])
        yield* start(space)
        yield* post(space, "/signals/reporting")
        const dossier = yield* space.ops.get(OID)
        assert.strictEqual(dossier?.status, fails ? "sts:fail" : null)
        if (fails) assert.deepStrictEqual(dossier?.close?.summary, { code: "order/late", note: "nobody ships it" })
        assert.deepStrictEqual(dossier?.history.map(({ state }) => state), fails ? ["ist:run", "ist:fail"] : ["ist:run"])
        yield* isReplayedEqual(space)
      }).pipe(Effect.provide(TestKernel.layer())))
  }

  it.effect("D26 such a failure continues its awaiting enzymes, and a closed operation stays unchanged", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const space = yield* TestKernel.space([
        reporting({ attach: OID }),
        enzyme("close", (tx) => tx.op.close(OID, "sts:ok")),
        enzyme("hear", (tx, { signal }) => void log.push(`${signal} @${tx.beat}`), { query: "/op/*", bind: ["/rt/ops"] })
      ])
      yield* start(space)
      yield* controlled(space, space.ops.await(OID, { want: "sts:fail", signal: "/op/failed" }))
      yield* post(space, "/signals/reporting")
      yield* space.step
      assert.deepStrictEqual(log, ["/op/failed @3"])
      const other = yield* TestKernel.space([], "other")
      yield* start(other)
      yield* post(other, "/signals/close")
      yield* post(other, "/signals/reporting")
      assert.strictEqual((yield* other.ops.get(OID))?.status, "sts:ok")
      assert.lengthOf(yield* TestKernel.diagnostics(other), 1)
      yield* isReplayedEqual(other)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("D27 a diagnostic is sealed with its severity, topic, code, note, payload, beat, origin and a link to its subject", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([reporting({}), enzyme("scribble", (tx) => tx.set("/data/mailbox/diag/msgs/0.0", 1))])
      yield* controlled(space, space.set("/data/orders/17", { item: "tea" }))
      yield* post(space, "/signals/reporting")
      const place = "/data/mailbox/diag/msgs/1.0"
      const fact = (yield* space.get(place)) as Readonly<Record<string, unknown>>
      assert.deepInclude(fact, {
        sev: "sev:crit",
        topic: "order/stuck",
        code: "order/late",
        note: "nobody ships it",
        origin: { kind: "enzyme", name: "reporting" },
        subject: Link.make("/data/orders/17"),
        issued_beat: 1,
        issued_ms: 0
      })
      assert.deepStrictEqual(yield* space.get(`${place}#/payload_id`), { since: 4 })
      assert.strictEqual(yield* space.get(`${place}#/subject/item`), "tea")
      assert.strictEqual((yield* Effect.flip(space.set(place, 1))).code, "cell/refused")
      yield* post(space, "/signals/scribble")
      assert.strictEqual(((yield* space.get(place)) as typeof fact)["topic"], "order/stuck")
      assert.deepInclude((yield* TestKernel.diagnostics(space))[1] as object, {
        sev: "sev:usage",
        topic: "cell.store.readonly",
        subject: Link.make("/data/mailbox/diag/msgs/0.0"),
        origin: { kind: "enzyme", name: "scribble" }
      })
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("D28 a diagnostic with a signal has one line /CEP:sig_cei in the ledger of the next beat", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([reporting({ signal: true })])
      yield* post(space, "/signals/reporting")
      yield* space.step
      assert.deepStrictEqual(yield* TestKernel.ledger(space, 1, "inbox"), ["signal=/CEP:sig_cei/sev:crit target=-"])
      yield* space.step
      assert.deepStrictEqual(yield* TestKernel.ledger(space, 2, "inbox"), [])
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("D28 a diagnostic of the runtime is signalled by its address, if an enzyme takes the signal", () =>
    Effect.gen(function*() {
      const heard: Array<unknown> = []
      const space = yield* TestKernel.space([enzyme("fails", () => {
        throw new Error("no")
      })])
      yield* post(space, "/signals/fails")
      yield* space.step
      assert.deepStrictEqual(yield* TestKernel.ledger(space, 1, "inbox"), [])
      const alarm = Enzyme.make({
        name: "alarm",
        query: "/CEP:sig_cei/sev:crit",
        run: (tx, { payload }) => void heard.push([payload, (tx.get(payload as string) as { readonly topic?: string }).topic])
      })
      const same = yield* TestKernel.space([alarm])
      yield* post(same, "/signals/fails")
      yield* same.step
      assert.deepStrictEqual(heard, [["/data/mailbox/diag/msgs/2.0", "run/dead"]])
      yield* isReplayedEqual(same)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("D28 a failure at such a signal is a diagnostic without a further signal", () =>
    Effect.gen(function*() {
      const run = (tx: Transaction) => {
        tx.report({ severity: "sev:crit", topic: "alarm/off", note: "", signal: true })
        return tx.beat > 1 ? new Retry({ reason: "no" }) : undefined
      }
      const alarm = Enzyme.make({ name: "alarm", query: "/CEP:sig_cei/*", retry: { attempts: 1 }, run })
      const space = yield* TestKernel.space([reporting({}), alarm])
      yield* post(space, "/signals/reporting")
      yield* steps(space, 4)
      assert.deepStrictEqual((yield* TestKernel.diagnostics(space)).map(({ topic }) => topic), ["order/stuck", "alarm/off"])
      for (let beat = 2; beat <= 4; beat++) assert.deepStrictEqual(yield* TestKernel.ledger(space, beat, "inbox"), [])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("an invalid report aborts its run, and has one diagnostic", () =>
    Effect.gen(function*() {
      const bad: ReadonlyArray<Partial<Report>> = [
        { severity: "sev:bad" as never },
        { topic: "a b" },
        { note: "x".repeat(2001) },
        { code: "" },
        { subject: "nowhere" },
        { attach: "OPS:9.9.9" },
        { payload: () => 1 }
      ]
      const space = yield* TestKernel.space([enzyme("bad", (tx, { payload }) => {
        tx.set("/data/x", 1)
        try {
          tx.report({ ...report, ...bad[payload as number] })
        } catch {
          // The refusal is not undone by this catch.
        }
      })])
      for (const [i] of bad.entries()) {
        yield* space.signal({ signal: "/signals/bad", payload: i })
        yield* space.step
      }
      const told = yield* TestKernel.diagnostics(space)
      assert.deepStrictEqual(told.map(({ code }) => code), [
        "diagnostic/invalid", "diagnostic/invalid", "diagnostic/invalid", "diagnostic/invalid", "address/invalid", "diagnostic/invalid",
        "value/invalid"
      ])
      assert.isUndefined(yield* space.get("/data/x"))
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("each failed delivery of an effect is reported, and affects no other", () => {
    const log: Array<Told> = []
    const reporter = new Reporter((told) => log.push(told))
    return Effect.gen(function*() {
      const kernel = yield* Kernel
      const seen: Array<unknown> = []
      yield* kernel.register(Node.make({ name: "throws", read: (tx) => tx.get("/data/n"), deliver: () => {
        throw new TypeError("no luck")
      } }))
      yield* kernel.register(Node.make({ name: "rejects", read: (tx) => tx.get("/data/n"), deliver: () => Promise.reject("no luck") }))
      yield* kernel.register(Node.make({ name: "well", read: (tx) => tx.get("/data/n"), deliver: (value) => void seen.push(value) }))
      const space = yield* TestKernel.space([enzyme("count", (tx) => tx.increment("/data/n"))])
      for (let i = 0; i < 2; i++) yield* post(space, "/signals/count")
      yield* turns()
      assert.deepStrictEqual(seen, [1, 2])
      const told = log.map(
        ({ beat, note, origin, severity, space, topic }) => [severity, topic, space, beat, origin.kind, origin.name, note]
      )
      assert.sameDeepMembers(told, ["throws", "rejects", "throws", "rejects"].map((name) => {
        const note = `what it was told failed it: ${name === "throws" ? "TypeError: " : ""}no luck`
        return ["sev:crit", "node/undelivered", "test", undefined, "node", name, note]
      }))
      assert.deepStrictEqual(reporter.counts("test").map(({ count }) => count), [4])
      yield* isReplayedEqual(space)
      assert.lengthOf(log, 4)
    }).pipe(Effect.provide(TestKernel.layer().pipe(Layer.provide(Layer.succeed(CurrentReporter, reporter)))))
  })

  it.effect("each diagnostic is logged and counted once, when durable, and not if its run is dropped", () => {
    const log: Array<Told> = []
    const reporter = new Reporter((told) => log.push(told))
    return Effect.gen(function*() {
      const space = yield* TestKernel.space([
        reporting({}),
        enzyme("lost", (tx) => {
          tx.report({ ...report, topic: "never/told" })
          throw new Error("no")
        })
      ])
      yield* post(space, "/signals/reporting")
      yield* post(space, "/signals/lost")
      assert.deepStrictEqual(log.map(({ beat, space, topic }) => [space, beat, topic]), [
        ["test", 0, "order/stuck"],
        ["test", 1, "run/dead"]
      ])
      assert.deepStrictEqual(yield* space.get("/rt/analytics/diag"), [
        { count: 1, sev: "sev:crit", topic: "order/stuck" },
        { count: 1, sev: "sev:crit", topic: "run/dead" }
      ])
      assert.deepStrictEqual(reporter.counts("other"), [])
      yield* isReplayedEqual(space)
      assert.lengthOf(log, 2)
    }).pipe(Effect.provide(TestKernel.layer().pipe(Layer.provide(Layer.succeed(CurrentReporter, reporter)))))
  })
})
