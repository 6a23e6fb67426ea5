/**
 * The hosts on which the project's scripts start something, and how.
 *
 * @module
 */
import { existsSync } from "node:fs"
import { delimiter, join } from "node:path"
import process from "node:process"

/** The folder that holds the project. */
export const root = join(import.meta.dirname, "..", "..")

const bin = join(root, "node_modules", ".bin")

/** A program that the project's dependencies bring. */
export const tool = (name: string): string => join(bin, process.platform === "win32" ? `${name}.cmd` : name)

/** The runtimes that run the sources. */
export type Host = "node" | "deno" | "bun"

/** Which runtime this is. */
export const current = (): Host => "Bun" in globalThis ? "bun" : "Deno" in globalThis ? "deno" : "node"

/** The command line that runs a TypeScript file of the project on a host. */
export const command = (host: Host, file: string): readonly [string, ...Array<string>] => {
  if (host === "deno") return [tool("deno"), "run", "-A", file]
  if (host === "bun") return [tool("bun"), file]
  return [node(), "--import", join(root, "test/scripts/source.mjs"), file]
}

/** The command line of vitest on a host, with the project's one configuration. */
export const vitest = (host: Host, args: ReadonlyArray<string>): readonly [string, ...Array<string>] => {
  const run = [join(root, "node_modules", "vitest", "vitest.mjs"), "run", "-c", join("test", "vitest.config.ts"), ...args]
  if (host === "deno") return [tool("deno"), "run", "-A", ...run]
  if (host === "bun") return [tool("bun"), "--bun", ...run]
  return [node(), ...run]
}

/** The Node that the dependencies bring, else the one that runs this, else the machine's. */
export const node = (): string => {
  if (existsSync(tool("node"))) return tool("node")
  return current() === "node" ? process.execPath : "node"
}

/** The environment of what the scripts start: the project's tools first, and no outside calls. */
export const environment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}`,
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_SEND_METRICS: "false",
  NO_COLOR: "1"
})
