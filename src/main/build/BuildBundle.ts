/**
 * The bundle of a build, and the sizes of its parts.
 *
 * @module
 */
import * as Esbuild from "esbuild"
import { basename, relative, resolve, sep } from "node:path"
import type * as Host from "../../cli/Host.ts"
import * as Encryption from "../../archive/Encryption.ts"
import * as Words from "../../contract/Words.ts"
import type { SliceName } from "../../ledger/SliceTable.ts"
import * as JsonSchema from "../../registry/JsonSchema.ts"
import * as Cron from "../../time/Cron.ts"
import type { Contents } from "./BuildContents.ts"
import type * as BuildFolder from "./BuildFolder.ts"
import * as BuildTarget from "./BuildTarget.ts"
import * as Bundle from "../module/Bundle.ts"
import * as Installation from "../module/Installation.ts"
import * as Jwts from "../composition/Jwts.ts"
import * as RegularFiles from "../module/RegularFiles.ts"

/** The prefix of generated modules, and of modules by their digests. */
const GENERATED = "systole-build:"
const MODULE = "systole-module:"

/** A bundle. */
export interface BuiltBundle {
  readonly outputs: ReadonlyArray<BuildFolder.Output>
  /** The size of each part in all outputs, in bytes. */
  readonly parts: Host.Build["parts"]
  readonly slices: Host.Build["slices"]
}

/** The generated modules and the texts of a project's modules. */
const virtual = (root: string, generated: Readonly<Record<string, string>>, contents: Contents): Esbuild.Plugin => {
  const { commands, kept, modules, pages } = contents
  const texts = new Map([...modules, ...commands, ...kept, ...pages === undefined ? [] : [pages]].map(({ hash, text }) =>
    [hash, Bundle.carryOver(text)]))
  const found = (path: string): string | undefined =>
    path.startsWith(MODULE) ? texts.get(path.slice(MODULE.length)) : generated[path.slice(GENERATED.length)]
  return {
    name: "systole-build",
    setup: (build) => {
      build.onResolve({ filter: /^systole-(?:build|module):/ }, ({ path }) => ({ path, namespace: "systole" }))
      build.onLoad({ filter: /.*/, namespace: "systole" }, ({ path }) => {
        const contents = found(path)
        return contents === undefined ? null : { contents, resolveDir: root }
      })
    }
  }
}

/** The modules of the runtime that this bundle has another text for, by their files. */
const replacements = (target: BuildTarget.Target, { hasCron, isTyped, settings }: Contents): ReadonlyMap<string, string> =>
  new Map([
    ...target.hasStorage && settings.access.jwt === undefined
      ? [[Installation.runtimeFile("access/JwtVerifier.ts"), Jwts.NO_VERIFIER] as const]
      : [],
    ...(settings.backup?.encrypt.length ?? 0) > 0 ? [] : [[Installation.runtimeFile("archive/Age.ts"), Encryption.NONE] as const],
    ...target.hasCommands ? [] : [[Installation.runtimeFile("contract/Words.ts"), Words.NONE] as const],
    ...isTyped ? [] : [[Installation.runtimeFile("registry/JsonSchema.ts"), JsonSchema.NONE] as const],
    ...hasCron ? [] : [[Installation.runtimeFile("time/Cron.ts"), Cron.NONE] as const]
  ])

const replacing = (texts: ReadonlyMap<string, string>): Esbuild.Plugin => ({
  name: "systole-replacing",
  setup: (build) => build.onLoad({ filter: /\b(?:Age|Words|JsonSchema|Cron|JwtVerifier)\.ts$/ }, ({ path }) => {
    const contents = texts.get(path)
    return contents === undefined ? undefined : { contents }
  })
})

const common = (root: string) => ({
  absWorkingDir: root,
  bundle: true,
  splitting: true,
  write: false,
  format: "esm",
  target: "es2024",
  charset: "utf8",
  legalComments: "none",
  logLevel: "silent",
  outdir: root,
  chunkNames: "chunk-[hash]"
} as const)

/**
 * Bundles the contents with the runtime. Rejects with the errors of esbuild.
 */
export const make = async (root: string, target: BuildTarget.Target, contents: Contents): Promise<BuiltBundle> => {
  const generated = { ...target.modules, built: BuildTarget.builtModule(target, contents), outside: BuildTarget.outsideModule(contents) }
  const { metafile = { inputs: {}, outputs: {} }, outputFiles = [] } = await Esbuild.build({
    ...common(root),
    entryPoints: target.entries,
    metafile: true,
    ...target.options,
    plugins: [
      RegularFiles.plugin(), virtual(root, generated, contents), replacing(replacements(target, contents)), Bundle.linker(root),
      ...target.options.plugins ?? []
    ]
  })
  return {
    outputs: outputFiles.map(({ contents, path }) => ({ file: basename(path), contents })),
    parts: partsOf(root, metafile.outputs),
    slices: slicesOf(root, metafile, contents.slices)
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

/** Inputs that are reached from the entries, but not through some of them. */
const reached = ({ inputs, outputs }: Esbuild.Metafile, isClosed: (input: string) => boolean): ReadonlySet<string> => {
  const found = new Set<string>()
  const open = Object.values(outputs).flatMap(({ entryPoint }) => entryPoint ?? [])
  for (let input = open.pop(); input !== undefined; input = open.pop()) {
    if (found.has(input) || isClosed(input)) continue
    found.add(input)
    open.push(...inputs[input]?.imports.map(({ path }) => path) ?? [])
  }
  return found
}

/** The sizes of slices: of the modules that a bundle with those before it has not. */
const slicesOf = (root: string, metafile: Esbuild.Metafile, slices: Contents["slices"]): Host.Build["slices"] => {
  const sizes = new Map<string, number>()
  for (const { inputs } of Object.values(metafile.outputs)) {
    for (const [input, { bytesInOutput }] of Object.entries(inputs)) sizes.set(input, (sizes.get(input) ?? 0) + bytesInOutput)
  }
  const files = new Map(slices.map((slice) => [Installation.runtimeFile(`main/slice/${slice}.ts`), slice]))
  // The index names all modules, and what it alone reaches belongs to no slice.
  const index = Installation.runtimeFile("index.ts")
  const sizeWithout = (left: ReadonlyArray<SliceName>): number => {
    const there = reached(metafile, (input) => {
      const file = resolve(root, input)
      return file === index || left.includes(files.get(file)!)
    })
    return Array.from(sizes).reduce((sum, [input, bytes]) => there.has(input) ? sum + bytes : sum, 0)
  }
  return slices.map((slice, i) => ({ slice, bytes: sizeWithout(slices.slice(i + 1)) - sizeWithout(slices.slice(i)) }))
}

/** The part of an input: a folder of the runtime, a package, or the project. */
const partOf = (root: string, input: string): string => {
  if (input.startsWith("systole:")) return "the project"
  const file = resolve(root, input)
  const own = relative(Installation.folder, file).split(sep)
  const [top = "", folder = ""] = own
  if (top !== ".." && top !== "node_modules") return top === "src" ? `systole ${folder}` : `systole ${top}`
  const names = file.split(sep)
  const at = names.lastIndexOf("node_modules") + 1
  if (at === 0) return "the project"
  return `package ${names.slice(at, names[at]?.startsWith("@") ? at + 2 : at + 1).join("/")}`
}
