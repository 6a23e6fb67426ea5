/**
 * The reference of the interface as files beside a Worker, which has no room for it.
 *
 * @module
 */
import { REFERENCE } from "../../contract/Paths.ts"
import * as Reference from "../../ingress/Reference.ts"
import * as ServedEndpoints from "../../ingress/ServedEndpoints.ts"
import type { SliceName } from "../../ledger/SliceTable.ts"
import * as Slices from "../composition/Slices.ts"
import * as BuildFolder from "./BuildFolder.ts"

/** The file of a path: the platform answers a path without an ending with the HTML file of that name. */
const fileOf = (path: string): string => `${BuildFolder.ASSETS}${path}${path.includes(".") ? "" : ".html"}`

/**
 * The files of the reference of a host with these slices, and their headers.
 */
export const files = (names: ReadonlyArray<SliceName>): ReadonlyArray<BuildFolder.Text> => {
  const slices = Slices.all.filter(({ name }) => (names as ReadonlyArray<string>).includes(name))
  const endpoints = ServedEndpoints.of(slices, { isDebugged: false })
  const parts = REFERENCE.map((path) => ({ path, ...Reference.part(endpoints, path) }))
  const headers = parts.flatMap(({ headers, path }) => [path, ...Object.entries(headers).map(([name, value]) => `  ${name}: ${value}`)])
  return [
    ...parts.map(({ path, text }) => ({ file: fileOf(path), contents: text })),
    { file: `${BuildFolder.ASSETS}/_headers`, contents: `${headers.join("\n")}\n` }
  ]
}
