import { assert, describe, it } from "@effect/vitest"
import { join } from "node:path"
import process from "node:process"
import { IDLE_MILLIS, MIN_TURNS, collectWhenIdle } from "../../src/main/host/IdleCollector.ts"
import { command, type Host } from "../scripts/Host.ts"
import { run } from "../scripts/Process.ts"

const { header } = process.report.getReport() as unknown as { readonly header: { readonly glibcVersionRuntime?: string } }
const hasGlibc = header.glibcVersionRuntime !== undefined

/** A host with a manual clock, which counts its collections. */
const host = (collect: () => Promise<void> = () => Promise.resolve()) => {
  const timers: Array<{ readonly at: number; readonly run: () => void }> = []
  const seen = { collected: 0, turned: 0 }
  let now = 0
  const turn = collectWhenIdle({
    turn: (run) => run(),
    later: (run, millis) => void timers.push({ at: now + millis, run }),
    collect: () => {
      seen.collected++
      return collect()
    }
  })
  const work = (turns: number) => {
    for (let i = 0; i < turns; i++) turn(() => seen.turned++)
  }
  /** Advances the clock and fires the due timers. */
  const pass = (millis: number) => {
    const end = now + millis
    for (; timers.length > 0 && timers[0]!.at <= end; timers.shift()!.run()) {
      assert.strictEqual(timers.length, 1)
      now = timers[0]!.at
    }
    now = end
  }
  return { seen, timers, work, pass }
}

describe("IdleCollector", () => {
  it("collects once after the idle time", () => {
    const { pass, seen, timers, work } = host()
    work(MIN_TURNS)
    assert.strictEqual(seen.turned, MIN_TURNS)
    pass(IDLE_MILLIS - 1)
    assert.strictEqual(seen.collected, 0)
    pass(IDLE_MILLIS / 10)
    assert.strictEqual(seen.collected, 1)
    pass(10 * IDLE_MILLIS)
    assert.strictEqual(seen.collected, 1)
    assert.deepStrictEqual(timers, [])
  })

  it("does not collect under load, and arms at most one timer", () => {
    const { pass, seen, timers, work } = host()
    for (let i = 0; i < 10; i++) {
      work(MIN_TURNS)
      pass(IDLE_MILLIS * 0.9)
      assert.strictEqual(timers.length, 1)
    }
    assert.strictEqual(seen.collected, 0)
  })

  it("passes the flag for a repeated turn on", () => {
    const asked: Array<boolean | undefined> = []
    const turn = collectWhenIdle({ turn: (_run, again) => void asked.push(again), later: () => {}, collect: () => Promise.resolve() })
    turn(() => {}, true)
    turn(() => {}, false)
    assert.deepStrictEqual(asked, [true, false])
  })

  it("does not collect after few turns, and accumulates them", () => {
    const { pass, seen, work } = host()
    work(MIN_TURNS - 1)
    pass(2 * IDLE_MILLIS)
    assert.strictEqual(seen.collected, 0)
    work(1)
    pass(IDLE_MILLIS - 1)
    assert.strictEqual(seen.collected, 0)
    pass(IDLE_MILLIS)
    assert.strictEqual(seen.collected, 1)
    work(1)
    pass(2 * IDLE_MILLIS)
    assert.strictEqual(seen.collected, 1)
  })

  it("does not collect again after a failed collection", async () => {
    const { pass, seen, timers, work } = host(() => Promise.reject(new Error("no inspector")))
    work(MIN_TURNS)
    pass(2 * IDLE_MILLIS)
    await Promise.resolve()
    work(MIN_TURNS)
    pass(2 * IDLE_MILLIS)
    assert.deepStrictEqual(timers, [])
    assert.strictEqual(seen.collected, 1)
    assert.strictEqual(seen.turned, 2 * MIN_TURNS)
  })

  /** Loads a host with objects or with native memory, and lets it become idle. Such processes mostly wait, so all run at once. */
  const givesBack = async ([file, ...args]: ReturnType<typeof command>, kind: "objects" | "native") => {
    const { code, output } = await run([file, ...args, kind])
    assert.strictEqual(code, 0, output)
    const { after, before } = JSON.parse(output) as { readonly before: number; readonly after: number }
    assert.isBelow(after, 0.75 * before, output)
  }
  const loaded = (name: Host) => command(name, join(import.meta.dirname, "idleProcess.ts"))

  for (const name of ["node", "deno", "bun"] satisfies ReadonlyArray<Host>) {
    it.concurrent(`returns the memory of a load on ${name}`, () => givesBack(loaded(name), "objects"))
  }

  it.concurrent("returns memory on deno without the permission for native calls", () => {
    const [deno, verb, ...rest] = loaded("deno")
    return givesBack([deno, verb!, "--deny-ffi", ...rest], "objects")
  })

  it.runIf(hasGlibc)(
    "returns memory freed by native code, on deno with glibc",
    { concurrent: true },
    () => givesBack(loaded("deno"), "native")
  )
})
