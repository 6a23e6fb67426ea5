/**
 * A temporary project with a terminal, for tests of the command line.
 *
 * @module
 */
import { Effect } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import * as Command from "../scripts/Command.ts"
import { current, type Host } from "../scripts/Host.ts"
import type { Ended } from "./Inside.ts"
import * as Inside from "./Inside.ts"

/** A server in a child process. */
export interface Server {
  readonly url: string
  readonly pid: number
  /** The process that was started: under `systole dev` the supervisor of the server. */
  readonly started: number
  /** The next printed line, as JSON. */
  readonly next: () => Promise<unknown>
  /** The exit of the process. */
  readonly ended: Promise<Ended>
  /** Resolves when the output on standard error has a text. */
  readonly told: (text: string) => Promise<void>
  /** Stops reading both outputs, so that the process cannot write to them. */
  readonly closeOutput: () => void
  /** Sends a signal to the process, and waits for its end. */
  readonly stop: (signal: NodeJS.Signals) => Promise<Ended>
}

interface Started {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  readonly told: (text: string) => Promise<void>
}

/** The folder, the variables and the host of a process; by default, the host of the tests. */
interface Surroundings {
  readonly cwd: string
  readonly more?: NodeJS.ProcessEnv
  readonly host?: Host
}

const start = ({ cwd, host = current(), more = {} }: Surroundings, args: ReadonlyArray<string>): Started => {
  const env = { ...process.env, NO_COLOR: "1", FORCE_COLOR: undefined, VITEST: undefined, NODE_OPTIONS: undefined, ...more }
  const [program, ...before] = Command.line(host)
  const child = spawn(program, [...before, ...args], { cwd, env, stdio: ["ignore", "pipe", "pipe"] })
  const printed = { stdout: "", stderr: "" }
  child.stdout.on("data", (chunk) => printed.stdout += String(chunk))
  child.stderr.on("data", (chunk) => printed.stderr += String(chunk))
  const ended = new Promise<Ended>((resolve) => child.on("close", (code) => resolve({ code, ...printed })))
  const told = (text: string): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!printed.stderr.includes(text)) return
        child.stderr.off("data", look)
        resolve()
      }
      child.stderr.on("data", look)
      look()
    })
  return { child, ended, told }
}

/** Ends a process that may be over. */
const kill = (pid: number): void => {
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // It is over.
  }
}

/** A project in a temporary folder with a terminal, removed when the scope closes. */
export const terminal = (files: Readonly<Record<string, string>> = {}) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const root = mkdtempSync(join(tmpdir(), "systole-cli-"))
        return { root, children: new Set<ChildProcess>(), servers: new Set<number>() }
      }),
      ({ children, root, servers }) => Effect.sync(() => {
        for (const child of children) child.kill("SIGKILL")
        for (const pid of servers) kill(pid)
        rmSync(root, { recursive: true, force: true, maxRetries: 5 })
      })
    ),
    ({ children, root, servers }) => {
      const write = (file: string, text: string): void => {
        mkdirSync(dirname(join(root, file)), { recursive: true })
        writeFileSync(join(root, file), text)
      }
      for (const [file, text] of Object.entries(files)) write(file, text)
      /** Runs a command in a process of its own. */
      const spawned = (...args: ReadonlyArray<string>): Promise<Ended> => start({ cwd: root }, args).ended
      /** Runs a command in a process of a host. */
      const spawnedOn = (host: Host, ...args: ReadonlyArray<string>): Promise<Ended> => start({ cwd: root, host }, args).ended
      const runIn = (folder: string, ...args: ReadonlyArray<string>): Promise<Ended> => {
        const at = join(root, folder)
        return Inside.canRun(args) ? Inside.run(at, args) : start({ cwd: at }, args).ended
      }
      const run = (...args: ReadonlyArray<string>): Promise<Ended> => runIn("", ...args)
      /** The JSON output of a successful command. */
      const json = async (...args: ReadonlyArray<string>): Promise<unknown> => {
        const { code, stderr, stdout } = await run(...args, "--json")
        if (code !== 0) throw new Error(`systole ${args.join(" ")} ended with ${code}: ${stderr}`)
        return JSON.parse(stdout)
      }
      /** Starts a server with these environment variables, or on a host. */
      const serveBy = (by: Omit<Surroundings, "cwd">) => async (...args: ReadonlyArray<string>): Promise<Server> => {
        const { child, ended, told } = start({ cwd: root, ...by }, [...args, "--port", "0", "--json"])
        children.add(child)
        const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
        const noted = (printed: unknown): unknown => {
          const { pid } = printed as { readonly pid?: number }
          if (pid !== undefined) servers.add(pid)
          return printed
        }
        const next = async (): Promise<unknown> => {
          const line = await lines.next()
          if (line.done !== true) return noted(JSON.parse(line.value))
          const { code, stderr } = await ended
          throw new Error(`the server ended with ${code}: ${stderr}`)
        }
        const { pid, url } = await next() as { readonly pid: number; readonly url: string }
        return {
          pid,
          started: child.pid!,
          url,
          next,
          ended,
          told,
          closeOutput: () => {
            child.stdout!.destroy()
            child.stderr!.destroy()
          },
          stop: (signal) => {
            // Deno's child.kill reports the signal even if the process ended by itself.
            process.kill(pid, signal)
            return ended
          }
        }
      }
      return { root, write, run, runIn, spawned, spawnedOn, json, serve: serveBy({}), serveBy }
    }
  )
