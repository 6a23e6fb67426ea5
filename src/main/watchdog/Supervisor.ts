/**
 * The supervisor of `systole dev`: it starts the server again after the watchdog ended it, or after many reloads, and says why.
 *
 * It is a process of its own, since nothing in a process whose thread is held can start another one. It loads none of the runtime,
 * passes signals on, and ends with the server.
 *
 * @module
 */
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { constants, tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import * as Debugger from "./Debugger.ts"
import * as ParentProcess from "./ParentProcess.ts"
import * as EndFile from "./EndFile.ts"

/** The most ends in a row, each within {@link STEADY} of its start. */
const MAX_ENDS = 10

/** The time after which a process counts as steady, in milliseconds. */
const STEADY = 60_000

const SIGNALS = ["SIGTERM", "SIGINT"] as const

/** The kinds of permissions of Deno. */
const PERMISSIONS = ["read", "write", "net", "env", "run", "ffi", "sys"] as const

interface DenoGlobal {
  readonly permissions: { readonly querySync: (kind: { readonly name: string }) => { readonly state: string } }
}

/** The arguments of the host before the program; `undefined` where a second process could not have the same rights. */
const hostArguments = (): ReadonlyArray<string> | undefined => {
  const { Deno } = globalThis as { readonly Deno?: DenoGlobal }
  if (Deno === undefined) return process.execArgv
  return PERMISSIONS.every((name) => Deno.permissions.querySync({ name }).state === "granted") ? ["run", "-A"] : undefined
}

/**
 * Whether this process is to supervise its command line: that of `systole dev`, unless it is supervised or debugged itself.
 */
export const isAsked = ([command]: ReadonlyArray<string>): boolean =>
  command === "dev" && EndFile.file === undefined && !Debugger.isPossible() && hostArguments() !== undefined

/** The end of a server. */
interface End {
  readonly code: number
  /** The reason for which another one shall start, as a sentence without its point. */
  readonly reason: string | undefined
}

/**
 * Serves by a process with these arguments until it ends by itself or is told to. Resolves to the exit code.
 */
export const supervise = async (program: string, args: ReadonlyArray<string>): Promise<number> => {
  const folder = mkdtempSync(join(tmpdir(), "systole-dev-"))
  const server = new ServerProcess(join(folder, "end"), [...hostArguments() ?? [], program, ...args])
  ParentProcess.follow()
  try {
    for (let ends = 1; ; ends++) {
      const start = performance.now()
      const { code, reason } = await server.run()
      if (reason === undefined || server.isStopping) return code
      if (performance.now() - start > STEADY) ends = 1
      if (ends === MAX_ENDS) {
        console.error(`${reason}. It did so ${MAX_ENDS} times in a row, so it is not started again`)
        return 1
      }
      console.error(`${reason}. It starts again`)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The process of the server, one after another. */
class ServerProcess {
  isStopping = false
  private readonly endFile: string
  private readonly args: ReadonlyArray<string>
  private send: (signal: NodeJS.Signals) => void = () => {}

  constructor(endFile: string, args: ReadonlyArray<string>) {
    this.endFile = endFile
    this.args = args
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        this.isStopping = true
        this.send(signal)
      })
    }
  }

  /** Runs a process to its end. */
  run(): Promise<End> {
    return new Promise((resolve, reject) => {
      const env = { ...process.env, [EndFile.VARIABLE]: this.endFile }
      const child = spawn(process.execPath, this.args, { env, stdio: "inherit" })
      // On Deno, child.kill reports the signal also for a process that ended by itself.
      this.send = (signal) => void (child.pid !== undefined && process.kill(child.pid, signal))
      child.once("error", reject)
      child.once("exit", (code, signal) => {
        this.send = () => {}
        resolve({ code: code ?? 128 + (signal === null ? 0 : constants.signals[signal]), reason: this.takeReason() })
      })
    })
  }

  private takeReason(): string | undefined {
    try {
      const reason = readFileSync(this.endFile, "utf8")
      rmSync(this.endFile, { force: true })
      return reason
    } catch {
      return undefined
    }
  }
}
