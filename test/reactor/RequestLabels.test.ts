import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import type { Kernel, Space, Transaction } from "systole"
import { TestReactor } from "systole/testing"
import * as Config from "../../src/loader/Config.ts"
import { controlled, enzyme, replays, steps } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

const definition = {
  token: "operator-token-0000",
  channels: {
    bank: { use: "script", clearance: ["money"] },
    news: { use: "script", label: ["money"] },
    open: "script"
  },
  labels: { cells: { "/data/pay/**": ["money"], "/data/health": ["health"] }, readers: {} }
}

const opcodes = { ask: {} }

/** Asks a channel, after reads; keeps a result where its payload says. */
const ask = enzyme("ask", (tx: Transaction, { payload, signal }) => {
  if (signal !== "/signals/ask") return tx.append(signal === "/signals/ask/high" ? "/data/pay/results" : "/data/results", payload)
  const { channel, high = true, reads = [] } = payload as
    { readonly channel: string; readonly high?: boolean; readonly reads?: ReadonlyArray<string> }
  for (const address of reads) tx.get(address)
  return tx.io.request({ channel, opcode: "ask", payload: { n: 1 }, signal: high ? "/signals/ask/high" : "/signals/ask/low" })
}, { query: "/signals/ask", match: "prefix" })

const meddle = enzyme("meddle", (tx, { payload }) => {
  const { rid, watch } = payload as { readonly rid?: string; readonly watch?: string }
  tx.get("/data/pay/ann")
  if (rid !== undefined) tx.io.cancel(rid)
  if (watch !== undefined) tx.io.watch(watch, "/signals/meddle")
}, { query: "/signals/meddle" })

/** Awaits the result of a channel, and writes it in the open. */
const wait = enzyme("wait", async (tx, { payload }) => {
  const { channel } = payload as { readonly channel: string }
  const { value } = await tx.io.request({ channel, opcode: "ask" })
  tx.set("/data/awaited", value)
}, { durable: true })

/** Runs a test over the label rules of the configuration, and replays its journal. */
const withLabels = <A, E>(test: (space: Space, reactor: TestReactor) => Effect.Effect<A, E, Kernel>) => {
  const { bank, news } = definition.channels
  const reactor = new TestReactor({ bank: { opcodes, ...bank }, news: { opcodes, ...news }, open: { opcodes } })
  return Effect.flatMap(Config.decode(definition), ({ kernel: { labels } }) =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([ask, meddle, wait])
      yield* controlled(space, space.set("/data/pay/ann", 5))
      yield* test(space, reactor)
      yield* replays(space)
    }).pipe(Effect.provide(TestKernel.layer({ labels }, undefined, { reactor: reactor.layer }) as Layer.Layer<Kernel>)))
}

/** The first handling of a signal, and its event. */
const handled = Effect.fnUntraced(function*(space: Space, signal: string, payload: unknown) {
  const { id } = yield* space.signal({ signal, payload })
  yield* space.step
  return (yield* space.receipt(id))?.handlings[0]
})

const web = { name: "web", atoms: [] }
const teller = { name: "teller", atoms: ["money"] }

