import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Enzyme, type Transaction } from "systole"
import { labels, layer, paid } from "../kernel/beat/LabelledSpace.ts"
import { replays, steps } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

/** Reads the secret, and hears a signal of one of two cells then. */
const listening = (name: string, cells: ReadonlyArray<string>) =>
  Enzyme.make({
    name,
    query: `/signals/${name}`,
    durable: true,
    run: async (tx: Transaction) => {
      const secret = tx.get("/data/pay/ann") as number
      const cell = cells[secret % 2] ?? ""
      tx.hear("/signals/answer", cell)
      await tx.waitForSignal("/signals/answer", cell)
    }
  })

/** The receipt of an enzyme, and of a signal to each of two cells. */
const receipts = Effect.fnUntraced(function*(cells: ReadonlyArray<string>) {
  const space = yield* paid(listening("listen", cells))
  const { id } = yield* space.signal({ signal: "/signals/listen" })
  yield* space.step
  const answers = []
  for (const target of cells) {
    const answer = yield* space.signal({ signal: "/signals/answer", target, payload: 1 })
    yield* space.step
    answers.push((yield* space.receipt(answer.id))?.status)
  }
  yield* TestClock.adjust(10)
  yield* space.step
  const handling = (yield* space.receipt(id))?.handlings[0]
  yield* replays(space)
  return { answers, outcome: handling?.outcome, code: handling?.error?.code }
})

/** Sends a signal to a cell, waits for its end, and tells that below. */
const asking = Enzyme.make({
  name: "ask",
  query: "/signals/ask",
  durable: true,
  run: async (tx: Transaction, { payload }) => {
    const { status } = await tx.waitForEvent(tx.signal({ signal: "/signals/answer", target: String(payload), payload: 1 }))
    tx.set("/data/open", status)
  }
})

/** The code of a run that asks at a cell, and the value that it left below. */
const answerAt = Effect.fnUntraced(function*(cell: string, isHeard: boolean) {
  const space = yield* paid(listening("listen", [cell, cell]), asking)
  if (isHeard) yield* space.signal({ signal: "/signals/listen", payload: 1 })
  yield* space.step
  const { id } = yield* space.signal({ signal: "/signals/ask", payload: cell })
  yield* steps(space, 6)
  yield* replays(space)
  return [(yield* space.receipt(id))?.handlings[0]?.error?.code, yield* space.get("/data/open")]
})

describe("A durable run with a confidential label", () => {
  it.effect("hears no signal of a cell below its label, because the receipts of senders would tell of it", () => Effect.gen(function*() {
    const { answers, code } = yield* receipts(["/data/low/a", "/data/low/b"])
    assert.strictEqual(code, "label/below")
    assert.deepStrictEqual(answers, ["no-match", "no-match"])
  }).pipe(Effect.provide(layer)))

  it.effect("hears signals of cells with its label", () => Effect.gen(function*() {
    const { answers, outcome } = yield* receipts(["/data/pay/a", "/data/pay/b"])
    assert.strictEqual(outcome, "ok")
    assert.deepStrictEqual(answers, ["no-match", "handled"])
  }).pipe(Effect.provide(layer)))

  it.effect("that waits for the end of an event tells no cell below whether another run hears it", () => Effect.gen(function*() {
    const at = (cell: string, isHeard: boolean) => Effect.provide(answerAt(cell, isHeard), TestKernel.layer({ labels }))
    assert.deepStrictEqual(yield* at("/data/pay/a", true), ["label/below", undefined])
    assert.deepStrictEqual(yield* at("/data/pay/a", false), ["label/below", undefined])
    assert.deepStrictEqual(yield* at("/data/low/a", false), [undefined, "no-match"])
  }))
})
