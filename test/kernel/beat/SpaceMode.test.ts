import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type ControlError, replay, type Space, verify } from "systole"
import * as Random from "../../support/Random.ts"
import * as Trials from "../../support/Trials.ts"
import { controlled, enzyme } from "../TestSpace.ts"
import * as TestMachine from "../TestMachine.ts"
import { present } from "../../support/Present.ts"

/** The reference model of the lifecycle of a space, beat by beat: pause, rollback, resume, shutdown and restart. */
class ReferenceModel {
  beat = -1
  readonly data = new Map<string, number>()
  /** The data after each beat. */
  readonly past: Array<ReadonlyMap<string, number>> = []
  paused = false
  gated = false
  halted = false
  booted = false
  /** The holder of each locked cell. */
  readonly locks = new Map<string, "pause" | "outside">()
  horizon: number | null = null
  control: Control & { age: number } | undefined
  waiting: Array<Sent> = []
  /** Parked runs with their locks: they continue after the release. */
  private held: Array<readonly [lock: string, sent: Sent]> = []
  readonly ends = new Map<string, string>()

  /** Runs one beat, and returns the answer of the space to its command. */
  step(asked?: Asked): "done" | "refused" {
    this.beat++
    this.steer()
    const can = asked !== undefined && ("cell" in asked ? this.lock(asked) : this.begin(asked))
    if (this.control?.verb === "rollback" && this.control.age === 1) this.discard()
    const mayRun = ({ qos }: Sent) => !this.gated || qos === "control"
    const isFree = ([lock, sent]: (typeof this.held)[number]) => !this.locks.has(lock) && mayRun(sent)
    const runs = [...this.held.filter(isFree).map(([, sent]) => sent), ...this.waiting.filter(mayRun)]
    this.held = this.held.filter((held) => !isFree(held))
    this.waiting = this.waiting.filter((sent) => !mayRun(sent))
    for (const sent of runs) this.run(sent)
    this.past.push(new Map(this.data))
    return can ? "done" : "refused"
  }

  private begin(asked: Control): boolean {
    // A second shutdown is refused.
    if (asked.verb === "shutdown" && (this.halted || this.control?.verb === "shutdown")) return true
    const can = asked.verb === "shutdown" || (this.control === undefined && this.allows(asked.verb))
    if (!can) return false
    if (this.control !== undefined) this.abandon(this.control)
    this.control = { ...asked, age: 0 }
    if (asked.verb === "restart") this.booted = true
    return true
  }

  private allows(verb: Control["verb"]): boolean {
    if (verb === "restart") return this.halted || !this.booted
    if (this.halted) return false
    return verb === "pause" ? !this.paused : this.paused && (verb === "resume" || this.horizon === null)
  }

  private abandon({ verb }: Control): void {
    if (this.paused || this.halted || verb !== "pause") return
    this.gated = false
    if (this.locks.get("/data") === "pause") this.locks.delete("/data")
  }

  private lock({ cell, verb }: Locking): boolean {
    const can = verb === "lock" ? !this.locks.has(cell) : this.locks.get(cell) === "outside"
    if (can && verb === "lock") this.locks.set(cell, "outside")
    if (can && verb === "unlock") this.locks.delete(cell)
    return can
  }

  private run(sent: Sent): void {
    // The nearest lock above its written cells, in the order of the writes.
    const lock = [`/data/${sent.key}`, "/data"].find((cell) => this.locks.has(cell))
    if (lock !== undefined) return void this.held.push([lock, sent])
    this.data.set(sent.key, (this.data.get(sent.key) ?? 0) + sent.by)
    this.data.set(`made/${sent.n}`, this.beat)
    this.ends.set(sent.id, "handled")
  }

  private get parked(): ReadonlyArray<Sent> {
    return [...this.waiting, ...this.held.map(([, sent]) => sent)]
  }

  private discard(): void {
    const isKept = ({ qos }: Sent) => qos !== "discard"
    for (const { id, qos } of this.parked) if (qos === "discard") this.ends.set(id, "discarded")
    this.waiting = this.waiting.filter(isKept)
    this.held = this.held.filter(([, sent]) => isKept(sent))
  }

  private steer(): void {
    const { control } = this
    if (control === undefined) return
    if (control.verb === "rollback" && control.age === 1 && this.parked.some(({ qos }) => qos === "discard")) return
    control.age++
    const at = `${control.verb} ${control.age}`
    if (at === "pause 1") {
      // A lock of another holder fails the pause.
      if (this.locks.has("/data")) return void (this.control = undefined)
      this.gated = true
      this.locks.set("/data", "pause")
    }
    if (at === "pause 3") this.paused = true
    if (at === "rollback 2") {
      this.data.clear()
      for (const [key, value] of present(this.past[control.to])) this.data.set(key, value)
      this.horizon = control.to
    }
    if (at === "resume 2") {
      ;[this.gated, this.paused, this.horizon] = [false, false, null]
      this.locks.delete("/data")
    }
    if (at === "shutdown 1") this.gated = true
    if (at === "shutdown 3") this.halted = true
    if (at === "restart 1") [this.gated, this.halted] = [this.paused, false]
    if (at === "shutdown 4" || at === "restart 4") this.control = undefined
    if (at === "pause 4" || at === "rollback 3" || at === "resume 3") this.control = undefined
  }
}

