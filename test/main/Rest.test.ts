import { assert, describe, it } from "@effect/vitest"
import { join } from "node:path"
import { REST_MILLIS, REST_TURNS, resting } from "../../src/main/Rest.ts"
import { command, type Host } from "../scripts/Host.ts"
import { run } from "../scripts/Process.ts"

/** A host whose timers are rung by hand, and who counts its collections. */
const host = (collect: () => Promise<void> = () => Promise.resolve()) => {
  const timers: Array<() => void> = []
  const seen = { collected: 0, turned: 0 }
  const turn = resting({
    turn: (run) => run(),
    later: (run, millis) => {
      assert.strictEqual(millis, REST_MILLIS)
      timers.push(run)
    },
    collect: () => {
      seen.collected++
      return collect()
    }
  })
  const work = (turns: number) => {
    for (let i = 0; i < turns; i++) turn(() => seen.turned++)
  }
  return { seen, timers, work, ring: () => timers.shift()!() }
}

describe("Rest", () => {
  it("collects once when nothing turned for a while after enough work", () => {
    const { ring, seen, timers, work } = host()
    work(REST_TURNS)
    assert.strictEqual(seen.turned, REST_TURNS)
    assert.strictEqual(timers.length, 1)
    ring()
    assert.strictEqual(seen.collected, 0)
    ring()
    assert.strictEqual(seen.collected, 1)
    assert.deepStrictEqual(timers, [])
  })

  it("waits as long as there is work, and has one timer at most", () => {
    const { ring, seen, timers, work } = host()
    for (let i = 0; i < 10; i++) {
      work(REST_TURNS)
      assert.strictEqual(timers.length, 1)
      ring()
    }
    assert.strictEqual(seen.collected, 0)
  })

  it("leaves little work alone, and adds it up", () => {
    const { ring, seen, timers, work } = host()
    const rest = () => {
      while (timers.length > 0) ring()
    }
    work(REST_TURNS - 1)
    rest()
    assert.strictEqual(seen.collected, 0)
    work(1)
    rest()
    assert.strictEqual(seen.collected, 1)
    work(1)
    rest()
    assert.strictEqual(seen.collected, 1)
  })

  it("does not ask a host again that cannot", async () => {
    const { ring, seen, timers, work } = host(() => Promise.reject(new Error("no inspector")))
    const rest = async () => {
      while (timers.length > 0) ring()
      await Promise.resolve()
    }
    work(REST_TURNS)
    await rest()
    work(REST_TURNS)
    await rest()
    assert.strictEqual(seen.collected, 1)
    assert.strictEqual(seen.turned, 2 * REST_TURNS)
  })

  for (const name of ["node", "deno", "bun"] satisfies ReadonlyArray<Host>) {
    it(`gives back what a load made ${name} take`, { timeout: 60_000 }, async () => {
      const { code, output } = await run(command(name, join(import.meta.dirname, "resting.ts")))
      assert.strictEqual(code, 0, output)
      const { after, before } = JSON.parse(output) as { readonly before: number; readonly after: number }
      assert.isBelow(after, 0.75 * before, output)
    })
  }
})
