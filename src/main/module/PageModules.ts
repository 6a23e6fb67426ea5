/**
 * The modules of pages: each is bundled for browsers with the client and the declarations that it imports.
 *
 * `systole` and `effect` are those of the running installation. A page has `systole/cells` in its form for browsers, which leaves
 * no code of schemas in it.
 *
 * @module
 */
import type * as Esbuild from "esbuild"
import { dirname, join, resolve } from "node:path"
import { ModuleBroken } from "../../loader/ModuleHost.ts"
import * as Installation from "./Installation.ts"

/** The parts of this package that a page can import, by their names, and their files. */
const parts: Readonly<Record<string, string>> = {
  "systole/cells": "cell/Page.ts",
  "systole/client": "client/index.ts",
  "systole/react": "react/index.ts",
  "systole/rich": "cell/RichJson.ts"
}

const NAMES = Object.keys(parts).join(", ")

const linker: Esbuild.Plugin = {
  name: "systole-page",
  setup: (build) => {
    build.onResolve({ filter: /^systole(?:\/|$)/ }, ({ path }) => {
      const part = parts[path]
      if (part !== undefined) return { path: Installation.runtimeFile(part) }
      const text = `"${path}" is no part of a page: it would contain the runtime. A page and its declarations import ${NAMES}`
      return { errors: [{ text }] }
    })
  }
}

/** The project of a page, and the form of its script: for a development server it has names, lines and a source map. */
export interface Site {
  readonly root: string
  readonly isReadable: boolean
}

/** Gives the text of a module without imports. Rejects with {@link ModuleBroken}. */
export type PageModule = (site: Site, file: string) => Promise<string>

/**
 * Bundles a module of the project.
 */
export const bundle: PageModule = async ({ isReadable, root }: Site, file) => {
  // The first use alone loads the bundler.
  const [{ build }, Bundle, RegularFiles] = await Promise.all([import("esbuild"), import("./Bundle.ts"), import("./RegularFiles.ts")])
  try {
    const { outputFiles: [output] } = await build({
      absWorkingDir: root,
      entryPoints: [join(root, file)],
      bundle: true,
      write: false,
      format: "esm",
      platform: "browser",
      target: "es2022",
      charset: "utf8",
      legalComments: "none",
      logLevel: "silent",
      minify: !isReadable,
      sourcemap: isReadable ? "inline" : false,
      outfile: resolve(dirname(file), "page.js"),
      plugins: [RegularFiles.plugin(), linker]
    })
    return output!.text
  } catch (error) {
    throw new ModuleBroken({ file, ...Bundle.explain(error, { root, from: root }) })
  }
}
