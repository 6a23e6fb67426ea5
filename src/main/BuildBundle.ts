/**
 * The bundle of a build, and the sizes of its parts.
 *
 * @module
 */
import * as Esbuild from "esbuild"
import { basename, relative, resolve, sep } from "node:path"
import type * as Host from "../cli/Host.ts"
import type { Contents } from "./BuildContents.ts"
import type * as BuildFolder from "./BuildFolder.ts"
import * as BuildTarget from "./BuildTarget.ts"
import * as Bundle from "./Bundle.ts"
import * as Installation from "./Installation.ts"

/** The prefix of generated modules, and of modules by their digests. */
const GENERATED = "systole-build:"
const MODULE = "systole-module:"

/** A bundle. */
export interface Made {
  readonly outputs: ReadonlyArray<BuildFolder.Output>
  /** The size of each part in all outputs, in bytes. */
  readonly parts: Host.Build["parts"]
}

/**
 * Bundles the contents with the runtime. Rejects with the errors of esbuild.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = async (root: string, target: BuildTarget.Target, contents: Contents): Promise<Made> => {
  const { kept, modules, pages } = contents
  const generated = new Map(Object.entries({ ...target.modules, built: BuildTarget.builtModule(contents) }))
  const texts = new Map([...modules, ...kept, ...pages === undefined ? [] : [pages]].map(({ hash, text }) => [hash, text]))
  const plugin: Esbuild.Plugin = {
    name: "systole-build",
    setup: (build) => {
      build.onResolve({ filter: /^systole-(?:build|module):/ }, ({ path }) => ({ path, namespace: "systole" }))
      build.onLoad({ filter: /.*/, namespace: "systole" }, ({ path }) => {
        const contents = path.startsWith(MODULE) ? texts.get(path.slice(MODULE.length)) : generated.get(path.slice(GENERATED.length))
        return contents === undefined ? null : { contents, resolveDir: root }
      })
    }
  }
  const { metafile = { outputs: {} }, outputFiles = [] } = await Esbuild.build({
    absWorkingDir: root,
    entryPoints: target.entries,
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    format: "esm",
    target: "es2024",
    charset: "utf8",
    legalComments: "none",
    logLevel: "silent",
    outdir: root,
    chunkNames: "chunk-[hash]",
    ...target.options,
    plugins: [plugin, Bundle.linker(root), ...target.options.plugins ?? []]
  })
  return {
    outputs: outputFiles.map(({ contents, path }) => ({ file: basename(path), contents })),
    parts: partsOf(root, metafile.outputs)
  }
}

/** The sizes of the parts of all outputs, the largest first. */
const partsOf = (root: string, outputs: Esbuild.Metafile["outputs"]): Host.Build["parts"] => {
  const sizes = new Map<string, number>()
  for (const { inputs } of Object.values(outputs)) {
    for (const [input, { bytesInOutput }] of Object.entries(inputs)) {
      const part = partOf(root, input)
      sizes.set(part, (sizes.get(part) ?? 0) + bytesInOutput)
    }
  }
  return [...sizes].map(([part, bytes]) => ({ part, bytes })).filter(({ bytes }) => bytes > 0).sort((a, b) => b.bytes - a.bytes)
}

/** The part of an input: a folder of the runtime, a package, or the project. */
const partOf = (root: string, input: string): string => {
  if (input.startsWith("systole:")) return "the project"
  const file = resolve(root, input)
  const own = relative(Installation.folder, file).split(sep)
  const [top = "", folder = ""] = own
  if (top !== ".." && top !== "node_modules") return top === "src" ? `systole ${folder}` : `systole ${top}`
  const [, name] = /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(file) ?? []
  return name === undefined ? "the project" : `package ${name}`
}
