/**
 * The pieces of a space: what was started of node modules, as cells.
 *
 * `/sys/pieces/<piece>` holds the module and the inputs of one that runs. A
 * handler that starts a piece writes that cell in its transaction, and so the
 * piece lives and dies with it: a run that loses or fails has started nothing, and
 * the same start twice is one cell. The pass of the beat whose commit writes the
 * cell takes the node in; the end of the cell is the end of the piece.
 * (Seed 002, section 7.6; architecture, section 5, "Lineage".)
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Address from "../../cell/Address.ts"
import type { Document } from "../../cell/Document.ts"
import * as Codec from "../../cell/Document.ts"
import { InvalidValue, isContainer, type Value } from "../../cell/Value.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"
import { type Definition, InvalidNode } from "../../scheduler/Definition.ts"
import * as Piece from "../../scheduler/Piece.ts"
import type { Draft } from "../../stage/Draft.ts"
import type { Pieces as Face } from "../../stage/Charter.ts"
import * as Control from "../model/Control.ts"
import type { DerivationPort } from "./DerivationPort.ts"
import { below, type Documents } from "../model/Documents.ts"

/** Where the cells lie. */
export const FOLDER = "/sys/pieces"

/** How their keys begin. */
const BELOW = `${FOLDER}/`

/** A piece that was started. */
export interface Started {
  readonly module: string
  readonly inputs: Value
}

/** Pieces by their names, by their modules. */
export type All = Map<string, Map<string, Started>>

/** Keeps what was started under a name; or forgets it. */
export const put = (all: All, name: string, started: Started | undefined): void => {
  const module = Piece.moduleOf(name)
  if (started === undefined) return void all.get(module)?.delete(name)
  const here = all.get(module)
  if (here === undefined) all.set(module, new Map([[name, started]]))
  else here.set(name, started)
}

/** The key of a piece's cell. */
export const keyOf = (name: string): string => `${BELOW}${name}`

/** What a run starts and stops, as cells of its draft. */
export const face = (derivation: Pick<DerivationPort, "module">, hash: (bytes: Uint8Array) => string): Face<Draft> => ({
  start: (draft, node, inputs) => {
    if (typeof node !== "string") {
      throw new InvalidNode({ name: node.name, reason: "what a handler starts outlives the process, so it is a module that is registered. Declare inputs in one, and start it by its name" })
    }
    const module = derivation.module(node)
    if (module === undefined) throw new InvalidNode({ name: node, reason: "no node module of this name is registered; register one, or start another" })
    const { name } = Piece.make(module, inputs, hash)
    draft.place(new Map([[keyOf(name), Codec.encode({ inputs: inputs ?? {}, module: node })]]))
    return name
  },
  stop: (draft, name) => {
    if (!Piece.isPiece(name)) throw new InvalidNode({ name, reason: "this names no piece; name one as its start returned it" })
    // What names no cell is refused like any other address.
    draft.place(new Map([[Address.parse(keyOf(name)).key, undefined]]))
  }
})

/** Has the next beat start a piece; answers its name, when that is durable. */
export const start = <E>(control: (make: () => (answer: Control.Answer) => Control.Control) => Effect.Effect<number, E>, module: string, inputs: unknown): Effect.Effect<string, E> =>
  Effect.suspend(() => {
    let asked: Control.PieceControl | undefined
    const done = control(() => {
      const made = Control.piece({ verb: "start", module: String(module), inputs: Codec.encode(inputs) })
      return (answer) => asked = made(answer)
    })
    return Effect.map(done, () => asked!.name!)
  })

/** Does what the outside asks; answers why not, where it cannot. */
export const perform = (draft: Draft, control: Control.PieceControl, pieces: Face<Draft>): Address.InvalidAddress | InvalidNode | InvalidValue | undefined => {
  const { ask } = control
  try {
    if (ask.verb === "start") control.name = pieces.start(draft, ask.module, Codec.read(ask.inputs, []))
    else pieces.stop(draft, ask.name)
    return undefined
  } catch (error) {
    if (error instanceof InvalidNode || error instanceof InvalidValue || error instanceof Address.InvalidAddress) return error
    throw error
  }
}

/** Whether a document is the cell of a piece. */
export const isCell = (key: string): boolean => key.startsWith(BELOW)

/** The piece of a cell; `undefined` for any other cell, and for one that holds none. */
export const fromCell = (key: string, document: Document | undefined): { readonly name: string; readonly started: Started | undefined } | undefined => {
  if (!isCell(key)) return undefined
  const value = Codec.read(document, [])
  return { name: key.slice(BELOW.length), started: isContainer(value) ? value as unknown as Started : undefined }
}

/** The pieces that the store has cells of. */
export const recall = (store: Pick<SpaceStore, "below">, documents: Documents): All => {
  const all: All = new Map()
  for (const key of below(store, FOLDER)) {
    const found = fromCell(key, documents.read(key))
    if (found?.started !== undefined) put(all, found.name, found.started)
  }
  return all
}

/** The node of a piece, where its module still makes one of it under this name. */
export const nodeOf = (name: string, { inputs }: Started, { hash, module }: { readonly module: Definition; readonly hash: (bytes: Uint8Array) => string }): Definition | undefined => {
  try {
    const made = Piece.make(module, inputs, hash)
    return made.name === name ? made : undefined
  } catch (error) {
    if (error instanceof InvalidNode) return undefined
    throw error
  }
}
