/**
 * The files that a `tsconfig.json` extends, directly and through others. The bundler reads them without a word.
 *
 * @module
 */
import { readFileSync, statSync } from "node:fs"
import { dirname, isAbsolute, join, resolve } from "node:path"

/** The most bytes of a file in which the field is looked for, the most characters of the field, and the most files of a chain. */
const MAX_BYTES = 1_048_576
const MAX_FIELD = 4096
const MAX_FILES = 256

const textOf = (file: string): string => {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found?.isFile() !== true || found.size > MAX_BYTES) return ""
  try {
    return readFileSync(file, "utf8")
  } catch {
    return ""
  }
}

/** The names in the field of a file, which may have comments. A field in a comment only adds names. */
const namesOf = (text: string): ReadonlyArray<string> =>
  text.split("\"extends\"").slice(1).flatMap((rest) => namesAt(rest.slice(0, MAX_FIELD).trimStart()))

/** The texts after the name of the field: one, or those of a list. */
const namesAt = (rest: string): ReadonlyArray<string> => {
  if (!rest.startsWith(":")) return []
  const value = rest.slice(1).trimStart()
  const isList = value.startsWith("[")
  // Each second part stands between quotes.
  const texts = (isList ? value.split("]", 1).join() : value).split("\"").filter((_, i) => i % 2 === 1)
  return isList ? texts : texts.slice(0, value.startsWith("\"") ? 1 : 0)
}

/** The places of a package's file: below the folder of the importer, and below each folder above it. */
const packagePlaces = (name: string, folder: string): ReadonlyArray<string> => {
  const place = join(folder, "node_modules", name)
  const parent = dirname(folder)
  return [place, ...parent === folder ? [] : packagePlaces(name, parent)]
}

/** The files that a name may lead to. */
const placesOf = (name: string, folder: string): ReadonlyArray<string> => {
  const places = /^\.{1,2}(?:[\\/]|$)/.test(name) || isAbsolute(name) ? [resolve(folder, name)] : packagePlaces(name, folder)
  return places.flatMap((place) => [place, `${place}.json`, join(place, "tsconfig.json"), join(place, "package.json")])
}

/** The files that a file of settings may extend, also absent ones, without itself. */
export const of = (file: string): ReadonlyArray<string> => {
  const found = new Set<string>()
  const open = [file]
  for (let next = open.pop(); next !== undefined && found.size < MAX_FILES; next = open.pop()) {
    for (const name of namesOf(textOf(next))) {
      for (const place of placesOf(name, dirname(next))) {
        if (place === file || found.has(place)) continue
        found.add(place)
        open.push(place)
      }
    }
  }
  return [...found]
}
