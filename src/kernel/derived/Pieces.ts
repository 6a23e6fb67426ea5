/**
 * The pieces of a space: started node modules, as cells.
 *
 * `/sys/pieces/<piece>` holds the module and the inputs of a running piece. A handler
 * that starts a piece writes that cell in its transaction, so the piece shares the fate
 * of the transaction. A run that loses or fails starts no piece, and two equal starts
 * write one cell. The pass of the beat that commits the cell adds the node. Deleting the
 * cell stops the piece. [S2 §7.6]
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Address from "../../cell/Address.ts"
import type { Document } from "../../cell/Document.ts"
import * as Codec from "../../cell/Document.ts"
import { isContainer, type Value } from "../../cell/Value.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"
import { type Definition, InvalidNode } from "../../scheduler/definition/Definition.ts"
import * as Piece from "../../scheduler/definition/Piece.ts"
import type { Draft } from "../../stage/Draft.ts"
import type { Pieces as Face } from "../../stage/RunGrant.ts"
import type { Done, PieceCommand } from "../model/Command.ts"
import type { DerivationPort } from "./DerivationPort.ts"
import { below } from "../../persistence/Below.ts"
import type { Documents } from "../model/Documents.ts"

/** The folder of the cells. */
export const FOLDER = "/sys/pieces"

/** The prefix of their keys. */
const BELOW = `${FOLDER}/`

/** A started piece. */
export interface StartedPiece {
  readonly module: string
  readonly inputs: Value
}

/** Started pieces by name, by module. */
export type All = Map<string, Map<string, StartedPiece>>

/** Stores a started piece; `undefined` removes it. */
export const put = (all: All, name: string, started: StartedPiece | undefined): void => {
  const module = Piece.moduleOf(name)
  if (started === undefined) return void all.get(module)?.delete(name)
  const here = all.get(module)
  if (here === undefined) all.set(module, new Map([[name, started]]))
  else here.set(name, started)
}

/** The key of a piece's cell. */
export const keyOf = (name: string): string => `${BELOW}${name}`

/** The `start` and `stop` of a run, as writes to its draft. */
export const face = (derivation: Pick<DerivationPort, "module">, hash: (bytes: Uint8Array) => string): Face<Draft> => ({
  start: (draft, node, inputs) => {
    if (typeof node !== "string") {
      const reason = "what a handler starts outlives the process, so it is a module that is registered"
      throw new InvalidNode({ name: node.name, reason: `${reason}. Declare inputs in one, and start it by its name` })
    }
    const module = derivation.module(node)
    if (module === undefined) {
      throw new InvalidNode({ name: node, reason: "no node module of this name is registered; register one, or start another" })
    }
    const { name } = Piece.make(module, inputs, hash)
    draft.place(new Map([[keyOf(name), Codec.encode({ inputs: inputs ?? {}, module: node })]]))
    return name
  },
  stop: (draft, name) => {
    if (!Piece.isPiece(name)) throw new InvalidNode({ name, reason: "this names no piece; name one as its start returned it" })
    // An invalid name is refused like any other address.
    draft.place(new Map([[Address.parse(keyOf(name)).key, undefined]]))
  }
})

/** Has the next beat start a piece; answers its name, when that is durable. */
export const start = <E>(
  submit: (make: () => PieceCommand) => Effect.Effect<Done, E>,
  module: string,
  inputs: unknown
): Effect.Effect<string, E> => {
  const done = submit(() => ({ kind: "piece", ask: { verb: "start", module: String(module), inputs: Codec.encode(inputs) } }))
  return Effect.map(done, ({ reply }) => reply as string)
}

/** Executes a command from outside. Returns the name of a piece that was started. */
export const perform = (draft: Draft, ask: PieceCommand["ask"], pieces: Face<Draft>): string | undefined =>
  ask.verb === "start" ? pieces.start(draft, ask.module, Codec.read(ask.inputs, [])) : void pieces.stop(draft, ask.name)

/** Whether a document is the cell of a piece. */
export const isCell = (key: string): boolean => key.startsWith(BELOW)

/** The piece of a cell; `undefined` for any other cell, and for an empty one. */
export const fromCell = (
  key: string,
  document: Document | undefined
): { readonly name: string; readonly started: StartedPiece | undefined } | undefined => {
  if (!isCell(key)) return undefined
  const value = Codec.read(document, [])
  return { name: key.slice(BELOW.length), started: isContainer(value) ? value as unknown as StartedPiece : undefined }
}

/** The pieces with cells in the store. */
export const restore = (store: Pick<SpaceStore, "below">, documents: Documents): All => {
  const all: All = new Map()
  for (const key of below(store, FOLDER)) {
    const found = fromCell(key, documents.read(key))
    if (found?.started !== undefined) put(all, found.name, found.started)
  }
  return all
}

/** The node of a piece, if its module still makes one of this name. */
export const nodeOf = (
  name: string,
  { inputs }: StartedPiece,
  { hash, module }: { readonly module: Definition; readonly hash: (bytes: Uint8Array) => string }
): Definition | undefined => {
  try {
    const made = Piece.make(module, inputs, hash)
    return made.name === name ? made : undefined
  } catch (error) {
    if (error instanceof InvalidNode) return undefined
    throw error
  }
}
