/**
 * The module host for hosts without dynamic import. Modules come from a literal manifest.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { type LoadedModule, ModuleBroken, ModuleHost } from "../../loader/ModuleHost.ts"

/**
 * A manifest made by a build: the default export of each module, its other exports with a type, and the hash of its bundle, by file.
 */
export type Manifest = Readonly<Record<string, Pick<LoadedModule, "hash" | "module" | "typed">>>

/**
 * The contents of a build beside its manifest.
 */
export interface BuildContents {
  /** The default exports of earlier modules, by hash. */
  readonly kept?: Readonly<Record<string, unknown>>
  /** Reads the hashed text of a module, if the build has it. */
  readonly textOf?: (hash: string) => string | undefined
}

/**
 * The module host of a manifest.
 */
export const layer = (manifest: Manifest, { kept = {}, textOf = () => undefined }: BuildContents = {}): Layer.Layer<ModuleHost> => {
  const byHash = new Map(Object.entries(kept))
  for (const { hash, module } of Object.values(manifest)) byHash.set(hash, module)
  return Layer.succeed(ModuleHost, {
    files: (folder) => {
      const prefix = `${folder}/`
      const names = Object.keys(manifest).filter((file) => file.startsWith(prefix)).map((file) => file.slice(prefix.length))
      return Effect.succeed(names.length === 0 ? undefined : names)
    },
    load: (file) => {
      const entry = Object.hasOwn(manifest, file) ? manifest[file] : undefined
      if (entry === undefined) return Effect.fail(new ModuleBroken({ file, reason: "the manifest does not hold it" }))
      return Effect.succeed({ file, ...entry, text: textOf(entry.hash), hostImports: [] })
    },
    restore: (hash, text) => {
      const file = `/cas/${hash}`
      if (byHash.has(hash)) return Effect.succeed({ file, module: byHash.get(hash), hash, text, hostImports: [] })
      const reason = `the build has no module ${hash}. Build again with --keep ${hash}`
      return Effect.fail(new ModuleBroken({ file, reason }))
    },
    changes: Stream.empty
  })
}
