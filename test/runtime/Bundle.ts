/**
 * Bundles for Workers, which must not import modules of a host.
 *
 * @module
 */
import { build } from "esbuild"
import { type Request, Response } from "miniflare"
import { join } from "node:path"

export const root = join(import.meta.dirname, "..", "..")

/** A bundled program. */
export interface Bundle {
  readonly text: string
  /** The external imports that remain. */
  readonly imports: ReadonlyArray<string>
}

const ENTRY = `export * from "./bundle.js"; export { default } from "./bundle.js"`

/**
 * The options of miniflare for a bundled script, which workerd fetches when it begins. Within the configuration, miniflare copies a
 * script of this size with each of the hundreds of values that it writes, which takes as long as the start of workerd.
 */
export const modulesOf = (text: string) => ({
  modules: [{ type: "ESModule" as const, path: "worker.js", contents: ENTRY }],
  unsafeUseModuleFallbackService: true,
  unsafeModuleFallbackService: ({ url }: Request) => {
    const isBundle = new URL(url).searchParams.get("specifier") === "/bundle.js"
    return isBundle ? Response.json({ name: "bundle.js", esModule: text }) : new Response(null, { status: 404 })
  }
})

/** Bundles the entry of a Worker with its objects. */
export const bundled = (entry: string): Promise<Bundle> => bundle(`export * from "${entry}"; export { default } from "${entry}"`)

/** The bundles so far, by the texts of their modules: several files of tests share a worker, and their entries. */
const known = new Map<string, Promise<Bundle>>()

/**
 * Bundles a module from its text, resolved from the root of the project.
 *
 * Modules of a host cannot be resolved, so an import of one fails with its name.
 */
export const bundle = (contents: string): Promise<Bundle> => {
  const made = known.get(contents) ?? make(contents)
  known.set(contents, made)
  return made
}

const make = async (contents: string): Promise<Bundle> => {
  const { metafile, outputFiles } = await build({
    stdin: { contents, resolveDir: root, loader: "ts" },
    alias: { systole: join(root, "src", "index.ts"), "systole/time": join(root, "src", "time", "index.ts") },
    bundle: true,
    // The platform has the base class of objects, and with a flag the scope of runs.
    external: ["cloudflare:workers", "node:async_hooks"],
    conditions: ["workerd", "worker"],
    format: "esm",
    logLevel: "silent",
    mainFields: ["module", "main"],
    metafile: true,
    // Each test starts workerd with the text anew.
    minifyWhitespace: true,
    platform: "neutral",
    target: "es2024",
    write: false
  })
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports.map((imported) => imported.path))
  return { text: outputFiles[0]!.text, imports }
}
