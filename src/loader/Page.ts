/**
 * Pages of a project: HTML that is rendered from cells, alone or with a module that runs in the browser.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import type { Reading } from "../cell/Cell.ts"

/**
 * A rendered page. Plain HTML runs no script; `script` is a module without imports at the end of the page, and may connect only
 * to this runtime.
 */
export type Rendered = string | { readonly html: string; readonly script: string }

/** The cells that a page is rendered from. `get` resolves to `undefined` if the cell or the space does not exist. */
export interface PageCells {
  readonly get: Reading<[space: string]>
}

/** Renders a page of HTML from cells, by their addresses or as typed cells. */
export type Render = (cells: PageCells) => Rendered | Promise<Rendered>

/** A page whose script is a module of the project. The runtime bundles it with all that it imports. */
export interface ModulePage {
  readonly html: string | ((cells: PageCells) => string | Promise<string>)
  /** The file of the module, relative to the project, such as `page.ts`. */
  readonly module: string
}

/** A page of the configuration. */
export type Page = Render | ModulePage

const SEGMENT = /^[\w@.-]{1,100}$/
const ENDINGS = [".ts", ".tsx", ".mts", ".js", ".jsx", ".mjs"]

/** Whether a text names a module below the project's folder. */
const isFile = (file: string): boolean =>
  ENDINGS.some((ending) => file.endsWith(ending)) &&
  file.split("/").every((segment) => SEGMENT.test(segment) && segment !== "." && segment !== "..")

const isPage = (value: unknown): value is Page => {
  if (typeof value !== "object" || value === null) return typeof value === "function"
  const { html, module } = value as Partial<ModulePage>
  return Object.keys(value).length === 2 && (typeof html === "string" || typeof html === "function") &&
    typeof module === "string" && isFile(module)
}

/** A page as a configuration holds it. */
export const Page = Schema.declare(isPage, { expected: "a function that renders a page, or { html, module: \"page.ts\" }" })

/** Pages by their paths. */
export type Pages = Readonly<Record<string, Page>>

/**
 * The files of the modules of pages, each once.
 */
export const modulesOf = (pages: Pages): ReadonlyArray<string> =>
  [...new Set(Object.values(pages).flatMap((page) => typeof page === "function" ? [] : [page.module]))]

/**
 * The text of a bundled module within HTML: `<!--` before `<script` would hide the end of the script from a browser. A bundler writes
 * it in texts and in patterns alone, where the escape is the same character.
 */
const inHtml = (text: string): string => text.replaceAll("<!--", "\\x3c!--")

/**
 * Pages whose modules are texts of JavaScript without imports, which `textOf` gives by their files.
 */
export const withTexts = (pages: Pages, textOf: (file: string) => string | Promise<string>): Readonly<Record<string, Render>> => {
  const made = ({ html, module }: ModulePage): Render => async (cells) =>
    ({ html: typeof html === "string" ? html : await html(cells), script: inHtml(await textOf(module)) })
  return Object.fromEntries(Object.entries(pages).map(([path, page]) => [path, typeof page === "function" ? page : made(page)]))
}
