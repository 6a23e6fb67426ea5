import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Schema from "effect/Schema"
import { TestClock } from "effect/testing"
import { Enzyme, Kernel, Link, type Space, type Transaction } from "systole"
import { TestReactor, TestSpace } from "systole/testing"
import { createHash } from "node:crypto"
import { ModuleRestore } from "../../src/kernel/model/ModuleRestore.ts"
import { controlled, replays } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

const durable = (name: string, run: Enzyme.Definition["run"], options: Partial<Enzyme.Definition> = {}) =>
  Enzyme.make({ name, query: `/signals/${name}`, durable: true, ...options, run })

/** No body stays in memory, so each segment remakes its body from the log. */
const settings = { limits: { ...TestKernel.settings.limits, residentRuns: 0 } }

/** A space with a cell of content, and a link to it. */
const withContent = (enzyme: Enzyme.Enzyme, test: (space: TestSpace) => Promise<void>) =>
  TestSpace.use([enzyme], async (space) => {
    const hash = await space.keep(new Uint8Array(300_000).fill(7))
    await space.run(controlled(space.space, space.space.set("/data/picture", Link.make(`/cas/${hash}`))))
    await test(space)
    await space.run(replays(space.space))
  }, { settings })

describe("A durable run remade from its log", () => {
  it("has the content that it read, also over a link", () => {
    const look = durable("look", async (tx: Transaction) => {
      const bytes = tx.get("/data/picture") as unknown as Uint8Array
      await tx.sleep(5)
      return [bytes.length, bytes[0] ?? -1]
    })
    return withContent(look, async (space) => {
      const id = await space.signal({ signal: "/signals/look" })
      await space.step()
      await space.advance(5)
      const receipt = await space.receipt(id)
      assert.deepStrictEqual(receipt?.handlings[0]?.value, [300_000, 7], JSON.stringify(receipt))
    })
  })

  it("repeats an Effect of many operations", () => {
    const many = durable("many", (tx) => Effect.gen(function*() {
      let sum = 0
      for (let i = 0; i < 10_000; i++) sum += yield* Effect.succeed(1)
      yield* Effect.yieldNow
      yield* Effect.sleep(5)
      for (let i = 0; i < 10_000; i++) sum += yield* Effect.succeed(1)
      tx.set("/data/sum", sum)
      return sum
    }) as Effect.Effect<unknown>)
    return TestSpace.use([many], async (space) => {
      const id = await space.signal({ signal: "/signals/many" })
      await space.step()
      await space.advance(5)
      const receipt = await space.receipt(id)
      assert.strictEqual(receipt?.handlings[0]?.value, 20_000, JSON.stringify(receipt))
      await space.run(replays(space.space))
    }, { settings })
  })
})

/** Hears a signal, asks, and returns both results as texts after another segment. */
const texts = durable("texts", async (tx: Transaction) => {
  tx.hear("/signals/go", "/data/here")
  const heard = JSON.stringify(await tx.waitForSignal("/signals/go", "/data/here"))
  const asked = JSON.stringify(await tx.io.request({ channel: "bank", opcode: "ask" }))
  await tx.sleep(5)
  return [heard, asked]
})

describe("The results of a durable run", () => {
  it.effect("have their keys in the order of the log, so that a body in memory sees what a remade one does", () => {
    const reactor = new TestReactor({ bank: { opcodes: { ask: { repeatable: true } } } })
    return Effect.gen(function*() {
      const space = yield* TestKernel.space([texts])
      const { id } = yield* space.signal({ signal: "/signals/texts" })
      yield* space.step
      yield* space.signal({ signal: "/signals/go", target: "/data/here", payload: { b: 1, a: 2 } })
      yield* space.step
      reactor.complete(reactor.jobs[0]?.rid ?? "", { value: { d: 3, c: 4 } })
      yield* space.step
      yield* TestClock.adjust(5)
      yield* space.step
      const value = (yield* space.receipt(id))?.handlings[0]?.value as ReadonlyArray<string>
      for (const text of value) {
        const keys = Object.keys(JSON.parse(text) as object)
        assert.deepStrictEqual(keys, keys.toSorted())
      }
      assert.strictEqual(value.length, 2)
      yield* replays(space)
    }).pipe(Effect.provide(TestKernel.layer({}, undefined, { reactor: reactor.layer })))
  })
})

