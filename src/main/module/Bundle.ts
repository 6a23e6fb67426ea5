/**
 * Bundles a module with the project files that it imports.
 *
 * Packages stay external. The hashed text refers to them by marks instead of paths, so the hash does not depend on the
 * location of the project. The imported text contains the paths. A mark identifies its package, so a stored text can be
 * imported later. `systole` and `effect` resolve to the running runtime, so that modules share its instances.
 *
 * @module
 */
import * as Esbuild from "esbuild"
import { builtinModules } from "node:module"
import { basename, dirname, relative, resolve, sep } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import * as CodePlace from "../../diagnostic/CodePlace.ts"
import { containedFile, ownFile, runtimeFile, sourceFile } from "./Installation.ts"
import * as RegularFiles from "./RegularFiles.ts"

/**
 * A module and its project imports as one text.
 */
export interface Bundle {
  /** The hashed text, equal on every machine. */
  readonly text: string
  /** The imported text: the same, with each mark replaced by the path of its package. */
  readonly located: string
  /** The source map, with paths relative to the project's folder and the texts of the sources. */
  readonly map: string
  /** The built-in modules of the host that it imports. */
  readonly hostImports: ReadonlyArray<string>
  /** The source files of the bundle. */
  readonly files: ReadonlyArray<string>
  /** The files of the packages that it imports. */
  readonly packages: ReadonlyArray<string>
  /** Whether an import of a file is resolved by a name, as a setting of the bundler says. */
  readonly isAliased: boolean
}

/** The used fields of a source map. */
interface SourceMap {
  readonly sources: ReadonlyArray<string>
  readonly sourcesContent: ReadonlyArray<string>
  readonly mappings: string
}

const MARK = "systole-import:"
const marks = /"systole-import:([^"\\\n]+)"/g
const runtimeFolder = dirname(fileURLToPath(import.meta.url))
const builtins = new Set(builtinModules.filter((name) => !name.includes(":")))

/**
 * Bundles the module in `file` of the project at `root`. Rejects with the errors of esbuild.
 */
export const make = async (file: string, root: string): Promise<Bundle> => {
  const imports = new Imports(root)
  const result = await Esbuild.build({
    absWorkingDir: dirname(file),
    entryPoints: [basename(file)],
    outfile: "module.mjs",
    sourcemap: "external",
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "node",
    target: "es2024",
    charset: "utf8",
    legalComments: "none",
    logLevel: "silent",
    plugins: [RegularFiles.plugin(), imports.plugin]
  })
  const output = (name: string): string => {
    const found = result.outputFiles.find(({ path }) => basename(path) === name)
    if (found === undefined) throw new Error(`esbuild made no ${name} of ${file}`)
    return found.text
  }
  const text = output("module.mjs")
  const files = Object.keys(result.metafile.inputs).map((input) => resolve(dirname(file), input))
  const map = rooted(output("module.mjs.map"), { from: dirname(file), root })
  return { text, located: placed(text, imports.places), map, hostImports: [...imports.host].sort(), files, ...imports.found }
}

/** A source map with paths relative to the project's folder. */
const rooted = (map: string, { from, root }: { readonly from: string; readonly root: string }): string => {
  const { mappings, sources, sourcesContent } = JSON.parse(map) as SourceMap
  const fromRoot = sources.map((source) => relative(root, resolve(from, source)).split(sep).join("/"))
  return JSON.stringify({ version: 3, sources: fromRoot, sourcesContent, names: [], mappings })
}

/** Names that earlier versions of the package exported as `systole`, and that `systole/plugins/agent` exports now. */
const moved: ReadonlySet<string> = new Set(["ActionMembers", "ActionType", "CellAgent"])

