import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Enzyme, type Transaction } from "systole"
import { layer, paid } from "../kernel/beat/LabelledSpace.ts"
import { replays } from "../kernel/TestSpace.ts"

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
})
