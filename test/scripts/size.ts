/**
 * `npm run size [-- --json]`: the sizes of the builds of `examples/shop`, which has cells, signals, derived cells, a page and the
 * ingress. It fails if a build exceeds its limit.
 *
 * The size of a slice is what it adds to a Worker with the slices before it.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { gzipSync } from "node:zlib"
import type { Build, Target } from "../../src/cli/Host.ts"
import { names, type SliceName } from "../../src/ledger/SliceTable.ts"
import * as Config from "../../src/loader/Config.ts"
import * as BuildBundle from "../../src/main/build/BuildBundle.ts"
import type { Contents } from "../../src/main/build/BuildContents.ts"
import * as BuildTarget from "../../src/main/build/BuildTarget.ts"
import * as Command from "./Command.ts"
import { node, root } from "./Host.ts"
import * as Options from "./Options.ts"
import * as PageSize from "./PageSize.ts"
import { run } from "./Process.ts"
import { render } from "./Table.ts"

/** The limits of all files of a build together, compressed, in bytes. */
const limits: Readonly<Record<Target, number>> = { node: 895_000, deno: 888_000, bun: 883_000, workers: 458_000 }

/** The limits of the Worker in front, of a Worker with all slices, and of one without those of {@link rest}, compressed, in bytes. */
const FRONT = 23_900
const ALL = 384_000
const LEAN = 302_000

/** The limit of a page with the client, beside Schema, compressed, in bytes. */
const PAGE = 8_000

/** The limit of the hooks beside React and the client, compressed, in bytes. */
const HOOKS = 2_000

/** The slices of a lean Worker. */
const rest: ReadonlyArray<SliceName> = ["debug"]

const { values: { json } } = Options.read({
  script: "size",
  about: "Builds examples/shop, and a Worker with each slice, and tells their sizes. Fails over a limit.",
  options: { json: Options.flag("Prints the sizes as JSON") }
})
const folder = mkdtempSync(join(tmpdir(), "systole-size-"))

/** Builds the example with the command. */
const built = async (target: Target): Promise<Build> => {
  const { code, output } = await run(
    [node(), Command.file, "build", "--target", target, "--out", join(folder, target), "--json"],
    { cwd: join(root, "examples", "shop") }
  )
  if (code !== 0) throw new Error(`systole build ended with ${code}: ${output}`)
  return JSON.parse(output.slice(0, output.indexOf("\n"))) as Build
}

/** A Worker with these slices, and no modules and types. */
const contentsOf = (slices: ReadonlyArray<SliceName>): Contents => {
  const settings = Effect.runSync(Config.settings({}))
  const nothing = { modules: [], commands: [], pages: undefined, scripts: {}, isTyped: false, hasCron: false, kept: [] }
  return { version: "0.1.0", environment: undefined, settings, slices, ...nothing }
}

const { workers } = BuildTarget.targets

/** The compressed size of files, in bytes. */
const gzip = (outputs: BuildBundle.BuiltBundle["outputs"]): number =>
  outputs.reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length, 0)

const made = (slices: ReadonlyArray<SliceName>) => BuildBundle.make(root, workers, contentsOf(slices))

/** The compressed size of the Worker in front, in bytes. */
const frontOf = (outputs: BuildBundle.BuiltBundle["outputs"]): number => {
  const files = new Map(outputs.map(({ contents, file }) => [file, contents]))
  const front = imported(files, "worker.js")
  return gzip(outputs.filter(({ file }) => front.has(file)))
}

/** A file with the files that it imports when it begins. */
const imported = (files: ReadonlyMap<string, Uint8Array>, file: string, known = new Set<string>()): ReadonlySet<string> => {
  if (known.has(file)) return known
  known.add(file)
  const text = new TextDecoder().decode(files.get(file))
  for (const [, name = ""] of text.matchAll(/(?:\bfrom|\bimport)\s*"\.\/([^"]+)"/g)) imported(files, name, known)
  return known
}

const kilobytes = (bytes: number): string => (bytes / 1000).toFixed(1)
const gzipOf = ({ files }: Build): number => files.reduce((sum, { gzip }) => sum + gzip, 0)

await Command.ensure()
try {
  const builds: Array<Build> = []
  for (const target of Object.keys(limits) as ReadonlyArray<Target>) builds.push(await built(target))
  const { outputs, slices } = await made(names)
  const [all, lean, front] = [gzip(outputs), gzip((await made(rest)).outputs), frontOf(outputs)]
  const page = await PageSize.sizes()
  const workersOf = [["with all slices", all], [`with ${rest.join(", ")} alone`, lean], ["in front", front]] as const
  const over = [
    ...builds.map((build) => [`The build for ${build.target}`, gzipOf(build), limits[build.target]] as const),
    ["The Worker with all slices", all, ALL] as const,
    ["The lean Worker", lean, LEAN] as const,
    ["The Worker in front", front, FRONT] as const,
    ["The page with the client", page.beside, PAGE] as const,
    ["The hooks", page.hooks, HOOKS] as const
  ].filter(([, bytes, limit]) => bytes > limit)
  if (json) {
    const sizes = builds.map((build) => ({ target: build.target, gzip: gzipOf(build) }))
    console.log(JSON.stringify({ builds: sizes, workers: Object.fromEntries(workersOf), slices, page }))
  } else {
    const rows = builds.map((build) => [
      build.target,
      kilobytes(build.files.reduce((sum, { bytes }) => sum + bytes, 0)),
      kilobytes(gzipOf(build)),
      kilobytes(limits[build.target])
    ])
    console.log(render(["build", "kB", "compressed", "limit"], rows))
    const parts = builds.at(-1)?.parts ?? []
    console.log(`\n${render(["part of the Worker", "kB"], parts.map(({ bytes, part }) => [part, kilobytes(bytes)]))}`)
    console.log(`\n${render(["slice of the Worker", "kB"], slices.map(({ bytes, slice }) => [slice, kilobytes(bytes)]))}`)
    console.log(`\n${render(["Worker", "compressed kB"], workersOf.map(([name, bytes]) => [name, kilobytes(bytes)]))}`)
    const ofPage = [["beside Schema", page.beside], ["with Schema", page.whole], ["hooks", page.hooks]] as const
    console.log(`\n${render(["page with the client", "compressed kB"], ofPage.map(([name, bytes]) => [name, kilobytes(bytes)]))}`)
  }
  for (const [name, bytes, limit] of over) console.error(`${name} has ${kilobytes(bytes)} kB, and its limit is ${kilobytes(limit)}`)
  process.exitCode = over.length > 0 ? 1 : 0
} finally {
  rmSync(folder, { recursive: true, force: true })
}
