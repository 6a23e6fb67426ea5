/**
 * A child process, run to its end.
 *
 * @module
 */
import { spawn } from "node:child_process"
import process from "node:process"
import { environment, root } from "./Host.ts"

/** How a child process ended. */
export interface Ended {
  /** The exit code; `undefined` where it was ended for taking too long. */
  readonly code: number | undefined
  /** What it printed, on both streams, in order. */
  readonly output: string
  readonly millis: number
}

/** Where and how long a child process runs. */
export interface RunOptions {
  readonly cwd?: string
  /** Ended when it takes longer. Default 25 minutes: a machine that is shared takes several times as long as one that is not. */
  readonly limitMillis?: number
}

const LIMIT = 1_500_000

/** The groups that run now: they get no signal of the terminal, so an interrupt is handed on to them. */
const running = new Set<number>()

const interrupt = () => {
  for (const group of running) process.kill(-group, "SIGKILL")
  process.exit(130)
}
process.once("SIGINT", interrupt)
process.once("SIGTERM", interrupt)

/** Runs a command line to its end. */
export const run = ([file, ...args]: readonly [string, ...Array<string>], options: RunOptions = {}): Promise<Ended> =>
  new Promise((resolve) => {
    const began = performance.now()
    const chunks: Array<string> = []
    // A group of its own, so that ending it ends what it started too.
    const child = spawn(file, args, { cwd: options.cwd ?? root, env: environment(), detached: true, stdio: ["ignore", "pipe", "pipe"] })
    const group = child.pid
    if (group !== undefined) running.add(group)
    const limit = setTimeout(() => group !== undefined && process.kill(-group, "SIGKILL"), options.limitMillis ?? LIMIT)
    const end = (code: number | undefined) => {
      clearTimeout(limit)
      if (group !== undefined) running.delete(group)
      resolve({ code, output: chunks.join(""), millis: performance.now() - began })
    }
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => chunks.push(chunk))
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => chunks.push(chunk))
    child.on("error", (error) => {
      chunks.push(`${file} cannot be started: ${error.message}\n`)
      end(127)
    })
    child.on("close", (code) => end(code ?? undefined))
  })
