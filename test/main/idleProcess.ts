/**
 * `idleProcess.ts KIND` loads its host with `objects` of the engine, or with `native` memory of which a part stays in use.
 * It becomes idle, and prints the resident memory before and after, in MiB.
 *
 * @module
 */
import process from "node:process"
import type { Platform } from "../../src/main/Main.ts"
import { IDLE_MILLIS, MIN_TURNS } from "../../src/main/host/IdleCollector.ts"

const platform = async (): Promise<Platform> =>
  "Bun" in globalThis
    ? (await import("../../src/main/bun.ts")).platform
    : "Deno" in globalThis
    ? (await import("../../src/main/deno.ts")).platform
    : (await import("../../src/main/node.ts")).platform

const resident = (): number => Math.round(process.memoryUsage().rss / 1_048_576)

const { serving, turn: plain } = await platform()
const turn = serving?.() ?? plain

const kinds = {
  objects: { each: 10_000, gap: Infinity, make: (i: number): unknown => ({ i, text: `x${i}` }) },
  native: { each: 2000, gap: 100, make: (): unknown => new Uint8Array(1000) }
}
const { each, gap, make } = kinds[process.argv[2] as keyof typeof kinds]

/** Runs a load and retains its objects to the end, so that no collection during the load changes the result. */
const load = async (): Promise<{ readonly peak: number; readonly left: ReadonlyArray<unknown> }> => {
  const kept: Array<unknown> = []
  for (let left = MIN_TURNS; left > 0; left--) {
    await new Promise<void>((resolve) => turn(resolve))
    for (let i = 0; i < each; i++) kept.push(make(i))
  }
  return { peak: resident(), left: kept.filter((_, i) => i % gap === 0) }
}

const { left, peak: before } = await load()
let after = before
for (const end = Date.now() + 20 * IDLE_MILLIS; after >= 0.75 * before && Date.now() < end;) {
  await new Promise((resolve) => setTimeout(resolve, IDLE_MILLIS / 4))
  after = resident()
}
console.log(JSON.stringify({ before, after, left: left.length }))
