/**
 * The installation of this package: its files, its version and its dependency specifier.
 *
 * @module
 */
import { existsSync, readFileSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"

/** The folder of this file: `src/main/module`, or `dist/command` in the bundled command. */
const here = dirname(fileURLToPath(import.meta.url))

/** Whether this is the bundled command. `npm run build` puts the modules that it shares with projects beside it. */
const isBundled = import.meta.url.endsWith(".js")

/** The folder of the package. */
export const folder = resolve(here, isBundled ? "../.." : "../../..")

const ownModule = /^systole(?:\/(cells|cli|testing|time|plugins\/[a-z0-9_-]+(?:\/commands)?))?$/
const ownEnzyme = /^systole\/(enzymes\/[a-z0-9_-]+)$/
/** The sources of own modules that lie elsewhere than their names say. */
const sources: Readonly<Record<string, string>> = {
  "": "src/index", "cells": "src/cell/index", "cli": "src/cli/index", "testing": "src/main/testing/index", "time": "src/time/index"
}

const effectModule = /^effect(?:\/([A-Z][A-Za-z0-9]*))?$/

/**
 * The source file of a first-party plugin, which is loaded like a project's plugin; `undefined` for other names.
 */
export const pluginFile = (name: string): string | undefined => {
  const plugin = ownModule.exec(name)?.[1]
  return plugin?.startsWith("plugins/") === true ? join(folder, `${plugin}.ts`) : undefined
}

/**
 * The file of a module that projects share with the running command; `undefined` for other names.
 */
export const ownFile = (name: string): string | undefined => {
  const own = ownModule.exec(name)
  if (own !== null) return isBundled ? join(here, `${own[1] ?? "index"}.js`) : join(folder, `${sources[own[1] ?? ""] ?? own[1]}.ts`)
  if (!isBundled) return undefined
  const effect = effectModule.exec(name)
  if (effect === null) return undefined
  const file = join(here, "effect", `${effect[1] ?? "index"}.js`)
  return existsSync(file) ? file : undefined
}

/**
 * The source file of a module that projects import by the name of this package, for builds; `undefined` for other names.
 */
export const sourceFile = (name: string): string | undefined => {
  const own = ownModule.exec(name)
  if (own !== null) return join(folder, `${sources[own[1] ?? ""] ?? own[1]}.ts`)
  const enzyme = ownEnzyme.exec(name)?.[1]
  if (enzyme === undefined) return undefined
  // An installed package has its enzymes as JavaScript alone.
  const source = join(folder, `${enzyme}.ts`)
  return existsSync(source) ? source : join(folder, "dist", `${enzyme}.js`)
}

const bundledPackage = /^@effect\/platform-node\/([A-Z][A-Za-z0-9]*)$/

/**
 * The file of a package that this package contains, so that a project does not install it; `undefined` for other names, and for
 * the sources, which have that package beside them.
 */
export const containedFile = (name: string): string | undefined => {
  const contained = bundledPackage.exec(name)?.[1]
  return isBundled && contained !== undefined ? join(here, "platform", `${contained}.js`) : undefined
}

/**
 * A source file of the runtime, such as `main/node.ts`.
 */
export const runtimeFile = (path: string): string => join(folder, "src", path)

const json = (file: string): unknown => JSON.parse(readFileSync(file, "utf8"))

/**
 * The version of the package.
 */
export const version = (): string => (json(join(folder, "package.json")) as { readonly version: string }).version

/** The used fields of npm's `node_modules/.package-lock.json`. */
interface Installed {
  readonly packages?: { readonly [place: string]: { readonly resolved?: string } }
}

/**
 * The dependency specifier of this package: `file:` with an absolute path if it was installed from an archive or a
 * folder, else a version range.
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