describe("The labels of requests", () => {
  it.effect("refuse a run with a label above the clearance of its channel", () => withLabels((space, reactor) => Effect.gen(function*() {
    for (const payload of [
      { channel: "open", reads: ["/data/pay/ann"] },
      { channel: "news", reads: ["/data/pay/ann"] },
      { channel: "bank", reads: ["/data/health"] },
      { channel: "bank", reads: ["/data/pay/ann", "/data/health"] }
    ]) {
      assert.strictEqual((yield* handled(space, "/signals/ask", payload))?.error?.code, "label/below", JSON.stringify(payload))
    }
    assert.deepStrictEqual(reactor.submitted, [])
  })))

  it.effect("let it ask with clearance, and the event of the result carries them", () => withLabels((space, reactor) =>
    Effect.gen(function*() {
      assert.strictEqual((yield* handled(space, "/signals/ask", { channel: "bank", reads: ["/data/pay/ann"] }))?.outcome, "ok")
      const rid = reactor.jobs[0]?.rid ?? ""
      reactor.complete(rid, { value: "secret" })
      yield* steps(space, 2)
      const [result] = (yield* space.get("/data/pay/results")) as unknown as ReadonlyArray<object>
      assert.deepInclude(result, { value: "secret" })
      const cell = `/rt/ops/OPS:io/io_req/${rid}`
      assert.strictEqual((yield* Effect.flip(space.reader(web).get(cell))).code, "label/withheld")
      assert.deepInclude(yield* space.reader(teller).get(cell), { state: "complete" })
      assert.strictEqual((yield* Effect.flip(space.reader(web).get("/data/pay/results"))).code, "label/withheld")
    })))

  it.effect("keep a handler of the result from writing below them", () => withLabels((space, reactor) => Effect.gen(function*() {
    for (const channel of ["bank", "news", "open"]) {
      assert.strictEqual((yield* handled(space, "/signals/ask", { channel, high: false }))?.outcome, "ok", channel)
      reactor.complete(reactor.jobs[0]?.rid ?? "", { value: channel })
      yield* steps(space, 2)
    }
    const results = (yield* space.get("/data/results")) as unknown as ReadonlyArray<{ readonly value: unknown }>
    assert.deepStrictEqual(results.map(({ value }) => value), ["open"])
    const dead = yield* space.dead({ limit: 10 })
    assert.deepStrictEqual(dead.letters.map(({ code }) => code), ["label/below", "label/below"])
  })))

  it.effect("refuse a run above a request to cancel it, and one above a channel to watch it", () => withLabels((space, reactor) =>
    Effect.gen(function*() {
      for (const channel of ["open", "bank"]) yield* handled(space, "/signals/ask", { channel })
      const [open, bank] = reactor.jobs
      assert.strictEqual((yield* handled(space, "/signals/meddle", { rid: open?.rid }))?.error?.code, "label/below")
      assert.strictEqual((yield* handled(space, "/signals/meddle", { watch: "open" }))?.error?.code, "label/below")
      assert.strictEqual((yield* handled(space, "/signals/meddle", { rid: bank?.rid }))?.outcome, "ok")
      assert.strictEqual((yield* handled(space, "/signals/meddle", { watch: "bank" }))?.outcome, "ok")
      assert.deepStrictEqual(reactor.jobs.map(({ rid }) => rid), [open?.rid])
    })))

  it.effect("are those of a durable run that awaits the result", () => withLabels((space, reactor) => Effect.gen(function*() {
    for (const channel of ["bank", "open"]) {
      yield* space.signal({ signal: "/signals/wait", payload: { channel } })
      yield* space.step
      reactor.complete(reactor.jobs[0]?.rid ?? "", { value: channel })
      yield* steps(space, 3)
    }
    assert.strictEqual(yield* space.get("/data/awaited"), "open")
    const { letters } = yield* space.dead({ limit: 10 })
    assert.deepStrictEqual(letters.map(({ code, enzyme }) => [enzyme, code]), [["wait", "label/below"]])
  })))

  it.effect("show a reader without clearance the same, whether a run above asked or not", () => Effect.gen(function*() {
    const shown = (asks: boolean) => {
      const seen: Array<unknown> = []
      return Effect.as(withLabels((space, reactor) => Effect.gen(function*() {
        yield* handled(space, "/signals/ask", { channel: asks ? "bank" : "none", reads: ["/data/pay/ann"] })
        for (const { rid } of reactor.jobs) reactor.complete(rid)
        yield* steps(space, 2)
        const reader = space.reader(web)
        const cells = ["", "/envelope", "/io_chan/bank", "/io_chan/bank/watchers"].map((part) => `/rt/ops/OPS:io${part}`)
        for (const cell of [...cells, "/data/results", "/data/pay/results"]) seen.push(yield* Effect.result(reader.get(cell)))
        const folders = ["/data", "/rt", "/rt/ops", "/rt/ops/OPS:io", "/sys/index/io"]
        for (const folder of folders) seen.push(yield* Effect.result(reader.list(folder)))
        seen.push(yield* reader.waiting({ limit: 10 }))
      })), JSON.stringify(seen))
    }
    assert.strictEqual(yield* shown(true), yield* shown(false))
  }))
})

describe("A configuration", () => {
  it.effect("is refused where a channel has an atom that no cell has", () => Effect.gen(function*() {
    for (const labels of [undefined, { cells: { "/data/pay/**": ["money"] } }]) {
      const channels = { bank: { use: "script", clearance: ["mony"] } }
      const error = yield* Effect.flip(Config.decode(labels === undefined ? { channels } : { channels, labels }))
      assert.include(error.message, `"channel bank" is given the atom "mony"`)
    }
  }))
})
