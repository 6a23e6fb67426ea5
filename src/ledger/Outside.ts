/**
 * The outside of a ledger: its face, and how the requests of the face become its commands.
 *
 * @module
 */
import type { BodyOf, Face, Kinds } from "../contract/Face.ts"
import type { SpaceStore } from "../persistence/Persistence.ts"
import type { Command } from "./Command.ts"

/** The reads of a store by which records are found. */
export type RecordStore = Pick<SpaceStore, "below" | "read">

/** The records of a ledger, as cells directly below a folder. */
export interface CellRecords<Row> {
  readonly folder: string
  /** Whether each record has further cells below its own, which a list passes over. */
  readonly isDeep: boolean
  /** The record of a name; `undefined` where there is none. */
  rowOf(store: RecordStore, name: string): Row | undefined
}

/** A space, as commands that prove something look at it. */
export interface Look {
  readonly store: RecordStore
  readonly hash: (text: string) => string
}

/** The commands of the verbs of a face, from their bodies and the id of the record; they throw where they are refused at once. */
export type Commands<Verbs, C extends Command> = {
  readonly [Name in keyof Verbs]: (body: BodyOf<Verbs[Name]>, id: string, look: Look) => C
}

/**
 * The outside of a ledger whose records are cells.
 *
 * @category models
 * @since 0.2.0
 */
export interface Outside<K extends Kinds = Kinds, C extends Command = Command> {
  readonly face: Face<K>
  readonly commands: Commands<K["Verbs"], C>
  readonly cells: CellRecords<ReturnType<K["Row"]>["Type"]>
  /** A whole record. */
  find(store: RecordStore, id: string): ReturnType<K["Record"]>["Type"] | undefined
}
