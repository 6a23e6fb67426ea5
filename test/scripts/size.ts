/**
 * `npm run size [-- --json]`: the sizes of the builds of `examples/shop`, which has cells, signals, derived cells, a page and the
 * ingress. It fails if a build exceeds its limit.
 *
 * The share of a part is the difference that its absence makes to the compressed Worker.
 *
 * @module
 */
import * as Esbuild from "esbuild"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { gzipSync } from "node:zlib"
import type { Build, Target } from "../../src/cli/Host.ts"
import * as Command from "./Command.ts"
import { node, root } from "./Host.ts"
import { run } from "./Process.ts"
import { render } from "./Table.ts"

/** The limits of all files of a build together, compressed, in bytes. */
const limits: Readonly<Record<Target, number>> = { node: 615_000, deno: 605_000, bun: 605_000, workers: 262_000 }

/** Parts that a Worker could do without, by the files that only they need. */
const features: Readonly<Record<string, RegExp>> = {
  history: /src\/replay\/|ingress\/History|kernel\/view\/History/,
  schema: /effect\/dist\/(?:Schema|internal\/schema)/,
  reactor: /src\/reactor\/|space\/SpaceIo|ingress\/Io/,
  rendezvous: /src\/rendezvous\/|ingress\/Rv|space\/SpaceRendezvous/,
  durable: /src\/durable\/|beat\/Segment/,
  flows: /src\/flow\/|ingress\/Flows|space\/SpaceFlows/,
  graph: /ingress\/(?:Graph|Debug)|space\/Space(?:Graph|Debug)/,
  hono: /node_modules\/hono\//
}

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

/** The compressed size of a Worker whose files of a part are empty. */
const sizeWithout = async (files: RegExp | undefined): Promise<number> => {
  const empty: Esbuild.Plugin = {
    name: "empty",
    setup: (build) => {
      if (files !== undefined) build.onLoad({ filter: files }, () => ({ contents: "module.exports = new Proxy({}, {})", loader: "js" }))
    }
  }
  const { outputFiles } = await Esbuild.build({
    absWorkingDir: root,
    entryPoints: ["src/main/workers/index.ts"],
    alias: { systole: "./src/index.ts" },
    bundle: true,
    conditions: ["workerd", "worker"],
    external: ["cloudflare:workers"],
    format: "esm",
    legalComments: "none",
    logLevel: "silent",
    mainFields: ["module", "main"],
    minify: true,
    platform: "neutral",
    plugins: [empty],
    target: "es2024",
    write: false
  })
  return outputFiles.reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length, 0)
}

const kilobytes = (bytes: number): string => (bytes / 1000).toFixed(1)
const gzipOf = ({ files }: Build): number => files.reduce((sum, { gzip }) => sum + gzip, 0)

await Command.ensure()
try {
  const builds: Array<Build> = []
  for (const target of Object.keys(limits) as ReadonlyArray<Target>) builds.push(await built(target))
  const whole = await sizeWithout(undefined)
  const shares: Array<readonly [name: string, bytes: number]> = []
  for (const [name, files] of Object.entries(features)) shares.push([name, whole - await sizeWithout(files)])
  const over = builds.filter((build) => gzipOf(build) > limits[build.target])
  if (process.argv.includes("--json")) {
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
    console.log(`\n${render(["share of the Worker", "compressed kB"], shares.map(([name, bytes]) => [name, kilobytes(bytes)]))}`)
  }
  for (const build of over) {
    console.error(`The build for ${build.target} has ${kilobytes(gzipOf(build))} kB, and its limit is ${kilobytes(limits[build.target])}`)
  }
  process.exitCode = over.length > 0 ? 1 : 0
} finally {
  rmSync(folder, { recursive: true, force: true })
}
