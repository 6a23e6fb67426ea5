/**
 * The scripts of pages as files beside a Worker, whose own script does not grow by them.
 *
 * @module
 */
import { createHash } from "node:crypto"
import type { Contents } from "./BuildContents.ts"
import * as BuildFolder from "./BuildFolder.ts"

/** The path of a script among the assets, by its text: a new script never takes the place of one that a running Worker reads. */
const pathOf = (text: string): string => `/page-${createHash("sha256").update(text).digest("hex").slice(0, 32)}.js`

/**
 * The paths of the scripts, by the files of their modules.
 */
export const paths = ({ scripts }: Pick<Contents, "scripts">): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(scripts).map(([file, text]) => [file, pathOf(text)]))

/**
 * The files of the scripts.
 */
export const files = ({ scripts }: Pick<Contents, "scripts">): ReadonlyArray<BuildFolder.Text> =>
  Object.values(scripts).map((text) => ({ file: `${BuildFolder.ASSETS}${pathOf(text)}`, contents: text }))
