/**
 * `npm run size [-- --json]`: the sizes of the builds of `examples/shop`, which has cells, signals, derived cells, a page and the
 * ingress. It fails if a build exceeds its limit.
 *
 * The size of a feature is the difference that it makes to a compressed Worker with the features that it needs.
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
import { type FeatureName, names } from "../../src/kernel/model/Feature.ts"
import * as Config from "../../src/loader/Config.ts"
import * as BuildBundle from "../../src/main/build/BuildBundle.ts"
import * as BuildFeatures from "../../src/main/build/BuildFeatures.ts"
import * as BuildTarget from "../../src/main/build/BuildTarget.ts"
import * as Command from "./Command.ts"
import { node, root } from "./Host.ts"
import * as Options from "./Options.ts"
import { run } from "./Process.ts"
import { render } from "./Table.ts"

/** The limits of all files of a build together, compressed, in bytes. */
const limits: Readonly<Record<Target, number>> = { node: 579_000, deno: 574_000, bun: 567_000, workers: 228_000 }

/** The limits of the Worker in front and of a Worker without features, compressed, in bytes. */
const FRONT = 11_000
const BASE = 223_000

const { values: { json } } = Options.read({
  script: "size",
  about: "Builds examples/shop, and a Worker with each feature, and tells their sizes. Fails over a limit.",
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

/** The compressed size of a Worker with these features and no modules. */
const workerWith = async (features: ReadonlyArray<FeatureName>): Promise<{ readonly all: number; readonly front: number }> => {
  const settings = Effect.runSync(Config.settings({}))
  const contents = { version: "0.1.0", environment: undefined, settings, features, modules: [], pages: undefined, kept: [] }
  const { outputs } = await BuildBundle.make(root, BuildTarget.targets.workers, contents)
  const files = new Map(outputs.map(({ contents, file }) => [file, contents]))
  const sizeOf = (names: Iterable<string>): number =>
    [...names].reduce((sum, name) => sum + gzipSync(files.get(name) ?? "", { level: 9 }).length, 0)
  return { all: sizeOf(files.keys()), front: sizeOf(imported(files, "worker.js")) }
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
  const base = await workerWith([])
  const shares: Array<readonly [name: string, bytes: number]> = [["without features", base.all], ["the Worker in front", base.front]]
  for (const name of names) {
    const needed = BuildFeatures.withNeeds([name]).filter((other) => other !== name)
    const [before, after] = [await workerWith(needed), await workerWith(names.filter((other) => other === name || needed.includes(other)))]
    shares.push([`+ ${name}`, after.all - before.all])
  }
  const over = [
    ...builds.map((build) => [`The build for ${build.target}`, gzipOf(build), limits[build.target]] as const),
    ["The Worker without features", base.all, BASE] as const,
    ["The Worker in front", base.front, FRONT] as const
  ].filter(([, bytes, limit]) => bytes > limit)
  if (json) {
    console.log(JSON.stringify({ builds: builds.map((build) => ({ target: build.target, gzip: gzipOf(build) })), shares }))
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
    console.log(`\n${render(["Worker", "compressed kB"], shares.map(([name, bytes]) => [name, kilobytes(bytes)]))}`)
  }
  for (const [name, bytes, limit] of over) console.error(`${name} has ${kilobytes(bytes)} kB, and its limit is ${kilobytes(limit)}`)
  process.exitCode = over.length > 0 ? 1 : 0
} finally {
  rmSync(folder, { recursive: true, force: true })
}
