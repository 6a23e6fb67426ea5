/**
 * Runs a child process to its end.
 *
 * @module
 */
import { spawn } from "node:child_process"
import process from "node:process"
import * as Children from "./Children.ts"
import { environment, root } from "./Host.ts"

/** The result of a child process. */
export interface Ended {
  /** The exit code; `undefined` after a time-out. */
  readonly code: number | undefined
  /** The output of both streams, in order. */
  readonly output: string
  readonly millis: number
}

/** The options of a child process. */
export interface RunOptions {
  readonly cwd?: string
  /** The time-out. Default 90 minutes: one slow, shared core takes many times as long as two idle ones. */
  readonly limitMillis?: number
  /** Environment variables beside those of this process. */
  readonly env?: Readonly<Record<string, string>>
}

const LIMIT = 5_400_000

/** Runs a command line to its end. */
export const run = ([file, ...args]: readonly [string, ...Array<string>], options: RunOptions = {}): Promise<Ended> =>
  new Promise((resolve) => {
    const began = performance.now()
    const chunks: Array<string> = []
    // A separate process group, so that ending it ends its children too.
    const child = spawn(
      file,
      args,
      { cwd: options.cwd ?? root, env: { ...environment(), ...options.env }, detached: true, stdio: ["ignore", "pipe", "pipe"] }
    )
    Children.add(child)
    const group = child.pid
    const limit = setTimeout(() => group !== undefined && process.kill(-group, "SIGKILL"), options.limitMillis ?? LIMIT)
    const end = (code: number | undefined) => {
      clearTimeout(limit)
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
