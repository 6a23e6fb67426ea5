/**
 * The result of a reload: the modules that a change of files replaced in a running process. `main/composition/Reloads.ts` replaces
 * them.
 *
 * @module
 */
import type { LoadedModules } from "./Loader.ts"
import type { Plugin } from "./Plugin.ts"

/**
 * The modules that differ between two loads, by their names, and their files.
 */
export interface ModuleChanges {
  /** The enzymes and nodes that are new or have other code. */
  readonly enzymes: ReadonlyArray<string>
  readonly nodes: ReadonlyArray<string>
  /** The enzymes and nodes that are gone. */
  readonly removed: ReadonlyArray<string>
  /** The files that cannot be loaded since this reload. Their previous versions stay active. */
  readonly broken: ReadonlyArray<string>
  /** The files that load again. */
  readonly mended: ReadonlyArray<string>
}

/**
 * The result of a reload after a change of files.
 */
export interface ReloadResult extends ModuleChanges {
  readonly found: LoadedModules
  /** The changed files, relative to the project. */
  readonly files: ReadonlyArray<string>
  /** The time from the first change to the swap, in whole milliseconds. */
  readonly millis: number
  /** The files whose change needs a restart: the configuration, and plugins that provide more than enzymes. */
  readonly restart: ReadonlyArray<string>
}

/**
 * The difference between two loads.
 */
export const between = (before: LoadedModules, now: LoadedModules): ModuleChanges => {
  const enzymes = now.enzymes.filter((item) => !before.enzymes.includes(item)).map(({ enzyme }) => enzyme.name)
  const nodes = now.nodes.filter((item) => !before.nodes.includes(item)).map(({ node }) => node.name)
  const [was, is] = [before, now].map(namesOf) as [ReadonlySet<string>, ReadonlySet<string>]
  const files = new Set(now.broken.map(({ file }) => file))
  return {
    enzymes,
    nodes,
    removed: [...was].filter((name) => !is.has(name)),
    broken: [...files].filter((file) => !before.broken.some((old) => old.file === file)),
    mended: [...new Set(before.broken.map(({ file }) => file))].filter((file) => !files.has(file))
  }
}

const namesOf = ({ enzymes, nodes }: LoadedModules): ReadonlySet<string> =>
  new Set([...enzymes.map(({ enzyme }) => enzyme.name), ...nodes.map(({ node }) => node.name)])

/** Whether a plugin gives what a runtime takes at its start alone: other things than enzymes and their services. */
const isFixed = ({ provides, reserved, settings, telemetry }: Plugin): boolean =>
  [...Object.values(provides), ...reserved, settings, telemetry].some((given) => given !== undefined)

/**
 * The files of plugins that are new, gone or changed, and that give more than enzymes and their services.
 */
export const changedPlugins = (before: LoadedModules, now: LoadedModules): ReadonlyArray<string> => {
  const differs = (some: LoadedModules, others: LoadedModules) =>
    some.plugins.filter(({ file, hash, plugin }) =>
      isFixed(plugin) && !others.plugins.some((other) => other.file === file && other.hash === hash))
  const broken = new Set(now.broken.map(({ file }) => file))
  const files = [...differs(now, before), ...differs(before, now)].map(({ file }) => file)
  return [...new Set(files)].filter((file) => !broken.has(file))
}

/**
 * Whether no module, file or plugin differs after a reload.
 */
export const isEmpty = ({ broken, enzymes, mended, nodes, removed, restart }: ReloadResult): boolean =>
  [broken, enzymes, mended, nodes, removed, restart].every(({ length }) => length === 0)
