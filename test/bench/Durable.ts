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
import { kinds, type Lines } from "./Credentials.ts"

/** The duration of one measurement, in milliseconds. */
const MEASURED = 3000

/** The duration of the load before the first measurement of each server, in milliseconds. */
const WARM = 3000

/** The time from the load to the reading of the memory, in milliseconds. */
const SETTLED = 5000

/** The rounds of requests with credentials, whose ratios are close to 1. */
const CREDENTIAL_ROUNDS = 5

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
  /** The concurrencies at which requests with each kind of credential are compared, with a synchronisation of 2 ms; none unless given. */
  readonly credentials?: ReadonlyArray<number>
}

/** A server under load, and the form of its requests. */
interface Contender {
  readonly server: Server
  readonly isUnnamed?: boolean
  /** Further headers, as lines of HTTP/1.1. */
  readonly lines?: string
}

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
  const settings: Array<Setting> = []
  for (const { name, servers: { group, systole } } of pairs) {
    const unnamed = plan.hasUnnamed === true ? { unnamed: { server: systole, isUnnamed: true } } : {}
    const contenders = { group: { server: group }, systole: { server: systole }, ...unnamed }
    for (const server of [group, systole]) await measure({ server }, plan, warming)
    settings.push({ name, baseline: "group", contenders, concurrencies: plan.concurrencies, rounds: plan.rounds })
  }
  if (plan.credentials !== undefined) {
    const contenders = await credentials(pairs[1]!.servers.systole)
    for (const contender of Object.values(contenders)) await measure(contender, plan, warming)
    settings.push({ name: "2 ms, credentials", baseline: "none", contenders, concurrencies: plan.credentials, rounds: CREDENTIAL_ROUNDS })
  }
  const latency = await disk(join(folder, "disk"))
  return {
    cases: settings.flatMap((setting) => setting.concurrencies.flatMap((concurrency) => cases(setting, plan, concurrency))),
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

/** One server under requests with each kind of credential. */
const credentials = async (server: Server): Promise<Readonly<Record<string, Contender>>> => {
  const lines = await (await fetch(`${server.url}/credentials`)).json() as Lines
  return Object.fromEntries(kinds.map((kind) => [kind, { server, lines: lines[kind] }]))
}

interface Setting {
  readonly name: string
  readonly baseline: string
  readonly contenders: Readonly<Record<string, Contender>>
  readonly concurrencies: ReadonlyArray<number>
  readonly rounds: number
}

/** One case per figure. The first loads the servers, and the others return its results. */
const cases = ({ baseline, contenders, name, rounds }: Setting, plan: Plan, concurrency: number): ReadonlyArray<Case> => {
  const seen = new Map(Object.keys(contenders).map((name): [string, Array<Figures>] => [name, []]))
  const loaded = (name: string): Round => async () => {
    const figures = await measure(contenders[name]!, plan, { concurrency, ms: MEASURED })
    seen.get(name)!.push(figures)
    return figures.perSecond
  }
  const told = (name: string, figure: keyof Figures): Round => {
    let round = 0
    return () => seen.get(name)![round++ % rounds]![figure]
  }
  const contending = (round: (name: string) => Round) =>
    Object.fromEntries(Object.keys(contenders).map((name) => [name, round(name)]))
  const label = (figure: string) => `${name}, ${concurrency} at once: ${figure}`
  const common = { baseline, rounds, warm: 0 }
  return [
    { ...common, name: label(plan.counted), unit: units.perSecond, contenders: contending(loaded) },
    ...(["p50", "flushes", "cpuMicros", "fairness"] as const).map((figure): Case => ({
      ...common,
      name: label(figure),
      unit: units[figure],
      contenders: contending((name) => told(name, figure))
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
      for (const concurrency of plan.concurrencies) await measure({ server }, plan, { concurrency, ms: MEASURED })
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
const measure = async ({ isUnnamed = false, lines = "", server }: Contender, { path }: Plan, { concurrency, ms }: {
  readonly concurrency: number
  readonly ms: number
}): Promise<Figures> => {
  const before = await server.stats()
  const header = ["Prefer: wait=10", lines].filter((line) => line !== "").join("\r\n")
  const asked = { warm: "0", ms: String(ms), concurrency: String(concurrency), header }
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
