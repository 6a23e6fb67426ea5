import { assert, describe, it } from "@effect/vitest"
import { Enzyme, Fatal, type Transaction } from "systole"
import { TestReactor, TestSpace } from "systole/testing"
import { controlled, replays, steps, through } from "../kernel/TestSpace.ts"
import { TimerQueue } from "../../src/kernel/inbox/TimerQueue.ts"
import { WaitingRuns } from "../../src/kernel/inbox/WaitingRuns.ts"
import * as Signal from "../../src/kernel/model/Signal.ts"
import * as TestKernel from "../support/TestKernel.ts"

const durable = (name: string, run: Enzyme.Definition["run"], options: Partial<Enzyme.Definition> = {}) =>
  Enzyme.make({ name, query: `/signals/${name}`, durable: true, ...options, run })

const hears = durable("hears", async (tx: Transaction) => (await tx.waitForSignal("/signals/answer", "/data/question")).payload, {
  hears: [{ signal: "/signals/answer", target: "/data/question" }]
})

describe("Runs that wait", () => {
  it("leave no timers behind when their results come first", () => {
    const waits = new TimerQueue()
    const runs = new WaitingRuns(waits)
    const signal = Signal.make({ id: "x.0.0", signal: "/signals/a", target: undefined, payload: undefined, at: undefined }, {
      origin: "ingress", depth: 0, expected: 0, to: undefined, awaits: undefined, label: undefined
    })
    for (let n = 0; n < 20_000; n++) {
      const run = { oid: `OPS:${n}`, dues: [{ beat: undefined, moment: 86_400_000 }], hears: [] }
      const again: Signal.Again = {
        enzyme: "run", attempt: 1, why: "segment", document: undefined, losses: 0, captured: 0, lane: undefined, loose: true, run
      }
      runs.add(new Signal.PendingSignal(n, signal, { again }))
      runs.take(run.oid)
    }
    assert.isBelow(waits.size, 2500)
  })

  it("hear nothing after a rollback discarded them", () => TestSpace.use([hears], async (space) => {
    await space.signal({ signal: "/signals/none" })
    await space.step()
    const id = await space.signal({ signal: "/signals/hears", qos: "discard" })
    await space.step()
    const { control } = space.space
    for (const command of [control.pause(), control.rollback(0), control.resume()]) await space.run(through(space.space, command))
    const answer = await space.signal({ signal: "/signals/answer", target: "/data/question", payload: 1 })
    await space.step(2)
    assert.notStrictEqual((await space.receipt(id))?.status, "pending")
    assert.strictEqual((await space.receipt(answer))?.status, "no-match")
    for (const oid of await space.list("/rt/ops")) {
      assert.isDefined((await space.get(`/rt/ops/${oid}`) as { readonly status?: string }).status, oid)
    }
    await space.run(replays(space.space))
  }))

  it("take their results one after another where a beat has room for one", () => TestSpace.use([
    durable("nap", async (tx: Transaction) => {
      await tx.sleep(10)
      tx.append("/data/woke", tx.beat)
      await tx.sleep(10)
      return tx.beat
    })
  ], async (space) => {
    const ids = []
    for (let i = 0; i < 5; i++) ids.push(await space.signal({ signal: "/signals/nap" }))
    for (let i = 0; i < 40; i++) await space.advance(1)
    for (const id of ids) assert.strictEqual((await space.receipt(id))?.status, "handled", JSON.stringify(space.facts))
    assert.strictEqual((await space.get("/data/woke") as ReadonlyArray<number>).length, 5)
    await space.run(replays(space.space))
  }, { settings: { limits: { ...TestKernel.settings.limits, captureSignals: 1 } } }))

  it("make a segment once although another run aborts its beat", () => TestSpace.use([
    durable("nap", async (tx: Transaction) => {
      await tx.sleep(10)
      tx.increment("/data/woke")
      await tx.sleep(10)
      return "done"
    }),
    Enzyme.make({
      name: "falls",
      query: "/signals/falls",
      onFatal: "continue",
      run: () => new Fatal({ reason: "as asked" })
    })
  ], async (space) => {
    const id = await space.signal({ signal: "/signals/nap" })
    await space.step()
    for (let i = 0; i < 2; i++) {
      await space.signal({ signal: "/signals/falls" })
      await aborts(space)
      await space.step()
    }
    await space.advance(10)
    assert.strictEqual((await space.receipt(id))?.handlings[0]?.value, "done", JSON.stringify(space.facts))
    assert.strictEqual(await space.get("/data/woke"), 1)
    await space.run(replays(space.space))
  }))

  it("are shown as running once their letter went on", () => TestSpace.use([
    durable("shaky", async (tx: Transaction) => {
      await tx.sleep(5)
      if (tx.get("/data/allowed") === undefined) throw new Error("not allowed")
      await tx.sleep(1000)
    })
  ], async (space) => {
    const id = await space.signal({ signal: "/signals/shaky" })
    await space.step()
    await space.advance(5)
    const [oid = ""] = (await space.list("/rt/ops")).filter((name) => name !== "OPS:io")
    assert.include(await space.get(`/rt/ops/${oid}`), { state: "ist:dead" })
    await space.run(controlled(space.space, space.space.set("/data/allowed", true)))
    await space.run(controlled(space.space, space.space.redeliver(id, "shaky")))
    await space.run(steps(space.space, 2))
    assert.notInclude(await space.get(`/rt/ops/${oid}`), { state: "ist:dead" })
    await space.run(replays(space.space))
  }))
})

describe("A durable run that was given up", () => {
  const twice = durable("twice", async (tx: Transaction) => {
    const late = tx.io.request({ channel: "bank", opcode: "charge" })
    await tx.io.request({ channel: "bank", opcode: "charge" })
    if (tx.get("/data/allowed") === undefined) throw new Error("not allowed")
    return (await late).value
  })

  it("has no open request, and its letter makes those again that its log awaits, each with its key", () => {
    const reactor = new TestReactor({ bank: { opcodes: { charge: { repeatable: true } } } })
    return TestSpace.use([twice], async (space) => {
      const id = await space.signal({ signal: "/signals/twice" })
      await space.step()
      const [late, first] = reactor.jobs
      reactor.complete(first?.rid ?? "", { value: 1 })
      await space.step()
      assert.strictEqual((await space.receipt(id))?.status, "dead")
      assert.isTrue(late?.signal.aborted)
      await space.step(2)
      assert.deepStrictEqual(await space.list("/sys/index/run"), [])
      await space.run(controlled(space.space, space.space.set("/data/allowed", true)))
      await space.run(controlled(space.space, space.space.redeliver(id, "twice")))
      await space.step(1)
      assert.deepStrictEqual(reactor.jobs.map(({ key }) => key), [late?.key])
      reactor.complete(late?.rid ?? "", { value: 2 })
      await space.step(2)
      assert.strictEqual((await space.receipt(id))?.handlings[0]?.value, 2)
      await space.run(replays(space.space))
    }, { reactor: reactor.layer })
  })
})

/** Steps a beat that is aborted. */
const aborts = async (space: TestSpace): Promise<void> => {
  const failed = await space.advance(10).then(() => false, () => true)
  assert.isTrue(failed)
}
