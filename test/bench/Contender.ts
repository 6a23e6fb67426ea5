/**
 * Whole servers as contenders: child processes under load over loopback, which
 * report their statistics.
 *
 * @module
 */
import { spawn } from "node:child_process"
import { createServer } from "node:net"
import { join } from "node:path"
import * as Children from "../scripts/Children.ts"
import { command, environment, type Host, node, root } from "../scripts/Host.ts"
import { run } from "../scripts/Process.ts"

const baseline = join(root, "test", "bench", "baseline")

/** The response of `GET /stats`. The counters are cumulative. */
export interface Stats {
  readonly events: number
  readonly commits: number
  readonly cpuMicros: number
  readonly rssMiB: number
}

/** A running server. */
export interface Server {
  readonly url: string
  readonly stats: () => Promise<Stats>
  readonly stop: () => Promise<void>
}

/** The figures of one concurrency, as `baseline/load.mjs` prints them. */
export type Load = Readonly<Record<string, number>>

const START_MILLIS = 60_000

/** Starts a server on a free port, and waits until it responds. */
export const start = async (
  commandAt: (port: number) => readonly [string, ...Array<string>],
  env: NodeJS.ProcessEnv = {}
): Promise<Server> => {
  const port = await freePort()
  const [file, ...args] = commandAt(port)
  const errors: Array<string> = []
  const child = spawn(file, args, { cwd: root, env: { ...environment(), ...env }, stdio: ["ignore", "ignore", "pipe"] })
  Children.add(child)
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => errors.push(chunk))
  const gone = new Promise<void>((resolve) => child.once("close", () => resolve()))
  const url = `http://127.0.0.1:${port}`
  const stats = async () => await (await fetch(`${url}/stats`)).json() as Stats
  const stop = async () => {
    child.kill("SIGTERM")
    await gone
  }
  for (const end = performance.now() + START_MILLIS; ;) {
    if (await stats().then(() => true, () => false)) return { url, stats, stop }
    if (child.exitCode !== null || performance.now() > end) {
      await stop()
      throw new Error(`The server "${file} ${args.join(" ")}" does not answer on port ${port}: ${errors.join("").slice(0, 2000)}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Starts a hand-written baseline on a host: `echo`, `group` or `once`. */
export const startBaseline = (kind: string, file: string, { env = {}, host = "node" }: {
  readonly env?: NodeJS.ProcessEnv
  readonly host?: Host
} = {}): Promise<Server> =>
  start((port) => {
    const [program, ...args] = command(host, join(baseline, "server.mjs"))
    return [program, ...args, kind, String(port), file]
  }, env)

/** Puts a URL under load. Returns a row for each concurrency. */
export const load = (url: string, options: Readonly<Record<string, string>>): Promise<ReadonlyArray<Load>> =>
  lines([join(baseline, "load.mjs"), url, ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])])

/** The latency of fdatasync in the folder of `file`, in milliseconds. */
export const disk = async (file: string): Promise<Load> => (await lines([join(baseline, "disk.mjs"), file]))[0]!

const lines = async (args: ReadonlyArray<string>): Promise<ReadonlyArray<Load>> => {
  const { code, output } = await run([node(), ...args])
  if (code !== 0) throw new Error(`"${args.join(" ")}" ended with ${code}: ${output.slice(-2000)}`)
  return output.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as Load)
}

/** A free port below the range of client ports, so that no client takes it meanwhile. */
const freePort = async (): Promise<number> => {
  for (let port = 20_000 + (process.pid % 10_000); port < 32_000; port++) if (await isFree(port)) return port
  throw new Error("No port between 20,000 and 32,000 is free; end what listens there")
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer()
    probe.once("error", () => resolve(false))
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)))
  })