/** The imports of `systole` in the text of a bundle. */
const runtimeImports = /^import \{([^{}"]{1,100000})\} from "systole-import:systole";$/gm

/**
 * The text of a bundle that an earlier version of the package made, with its imports from where this version has them.
 */
export const carryOver = (text: string): string => text.replace(runtimeImports, (_, list: string) => {
  const names = list.split(",").map((name) => name.trim())
  const isMoved = (name: string): boolean => moved.has(name.split(" ")[0] ?? "")
  const statement = (some: ReadonlyArray<string>, module: string) =>
    some.length === 0 ? [] : [`import { ${some.join(", ")} } from "${MARK}${module}";`]
  return [
    ...statement(names.filter((name) => !isMoved(name)), "systole"),
    ...statement(names.filter(isMoved), "systole/plugins/agent")
  ].join("\n")
})

/**
 * Whether the text of a bundle imports a module of the runtime, such as `systole/time`.
 */
export const hasImport = (text: string, name: string): boolean => text.includes(`"${MARK}${name}"`)

/**
 * Replaces the marks of a bundle's text with the current paths of the packages of the project at `root`. Rejects if a
 * package is missing.
 */
export const locate = async (stored: string, root: string): Promise<string> => {
  const text = carryOver(stored)
  const named = new Set(Array.from(text.matchAll(marks), ([, mark]) => mark!))
  const places = new Map<string, string>()
  const plugin: Esbuild.Plugin = {
    name: "systole",
    setup: (build) => {
      build.onStart(async () => {
        const missing: Array<Esbuild.Message> = []
        for (const mark of named) {
          const { from = "", kind, name } = partsOf(mark)
          const origin = kind === undefined ? { ...usual, from: root } : { kind, from: resolve(root, from) }
          const { errors, file } = await find(build, name, origin)
          if (file === undefined) missing.push(...errors)
          else places.set(MARK + mark, pathToFileURL(file).href)
        }
        return { errors: missing }
      })
    }
  }
  const options = { stdin: { contents: "" }, write: false, platform: "node", logLevel: "silent", absWorkingDir: root } as const
  if (named.size > 0) await Esbuild.build({ ...options, plugins: [plugin] })
  return placed(text, places)
}

/**
 * Resolves the marks of bundled texts for a build, which bundles the texts with the sources of the runtime. A package that
 * imports the runtime by its name gets the same sources, so that the build contains one copy of it.
 */
export const linker = (root: string): Esbuild.Plugin => ({
  name: "systole-link",
  setup: (build) => {
    build.onResolve({ filter: new RegExp(`^${MARK}`) }, async ({ path }) => {
      const { from = "", kind, name } = partsOf(path.slice(MARK.length))
      const own = sourceFile(name)
      if (own !== undefined) return { path: own }
      const resolveDir = resolveDirOf(name, kind === undefined ? root : resolve(root, from))
      return build.resolve(name, { kind: kind ?? usual.kind, resolveDir, pluginData: ownRequest })
    })
    build.onResolve({ filter: /^systole(?:\/|$)/ }, ({ path }) => {
      const own = sourceFile(path)
      return own === undefined ? undefined : { path: own }
    })
    build.onResolve({ filter: /^@effect\/platform-node\// }, ({ importer, path }) => {
      const own = importer.startsWith(runtimeFile("main")) ? containedFile(path) : undefined
      return own === undefined ? undefined : { path: own }
    })
  }
})

/**
 * The name of a package in an import of a bundle's hashed text.
 */
export const nameOf = (imported: string): string => imported.startsWith(MARK) ? partsOf(imported.slice(MARK.length)).name : imported

/** The most errors that a message names. */
const MAX_ERRORS = 20

/** The folder of a project, and the one from which the paths of a build's errors lead. */
interface Place {
  readonly root: string
  readonly from: string
}

/** The reasons of a failed build as one text, and their places. */
export interface BuildFailure {
  readonly reason: string
  readonly places: ReadonlyArray<CodePlace.CodePlace>
}

/**
 * The explanation of a failed build: each error with its place, as a path from the project's folder, and its source line.
 */
export const explain = (error: unknown, { from, root }: Place): BuildFailure => {
  const { errors = [] } = error as Partial<Esbuild.BuildFailure>
  if (errors.length === 0) return { reason: error instanceof Error ? error.message : String(error), places: [] }
  const shown = errors.slice(0, MAX_ERRORS).map(({ location, text }) => {
    // The text of a module in a build is no file.
    if (location === null || location.namespace !== "") return { text }
    const file = relative(root, resolve(from, location.file)).split(sep).join("/")
    const column = location.column + 1
    const at = CodePlace.make(`${file}:${location.line}:${column}`, location.lineText, column)
    return { text: `${at.place}: ${text}`, at }
  })
  const more = errors.length - shown.length
  const reason = [...shown.map(({ text }) => text), ...more === 0 ? [] : [`${more} more`]].join("; ")
  return { reason, places: shown.flatMap(({ at }) => at ?? []) }
}

/**
 * Ends the process of the bundler. The next build starts another one.
 */
export const stop = (): Promise<void> => Esbuild.stop()

/** The origin of an import: the folder of the importer, and the kind of statement. */
interface ImportOrigin {
  readonly kind: Esbuild.ImportKind
  readonly from: string
}

/** The import of a package whose mark is its name alone: a statement in the project's folder. */
const usual: Pick<ImportOrigin, "kind"> = { kind: "import-statement" }

/** Marks the plugin's own calls of `resolve`, so that it does not recurse. */
const ownRequest = {}

/** The parts of a mark. The kind of statement and the folder of the importer are absent if they are the usual ones. */
interface Mark {
  readonly name: string
  readonly kind?: Esbuild.ImportKind
  readonly from?: string
}

const partsOf = (mark: string): Mark => {
  const [name = "", by, kind, , ...folder] = mark.split(" ")
  return by === undefined ? { name } : { name, kind: kind as Esbuild.ImportKind, from: folder.join(" ") }
}

/** The folder from which a package is resolved. `effect` is the one of the runtime. */
const resolveDirOf = (name: string, from: string): string => /^effect(?:\/|$)/.test(name) ? runtimeFolder : from

/** Resolves the name of a package to a file. */
const find = async (build: Esbuild.PluginBuild, name: string, { from, kind }: ImportOrigin): Promise<{
  readonly file: string | undefined
  readonly errors: Array<Esbuild.Message>
}> => {
  const own = ownFile(name)
  if (own !== undefined) return { file: own, errors: [] }
  const { errors, path } = await build.resolve(name, { kind, resolveDir: resolveDirOf(name, from), pluginData: ownRequest })
  return { file: errors.length > 0 ? undefined : path, errors }
}

/** A text with each mark replaced by its path. */
const placed = (text: string, places: ReadonlyMap<string, string>): string => {
  let located = text
  for (const [mark, place] of places) located = located.replaceAll(`"${mark}"`, JSON.stringify(place))
  return located
}

/** The external imports of one bundle. */
class Imports {
  readonly host = new Set<string>()
  /** The path of each mark. */
  readonly places = new Map<string, string>()
  #isAliased = false
  readonly #root: string

  constructor(root: string) {
    this.#root = root
  }

  get found(): Pick<Bundle, "isAliased" | "packages"> {
    return { isAliased: this.#isAliased, packages: [...this.places.values()].map((place) => fileURLToPath(place)) }
  }

  readonly plugin: Esbuild.Plugin = {
    name: "systole",
    setup: (build) => {
      build.onResolve({ filter: /^[^./]/ }, async (args) => {
        if (args.kind === "entry-point" || args.pluginData === ownRequest) return undefined
        const builtin = builtins.has(args.path) ? `node:${args.path}` : args.path
        if (/^(?:node|bun|deno):|^bun$/.test(builtin)) {
          this.host.add(builtin)
          return { path: builtin, external: true }
        }
        const origin = { kind: args.kind, from: args.resolveDir }
        const { errors, file } = await find(build, args.path, origin)
        if (file === undefined) return { errors }
        const isOutside = ownFile(args.path) !== undefined || /[\\/]node_modules[\\/]/.test(file)
        if (!isOutside) {
          this.#isAliased = true
          return { path: file }
        }
        const mark = MARK + await this.#mark(build, args.path, { ...origin, file })
        this.places.set(mark, pathToFileURL(file).href)
        return { path: mark, external: true }
      })
    }
  }

  /**
   * The mark of an import: its name, if that resolves to the same file from the project's folder.
   *
   * Else the mark names the importing folder as well, because two folders may contain two versions of a package.
   */
  async #mark(build: Esbuild.PluginBuild, name: string, { file, from, kind }: ImportOrigin & { readonly file: string }): Promise<string> {
    const plain = await find(build, name, { ...usual, from: this.#root })
    return plain.file === file ? name : `${name} by ${kind} from ${relative(this.#root, from).split(sep).join("/")}`
  }
}
