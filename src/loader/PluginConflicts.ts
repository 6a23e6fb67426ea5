/**
 * Plugins that declare what there is already: such a plugin is refused by name, and the others stay.
 *
 * @module
 */
import { ModuleBroken } from "./ModuleHost.ts"
import type { Plugin } from "./Plugin.ts"

/** A plugin and its module. */
interface Declared {
  readonly file: string
  readonly plugin: Plugin
}

/** The names that the runtime itself has. */
export interface RuntimeNames {
  /** The commands of the command line. */
  readonly commands: ReadonlyArray<string>
  /** The fields of the configuration. */
  readonly fields: ReadonlyArray<string>
}

/** The declarations so far, each with its owner. */
interface Owners {
  readonly commands: Map<string, string>
  readonly fields: Map<string, string>
  readonly reserved: Map<string, string>
  readonly transports: Map<string, string>
}

const isOverlap = (a: string, b: string): boolean => a.startsWith(b) || b.startsWith(a)

/** The first conflict of a plugin with the owners; `undefined` for none. */
const conflictOf = ({ commands, name, provides: { transports = {} }, reserved, settings }: Plugin, owners: Owners): string | undefined => {
  const command = Object.keys(commands).find((each) => owners.commands.has(each))
  if (command !== undefined) return `declares the command "${command}", which ${owners.commands.get(command)} has. Rename it`
  const transport = Object.keys(transports).find((each) => owners.transports.has(each))
  if (transport !== undefined) return `provides the transport "${transport}", which ${owners.transports.get(transport)} has. Rename it`
  const field = settings === undefined ? undefined : owners.fields.get(name)
  if (field !== undefined) return `declares settings, and the field "${name}" of the configuration is that of ${field}. Rename the plugin`
  for (const beginning of reserved) {
    const [other, owner] = [...owners.reserved].find(([each]) => isOverlap(each, beginning)) ?? []
    if (other !== undefined) return `reserves the signals ${beginning}, and ${owner} has ${other}. Choose another beginning`
  }
  return undefined
}

/**
 * The refusals of plugins that declare a command, settings or signals of the runtime, or of a plugin before them.
 */
export const refusals = (plugins: ReadonlyArray<Declared>, { commands, fields }: RuntimeNames): ReadonlyArray<ModuleBroken> => {
  const owners: Owners = {
    commands: new Map(commands.map((name) => [name, "the command line"])),
    fields: new Map(fields.map((name) => [name, "the runtime"])),
    reserved: new Map(),
    transports: new Map()
  }
  return plugins.flatMap(({ file, plugin }) => {
    const conflict = conflictOf(plugin, owners)
    if (conflict !== undefined) return [new ModuleBroken({ file, reason: `the plugin "${plugin.name}" ${conflict}` })]
    const owner = `the plugin "${plugin.name}" in ${file}`
    for (const name of Object.keys(plugin.commands)) owners.commands.set(name, owner)
    for (const id of Object.keys(plugin.provides.transports ?? {})) owners.transports.set(id, owner)
    if (plugin.settings !== undefined) owners.fields.set(plugin.name, owner)
    for (const beginning of plugin.reserved) owners.reserved.set(beginning, owner)
    return []
  })
}
