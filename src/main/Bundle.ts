/**
 * Bundles a module with all of the project's files that it imports.
 *
 * Packages stay outside the bundle. Its text names them by marks in place of
 * locations, so that the hash is the same wherever the project lies; only the
 * text that is imported names the places. `systole` and `effect` are the
 * running runtime's own, so that modules share one instance with it.
 *
 * @module
 */
import * as Esbuild from "esbuild"
import { builtinModules } from "node:module"
import { basename, dirname, resolve } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

/**
 * A module's closure as one text.
 *
 * @category models
 * @since 0.1.0
 */
export interface Bundle {
  /** What is hashed: the same on every machine. */
  readonly text: string
  /** What is imported: the same text, with packages where they lie here. */
  readonly located: string
  /** The host's own modules that it imports. */
  readonly hostImports: ReadonlyArray<string>
  /** The files that it was made from. */
  readonly files: ReadonlyArray<string>
}

const MARK = "systole-import:"
const extension = import.meta.url.endsWith(".ts") ? ".ts" : ".js"
const runtimeFolder = dirname(fileURLToPath(import.meta.url))
const ownModule = /^systole(?:\/(plugins\/[a-z0-9_-]+))?$/
const builtins = new Set(builtinModules.filter((name) => !name.includes(":")))

/**
 * The file of one of the runtime's own modules; `undefined` for any other name.
 *
 * @category getters
 * @since 0.1.0
 */
export const ownFile = (name: string): string | undefined => {
  const match = ownModule.exec(name)
  if (match === null) return undefined
  return fileURLToPath(new URL(match[1] === undefined ? `../index${extension}` : `../../${match[1]}${extension}`, import.meta.url))
}

/**
 * Bundles the module in a file. Rejects with the place and the reason where it cannot.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = async (file: string): Promise<Bundle> => {
  const imports = new Imports()
  const result = await Esbuild.build({
    absWorkingDir: dirname(file),
    entryPoints: [basename(file)],
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "node",
    target: "es2024",
    charset: "utf8",
    legalComments: "none",
    logLevel: "silent",
    plugins: [imports.plugin]
  })
  const text = result.outputFiles[0]!.text
  const files = Object.keys(result.metafile.inputs).map((input) => resolve(dirname(file), input))
  return { text, located: imports.locate(text), hostImports: [...imports.host].sort(), files }
}

/**
 * What to tell an author of a build that failed.
 *
 * @category getters
 * @since 0.1.0
 */
export const explain = (error: unknown): string => {
  const first = (error as Partial<Esbuild.BuildFailure>).errors?.[0]
  if (first === undefined) return error instanceof Error ? error.message : String(error)
  const { location } = first
  return location === null ? first.text : `${location.file}:${location.line}:${location.column + 1}: ${first.text}`
}

/** The imports of one bundle that lead out of it. */
class Imports {
  readonly host = new Set<string>()
  readonly #places = new Map<string, string>()

  readonly plugin: Esbuild.Plugin = {
    name: "systole",
    setup: (build) => {
      build.onResolve({ filter: /^[^./]/ }, async (args) => {
        if (args.kind === "entry-point" || args.pluginData === this) return undefined
        const builtin = builtins.has(args.path) ? `node:${args.path}` : args.path
        if (/^(?:node|bun|deno):|^bun$/.test(builtin)) {
          this.host.add(builtin)
          return { path: builtin, external: true }
        }
        const own = ownFile(args.path)
        if (own !== undefined) return this.#outside(args.path, own)
        const resolveDir = /^effect(?:\/|$)/.test(args.path) ? runtimeFolder : args.resolveDir
        const found = await build.resolve(args.path, { kind: args.kind, importer: args.importer, resolveDir, pluginData: this })
        if (found.errors.length > 0) return { errors: found.errors }
        return /[\\/]node_modules[\\/]/.test(found.path) ? this.#outside(args.path, found.path) : { path: found.path }
      })
    }
  }

  /** The text with each mark replaced by the place it stands for. */
  locate(text: string): string {
    let located = text
    for (const [mark, place] of this.#places) located = located.replaceAll(`"${mark}"`, JSON.stringify(place))
    return located
  }

  /** One mark for each name and place: two folders may hold two versions of a package. */
  #outside(name: string, file: string): Esbuild.OnResolveResult {
    const place = pathToFileURL(file).href
    let mark = MARK + name
    while ((this.#places.get(mark) ?? place) !== place) mark += "+"
    this.#places.set(mark, place)
    return { path: mark, external: true }
  }
}
