import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { replay, type Space, verify } from "systole"
import * as Dice from "../support/Dice.ts"
import { controlled, enzyme } from "./Kit.ts"
import * as Machine from "./Machine.ts"

/** The plainest account of a space that is paused, taken back and let go on, beat by beat. */
class Account {
  beat = -1
  readonly data = new Map<string, number>()
  /** What the data was after each beat. */
  readonly past: Array<ReadonlyMap<string, number>> = []
  paused = false
  gated = false
  locked = false
  horizon: number | null = null
  control: { readonly verb: "pause" | "rollback" | "resume"; age: number; readonly to: number } | undefined
  waiting: Array<Sent> = []
  /** Runs that met the lock, and those that go on in the next beat since it is gone. */
  private held: Array<Sent> = []
  private freed: Array<Sent> = []
  readonly ends = new Map<string, string>()

  /** One beat, and what the space answers to what is asked of it there. */
  step(asked?: { readonly verb: "pause" | "rollback" | "resume"; readonly to: number }): "done" | "refused" {
    this.beat++
    const { freed } = this
    this.freed = []
    this.steer()
    const can = asked !== undefined && this.control === undefined &&
      (asked.verb === "pause" ? !this.paused : asked.verb === "resume" ? this.paused : this.paused && this.horizon === null)
    if (can) this.control = { ...asked, age: 0 }
    if (this.control?.verb === "rollback" && this.control.age === 1) this.discard()
    const runs = [...freed, ...this.waiting.filter(({ qos }) => !this.gated || qos === "control")]
    this.waiting = this.waiting.filter((sent) => !runs.includes(sent))
    for (const sent of runs) this.run(sent)
    if (!this.locked) {
      this.freed = this.held
      this.held = []
    }
    this.past.push(new Map(this.data))
    return can ? "done" : "refused"
  }

  private run(sent: Sent): void {
    if (this.locked) return void this.held.push(sent)
    this.data.set(sent.key, (this.data.get(sent.key) ?? 0) + sent.by)
    this.data.set(`made/${sent.n}`, this.beat)
    this.ends.set(sent.id, "handled")
  }

  private discard(): void {
    for (const { id, qos } of this.waiting) if (qos === "discard") this.ends.set(id, "discarded")
    this.waiting = this.waiting.filter(({ qos }) => qos !== "discard")
  }

  private steer(): void {
    const { control } = this
    if (control === undefined) return
    if (control.verb === "rollback" && control.age === 1 && this.waiting.some(({ qos }) => qos === "discard")) return
    control.age++
    const at = `${control.verb} ${control.age}`
    if (at === "pause 1") [this.gated, this.locked] = [true, true]
    if (at === "pause 3") this.paused = true
    if (at === "rollback 2") {
      this.data.clear()
      for (const [key, value] of this.past[control.to]!) this.data.set(key, value)
      this.horizon = control.to
    }
    if (at === "resume 2") [this.gated, this.locked, this.paused, this.horizon] = [false, false, false, null]
    if (at === "pause 4" || at === "rollback 3" || at === "resume 3") this.control = undefined
  }
}

interface Sent {
  readonly n: number
  readonly id: string
  readonly key: string
  readonly by: number
  readonly qos: "control" | "retain" | "discard"
}

const put = enzyme("put", (tx, { payload }) => {
  const { by, key, n } = payload as Sent
  tx.increment(`/data/${key}`, by)
  tx.set(`/data/made/${n}`, tx.beat)
}, { query: "/signals/put/*" })

const dataOf = Effect.fnUntraced(function*(space: Space) {
  const keys = yield* space.below("/data", { limit: 1000 })
  const cells = keys.filter((key) => !key.startsWith("/data/mailbox/"))
  return new Map(yield* Effect.forEach(cells, (key) => Effect.map(space.get(key), (value) => [key.slice("/data/".length), value as number] as const)))
})

const sorted = (data: ReadonlyMap<string, number>) => [...data].sort(([a], [b]) => a < b ? -1 : 1)

/** One life: what comes in, what is asked of the space, and where the process ends, by the dice. */
const live = Effect.fnUntraced(function*(seed: number, moves: number) {
  const roll = Dice.make(seed)
  const machine = yield* Machine.make
  const account = new Account()
  let space = yield* machine.boot([put])
  let n = 0
  const compare = Effect.gen(function*() {
    assert.deepStrictEqual(sorted(yield* dataOf(space)), sorted(account.data), `data after beat ${account.beat}`)
    const { control, state, view_hzn } = yield* space.control.state
    assert.deepStrictEqual([state, view_hzn, control?.verb], [account.paused ? "paused" : account.gated ? "gated" : "running", account.horizon, account.control?.verb], `state after beat ${account.beat}`)
  })
  const step = Effect.gen(function*() {
    account.step()
    assert.strictEqual(yield* space.step, account.beat)
    yield* compare
  })
  const ask = Effect.fnUntraced(function*(verb: "pause" | "rollback" | "resume", to: number) {
    const expected = account.step({ verb, to })
    const result = yield* controlled(space, verb === "rollback" ? space.control.rollback(to) : space.control[verb]())
    assert.strictEqual(result._tag === "Success" ? "done" : result.failure.code === "control/refused" ? "refused" : result.failure.code, expected)
    yield* compare
  })
  for (let move = 0; move < moves; move++) {
    const dice = roll(20)
    if (dice < 8) {
      const sent = { n: n++, key: Dice.pick(roll, ["a", "b", "c"]), by: roll(9) + 1, qos: Dice.pick(roll, ["control", "retain", "retain", "discard"] as const) }
      const { id } = yield* space.signal({ signal: `/signals/put/${sent.n}`, payload: sent, qos: sent.qos })
      account.waiting.push({ ...sent, id })
    } else if (dice < 15) yield* step
    else if (dice < 16) space = yield* machine.boot([put])
    else yield* ask(Dice.pick(roll, ["pause", "rollback", "rollback", "resume"] as const), roll(Math.max(1, account.beat + 1)))
  }
  while (account.control !== undefined) yield* step
  if (account.paused) yield* ask("resume", 0)
  for (let i = 0; i < 6; i++) yield* step
  for (const [id, end] of account.ends) assert.strictEqual((yield* space.receipt(id))?.status, end, id)
  assert.strictEqual(account.ends.size, n)
  for (const from of [0, roll(account.beat + 1)]) {
    const { difference, impossible } = yield* space.examine((archive) => replay(archive, from, account.beat))
    assert.isUndefined(difference ?? impossible, JSON.stringify(difference ?? impossible))
  }
  assert.isUndefined((yield* space.examine(verify)).fault)
})

describe("a space that is paused, rolled back, resumed and cut off at any time", () => {
  for (const part of [1, 2, 3, 4]) {
    it.effect(`is as the plainest account says, beat by beat (part ${part})`, () =>
      Effect.forEach(Array.from({ length: 25 }, (_, i) => part * 100 + i), (seed) =>
        Effect.scoped(live(seed, 70)).pipe(Effect.catchCause((cause) => Effect.die(new Error(`life ${seed}`, { cause })))), { discard: true }), 60_000)
  }
})
