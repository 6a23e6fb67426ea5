/**
 * A runtime in a child process, as a user starts it.
 *
 * @module
 */
import type { ChildProcess } from "node:child_process"
import { spawn } from "node:child_process"
import process from "node:process"
import { createInterface } from "node:readline"
import * as Children from "./Children.ts"
import type { Host } from "./Host.ts"
import * as Command from "./Command.ts"
import { environment } from "./Host.ts"

/** A listening server. */
export interface Server {
  readonly url: string
  readonly process: ChildProcess
  /** Stops or kills the server, and waits for its end. */
  readonly end: (signal: "SIGTERM" | "SIGKILL") => Promise<void>
}

/** The options of a server. */
export interface Options {
  readonly host?: Host
  /** The file of an installed command; default is the bundle of this project. */
  readonly command?: string
  /** The command line up to its flags, which serves on a free port; default is the command `start`. */
  readonly line?: ReadonlyArray<string>
  /** Receives the output on standard error; by default it is inherited. */
  readonly told?: (text: string) => void
}

/** Starts `systole start` in a project's folder, on a free port, with its data in `data`. */
export const start = async (project: string, data: string, { command, host = "node", line, told }: Options = {}): Promise<Server> => {
  await Command.ensure()
  const [file = "", ...args] = line ?? [...Command.line(host, command), "start", "--port", "0"]
  const child = spawn(file, [...args, "--data", data, "--json"], {
    cwd: project,
    env: environment(),
    stdio: ["ignore", "pipe", "pipe"]
  })
  child.stderr.setEncoding("utf8").on("data", told ?? ((text: string) => void process.stderr.write(text)))
  Children.add(child)
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  const listening = new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", (line) => resolve((JSON.parse(line) as { readonly url: string }).url))
    child.once("exit", (code) => reject(new Error(`The runtime ended with exit code ${code} before it listened`)))
  })
  const url = await listening
  return {
    url,
    process: child,
    end: async (signal) => {
      child.kill(signal)
      await gone
    }
  }
}
