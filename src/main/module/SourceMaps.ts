/**
 * Source maps: translates stack traces of bundles to places in the project's files.
 *
 * Hosts run the bundles below `.systole/modules`, so stacks contain their paths. Each bundle has its map beside it.
 * The maps are applied here, because hosts differ in their support of source maps.
 *
 * @module
 */
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import * as CodePlace from "../../diagnostic/CodePlace.ts"
import * as CallPlace from "../guard/CallPlace.ts"

/** The end of a bundle's place in a stack. It begins with fixed text, so that a search is linear in the length of the stack. */
const end = /[\\/]\.systole[\\/]modules[\\/][0-9a-f]+\.mjs:(\d+):(\d+)/g

/** The maximum length of the path before it, in characters. */
const MAX_PATH = 4096

/** A place in a bundle, with its position in the text of a stack. */
interface Frame {
  readonly from: number
  readonly to: number
  readonly file: string
  readonly line: number
  readonly column: number
}

/** The places in bundles that a stack contains. The stack may include a message with arbitrary text. */
const frames = function*(stack: string): Generator<Frame> {
  let last = 0
  for (const { 0: found, 1: line, 2: column, index } of stack.matchAll(end)) {
    const to = index + found.length
    let from = index
    const first = Math.max(last, index - MAX_PATH)
    while (from > first && !/[\s()]/.test(stack.charAt(from - 1))) from--
    const file = stack.slice(from, to - `:${line}:${column}`.length).replace(/^file:\/\//, "")
    yield { from, to, file, line: Number(line), column: Number(column) }
    last = to
  }
}

/** The cached maps, by bundle. */
const known = new Map<string, SourceMap | undefined>()

/** The maximum number of cached maps. */
const MAX_KNOWN = 100

interface SourceMap {
  readonly sources: ReadonlyArray<string>
  /** The texts of the sources as they were bundled. A map of an older version has none. */
  readonly sourcesContent?: ReadonlyArray<string | null>
  readonly mappings: string
}

/**
 * The stack of an error, with places in the project instead of bundles and without frames of the runtime, unless all are; `undefined`
 * for an error without a stack.
 */
export const stack = (thrown: unknown): string | undefined => {
  const text = stackOf(thrown)
  if (text === undefined) return undefined
  let shown = ""
  let last = 0
  for (const { column, file, from, line, to } of frames(text)) {
    shown += text.slice(last, from) + (origin(file, line, column)?.place ?? text.slice(from, to))
    last = to
  }
  const all = shown + text.slice(last)
  const others = CallPlace.withoutOwn(all)
  return FRAME.test(others) ? others : all
}

/** A line of a stack with a frame. */
const FRAME = /^\s{1,20}at /m

/**
 * The first place in the project's files in the stack of an error, such as `enzymes/greet.ts:12:7`, with its source line.
 */
export const place = (thrown: unknown): CodePlace.CodePlace | undefined => {
  for (const { column, file, line } of frames(stackOf(thrown) ?? "")) {
    const found = origin(file, line, column)
    // A plugin of the package is bundled like a module of the project.
    if (found !== undefined && !CallPlace.isForeign(resolve(file, "../../..", found.place))) return found
  }
  return undefined
}

/** The stack of a thrown value. The value may have any type, and its getters may throw. */
const stackOf = (thrown: unknown): string | undefined => {
  try {
    const { stack } = thrown as { readonly stack?: unknown }
    return typeof stack === "string" ? stack : undefined
  } catch {
    return undefined
  }
}

/**
 * The place of the project's files at a line and a column of a bundle, both from 1 on.
 */
export const origin = (file: string, line: number, column: number): CodePlace.CodePlace | undefined => {
  const map = mapOf(file)
  return map === undefined ? undefined : lookUp(map, line, column)
}

const mapOf = (file: string): SourceMap | undefined => {
  if (known.has(file)) return known.get(file)
  if (known.size >= MAX_KNOWN) known.clear()
  let map: SourceMap | undefined
  try {
    map = JSON.parse(readFileSync(`${decodeURI(file)}.map`, "utf8")) as SourceMap
  } catch {
    // A module imported from history has no map.
  }
  known.set(file, map)
  return map
}

/** The original place of the last segment at or before a column. Lines and columns of stacks count from 1. */
const lookUp = ({ mappings, sources, sourcesContent }: SourceMap, line: number, column: number): CodePlace.CodePlace | undefined => {
  const at = { source: 0, line: 0, column: 0 }
  let found: typeof at | undefined
  for (const [i, text] of mappings.split(";", line).entries()) {
    let generated = 0
    for (const segment of text === "" ? [] : text.split(",")) {
      const [moved = 0, source, down, right] = numbers(segment)
      generated += moved
      if (source === undefined || down === undefined || right === undefined) continue
      at.source += source
      at.line += down
      at.column += right
      if (i === line - 1 && (generated < column || found === undefined)) found = { ...at }
    }
  }
  if (found === undefined) return undefined
  const text = sourcesContent?.[found.source]?.split("\n", found.line + 1)[found.line]
  return CodePlace.make(`${sources[found.source]}:${found.line + 1}:${found.column + 1}`, text, found.column + 1)
}

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

/** Decodes a base64 VLQ segment: five bits per digit, lowest first. The lowest bit is the sign. */
const numbers = (segment: string): ReadonlyArray<number> => {
  const found: Array<number> = []
  let value = 0
  let shift = 0
  for (const digit of segment) {
    const bits = digits.indexOf(digit)
    value += (bits & 31) << shift
    shift += 5
    if ((bits & 32) !== 0) continue
    found.push((value & 1) === 0 ? value >> 1 : -(value >> 1))
    value = 0
    shift = 0
  }
  return found
}
