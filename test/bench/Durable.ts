/**
 * Compares durable servers over loopback: Systole and the hand-written baseline,
 * in turn, at each concurrency, with the latency of the disk.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { command, current, type Host, root } from "../scripts/Host.ts"
import type { Bench, Case, Round } from "./Bench.ts"
import type { Server } from "./Contender.ts"
import { disk, load, start, startBaseline } from "./Contender.ts"

/** The duration of one measurement, in milliseconds. */
const MEASURED = 3000

/** The duration of the load before the first measurement of each server, in milliseconds. */
const WARM = 3000

/** The time from the load to the reading of the memory, in milliseconds. */
const SETTLED = 5000

/** The plan of a measurement. */
export interface Plan {
  /** The path of requests on both servers. */
  readonly path: string
  readonly concurrencies: ReadonlyArray<number>
  readonly rounds: number
  /** The duration of the load before the first measurement of each server, in milliseconds. Default 3000. */
  readonly warm?: number
  /** The name of the counted unit, such as `events`. */
  readonly counted: string
  /** Whether a third contender is the runtime with signals that have no ids of their callers. */
  readonly hasUnnamed?: boolean
}

type Contender = "group" | "systole" | "unnamed"

interface Figures {
  readonly perSecond: number
  readonly p50: number
  readonly flushes: number
  readonly cpuMicros: number
  readonly fairness: number
}

const units: Readonly<Record<keyof Figures, string>> =
  { perSecond: "/s", p50: "ms", flushes: "each", cpuMicros: "µs each", fairness: "slowest/fastest" }

/** The same plan on the real disk and with a synchronisation of 2 ms. */
export const bench = async (plan: Plan): Promise<Bench> => {
  const folder = mkdtempSync(join(tmpdir(), "systole-durable-"))
  const memory = mkdtempSync(join("/dev/shm", "systole-durable-"))
  const host: Host = current()
  const pairs =
    [await pair({ name: "disk", folder, env: {}, host }), await pair({ name: "2 ms", folder: memory, env: { SYNC_US: "2000" }, host })]
  const warming = { concurrency: 16, ms: plan.warm ?? WARM }
  for (const { servers } of pairs) for (const server of Object.values(servers)) await measure(server, plan, warming)
  const latency = await disk(join(folder, "disk"))
  return {
    cases: pairs.flatMap(({ name, servers }) => plan.concurrencies.flatMap((concurrency) => cases({ name, servers, concurrency, plan }))),
    note: `fdatasync of the disk: p50 ${latency["p50"]} ms, p99 ${latency["p99"]} ms. Repeat when p99 is above 1 ms.`,
    close: async () => {
      for (const { servers } of pairs) for (const server of Object.values(servers)) await server.stop()
      for (const path of [folder, memory]) rmSync(path, { recursive: true, force: true })
    }
  }
}

const pair = async (
  { env, folder, host, name }: { readonly name: string; readonly folder: string; readonly env: NodeJS.ProcessEnv; readonly host: Host }
) => {
  const group = await startBaseline("group", join(folder, "group.db"), { env, host })
  const systole = await startOurs(host, join(folder, "systole"), env)
  return { name, servers: { group, systole } }
}

/** Starts the server of the runtime on a folder. */
export const startOurs = (host: Host, folder: string, env: NodeJS.ProcessEnv = {}): Promise<Server> =>
  start((port) => {
    const [file, ...args] = command(host, join(root, "test", "bench", "server.ts"))
    return [file, ...args, String(port), folder]
  }, env)

interface Setting {
  readonly name: string
  readonly servers: { readonly group: Server; readonly systole: Server }
  readonly concurrency: number
  readonly plan: Plan
}

/** One case per figure. The first loads the servers, and the others return its results. */
const cases = ({ concurrency, name, plan, servers }: Setting): ReadonlyArray<Case> => {
  const names: ReadonlyArray<Contender> = plan.hasUnnamed === true ? ["group", "systole", "unnamed"] : ["group", "systole"]
  const seen: Readonly<Record<Contender, Array<Figures>>> = { group: [], systole: [], unnamed: [] }
  const loaded = (contender: Contender): Round => async () => {
    const isUnnamed = contender === "unnamed"
    const figures = await measure(servers[isUnnamed ? "systole" : contender], plan, { concurrency, isUnnamed, ms: MEASURED })
    seen[contender].push(figures)
    return figures.perSecond
  }
  const told = (contender: Contender, figure: keyof Figures): Round => {
    let round = 0
    return () => seen[contender][round++ % plan.rounds]![figure]
  }
  const contending = (round: (contender: Contender) => Round) => Object.fromEntries(names.map((name) => [name, round(name)]))
  const label = (figure: string) => `${name}, ${concurrency} at once: ${figure}`
  const common = { baseline: "group", rounds: plan.rounds, warm: 0 }
  return [
    { ...common, name: label(plan.counted), unit: units.perSecond, contenders: contending(loaded) },
    ...(["p50", "flushes", "cpuMicros", "fairness"] as const).map((figure): Case => ({
      ...common,
      name: label(figure),
      unit: units[figure],
      contenders: contending((contender) => told(contender, figure))
    }))
  ]
}

/** The resident memory of fresh servers, 5 s after the same load. */
export const memory = (plan: Plan): Case => {
  const host = current()
  const rss = (begin: (folder: string) => Promise<Server>): Round => async () => {
    const folder = mkdtempSync(join(tmpdir(), "systole-durable-"))
    const server = await begin(folder)
    try {
      for (const concurrency of plan.concurrencies) await measure(server, plan, { concurrency, ms: MEASURED })
      await new Promise((resolve) => setTimeout(resolve, SETTLED))
      return (await server.stats()).rssMiB
    } finally {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  }
  const contenders = {
    echo: rss((folder) => startBaseline("echo", join(folder, "unused"), { host })),
    group: rss((folder) => startBaseline("group", join(folder, "group.db"), { host })),
    systole: rss((folder) => startOurs(host, join(folder, "systole")))
  }
  return { name: `memory ${SETTLED / 1000} s after the load`, unit: "MiB", baseline: "echo", rounds: 1, warm: 0, contenders }
}

/** Loads a server, and reads its counters before and after. */
const measure = async (server: Server, { path }: Plan, { concurrency, isUnnamed = false, ms }: {
  readonly concurrency: number
  readonly isUnnamed?: boolean
  readonly ms: number
}): Promise<Figures> => {
  const before = await server.stats()
  const asked = { warm: "0", ms: String(ms), concurrency: String(concurrency), header: "Prefer: wait=10" }
  const [row] = await load(`${server.url}${path}`, { ...asked, ids: isUnnamed ? "no" : "yes" })
  const after = await server.stats()
  if (row === undefined || row["errors"] !== 0) throw new Error(`${server.url} answered with errors under load`)
  const events = after.events - before.events
  return {
    perSecond: row["perSecond"]!,
    p50: row["p50"]!,
    flushes: (after.commits - before.commits) / events,
    cpuMicros: (after.cpuMicros - before.cpuMicros) / events,
    fairness: row["slowestOverFastest"]!
  }
}
