/**
 * Bundles for Workers, in which nothing of a host may be left.
 *
 * @module
 */
import { build } from "esbuild"
import { join } from "node:path"

export const root = join(import.meta.dirname, "..", "..")

/** A bundled program. */
export interface Bundle {
  readonly text: string
  /** What it still imports from outside. */
  readonly imports: ReadonlyArray<string>
}

/**
 * The bundle of a module given as text, seen from the project's root.
 *
 * Modules of a host cannot be resolved here, so importing one fails with its name.
 */
export const bundle = async (contents: string): Promise<Bundle> => {
  const { metafile, outputFiles } = await build({
    stdin: { contents, resolveDir: root, loader: "ts" },
    alias: { systole: join(root, "src", "index.ts") },
    bundle: true,
    conditions: ["workerd", "worker"],
    format: "esm",
    logLevel: "silent",
    mainFields: ["module", "main"],
    metafile: true,
    platform: "neutral",
    target: "es2024",
    write: false
  })
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports.map((imported) => imported.path))
  return { text: outputFiles[0]!.text, imports }
}
