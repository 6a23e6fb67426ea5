/**
 * Batches of 100 signals beside the same signals one by one, in alternation on one server: each is handled, and answered with its
 * receipt when that is durable.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { current } from "../scripts/Host.ts"
import type { Bench, Case, Round } from "./Bench.ts"
import { disk, load } from "./Contender.ts"
import { startOurs } from "./Durable.ts"

/** The duration of one measurement, in milliseconds. */
const MEASURED = 2000

const SIZE = 100

const folder = mkdtempSync(join(tmpdir(), "systole-batch-"))
const server = await startOurs(current(), join(folder, "systole"))

/** The events that are handled in a second. */
const events = (concurrency: number, batch: number): Round => async () => {
  const before = await server.stats()
  const [row] = await load(`${server.url}/v1/spaces/bench/signals`, {
    warm: "0", ms: String(MEASURED), concurrency: String(concurrency), batch: String(batch), targets: "1000", header: "Prefer: wait=10"
  })
  const handled = (await server.stats()).events - before.events
  if (row === undefined || row["errors"] !== 0 || handled < row["answered"]!) {
    throw new Error(`${handled} events were handled: ${JSON.stringify(row)}`)
  }
  return row["perSecond"]!
}

const cases = [1, 16].map((concurrency): Case => ({
  name: `${concurrency} at once: events`,
  unit: "/s",
  baseline: "single",
  rounds: 5,
  warm: 1,
  contenders: { single: events(concurrency, 0), batch: events(concurrency, SIZE) }
}))

const latency = await disk(join(folder, "disk"))

export default {
  cases,
  note: `fdatasync of the disk: p50 ${latency["p50"]} ms, p99 ${latency["p99"]} ms. The bars are 5 times the events on 1 connection, and ` +
    "2 times on 16.",
  close: async () => {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
} satisfies Bench
