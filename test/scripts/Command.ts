/**
 * The command `systole` as one bundle: `dist/command/systole.js` with shared chunks.
 *
 * Further entries let the modules of a project share the
 * command's instances: `index.js` for `systole`, `testing.js` for
 * `systole/testing`, `plugins/` for `systole/plugins/*`, and `effect/` for
 * `effect` and its modules. `platform/` has the parts of `@effect/platform-node`
 * that a build for a server bundles; they import the `effect` of the project.
 *
 * @module
 */
import * as Esbuild from "esbuild"
import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import process from "node:process"
import type { Host } from "./Host.ts"
import { node, root, tool } from "./Host.ts"

const folder = join(root, "dist", "command")

/** The `bin` file of the package. */
export const file = join(folder, "systole.js")

/** The command line that runs the bundled command on a host: the local one or an installed one. */
export const line = (host: Host, command = file): readonly [string, ...Array<string>] => {
  if (host === "deno") return [tool("deno"), "run", "-A", command]
  return [host === "bun" ? tool("bun") : node(), command]
}

/** The entries of the bundle, by output file. */
const entries = async (): Promise<Record<string, string>> => {
  const plugins = await readdir(join(root, "plugins"))
  return {
    systole: "src/main/systole.ts",
    WatchdogThread: "src/main/watchdog/WatchdogThread.ts",
    index: "src/index.ts",
    cells: "src/cell/index.ts",
    cli: "src/cli/index.ts",
    time: "src/time/index.ts",
    "plugins/agent/commands": "plugins/agent/commands.ts",
    testing: "src/main/testing/index.ts",
    "effect/index": "effect",
    ...Object.fromEntries(plugins.filter((name) => name.endsWith(".ts")).map((name) => [`plugins/${name.slice(0, -3)}`, `plugins/${name}`]))
  }
}

/** A module that re-exports a namespace of the bundled `effect`. */
const shim = (name: string, exported: object): string => {
  const keys = Object.keys(exported)
  const constants = keys.map((key, i) => `const $${i} = ${name}[${JSON.stringify(key)}]`)
  return [
    `import { ${name} } from "./index.js"`,
    ...constants,
    `export { ${keys.map((key, i) => `$${i} as ${key}`).join(", ")} }`,
    ""
  ].join("\n")
}

const isModule = (exported: unknown): exported is object =>
  (exported as { readonly [Symbol.toStringTag]?: string } | undefined)?.[Symbol.toStringTag] === "Module"

/** The modules of `effect` that its barrel exports as namespaces. */
const shims = async (): Promise<ReadonlyArray<readonly [path: string, text: string]>> =>
  Object.entries(await import("effect"))
    .filter((entry): entry is [string, object] => isModule(entry[1]))
    .map(([name, exported]) => [join(folder, "effect", `${name}.js`), shim(name, exported)])

/** Replaces a file atomically, because another process may be reading the old one. */
const put = async (path: string, text: string | Uint8Array): Promise<void> => {
  await mkdir(dirname(path), { recursive: true })
  const draft = `${path}.${process.pid}`
  await writeFile(draft, text)
  await rename(draft, path)
}

const common = {
  absWorkingDir: root,
  bundle: true,
  splitting: true,
  write: false,
  format: "esm",
  platform: "node",
  target: "es2024",
  // A process reads four fifths of the bytes so, and keeps each character in one of them: a start takes a fifth less of the processor.
  charset: "ascii",
  minifyWhitespace: true,
  legalComments: "none",
  chunkNames: "chunk-[hash]"
} as const

/** Bundles the command from the sources. Chunks are named by content, so a running process still finds its own. */
export const bundle = async (): Promise<void> => {
  const command = await Esbuild.build({
    ...common,
    entryPoints: await entries(),
    outdir: folder,
    // A native program: it cannot be bundled.
    external: ["esbuild"],
    // The entry of yaml for Node is CommonJS, which requires modules of the host at run time.
    alias: {
      systole: "./src/index.ts", "systole/cli": "./src/cli/index.ts", "systole/time": "./src/time/index.ts",
      yaml: join(root, "node_modules/yaml/browser/index.js")
    }
  })
  const platform = await Esbuild.build({
    ...common,
    entryPoints: { NodeRuntime: "@effect/platform-node/NodeRuntime", NodeServices: "@effect/platform-node/NodeServices" },
    outdir: join(folder, "platform"),
    external: ["effect"]
  })
  const outputs = [...command.outputFiles, ...platform.outputFiles].map(({ contents, path }) => [path, contents] as const)
  await Promise.all([...outputs, ...await shims()].map(([path, content]) => put(path, content)))
}

/** The digest of the last bundle's sources. */
const noted = join(root, "node_modules", ".cache", "systole-command")

/** A digest of all that the bundle is made from. */
const digest = async (): Promise<string> => {
  const folders = await Promise.all(["src", "plugins"].map(async (folder) => {
    const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true })
    return entries.filter((entry) => entry.isFile()).map(({ name, parentPath }) => join(parentPath, name))
  }))
  const hash = createHash("sha256")
  for (const path of [...folders.flat().sort(), join(root, "package-lock.json"), import.meta.filename]) {
    hash.update(`${path}\0`).update(await readFile(path)).update("\0")
  }
  return hash.digest("hex")
}

/** Bundles the command if its sources are not those of the last bundle. */
export const refresh = async (): Promise<void> => {
  const now = await digest()
  if (existsSync(file) && await readFile(noted, "utf8").catch(() => "") === now) return
  await bundle()
  await put(noted, now)
}

let bundled: Promise<void> | undefined

/** Bundles the command once for this process. The set-up of the tests does it for all test processes. */
export const ensure = (): Promise<void> => process.env["VITEST"] === undefined ? bundled ??= refresh() : Promise.resolve()
