/**
 * Bundles a module with all of the project's files that it imports.
 *
 * Packages stay outside the bundle. Its text names them by marks in place of
 * locations, so that the hash is the same wherever the project lies; only the
 * text that is imported names the places. A mark says all that it takes to find
 * its package again, so that a text can be imported long after it was made.
 * `systole` and `effect` are the running runtime's own, so that modules share
 * one instance with it.
 *
 * @module
 */
import * as Esbuild from "esbuild"
import { builtinModules } from "node:module"
import { basename, dirname, relative, resolve, sep } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { ownFile } from "./Installation.ts"

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
  /** Where each place of the text stood: a source map, with files as the project's folder has them. */
  readonly map: string
  /** The host's own modules that it imports. */
  readonly hostImports: ReadonlyArray<string>
  /** The files that it was made from. */
  readonly files: ReadonlyArray<string>
}

/** The part of a source map that is needed here. */
interface SourceMap {
  readonly sources: ReadonlyArray<string>
  readonly mappings: string
}

const MARK = "systole-import:"
const marks = /"systole-import:([^"\\\n]+)"/g
const markParts = /^(.*?)(?: by ([a-z-]+) from (.*))?$/
const runtimeFolder = dirname(fileURLToPath(import.meta.url))
const builtins = new Set(builtinModules.filter((name) => !name.includes(":")))

/**
 * Bundles the module in a file of the project in a folder. Rejects with the place and the reason where it cannot.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = async (file: string, root: string): Promise<Bundle> => {
  const imports = new Imports(root)
  const result = await Esbuild.build({
    absWorkingDir: dirname(file),
    entryPoints: [basename(file)],
    outfile: "module.mjs",
    sourcemap: "external",
    sourcesContent: false,
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
  const [map, code] = result.outputFiles.toSorted((a, b) => b.path.length - a.path.length)
  const text = code!.text
  const files = Object.keys(result.metafile.inputs).map((input) => resolve(dirname(file), input))
  return { text, located: placed(text, imports.places), map: rooted(map!.text, { from: dirname(file), root }), hostImports: [...imports.host].sort(), files }
}

/** A source map whose files are named from the project's folder. */
const rooted = (map: string, { from, root }: { readonly from: string; readonly root: string }): string => {
  const { mappings, sources } = JSON.parse(map) as SourceMap
  return JSON.stringify({ version: 3, sources: sources.map((source) => relative(root, resolve(from, source)).split(sep).join("/")), names: [], mappings })
}

/**
 * A bundle's text with packages where they lie for the project in a folder now. Rejects where one is not there.
 *
 * @category constructors
 * @since 0.1.0
 */
export const locate = async (text: string, root: string): Promise<string> => {
  const named = new Set(Array.from(text.matchAll(marks), ([, mark]) => mark!))
  const places = new Map<string, string>()
  const plugin: Esbuild.Plugin = {
    name: "systole",
    setup: (build) => {
      build.onStart(async () => {
        for (const mark of named) {
          const [, name = "", kind, from] = markParts.exec(mark)!
          const found = await find(build, name, kind === undefined ? { ...usual, from: root } : { kind: kind as Esbuild.ImportKind, from: resolve(root, from!) })
          if (found.file === undefined) return { errors: found.errors }
          places.set(MARK + mark, pathToFileURL(found.file).href)
        }
        return undefined
      })
    }
  }
  if (named.size > 0) await Esbuild.build({ stdin: { contents: "" }, write: false, platform: "node", logLevel: "silent", absWorkingDir: root, plugins: [plugin] })
  return placed(text, places)
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

/** From where a package is imported, and by what. */
interface Whence {
  readonly kind: Esbuild.ImportKind
  readonly from: string
}

/** How a package is imported where its mark does not say otherwise: from the project's folder. */
const usual: Pick<Whence, "kind"> = { kind: "import-statement" }

/** Keeps from asking oneself. */
const asked = {}

/** The file that a name stands for. */
const find = async (build: Esbuild.PluginBuild, name: string, { from, kind }: Whence): Promise<{ readonly file: string | undefined; readonly errors: Array<Esbuild.Message> }> => {
  const own = ownFile(name)
  if (own !== undefined) return { file: own, errors: [] }
  const resolveDir = /^effect(?:\/|$)/.test(name) ? runtimeFolder : from
  const { errors, path } = await build.resolve(name, { kind, resolveDir, pluginData: asked })
  return { file: errors.length > 0 ? undefined : path, errors }
}

/** A text with each mark replaced by the place it stands for. */
const placed = (text: string, places: ReadonlyMap<string, string>): string => {
  let located = text
  for (const [mark, place] of places) located = located.replaceAll(`"${mark}"`, JSON.stringify(place))
  return located
}

/** The imports of one bundle that lead out of it. */
class Imports {
  readonly host = new Set<string>()
  /** The place that each mark stands for. */
  readonly places = new Map<string, string>()
  readonly #root: string

  constructor(root: string) {
    this.#root = root
  }

  readonly plugin: Esbuild.Plugin = {
    name: "systole",
    setup: (build) => {
      build.onResolve({ filter: /^[^./]/ }, async (args) => {
        if (args.kind === "entry-point" || args.pluginData === asked) return undefined
        const builtin = builtins.has(args.path) ? `node:${args.path}` : args.path
        if (/^(?:node|bun|deno):|^bun$/.test(builtin)) {
          this.host.add(builtin)
          return { path: builtin, external: true }
        }
        const whence = { kind: args.kind, from: args.resolveDir }
        const { errors, file } = await find(build, args.path, whence)
        if (file === undefined) return { errors }
        const isOutside = ownFile(args.path) !== undefined || /[\\/]node_modules[\\/]/.test(file)
        if (!isOutside) return { path: file }
        const mark = MARK + await this.#mark(build, args.path, { ...whence, file })
        this.places.set(mark, pathToFileURL(file).href)
        return { path: mark, external: true }
      })
    }
  }

  /** The name alone, where that leads to the same file from the project's folder; two folders may hold two versions of a package. */
  async #mark(build: Esbuild.PluginBuild, name: string, { file, from, kind }: Whence & { readonly file: string }): Promise<string> {
    const plain = await find(build, name, { ...usual, from: this.#root })
    return plain.file === file ? name : `${name} by ${kind} from ${relative(this.#root, from).split(sep).join("/")}`
  }
}