/** Changes the results that it got, where it can, and returns them after another segment. */
const changes = durable("changes", async (tx: Transaction) => {
  const outcomes: Array<string> = []
  const change = (change: () => void): void => {
    try {
      change()
      outcomes.push("changed")
    } catch {
      outcomes.push("refused")
    }
  }
  const [names, keys] = [tx.list("/data/names"), tx.keys("/data/fields")] as [Array<string>, Array<string>]
  for (const each of [names, keys]) change(() => each.reverse())
  tx.hear("/signals/go", "/data/here")
  const heard = await tx.waitForSignal("/signals/go", "/data/here")
  const asked = await tx.io.request({ channel: "bank", opcode: "ask" })
  const { bytes } = asked.value as unknown as { readonly bytes: Uint8Array }
  const { when } = heard.payload as unknown as { readonly when: Date }
  for (const each of [heard, asked]) change(() => Object.assign(each, { more: 1 }))
  change(() => bytes.reverse())
  change(() => when.setTime(when.getTime() + 1))
  await tx.sleep(5)
  return [names, keys, Object.keys(heard), Object.keys(asked), [...bytes], when.getTime(), outcomes]
})

describe("A durable run that changes its results", () => {
  const runs = (residentRuns: number) => {
    const reactor = new TestReactor({ bank: { opcodes: { ask: { repeatable: true } } } })
    return Effect.gen(function*() {
      const space = yield* TestKernel.space([changes])
      for (const name of ["a", "b"]) yield* controlled(space, space.set(`/data/names/${name}`, 1))
      yield* controlled(space, space.set("/data/fields", { a: 1, b: 2 }))
      const { id } = yield* space.signal({ signal: "/signals/changes" })
      yield* space.step
      yield* space.signal({ signal: "/signals/go", target: "/data/here", payload: { when: new Date(1) } })
      yield* space.step
      reactor.complete(reactor.jobs[0]?.rid ?? "", { value: { bytes: new Uint8Array([1, 2, 3]) } })
      yield* space.step
      yield* TestClock.adjust(5)
      yield* space.step
      yield* replays(space)
      return (yield* space.receipt(id))?.handlings[0]?.value
    }).pipe(Effect.provide(Layer.fresh(TestKernel.layer(
      { limits: { ...TestKernel.settings.limits, residentRuns } }, undefined, { reactor: reactor.layer }
    ))))
  }

  it.effect("has the same ones in memory as remade from its log, which keeps its own", () => Effect.gen(function*() {
    const value = [
      ["a", "b"], ["a", "b"], ["id", "payload", "signal", "target"],
      ["attempt", "bytes_done", "channel", "opcode", "rid", "state", "value"], [3, 2, 1], 2,
      ["refused", "refused", "refused", "refused", "changed", "changed"]
    ]
    assert.deepStrictEqual([yield* runs(8), yield* runs(0)], [value, value])
  }))
})

/** A version of a module: its text is its greeting and the field of the payload that it takes. */
const version = (greeting: string, field: "name" | "title") => {
  const text = `${greeting} ${field}`
  const enzyme = Enzyme.make({
    name: "greet",
    query: "/signals/greet",
    durable: true,
    retry: { attempts: 3 },
    payload: Schema.Struct({ [field]: Schema.String }) as Schema.Decoder<Record<string, string>>,
    run: async (tx, { payload }) => {
      tx.get("/data/names")
      await tx.sleep(10)
      if (tx.get("/data/allowed") === undefined) throw new Error("not allowed")
      tx.set("/data/half", greeting)
      await tx.sleep(10)
      return `${greeting} ${payload[field]}`
    }
  })
  return { enzyme, code: { hash: createHash("sha256").update(text).digest("hex"), text } }
}

const restored = TestKernel.layer(settings).pipe(
  Layer.provide(Layer.succeed(ModuleRestore, (_, text = "") => {
    const [greeting = "", field] = text.split(" ")
    return Promise.resolve({ enzymes: [version(greeting, field === "name" ? "name" : "title").enzyme as Enzyme.Enzyme], nodes: [] })
  }))
)

const allow = (space: Space) => controlled(space, space.set("/data/allowed", true))

