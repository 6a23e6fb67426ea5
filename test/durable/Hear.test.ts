import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { createHash } from "node:crypto"
import { Enzyme, Kernel, type Transaction } from "systole"
import { TestSpace } from "systole/testing"
import { Continuation } from "../../src/durable/Continuation.ts"
import { ModuleRestore } from "../../src/kernel/model/ModuleRestore.ts"
import { withoutGuards } from "../../src/registry/RunScope.ts"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import { controlled, replays, steps } from "../kernel/TestSpace.ts"
import { TestBeat } from "../stage/TestBeat.ts"
import * as TestKernel from "../support/TestKernel.ts"
import * as DevelopmentHost from "./DevelopmentHost.ts"

/** A durable enzyme for the signals of its name. */
const durable = (name: string, run: Enzyme.Definition["run"], options: Partial<Enzyme.Definition> = {}) =>
  Enzyme.make({ name, query: `/signals/${name}`, durable: true, ...options, run })

const ANSWERED = "/signals/answered"

const answered = (payload: unknown, target = "/data/question") => ({ signal: ANSWERED, target, payload })

/** Asks at a cell, sleeps, and then takes the answer. */
const ask = (hear: (tx: Transaction) => void) => durable("ask", async (tx) => {
  hear(tx)
  tx.set("/data/question", "open")
  await tx.sleep(10)
  return (await tx.waitForSignal(ANSWERED, "/data/question")).payload
})

const hearing = ask((tx) => tx.hear(ANSWERED, "/data/question"))

const endOf = async (space: TestSpace, id: string) => (await space.receipt(id))?.handlings[0]

describe("tx.hear", () => {
  it("keeps a signal that comes during an earlier await", () => TestSpace.use([hearing], async (space) => {
    const id = await space.signal({ signal: "/signals/ask" })
    await space.step()
    const early = await space.signal(answered("early"))
    await space.step()
    assert.match((await space.receipt(early))?.handlings[0]?.run ?? "", /^OPS:/)
    await space.advance(10)
    await space.step()
    assert.strictEqual((await endOf(space, id))?.value, "early", JSON.stringify(space.facts))
    await space.run(replays(space.space))
  }))

  it("keeps the signals that follow the event in its beat", () => TestSpace.use([hearing], async (space) => {
    const missed = await space.signal(answered("before"))
    const id = await space.signal({ signal: "/signals/ask" })
    await space.signal(answered("after"))
    await space.step()
    await space.advance(10)
    await space.step()
    assert.strictEqual((await endOf(space, id))?.value, "after")
    assert.strictEqual((await space.receipt(missed))?.status, "no-match")
    await space.run(replays(space.space))
  }))

  it("is of no effect for a signal that the run hears already", () => {
    const twice = durable("twice", async (tx) => {
      tx.hear(ANSWERED, "/data/question")
      const first = await tx.waitForSignal(ANSWERED, "/data/question")
      tx.hear(ANSWERED, "/data/question")
      const second = await tx.waitForSignal(ANSWERED, "/data/question")
      return [first.payload, second.payload]
    }, { hears: [{ signal: ANSWERED, target: "/data/question" }] })
    return TestSpace.use([twice], async (space) => {
      const id = await space.signal({ signal: "/signals/twice" })
      await space.step()
      for (const payload of [1, 2]) await space.signal(answered(payload))
      await space.step(3)
      assert.deepStrictEqual((await endOf(space, id))?.value, [1, 2], JSON.stringify(space.facts))
      await space.run(replays(space.space))
    })
  })

  it("is refused where no run waits", () => {
    const plain = Enzyme.make({ name: "plain", query: "/signals/plain", run: (tx) => tx.hear(ANSWERED, "/data/question") })
    return TestSpace.use([plain], async (space) => {
      const receipt = await space.handled({ signal: "/signals/plain" })
      assert.include(receipt.handlings[0]?.error?.message, "only a durable run waits; declare durable: true")
    })
  })

  it("is refused for what is no path of a signal", () => {
    const wrong = durable("wrong", (tx) => tx.hear("answered", "/data/question"))
    return TestSpace.use([wrong], async (space) => {
      const receipt = await space.handled({ signal: "/signals/wrong" })
      assert.include(receipt.handlings[0]?.error?.message, "tx.hear needs a path such as /signals/confirm, and got \"answered\"")
    })
  })

  it.effect("hears after restarts, also beyond the pairs that a row lists", () => Effect.gen(function*() {
    const COUNT = 40
    const targetOf = (n: number) => `/data/questions/${n}`
    const many = durable("many", async (tx) => {
      const found: Array<unknown> = []
      for (let n = 0; n < COUNT; n++) {
        tx.hear(ANSWERED, targetOf(n))
        await tx.sleep(1)
      }
      for (let n = 0; n < COUNT; n++) found.push((await tx.waitForSignal(ANSWERED, targetOf(n))).payload)
      return found
    })
    const machine = yield* RestartableKernel.make([many])
    const first = yield* (yield* machine.boot()).space("test")
    const { id } = yield* first.signal({ signal: "/signals/many" })
    for (let n = 0; n < COUNT; n++) yield* Effect.andThen(first.step, TestClock.adjust(1))
    const second = yield* (yield* machine.boot()).space("test")
    yield* second.step
    for (let n = 0; n < COUNT; n += 2) yield* second.signal(answered(n, targetOf(n)))
    yield* steps(second, 3)
    const third = yield* (yield* machine.boot()).space("test")
    for (let n = 1; n < COUNT; n += 2) yield* third.signal(answered(n, targetOf(n)))
    yield* steps(third, COUNT)
    assert.deepStrictEqual((yield* third.receipt(id))?.handlings[0]?.value, Array.from({ length: COUNT }, (_, n) => n))
    yield* replays(third)
  }))
})

