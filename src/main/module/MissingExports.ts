/**
 * The names that a bundle imports and no module exports.
 *
 * A host tells one of them, with the path of the file that it looked into. Here all are told, as the project wrote them.
 *
 * @module
 */
import { readFile } from "node:fs/promises"
import type { CodePlace } from "../../diagnostic/CodePlace.ts"
import * as Bundle from "./Bundle.ts"
import * as SourceMaps from "./SourceMaps.ts"

/** An import statement as esbuild writes it. */
const statements = /^import (?:([\w$]{1,1000})(?:, )?)?(?:\{([^{}"]{1,100000})\})? from "([^"\n]{1,4096})";$/dgm

/** A name that a bundle imports, and its position in the text. */
interface Imported {
  readonly name: string
  readonly at: number
}

const importedBy = ({ 1: own, 2: clause, indices }: RegExpExecArray): ReadonlyArray<Imported> => {
  const names: Array<Imported> = own === undefined ? [] : [{ name: "default", at: indices?.[1]?.[0] ?? 0 }]
  let at = indices?.[2]?.[0] ?? 0
  for (const part of clause?.split(",") ?? []) {
    const [name = ""] = part.trim().split(" ", 1)
    if (name !== "") names.push({ name, at: at + part.indexOf(name) })
    at += part.length + 1
  }
  return names
}

/** The place of a position of the bundle in the project. */
const placeIn = (file: string, text: string, at: number): CodePlace | undefined => {
  const before = text.slice(0, at).split("\n")
  return SourceMaps.origin(file, before.length, (before.at(-1) ?? "").length + 1)
}

/** The exports of a module; `undefined` if it cannot be imported by itself either. */
const exportsOf = async (name: string): Promise<object | undefined> => {
  try {
    return await import(/* @vite-ignore */ name) as object
  } catch {
    return undefined
  }
}

/**
 * Each missing name with its module and the place of its import. `text` is the hashed text of the bundle in `file`.
 */
export const find = async (file: string, text: string): Promise<ReadonlyArray<Bundle.BuildFailure>> => {
  const located = [...(await readFile(file, "utf8")).matchAll(statements)]
  const missing: Array<Bundle.BuildFailure> = []
  for (const [i, statement] of [...text.matchAll(statements)].entries()) {
    const exported = await exportsOf(located[i]?.[3] ?? "")
    if (exported === undefined) continue
    const from = Bundle.nameOf(statement[3] ?? "")
    for (const { at, name } of importedBy(statement)) {
      if (name in exported) continue
      const place = placeIn(file, text, at)
      const reason = `"${from}" has no export "${name}"${place === undefined ? "" : ` (${place.place})`}`
      missing.push({ reason, places: place === undefined ? [] : [place] })
    }
  }
  return missing
}
