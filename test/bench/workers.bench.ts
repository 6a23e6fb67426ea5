/**
 * One signal in a durable object: posted, handled by an enzyme that writes a cell, and answered when its receipt is
 * durable; and a chain of ten signals, answered when the last result is durable. The baselines are objects written by hand
 * for these tasks, in the same workerd, each process in turn.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { root } from "../scripts/Host.ts"
import { bundled } from "../runtime/Bundle.ts"
import * as Workerd from "../runtime/Workerd.ts"
import type { Bench, Case, Round } from "./Bench.ts"
import { load, type Load } from "./Contender.ts"
import * as WorkerdCounters from "./WorkerdCounters.ts"

const ROUNDS = 3

/** The duration of one measurement, in milliseconds. */
const MEASURED = 2000

const folders = ["systole", "peers"].map((name) => mkdtempSync(join(tmpdir(), `systole-${name}-`)))
const [ours = "", theirs = ""] = folders
const peers = await Workerd.start(theirs, readFileSync(join(root, "test/bench/baseline/objects.mjs"), "utf8"), {
  objects: { PEER: "Peer", PEER1: "Peer1", CHAIN: "Chain", ECHO: "Echo" }
})
const systole = await Workerd.start(ours, (await bundled("./test/bench/objects.ts")).text, { token: undefined })

/** An object under load. */
interface Contender {
  readonly server: Workerd.Workerd
  readonly path: string
}

/** A task, and the objects that do it. */
interface Task {
  readonly counted: string
  readonly baseline: string
  readonly contenders: Readonly<Record<string, Contender>>
}

const events: Task = {
  counted: "events",
  baseline: "two commits",
  contenders: {
    "two commits": { server: peers, path: "/peer" },
    "one commit": { server: peers, path: "/peer1" },
    "echo": { server: peers, path: "/echo" },
    "systole": { server: systole, path: "/v1/spaces/bench/signals" }
  }
}

const chains: Task = {
  counted: "chains",
  baseline: "a commit a step",
  contenders: {
    "a commit a step": { server: peers, path: "/chain" },
    "systole": { server: systole, path: "/v1/spaces/chains/chain" }
  }
}

/** The figures of one measurement. */
interface Figures {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly fsyncs: number
  readonly cpuMicros: number
}

const units: Readonly<Record<keyof Figures, string>> =
  { perSecond: "/s", p50: "ms", p99: "ms", fsyncs: "each", cpuMicros: "µs each" }

const loaded = async ({ path, server: { url } }: Contender, concurrency: number, ms: number): Promise<Load> => {
  const [row] = await load(`${url}${path}`, { warm: "0", ms: String(ms), concurrency: String(concurrency), header: "Prefer: wait=10" })
  if (row === undefined || row["errors"] !== 0) throw new Error(`${path} answered with errors under load`)
  return row
}

const measured = async (contender: Contender, concurrency: number): Promise<Figures> => {
  const { disk, process: { pid = 0 } } = contender.server
  // The platform evicts objects that are idle for 10 s. A request wakes the object before its counters are read.
  await loaded(contender, 1, 1)
  const before = WorkerdCounters.read(pid, disk)
  const { answered = 0, p50 = 0, p99 = 0, perSecond = 0 } = await loaded(contender, concurrency, MEASURED)
  const { cpuMicros, fsyncs } = WorkerdCounters.used(before, WorkerdCounters.read(pid, disk))
  return { perSecond, p50, p99, fsyncs: fsyncs / answered, cpuMicros: cpuMicros / answered }
}

/** The objects that were under load already. */
const warm = new Set<Contender>()

/** Loads an object, the first time to no account. */
const warmed = async (contender: Contender, concurrency: number): Promise<Figures> => {
  if (!warm.has(contender)) await measured(contender, 16)
  warm.add(contender)
  return measured(contender, concurrency)
}

/** One case per figure. The first loads the objects, and the others return its results. */
const cases = ({ baseline, contenders, counted }: Task, concurrency: number): ReadonlyArray<Case> => {
  const names = Object.keys(contenders)
  const seen = Object.fromEntries(names.map((name) => [name, [] as Array<Figures>]))
  const measuring = (name: string): Round => async () => {
    const figures = await warmed(contenders[name]!, concurrency)
    seen[name]?.push(figures)
    return figures.perSecond
  }
  const told = (name: string, figure: keyof Figures): Round => {
    let round = 0
    return () => seen[name]?.[round++]?.[figure] ?? 0
  }
  const rounds = (round: (name: string) => Round) => Object.fromEntries(names.map((name) => [name, round(name)]))
  const common = { baseline, rounds: ROUNDS, warm: 0 }
  const label = `${concurrency} at once: ${counted}`
  return [
    { ...common, name: label, unit: units.perSecond, contenders: rounds(measuring) },
    ...(["p50", "p99", "fsyncs", "cpuMicros"] as const).map((figure): Case => (
      { ...common, name: `${label}, ${figure}`, unit: units[figure], contenders: rounds((name) => told(name, figure)) }
    ))
  ]
}

export default {
  cases: [events, chains].flatMap((task) => [1, 16, 256].flatMap((concurrency) => cases(task, concurrency))),
  note: "workerd on this machine, with its local storage, and not Cloudflare.",
  close: async () => {
    await Promise.all([peers.kill(), systole.kill()])
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  }
} satisfies Bench
