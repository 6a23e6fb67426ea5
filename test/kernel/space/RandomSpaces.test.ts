import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { Space } from "systole"
import * as Random from "../../support/Random.ts"
import * as Trials from "../../support/Trials.ts"
import { turns } from "../TestSpace.ts"
import * as RestartableKernel from "../RestartableKernel.ts"
import { add, enzymes, few, names, sum } from "./ManySpaces.ts"

describe("with spaces opened and closed at random", () => {
  for (const seed of Trials.seeds(6, { from: 1 })) {
    it.effect(`each signal is handled once, at its time, as if all spaces stayed open (seed ${seed})`, () => life(seed, 150))
  }
})

/** Random signals, reads, clock steps and power cuts over 30 spaces, of which 1 to 6 may be open. */
const life = (seed: number, length: number) =>
  Effect.scoped(Effect.gen(function*() {
    const draw = Random.make(seed)
    const host = yield* RestartableKernel.make(enzymes)
    const settings = { ...few, open: 1 + draw(6) }
    let kernel = yield* host.boot(settings)
    let handles = new Map<string, Space>()
    let now = 0
    const sums = new Map<string, number>()
    const later: Array<{ readonly name: string; readonly at: number }> = []
    const count = (name: string, n: number) => void sums.set(name, (sums.get(name) ?? 0) + n)
    const expected = (name: string): number => (sums.get(name) ?? 0) + later.filter((wait) => wait.name === name && wait.at <= now).length
    const space = Effect.fnUntraced(function*(name: string) {
      const known = draw(2) === 0 ? handles.get(name) : undefined
      const found = known ?? (yield* kernel.space(name))
      handles.set(name, found)
      return found
    })
    for (let i = 0; i < length; i++) {
      const name = `s${draw(30)}`
      const kind = draw(10)
      if (kind < 3) {
        yield* add(yield* space(name), kind)
        count(name, kind)
      } else if (kind === 3) {
        const wait = draw(5000)
        yield* (yield* space(name)).handled({ signal: "/signals/later", payload: wait })
        later.push({ name, at: now + wait })
      } else if (kind === 4) {
        const to = `s${draw(30)}`
        yield* (yield* space(name)).handled({ signal: "/signals/send", payload: to })
        count(to, 1)
        yield* turns(12)
      } else if (kind < 7) assert.strictEqual(yield* sum(yield* space(name)), expected(name), `${name} at ${now}`)
      else if (kind < 9) {
        const step = draw(800)
        now += step
        yield* TestClock.adjust(step)
        yield* turns(60)
      } else if (draw(3) === 0) {
        handles = new Map()
        kernel = yield* host.boot(settings)
        yield* kernel.resume
        yield* turns(60)
      }
    }
    yield* TestClock.adjust(10_000)
    now += 10_000
    yield* turns(200)
    assert.isAtMost(host.open().size, settings.open)
    for (const name of names(30)) assert.strictEqual(yield* sum(yield* kernel.space(name)), expected(name), name)
  }))
