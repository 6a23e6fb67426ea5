/**
 * The supported hosts. This file has no imports, so that every host can run it.
 *
 * @module
 */

/**
 * The reason for which the runtime does not support a host; `undefined` if it does.
 */
export const refusal = (versions: Readonly<Record<string, string | undefined>>): string | undefined => {
  if (versions.bun !== undefined || versions.deno !== undefined) return undefined
  const [major = 0, minor = 0] = (versions.node ?? "").split(".").map(Number)
  if (major > 22 || (major === 22 && minor >= 19)) return undefined
  return `Systole needs Node 22.19 or newer, and this is Node ${versions.node}. ` +
    "Install a newer one from https://nodejs.org, or use Deno or Bun"
}

/**
 * The name of this host, from its versions.
 */
export const nameOf = (versions: Readonly<Record<string, string | undefined>>): "node" | "deno" | "bun" =>
  versions.bun !== undefined ? "bun" : versions.deno !== undefined ? "deno" : "node"