interface Control {
  readonly verb: "pause" | "rollback" | "resume" | "shutdown" | "restart"
  readonly to: number
}

interface Locking {
  readonly verb: "lock" | "unlock"
  readonly cell: string
}

type Asked = Control | Locking

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
  return new Map(yield* Effect.forEach(
    cells,
    (key) => Effect.map(space.get(key), (value) => [key.slice("/data/".length), value as number] as const)
  ))
})

const sorted = (data: ReadonlyMap<string, number>) => [...data].sort(([a], [b]) => a < b ? -1 : 1)

/** A random history: signals, control operations and ends of the process. */
const live = Effect.fnUntraced(function*(seed: number, moves: number) {
  const draw = Random.make(seed)
  const machine = yield* TestMachine.make
  const model = new ReferenceModel()
  let space = yield* machine.boot([put])
  let n = 0
  const compare = Effect.gen(function*() {
    assert.deepStrictEqual(sorted(yield* dataOf(space)), sorted(model.data), `data after beat ${model.beat}`)
    const { control, locks, state, view_hzn } = yield* space.control.state
    assert.deepStrictEqual(locks.map(({ cell }) => cell).sort(), [...model.locks.keys()].sort(), `locks after beat ${model.beat}`)
    assert.deepStrictEqual(
      [state, view_hzn, control?.verb.replace("boot", "restart")],
      [model.halted ? "halted" : model.paused ? "paused" : model.gated ? "gated" : "running", model.horizon, model.control?.verb],
      `state after beat ${model.beat}`
    )
  })
  const step = Effect.gen(function*() {
    model.step()
    assert.strictEqual(yield* space.step, model.beat)
    yield* compare
  })
  const request = (asked: Asked): Effect.Effect<unknown, ControlError> => {
    if ("cell" in asked) return space.control[asked.verb](asked.cell)
    return asked.verb === "rollback" ? space.control.rollback(asked.to) : space.control[asked.verb]()
  }
  const ask = Effect.fnUntraced(function*(asked: Asked) {
    const expected = model.step(asked)
    const result = yield* controlled(space, request(asked))
    assert.strictEqual(
      result._tag === "Success" ? "done" : result.failure.code === "control/refused" ? "refused" : result.failure.code,
      expected
    )
    yield* compare
  })
  for (let move = 0; move < moves; move++) {
    const choice = draw(22)
    if (choice < 8) {
      const sent = {
        n: n++,
        key: Random.pick(draw, ["a", "b", "c"]),
        by: draw(9) + 1,
        qos: Random.pick(draw, ["control", "retain", "retain", "discard"] as const)
      }
      const { id } = yield* space.signal({ signal: `/signals/put/${sent.n}`, payload: sent, qos: sent.qos })
      model.waiting.push({ ...sent, id })
    } else if (choice < 15) yield* step
    else if (choice < 16) space = yield* machine.boot([put])
    else if (choice < 20) yield* ask({ verb: Random.pick(draw, [
      "pause", "pause", "rollback", "rollback", "rollback", "resume", "resume", "shutdown", "restart", "restart"
    ] as const), to: draw(Math.max(1, model.beat + 1)) })
    else yield* ask({ verb: Random.pick(draw, ["lock", "unlock"] as const), cell: Random.pick(draw, ["/data", "/data/a", "/data/b"]) })
  }
  while (model.control !== undefined) yield* step
  for (const [verb, isNeeded] of [["restart", model.halted], ["resume", model.paused]] as const) {
    if (isNeeded) yield* ask({ verb, to: 0 })
    while (model.control !== undefined) yield* step
  }
  for (const cell of Array.from(model.locks.keys())) yield* ask({ verb: "unlock", cell })
  for (let i = 0; i < 6; i++) yield* step
  for (const [id, end] of model.ends) assert.strictEqual((yield* space.receipt(id))?.status, end, id)
  assert.strictEqual(model.ends.size, n)
  for (const from of [0, draw(model.beat + 1)]) {
    const { difference, impossible } = yield* space.examine((archive) => replay(archive, from, model.beat))
    assert.isUndefined(difference ?? impossible, JSON.stringify(difference ?? impossible))
  }
  assert.isUndefined((yield* space.examine(verify)).fault)
})

describe("a space under pauses, rollbacks, shutdowns, restarts and crashes", () => {
  for (const part of [1, 2, 3, 4]) {
    it.effect(`matches the reference model in every beat (part ${part})`, () =>
      Effect.forEach(
        Trials.seeds(25, { from: 100 * part, least: 2 }),
        (seed) => Effect.scoped(live(seed, 70)).pipe(Effect.catchCause((cause) => Effect.die(new Error(`life ${seed}`, { cause })))),
        { discard: true }
      ))
  }
})
