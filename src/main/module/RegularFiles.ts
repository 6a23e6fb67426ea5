/**
 * Regular files: the only ones that a bundle reads.
 *
 * A bundler that reads a pipe waits for its writer, and one that reads a device such as `/dev/zero` takes memory until the host
 * has none. So each file is looked at before it is read: the sources, their source maps, and the settings in the folders above
 * them, with the files that these extend. Links are followed.
 *
 * @module
 */
import type * as Esbuild from "esbuild"
import { readFileSync, statSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import * as ExtendedSettings from "./ExtendedSettings.ts"

/** The maximum size of a file of a bundle, in bytes. */
export const MAX_BYTES = 67_108_864

/** The files in the folders of sources that the bundler reads by itself. */
const SETTINGS = ["package.json", "tsconfig.json", "jsconfig.json"]

/** The settings of the bundler for sources in folders: in each folder, in those above them, and the files that these extend. */
export const settingsOf = (folders: ReadonlyArray<string>): ReadonlyArray<string> => {
  const above = new Set<string>()
  for (let folder of folders) for (; !above.has(folder); folder = dirname(folder)) above.add(folder)
  return [...new Set([...above].flatMap(settingsIn))]
}

/** The settings in a folder, with the files that they extend. */
const settingsIn = (folder: string): ReadonlyArray<string> =>
  SETTINGS.map((name) => join(folder, name)).flatMap((file) => [file, ...file.endsWith("config.json") ? ExtendedSettings.of(file) : []])

/** The comment that leads to the source map of a file, which the bundler reads, too. */
const MAP = /[#@][ \t]?sourceMappingURL=([^\s'"*]{1,4096})/g

/**
 * The reason for which a file is not read; `undefined` for a regular file and for an absent one.
 */
export const refusal = (file: string): string | undefined => {
  const stat = statSync(file, { throwIfNoEntry: false })
  if (stat === undefined || stat.isDirectory()) return undefined
  if (!stat.isFile()) {
    return `${file} is no regular file, but a pipe, a device or a socket. Remove it, or the link or import that leads to it`
  }
  if (stat.size <= MAX_BYTES) return undefined
  return `${file} has ${stat.size} bytes, and a module may have ${MAX_BYTES}. Have the module read data when it runs`
}

/**
 * Refuses all other files in a build. Its hooks come before those of other plugins.
 */
export const plugin = (): Esbuild.Plugin => {
  const folders = new Set<string>()
  const refusedSettings = (folder: string): string | undefined => {
    if (folders.has(folder)) return undefined
    folders.add(folder)
    const parent = dirname(folder)
    const found = settingsIn(folder).map(refusal).find((reason) => reason !== undefined)
    return found ?? (parent === folder ? undefined : refusedSettings(parent))
  }
  return {
    name: "systole-regular",
    setup: (build) => {
      build.onResolve({ filter: /.*/, namespace: "file" }, ({ path, resolveDir }) =>
        told(refusedSettings(dirname(resolve(resolveDir, path)))))
      build.onLoad({ filter: /.*/, namespace: "file" }, ({ path }) => told(refusal(path) ?? mapOf(path)))
    }
  }
}

const told = (text: string | undefined) => text === undefined ? undefined : { errors: [{ text }] }

/** The refusal of the source map of a file. */
const mapOf = (file: string): string | undefined => {
  const maps = readFileSync(file, "latin1").matchAll(MAP)
  for (const [, url = ""] of maps) {
    const reason = url.startsWith("data:") ? undefined : refusal(resolve(dirname(file), url))
    if (reason !== undefined) return reason
  }
  return undefined
}
