/**
 * Pieces: running instances of a node module.
 *
 * A module with inputs does not run by itself. Each start supplies values, which replace
 * `:name` in its addresses, and makes one node. A piece is identified by its module and
 * its result cell, so two equal starts are one piece. [S2 §7.6]
 *
 * @module
 */
import * as Codec from "../../cell/Document.ts"
import * as Name from "../../cell/Name.ts"
import { isContainer, type Value } from "../../cell/Value.ts"
import type { Common, Definition, Inputs, Texts } from "./Definition.ts"
import { InvalidNode } from "./Definition.ts"

/** Separates a module's name from the digest in a piece's name. */
const MARK = "~"

/** Digits of the digest. */
const DIGITS = 32

/** Most inputs of one module. */
const MAX_INPUTS = 64

const inputPattern = /^[A-Za-z_]\w{0,63}$/

/** Addresses of a definition that may contain inputs. */
interface Places extends Texts<Common> {
  readonly output?: string | undefined
  readonly writes?: ReadonlyArray<string> | undefined
}

const nothing: Inputs = Object.freeze({})

/**
 * The definition of a node; or, with inputs, of a module whose pieces `build` makes when they are started.
 *
 * @throws InvalidNode
 */
export const template = <D extends Places>(definition: D, build: (definition: D, inputs: Inputs) => Definition): Definition => {
  const { inputs: names, name, output, writes } = definition
  if (names === undefined) return build(definition, nothing)
  if (!Array.isArray(names) || names.length > MAX_INPUTS || names.some((name) => typeof name !== "string" || !inputPattern.test(name))) {
    throw new InvalidNode({
      name: String(name),
      reason: `its inputs are not at most ${MAX_INPUTS} names of letters, digits and _; give them such names`
    })
  }
  const piece = (inputs: Inputs) => build(filled(definition, inputs), inputs)
  // A sample piece validates the definition when the module is made.
  const sample = piece(Object.fromEntries(names.map((input, i) => [input, `x${i}`])))
  return { ...sample, output, writes: writes ?? [], inputs: [...names], piece }
}

/**
 * The node of a start, by its piece's name.
 *
 * @throws InvalidNode, InvalidValue
 */
export const make = (module: Definition, given: unknown, hash: (bytes: Uint8Array) => string): Definition => {
  const { inputs: names, name, piece } = module
  if (names === undefined || piece === undefined) {
    throw new InvalidNode({
      name,
      reason: "it declares no inputs, so it runs in every space by itself and is not started. Declare inputs, if only an empty list"
    })
  }
  const document = Codec.encode(given ?? {})
  const inputs = Codec.read(document, [])
  if (!isContainer(inputs) || Array.isArray(inputs)) {
    throw new InvalidNode({ name, reason: "it is started with what is no object; give a value for each input by its name" })
  }
  const missing = names.filter((input) => !Object.hasOwn(inputs, input))
  if (missing.length > 0) {
    throw new InvalidNode({ name, reason: `it is started without ${missing.join(", ")}; give a value for each input` })
  }
  const unknown = Object.keys(inputs).filter((input) => !names.includes(input))
  if (unknown.length > 0) {
    throw new InvalidNode({ name, reason: `it is started with ${unknown.join(", ")}, which it does not declare among its inputs` })
  }
  const made = piece(inputs as Inputs)
  const digest = hash(new TextEncoder().encode(`${name} ${made.output ?? document.text}`))
  return { ...made, name: `${name}${MARK}${digest.slice(0, DIGITS)}`, given: document.text }
}

/** The module of a node's name: that of a piece, or the name itself. */
export const moduleOf = (name: string): string => {
  const mark = name.indexOf(MARK)
  return mark < 0 ? name : name.slice(0, mark)
}

/** Whether a name is a piece's. No module's name contains the mark. */
export const isPiece = (name: string): boolean => name.includes(MARK)

/** A definition with values for its inputs. */
const filled = <D extends Places>(definition: D, inputs: Inputs): D => {
  const fill = (text: string) => filledText(text, inputs, definition.name)
  const { inputs: _, output, reads, writes, ...rest } = definition
  const places = {
    ...output === undefined ? {} : { output: fill(output) },
    ...reads === undefined ? {} : { reads: reads.map(fill) },
    ...writes === undefined ? {} : { writes: writes.map(fill) }
  }
  return { ...rest, ...places } as unknown as D
}

/** An address with values for its inputs, up to the place inside a cell. */
const filledText = (text: string, inputs: Inputs, name: string): string => {
  const hash = text.indexOf("#")
  const cell = hash < 0 ? text : text.slice(0, hash)
  const made = cell.replaceAll(/\/:(\w+)(?=\/|\?|$)/g, (whole, input: string) =>
    Object.hasOwn(inputs, input) ? `/${segment(inputs[input], input, name)}` : whole)
  return hash < 0 ? made : made + text.slice(hash)
}

const segment = (value: Value, input: string, name: string): string => {
  const text = typeof value === "string" || typeof value === "number" ? String(value) : ""
  const refusal = Name.refusal(text)
  if (refusal === undefined) return text
  throw new InvalidNode({ name, reason: `its input "${input}" stands in an address, and what it is given names no cell: ${refusal}` })
}
