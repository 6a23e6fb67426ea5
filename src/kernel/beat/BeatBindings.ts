/**
 * The binding lists that one beat changes, over those of the space.
 *
 * @module
 */
import type { Address } from "../../cell/Address.ts"
import * as Document from "../../cell/Document.ts"
import type { Binding, BindingTable } from "../../registry/Bindings.ts"
import * as Bindings from "../../registry/Bindings.ts"
import type { BindingChange } from "../../stage/Launch.ts"
import type { Stage } from "../../stage/Stage.ts"
import { WriteRefused } from "../model/SpaceError.ts"

/** The new list of a cell, before it is kept. */
export interface BindingList {
  readonly cell: string
  readonly bindings: ReadonlyArray<Binding>
  readonly address: Address
  readonly document: Document.Document
  /** Characters that it adds to the journal. */
  readonly size: number
}

/** A list of a cell. */
export type CellBindings = readonly [cell: string, bindings: ReadonlyArray<Binding>]

const none: ReadonlyArray<never> = []

/**
 * The bindings of one beat.
 */
export class BeatBindings implements BindingTable {
  private readonly committed: BindingTable
  private readonly stage: Stage
  private readonly beat: number
  /** Allocated on demand: most beats change no binding. */
  private own: Map<string, ReadonlyArray<Binding>> | undefined

  constructor(committed: BindingTable, stage: Stage, beat: number) {
    this.committed = committed
    this.stage = stage
    this.beat = beat
  }

  /** The lists within the beat. Without changes this is the table of the space, for which the registry caches its results. */
  get table(): BindingTable {
    return this.own === undefined ? this.committed : this
  }

  /** The lists that the beat changed. */
  get changed(): Iterable<CellBindings> {
    return this.own ?? none
  }

  get(cell: string): ReadonlyArray<Binding> | undefined {
    return this.own?.get(cell) ?? this.committed.get(cell)
  }

  /** Adds a binding or a tombstone from outside to the list of its cell. Returns the refusal of a full list. */
  bind(change: BindingChange, writer: number): WriteRefused | undefined {
    const lists = this.lists([change])
    if (typeof lists === "string") return new WriteRefused({ address: change.cell, reason: lists })
    this.keep(lists, writer)
    return undefined
  }

  /** Returns the lists that these changes make, or the reason why one of them is refused. */
  lists(changes: ReadonlyArray<BindingChange>): ReadonlyArray<BindingList> | string {
    const made = new Map<string, ReadonlyArray<Binding>>()
    for (const change of changes) {
      const list = made.get(change.cell) ?? this.get(change.cell) ?? none
      const refusal = Bindings.refusal(list, change)
      if (refusal !== undefined) return refusal
      made.set(change.cell, Bindings.put(list, change, this.beat))
    }
    return [...made].map(([cell, bindings]) => {
      const address = Bindings.address(cell)
      const document = Document.encode(bindings)
      const before = this.stage.committed.read(address.key)
      return { cell, bindings, address, document, size: address.key.length + (before?.text.length ?? 0) + document.text.length }
    })
  }

  /** Keeps lists for the beats that follow. */
  keep(lists: ReadonlyArray<BindingList>, writer: number): void {
    for (const { address, bindings, cell, document } of lists) {
      this.set(cell, bindings)
      this.stage.put(address, document, writer)
    }
  }

  /** Replaces the list of a cell; an empty one deletes its document. */
  put(cell: string, bindings: ReadonlyArray<Binding>, writer: number): void {
    this.set(cell, bindings)
    this.stage.put(Bindings.address(cell), bindings.length === 0 ? undefined : Document.encode(bindings), writer)
  }

  private set(cell: string, bindings: ReadonlyArray<Binding>): void {
    const own = this.own ??= new Map()
    own.set(cell, bindings)
  }
}