/** A version of a module that declares a signal. Its text is the path of the signal. */
const late = (text: string) => {
  const enzyme = durable("late", async (tx, { target = "" }) => {
    await tx.sleep(10)
    return (await tx.waitForSignal(ANSWERED, target)).payload
  }, { bind: ["/data/question"], hears: text === "" ? [] : [text] })
  return { enzyme, code: { hash: createHash("sha256").update(text).digest("hex"), text } }
}

describe("A wait for a signal that the run does not hear", () => {
  it("is refused at once, with both remedies", () => TestSpace.use([ask(() => {})], async (space) => {
    const id = await space.signal({ signal: "/signals/ask" })
    await space.step()
    await space.advance(10)
    const error = (await endOf(space, id))?.error
    assert.deepStrictEqual([error?.tag, error?.code], ["RunUnheard", "run/unheard"])
    assert.include(error?.message, "Declare hears: [{ signal: \"/signals/answered\", target: \"/data/question\" }] in the enzyme")
    assert.include(error?.message, "call tx.hear(\"/signals/answered\", \"/data/question\") before the call that provokes the answer")
    await space.run(replays(space.space))
  }))

  it("is refused although the body catches it, and leaves nothing", () => {
    const stubborn = durable("stubborn", async (tx) => {
      tx.set("/data/left", 1)
      try {
        await tx.waitForSignal(ANSWERED, "/data/question")
      } catch {
        await tx.sleep(10)
      }
    })
    return TestSpace.use([stubborn], async (space) => {
      const receipt = await space.handled({ signal: "/signals/stubborn" })
      assert.strictEqual(receipt.handlings[0]?.error?.code, "run/unheard")
      assert.isUndefined(await space.get("/data/left"))
    })
  })

  it.effect("is mended by a module that declares it, also for the letter of a run that went on", () => Effect.gen(function*() {
    const kernel = yield* Kernel
    const [deaf, attentive] = [late(""), late(ANSWERED)]
    yield* kernel.register(deaf.enzyme, deaf.code)
    const space = yield* kernel.space("test")
    const { id } = yield* space.signal({ signal: "/signals/late", target: "/data/question" })
    yield* space.step
    yield* TestClock.adjust(10)
    yield* space.step
    assert.strictEqual((yield* space.receipt(id))?.handlings[0]?.error?.code, "run/unheard")
    yield* kernel.unregister(deaf.enzyme)
    yield* kernel.register(attentive.enzyme, attentive.code)
    yield* controlled(space, space.redeliver(id, "late"))
    yield* space.step
    yield* space.signal(answered("heard"))
    yield* steps(space, 2)
    assert.strictEqual((yield* space.receipt(id))?.handlings[0]?.value, "heard")
    yield* replays(space)
  }).pipe(Effect.provide(TestKernel.layer().pipe(Layer.provide(
    Layer.succeed(ModuleRestore, (_, text = "") => Promise.resolve({ enzymes: [late(text).enzyme], nodes: [] }))
  )))))
})

