/**
 * The outside of a ledger: its face, how the requests of the face become its commands, and how its records are read.
 *
 * @module
 */
import type { BodyOf, Face, Kinds, SwitchedPage } from "../contract/Face.ts"
import type { SpaceStore } from "../persistence/Persistence.ts"
import type { Command } from "./Command.ts"

/** The reads of a store by which records are found. */
export type RecordStore = Pick<SpaceStore, "below" | "read">

/** The same for a page of a list, whose rows are counted. */
export interface PageStore extends RecordStore, Pick<SpaceStore, "head"> {
  /** Whether the page in progress has to end. */
  readonly isSpent: boolean
  /** The keys of the cells that a beat changed; `undefined` where the journal has no entry of it. */
  changed(beat: number): ReadonlyArray<string> | undefined
}

/** Records in their order, and the place of the next page; `undefined` at the end. */
export interface Page<Row> {
  readonly rows: ReadonlyArray<Row>
  readonly next: string | undefined
}

/** A search for a record. It yields where a page has to end, and continues in the next one. */
export type Search<Record> = Generator<void, Record | undefined, void>

/** A space, as commands that prove something look at it. */
export interface Look {
  readonly store: RecordStore
  readonly hash: (text: string) => string
}

/** The commands of the verbs of a face, from their bodies and the id of the record; they throw where they are refused at once. */
export type Commands<Verbs, C extends Command> = {
  readonly [Name in keyof Verbs]: (body: BodyOf<Verbs[Name]>, id: string, look: Look) => C
}

type RecordOf<K extends Kinds> = ReturnType<K["Record"]>["Type"]

/**
 * The outside of a ledger.
 */
export interface Outside<K extends Kinds = Kinds, C extends Command = Command> {
  readonly face: Face<K>
  readonly commands: Commands<K["Verbs"], C>
  /** A page of the list. It ends when the store is spent, so it can be short before the end. */
  page(store: PageStore, request: SwitchedPage<K>): Page<ReturnType<K["Row"]>["Type"]>
  /** A whole record. */
  find(store: PageStore, id: string): RecordOf<K> | undefined
  /** The search for a record that `find` does not find, if its id does not determine its place. */
  search?(store: PageStore, id: string): Search<RecordOf<K>> | undefined
  /** The refusal of a verb for a record that its beat did not find, and that is there. */
  closed?(id: string, record: RecordOf<K>): Error
}
