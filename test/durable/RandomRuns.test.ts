import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Enzyme, type Kernel, replay, type Space, type Transaction, type Value } from "systole"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import * as Random from "../support/Random.ts"
import * as TestKernel from "../support/TestKernel.ts"

/** One instruction of a random program. */
type Op =
  | { readonly kind: "sleep"; readonly ms: number }
  | { readonly kind: "all" | "race"; readonly ms: ReadonlyArray<number> }
  | { readonly kind: "count" | "chance" | "own" | "throw" }

type Program = ReadonlyArray<Op>

const programOf = (draw: Random.Random): Program =>
  Array.from({ length: 2 + draw(6) }, (): Op => {
    const kind = Random.pick(draw, ["sleep", "sleep", "all", "race", "count", "chance", "own", "throw"] as const)
    if (kind === "sleep") return { kind, ms: draw(4) }
    // Distinct lengths, so that the winner of a race is the same whenever the space looks.
    if (kind === "all" || kind === "race") return { kind, ms: Random.shuffled(draw, [1, 5, 20].slice(0, 2 + draw(2))) }
    return { kind }
  })

/** Runs one instruction. The result is the same in each history of the run. */
const perform = async (tx: Transaction, op: Op, place: string): Promise<Value> => {
  switch (op.kind) {
    case "sleep":
      await tx.sleep(op.ms)
      return op.ms
    case "all":
      return (await Promise.all(op.ms.map((ms) => tx.sleep(ms)))).length
    case "race": {
      // The longest is far away, so that no delay of the test makes it win.
      const slow = Math.max(...op.ms)
      return Promise.race(op.ms.map((ms) => tx.sleep(ms === slow ? 100_000 : ms).then(() => ms === slow ? "slow" : "quick")))
    }
    case "count":
      tx.increment("/data/count")
      return "counted"
    case "chance": {
      const [drawn, id, now] = [tx.random(), tx.id(), tx.now]
      await tx.sleep(1)
      tx.set(`${place}/drawn`, [drawn, id, now])
      return typeof drawn === "number" && tx.now > now
    }
    case "own": {
      const before = (tx.get(`${place}/own`) ?? 0) as number
      tx.set(`${place}/own`, before + 1)
      await tx.sleep(2)
      // Another run writes the same cell in this beat, so one of both runs again.
      tx.set("/data/contended", place)
      return [before, tx.get(`${place}/own`)!]
    }
    case "throw":
      try {
        await Promise.all([tx.sleep(1), Promise.reject(new Error("caught"))])
        return "missed"
      } catch (error) {
        return (error as Error).message
      }
  }
}

const interpreter = (options: Partial<Enzyme.Definition> = {}) =>
  Enzyme.make({
    name: "interpret",
    query: "/signals/interpret/:run",
    durable: true,
    ...options,
    run: async (tx, { params, payload }) => {
      const place = `/data/runs/${params["run"]}`
      const results: Array<Value> = []
      for (const op of payload as Program) {
        const result = await perform(tx, op, place)
        results.push(result)
        tx.set(`${place}/results`, [...results])
      }
      return results
    }
  })

/** Runs programs to their ends, with random disturbances, and answers cells and receipts. */
const history = Effect.fnUntraced(function*(seed: number, isDisturbed: boolean) {
  const draw = Random.make(seed)
  const programs = Array.from({ length: 3 }, () => programOf(draw))
  const options = { order: Random.pick(draw, ["loose", "strict"] as const), lane: Random.pick(draw, ["pair", "space"] as const) }
  const machine = yield* RestartableKernel.make([interpreter(options)])
  const settings = { limits: { ...TestKernel.settings.limits, residentRuns: isDisturbed ? draw(3) : 1024 } }
  const open = Effect.fnUntraced(function*() {
    const kernel: Kernel["Service"] = yield* machine.boot(settings)
    return yield* kernel.space("test", { create: true })
  })
  let space: Space = yield* open()
  const ids: Array<string> = []
  for (const [run, program] of programs.entries()) {
    ids.push((yield* space.signal({ signal: `/signals/interpret/${run}`, payload: program })).id)
  }
  for (let i = 0; i < 120; i++) {
    if (isDisturbed && draw(5) === 0) space = yield* open()
    yield* TestClock.adjust(draw(10))
    yield* space.step
  }
  const receipts = []
  for (const id of ids) receipts.push((yield* space.receipt(id))?.handlings.map(({ outcome, value }) => [outcome, value]))
  const cells = []
  for (const run of programs.keys()) cells.push(yield* space.get(`/data/runs/${run}/results`), yield* space.get(`/data/runs/${run}/own`))
  const head = yield* space.head
  for (const from of [0, draw(head), draw(head), draw(head)]) {
    const { difference, impossible } = yield* space.examine((source) => replay(source, from, head))
    assert.isUndefined(difference ?? impossible, `seed ${seed} from ${from}: ${JSON.stringify(difference ?? impossible)}`)
  }
  return { programs, receipts, cells: [...cells, yield* space.get("/data/count")] }
})

describe("durable runs with random disturbances", () => {
  for (let seed = 1; seed <= 8; seed++) {
    it.effect(`leave what undisturbed ones leave, with seed ${seed}`, () =>
      Effect.gen(function*() {
        const expected = yield* history(seed, false)
        const found = yield* history(seed, true)
        assert.deepStrictEqual(found, expected)
        for (const receipt of expected.receipts) assert.strictEqual(receipt?.[0]?.[0], "ok", JSON.stringify(expected))
      }), 60_000)
  }
})