describe("A run that began under the first rules", () => {
  it("hears a signal from its first wait for it on, and its log needs no tx.hear", async () => {
    const body = new Continuation("OPS:1")
    const host = { runs: Context.empty(), turn: (run: () => void) => void setTimeout(run, 0), scope: withoutGuards }
    const run = async (tx: Transaction) => {
      tx.hear(ANSWERED, "/data/a")
      await tx.sleep(1)
      await tx.waitForSignal(ANSWERED, "/data/b")
    }
    const due = { beat: undefined, moment: 1 }
    const calls = [["sleep", "1 ms", { kind: "sleep", due }]] as never
    await body.repeat({ beat: 0, now: 0, settled: [], calls, size: 0 }, { host, contentOf: () => undefined, body: run })
    body.tx.begin(new TestBeat().draft())
    body.resume([[0, "ok"]])
    assert.strictEqual(await body.progress(host), "waits")
    assert.deepStrictEqual(body.tx.pairs.from(0), [[ANSWERED, "/data/b", 1]])
  })
})

/** The reports of a development host on runs that begin to hear late. */
const reports = (enzyme: Enzyme.Enzyme) =>
  DevelopmentHost.reports(enzyme, { topic: "run/late-hear", signal: `/signals/${enzyme.name}` })

describe("A development host", () => {
  const tardy = (options: Partial<Enzyme.Definition> = {}) => durable("tardy", async (tx) => {
    await tx.sleep(1)
    tx.hear(ANSWERED, "/data/question")
    tx.hear(ANSWERED, "/data/other")
  }, options)

  it.effect("reports a run that begins to hear a signal after an await, once", () => Effect.gen(function*() {
    assert.deepStrictEqual(yield* reports(tardy()), [
      "segment 1 begins to hear /signals/answered at /data/question, and misses one that came before"
    ])
  }))

  it.effect("reports none that the run hears already", () => Effect.gen(function*() {
    const hears = ["/data/question", "/data/other"].map((target) => ({ signal: ANSWERED, target }))
    assert.deepStrictEqual(yield* reports(tardy({ hears })), [])
  }))
})

describe("The row of a run", () => {
  it("lists the pairs that its newest segment changed, so that it does not grow with the others", () => {
    const COUNT = 300
    const asks = durable("asks", async (tx) => {
      for (let n = 0; n < COUNT; n++) {
        tx.hear(ANSWERED, `/data/questions/${1000 + n}`)
        await tx.waitForSignal(ANSWERED, `/data/questions/${1000 + n}`)
      }
    })
    return TestSpace.use([asks], async (space) => {
      const id = await space.signal({ signal: "/signals/asks" })
      const sizes: Array<number> = []
      for (let n = 0; n < COUNT; n++) {
        await space.step()
        const rows = await space.run(space.space.examine(({ store }) => Promise.resolve([...store.waiting(id)])))
        sizes.push(rows.reduce((sum, { text }) => sum + text.length, 0))
        await space.signal(answered(n, `/data/questions/${1000 + n}`))
      }
      await space.step()
      assert.strictEqual((await endOf(space, id))?.outcome, "ok")
      assert.isAtMost(Math.max(...sizes.slice(100)), Math.max(...sizes.slice(0, 100)))
      assert.isAtMost(sizes.at(-1) ?? Infinity, 600)
    })
  })
})