const naps = Effect.fnUntraced(function*(space: Space, count: number) {
  for (let i = 0; i < count; i++) {
    yield* TestClock.adjust(10)
    yield* space.step
  }
})

describe("A durable run whose module is replaced", () => {
  it.effect("takes its payload by the schema with which it began", () => Effect.gen(function*() {
    const kernel = yield* Kernel
    const [old, present] = [version("hello", "name"), version("hi", "title")]
    yield* kernel.register(old.enzyme, old.code)
    const space = yield* kernel.space("test")
    yield* allow(space)
    const { id } = yield* space.signal({ signal: "/signals/greet", payload: { name: "ann" } })
    yield* space.step
    yield* kernel.unregister(old.enzyme)
    yield* kernel.register(present.enzyme, present.code)
    yield* naps(space, 3)
    const receipt = yield* space.receipt(id)
    assert.strictEqual(receipt?.handlings[0]?.value, "hello ann", JSON.stringify(receipt))
    yield* replays(space)
  }).pipe(Effect.provide(restored)))

  it.effect("stays with the module by which its letter went on", () => Effect.gen(function*() {
    const kernel = yield* Kernel
    const [old, present] = [version("hello", "name"), version("hi", "name")]
    yield* kernel.register(old.enzyme, old.code)
    const space = yield* kernel.space("test")
    const { id } = yield* space.signal({ signal: "/signals/greet", payload: { name: "ann" } })
    yield* space.step
    yield* naps(space, 1)
    assert.strictEqual((yield* space.receipt(id))?.status, "dead")
    yield* kernel.unregister(old.enzyme)
    yield* kernel.register(present.enzyme, present.code)
    yield* allow(space)
    yield* controlled(space, space.redeliver(id, "greet"))
    yield* naps(space, 3)
    assert.strictEqual(yield* space.get("/data/half"), "hi")
    const receipt = yield* space.receipt(id)
    assert.strictEqual(receipt?.handlings[0]?.value, "hi ann", JSON.stringify(receipt))
    yield* replays(space)
  }).pipe(Effect.provide(restored)))
})

describe("A durable run that continues an operation", () => {
  it("knows the pipeline of the operation, which has expired since", () => {
    const pipeline = { pipeline_id: "P1", dag_run_id: "R1" }
    const follow = Enzyme.make({
      name: "follow",
      query: "/signals/follow",
      match: "prefix",
      durable: true,
      run: async (tx, event) => {
        if (event.signal === "/signals/follow") {
          const oid = tx.op.start({ verb: "op/work", target: "/data/work", mode: "opm:states", pipeline })
          tx.op.await(oid, "sts:ok", { signal: "/signals/follow/done" })
          return void tx.op.close(oid, "sts:ok")
        }
        tx.get(`/data/of/${event.pipeline?.dag_run_id}`)
        await tx.sleep(50)
        tx.set("/data/followed", event.pipeline)
      }
    })
    const limits = { ...settings.limits, finishedCount: 0, finishedMillis: 0 }
    return TestSpace.use([follow], async (space) => {
      await space.signal({ signal: "/signals/follow" })
      await space.step(4)
      for (let i = 0; i < 6; i++) await space.advance(10)
      assert.deepInclude(await space.get("/data/followed"), pipeline, JSON.stringify(space.facts))
      await space.run(replays(space.space))
    }, { settings: { limits } })
  })
})

describe("A durable run at a locked cell", () => {
  it("makes its segment once the lock is gone", () => {
    const write = durable("write", async (tx: Transaction) => {
      await tx.sleep(5)
      tx.set("/data/locked/here", tx.random())
      tx.increment("/data/written")
      await tx.sleep(5)
    })
    return TestSpace.use([write], async (space) => {
      const { control } = space.space
      const id = await space.signal({ signal: "/signals/write" })
      await space.step()
      await space.run(controlled(space.space, control.lock("/data/locked")))
      for (let i = 0; i < 3; i++) await space.advance(5)
      assert.isUndefined(await space.get("/data/written"))
      await space.run(controlled(space.space, control.unlock("/data/locked")))
      for (let i = 0; i < 3; i++) await space.advance(5)
      assert.strictEqual((await space.receipt(id))?.status, "handled", JSON.stringify(space.facts))
      assert.strictEqual(await space.get("/data/written"), 1)
      await space.run(replays(space.space))
    }, { settings })
  })
})
