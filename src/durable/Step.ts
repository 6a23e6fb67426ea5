/**
 * Steps: the log of a durable run, one document for each segment.
 *
 * A step holds the results with which its segment began and the calls that the segment made, with their results. The
 * body is remade from the steps alone.
 *
 * A step that is no document, because of its length or depth, is stored as a document without results and calls, and as
 * parts in cells below it: texts that together are its entries, one a line.
 *
 * @module
 */
import * as Document from "../cell/Document.ts"
import { InvalidValue, type Value } from "../cell/Value.ts"
import type { Pipeline } from "../stage/Launch.ts"
import type { HandleResult } from "./Handle.ts"
import type { Pair } from "./Pairs.ts"
import { StepsFull } from "./RunError.ts"

/** The most segments of one run. */
export const MAX_STEPS = 10_000

/** The most characters of the step log of one run. */
export const MAX_SIZE = 8 * 1_048_576

/** The most characters of one part. A text of JSON has at most twice its length as a string of JSON. */
const PART = 500_000

/** The start and the length of an address of content. No part ends within one, so that the parts keep their content. */
const CONTENT = "/cas/"
const CONTENT_LENGTH = CONTENT.length + 64

/** One call: its name, its object, its result, and the address that a read or a write reached over links. */
export type Call = readonly [name: string, at: string, value?: Value, reached?: string]

/** A call as the author wrote it, without its result. */
export const textOf = ([name, at]: Call): string => at === "" ? `tx.${name}()` : `tx.${name}(${JSON.stringify(at)})`

/** A value that the run left at an address which it had read. Of keys and of names, it is their list, or null if there is none. */
export type LeftValue = readonly [address: string, value?: Value, kind?: "keys" | "names"]

/** One step of the log. */
export interface Step {
  readonly beat: number
  readonly now: number
  /** The number of the attempt with which the body began; in the first step only. */
  readonly attempt?: number
  /** The address of the module with which the body began, if it has one; in the first step only. */
  readonly code?: string
  /** The addresses of the modules of its services, if it takes some; in the first step only. */
  readonly services?: ReadonlyArray<string>
  /** The signals that the run hears from the begin of the segment on, as its enzyme declares them, if there are new ones. */
  readonly hears?: ReadonlyArray<Pair>
  /** The rules with which the run began, if they are not the first ones; in the first step only. */
  readonly semantics?: number
  /** The pipeline of the operation that the run continues, if it has one; in the first step only. */
  readonly pipeline?: Pipeline
  /** How often the run was started anew, if it was; in the first step only. */
  readonly anew?: number
  readonly settled: ReadonlyArray<HandleResult>
  readonly calls: ReadonlyArray<Call>
  readonly left?: ReadonlyArray<LeftValue>
  /** The characters of all earlier steps. */
  readonly size: number
  /** The number of its parts, if it has any. */
  readonly parts?: number
}

/** A step as it is stored. */
export interface StoredStep {
  readonly document: Document.Document
  readonly parts: ReadonlyArray<Document.Document>
  /** The characters of all its documents. */
  readonly length: number
}

/** A step of a log, with the characters of its documents. */
export interface LoggedStep {
  readonly step: Step
  readonly length: number
}

/** Reads the document of a step, or of one of its parts. */
export type Reader = (part?: number) => Document.Document | undefined

/** One entry of a step in parts: a result, a call, or a value that was left. */
type Entry = readonly ["settled", HandleResult] | readonly ["calls", Call] | readonly ["left", LeftValue]

/**
 * The stored form of a step.
 *
 * @throws StepsFull if the step alone is longer than a log
 */
export const encode = (step: Step): StoredStep => {
  const document = whole(step)
  if (document !== undefined) return { document, parts: [], length: document.text.length }
  const parts = partsOf(linesOf(step))
  const { left: _, ...rest } = step
  const head = Document.encode({ ...rest, settled: [], calls: [], parts: parts.length })
  return { document: head, parts, length: parts.reduce((sum, { text }) => sum + text.length, head.text.length) }
}

/** The document of a step; `undefined` if the step is too long or too deep for one. */
const whole = (step: Step): Document.Document | undefined => {
  try {
    return Document.encode(step)
  } catch (error) {
    if (error instanceof InvalidValue) return undefined
    throw error
  }
}

/** The texts of the entries. */
const linesOf = ({ calls, left = [], settled }: Step): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let size = 0
  const add = (entry: Entry): void => {
    const line = Document.entry(entry)
    size += line.length
    // Its values may be the same one many times, so the limit is checked before their texts fill the memory.
    if (size > MAX_SIZE) throw new StepsFull({ limit: `${MAX_SIZE} characters` })
    lines.push(line)
  }
  for (const result of settled) add(["settled", result])
  for (const call of calls) add(["calls", call])
  for (const value of left) add(["left", value])
  return lines
}

const partsOf = (lines: ReadonlyArray<string>): ReadonlyArray<Document.Document> => {
  const text = lines.join("\n")
  const parts: Array<Document.Document> = []
  for (let from = 0; from < text.length;) {
    let end = Math.min(from + PART, text.length)
    const address = text.lastIndexOf(CONTENT, end - 1)
    if (end < text.length && address > from && address + CONTENT_LENGTH > end) end = address
    parts.push(Document.encode(text.slice(from, end)))
    from = end
  }
  return parts
}

/** The step of a document without its parts; `undefined` for no document. */
export const decode = (document: Document.Document | undefined): Step | undefined =>
  document === undefined ? undefined : Document.read(document, []) as unknown as Step

/** A step of a log; `undefined` if the log does not have all of it. */
export const read = (documentOf: Reader): LoggedStep | undefined => {
  const document = documentOf()
  const head = decode(document)
  if (document === undefined || head === undefined) return undefined
  if (head.parts === undefined) return { step: head, length: document.text.length }
  let length = document.text.length
  let text = ""
  for (let part = 0; part < head.parts; part++) {
    const found = documentOf(part)
    if (found === undefined) return undefined
    length += found.text.length
    text += String(Document.read(found, []))
  }
  return { step: joined(head, text), length }
}

const joined = (head: Step, text: string): Step => {
  const entries = { settled: [] as Array<HandleResult>, calls: [] as Array<Call>, left: [] as Array<LeftValue> }
  for (const line of text.split("\n")) {
    const [kind, entry] = Document.read(Document.decode(line), []) as unknown as Entry
    ;(entries[kind] as Array<typeof entry>).push(entry)
  }
  const { left, ...rest } = entries
  return { ...head, ...rest, ...left.length === 0 ? {} : { left } }
}
