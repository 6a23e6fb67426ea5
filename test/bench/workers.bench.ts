/**
 * One signal in a durable object: posted, handled by an enzyme that writes a cell, and answered when its receipt is
 * durable. The baselines are objects written by hand for this task, in the same workerd, each process in turn.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { root } from "../scripts/Host.ts"
import { bundled } from "../runtime/Bundle.ts"
import * as Workerd from "../runtime/Workerd.ts"
import type { Bench, Case, Round } from "./Bench.ts"
import { load, type Load } from "./Contender.ts"

const ROUNDS = 3

/** The duration of one measurement, in milliseconds. */
const MEASURED = 2000

const folders = ["systole", "peers"].map((name) => mkdtempSync(join(tmpdir(), `systole-${name}-`)))
const [ours = "", theirs = ""] = folders
const peers = await Workerd.start(theirs, readFileSync(join(root, "test/bench/baseline/objects.mjs"), "utf8"), {
  objects: { PEER: "Peer", PEER1: "Peer1", ECHO: "Echo" }
})
const systole = await Workerd.start(ours, (await bundled("./test/bench/objects.ts")).text, { token: undefined })

const urls = {
  "two commits": `${peers.url}/peer`,
  "one commit": `${peers.url}/peer1`,
  "echo": `${peers.url}/echo`,
  "systole": `${systole.url}/v1/spaces/bench/signals`
}
const names = Object.keys(urls) as ReadonlyArray<keyof typeof urls>

const measured = async (name: keyof typeof urls, concurrency: number, ms: number): Promise<Load> => {
  const [row] = await load(urls[name], { warm: "0", ms: String(ms), concurrency: String(concurrency), header: "Prefer: wait=10" })
  if (row === undefined || row["errors"] !== 0) throw new Error(`${name} answered with errors under load`)
  return row
}

/** The throughput, which loads the objects, and the latencies of the same load. */
const cases = (concurrency: number): ReadonlyArray<Case> => {
  const seen = Object.fromEntries(names.map((name) => [name, [] as Array<Load>]))
  const loaded = (name: keyof typeof urls): Round => async () => {
    const row = await measured(name, concurrency, MEASURED)
    seen[name]?.push(row)
    return row["perSecond"] ?? 0
  }
  const told = (name: string, figure: string): Round => {
    let round = 0
    return () => seen[name]?.[round++]?.[figure] ?? 0
  }
  const common = { baseline: "two commits", rounds: ROUNDS, warm: 0 }
  const contenders = (round: (name: keyof typeof urls) => Round) => Object.fromEntries(names.map((name) => [name, round(name)]))
  return [
    { ...common, name: `${concurrency} at once: events`, unit: "/s", contenders: contenders(loaded) },
    ...["p50", "p99"].map((figure) => (
      { ...common, name: `${concurrency} at once: ${figure}`, unit: "ms", contenders: contenders((name) => told(name, figure)) }
    ))
  ]
}

for (const name of names) await measured(name, 16, MEASURED)

export default {
  cases: [1, 16, 256].flatMap(cases),
  note: "workerd on this machine, with its local storage, and not Cloudflare.",
  close: async () => {
    await Promise.all([peers.kill(), systole.kill()])
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  }
} satisfies Bench
