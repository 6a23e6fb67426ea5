/**
 * The hosts of the project's scripts, and their command lines.
 *
 * @module
 */
import { existsSync } from "node:fs"
import { delimiter, join } from "node:path"
import process from "node:process"

/** The folder of the project. */
export const root = join(import.meta.dirname, "..", "..")

const bin = join(root, "node_modules", ".bin")

/** An executable of the project's dependencies. */
export const tool = (name: string): string => join(bin, process.platform === "win32" ? `${name}.cmd` : name)

/** The hosts that run the sources. */
export const hosts = ["node", "deno", "bun"] as const

export type Host = (typeof hosts)[number]

/** The current host. */
export const current = (): Host => "Bun" in globalThis ? "bun" : "Deno" in globalThis ? "deno" : "node"

/** The command line that runs a TypeScript file of the project on a host. */
export const command = (host: Host, file: string): readonly [string, ...Array<string>] => {
  if (host === "deno") return [tool("deno"), "run", "-A", file]
  if (host === "bun") return [tool("bun"), file]
  return [node(), "--import", join(root, "test/scripts/source.mjs"), file]
}

/** The command line of vitest on a host, with the project's configuration. */
export const vitest = (host: Host, args: ReadonlyArray<string>): readonly [string, ...Array<string>] => {
  const run = [join(root, "node_modules", "vitest", "vitest.mjs"), "run", "-c", join("test", "vitest.config.ts"), ...args]
  if (host === "deno") return [tool("deno"), "run", "-A", ...run]
  if (host === "bun") return [tool("bun"), "--bun", ...run]
  // Most objects of a test die young. With room for them, fewer are copied.
  return [node(), "--max-semi-space-size=64", ...run]
}

/** The Node of the dependencies, else the current one, else the one of the system. */
export const node = (): string => {
  if (existsSync(tool("node"))) return tool("node")
  return current() === "node" ? process.execPath : "node"
}

/** The folder for compiled code, which a process of Node writes when it ends and the next one reads. */
export const codeCache = join(root, "node_modules", ".cache", "systole-code")

/** The environment of child processes: the project's executables first, compiled code kept, and no telemetry. */
export const environment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}`,
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  NODE_COMPILE_CACHE: codeCache,
  WRANGLER_SEND_METRICS: "false",
  NO_COLOR: "1"
})
