/**
 * The package as it is installed here.
 *
 * @module
 */
import { readFileSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"

/** The package's folder: the sources lie one level above the built files. */
const folder = resolve(dirname(fileURLToPath(import.meta.url)), import.meta.url.endsWith(".ts") ? "../.." : "../../..")

const json = (file: string): unknown => JSON.parse(readFileSync(file, "utf8"))

/**
 * The package's version.
 *
 * @category getters
 * @since 0.1.0
 */
export const version = (): string => (json(join(folder, "package.json")) as { readonly version: string }).version

/** The part of npm's notes on a `node_modules` that is read here. */
interface Installed {
  readonly packages?: { readonly [place: string]: { readonly resolved?: string } }
}

/**
 * The dependency that installs this package once more: `file:` with an absolute path where it came from an archive or
 * a folder, else a range of versions.
 *
 * @category getters
 * @since 0.1.0
 */
export const specifier = (): string => {
  const modules = dirname(folder)
  if (basename(modules) !== "node_modules") return `file:${folder}`
  const range = `^${version()}`
  try {
    const { packages } = json(join(modules, ".package-lock.json")) as Installed
    const resolved = packages?.[`node_modules/${basename(folder)}`]?.resolved
    return resolved?.startsWith("file:") === true ? `file:${resolve(dirname(modules), resolved.slice("file:".length))}` : range
  } catch {
    return range
  }
}
