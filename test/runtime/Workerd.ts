/**
 * workerd as a process of its own, which can be killed and measured.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createRequire } from "node:module"
import { createInterface } from "node:readline"
import type { Readable } from "node:stream"
import { COMPATIBILITY_DATE, COMPATIBILITY_FLAG } from "./Edge.ts"

/** The program, which miniflare brings. */
const workerd = (createRequire(import.meta.url)("workerd") as { readonly default: string }).default

/** A running process. */
export interface Workerd {
  readonly url: string
  readonly process: ChildProcess
  /** The folder with the databases of its objects. */
  readonly disk: string
  /** Ends the process with SIGKILL. */
  readonly kill: () => Promise<void>
}

/** The objects of a Worker of the runtime. */
const SPACES = { SPACES: "Space", DIRECTORY: "Directory" }

/** Options of a Worker. */
export interface Options {
  /** The classes of objects by their bindings; those of the runtime unless given. */
  readonly objects?: Readonly<Record<string, string>>
  readonly token?: string | undefined
  /** The texts of the modules that the script imports, by their names. */
  readonly chunks?: Readonly<Record<string, string>>
}

/** The configuration of a Worker with objects on disk. */
const configOf = (disk: string, { chunks = {}, objects = SPACES, token }: Options): string => `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker), (name = "disk", disk = (path = ${JSON.stringify(disk)}, writable = true))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);
const worker :Workerd.Worker = (
  modules = [${["worker.js", ...Object.keys(chunks)].map((name) => `(name = "${name}", esModule = embed "${name}")`).join(", ")}],
  compatibilityDate = "${COMPATIBILITY_DATE}",
  compatibilityFlags = ["${COMPATIBILITY_FLAG}"],
  bindings = [
    ${Object.entries(objects).map(([name, type]) => `(name = "${name}", durableObjectNamespace = "${type}"),`).join("\n    ")}
    ${token === undefined ? "" : `(name = "SYSTOLE_TOKEN", text = "${token}")`}
  ],
  durableObjectNamespaces = [
    ${Object.values(objects).map((type) => `(className = "${type}", uniqueKey = "${type}", enableSql = true)`).join(",\n    ")}
  ],
  durableObjectStorage = (localDisk = "disk")
);
`

/** Starts a script in a folder, which keeps the storage of its objects. */
export const start = async (folder: string, script: string, options: Options = {}): Promise<Workerd> => {
  const disk = join(folder, "disk")
  mkdirSync(disk, { recursive: true })
  for (const [name, text] of Object.entries({ ...options.chunks, "worker.js": script })) writeFileSync(join(folder, name), text)
  writeFileSync(join(folder, "config.capnp"), configOf(disk, options))
  const stdio = ["ignore", "ignore", "inherit", "pipe"] as const
  const child = spawn(workerd, ["serve", "--control-fd=3", join(folder, "config.capnp")], { stdio: [...stdio] })
  const ended = once(child, "exit")
  for await (const line of createInterface({ input: child.stdio[3] as Readable })) {
    const { port } = JSON.parse(line) as { readonly port?: number }
    if (port === undefined) continue
    return {
      url: `http://127.0.0.1:${port}`,
      process: child,
      disk,
      kill: async () => {
        child.kill("SIGKILL")
        await ended
      }
    }
  }
  throw new Error("workerd ended before it listened")
}
