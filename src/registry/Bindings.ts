/**
 * Bindings: which enzymes take signals at a cell.
 *
 * Each cell keeps a list of what was bound and withdrawn there, newest first;
 * for each name only its newest entry counts. Propagating entries reach all
 * cells below, and a tombstone hides what the cells above give. What modules
 * declare counts as older than anything put at run time. (Seed 000, "Binding";
 * semantics, section 2.2.)
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import type { BindingChange } from "../stage/Launch.ts"

/**
 * One entry of a cell's list.
 *
 * @category models
 * @since 0.1.0
 */
export interface Binding {
  readonly enzyme: string
  readonly propagate: boolean
  readonly tombstone: boolean
  /** The beat that put it. */
  readonly beat: number
}

/** The lists of all cells that have one, by the cell's id; newest first. */
export type BindingTable = Pick<ReadonlyMap<string, ReadonlyArray<Binding>>, "get">

/** Most entries that one cell keeps; those of names that newer entries settle go first. */
const MAX_BINDINGS = 1024

/**
 * The document that keeps a cell's list.
 *
 * @category getters
 * @since 0.1.0
 */
export const address = (cell: string): Address.Address => Address.make(`${FOLDER}${cell}`)

/** Under this cell lie the lists of all cells. */
export const FOLDER = "/sys/bind"

/**
 * A list with one more entry.
 *
 * @category combinators
 * @since 0.1.0
 */
export const put = (list: ReadonlyArray<Binding>, change: BindingChange, beat: number): ReadonlyArray<Binding> => {
  const { enzyme, propagate, tombstone } = change
  const next = [{ beat, enzyme, propagate, tombstone }, ...list]
  return next.length <= MAX_BINDINGS ? next : next.filter((entry, i) => next.findIndex((other) => other.enzyme === entry.enzyme) === i)
}

/**
 * The names bound at a target, nearest cell first.
 *
 * @category getters
 * @since 0.1.0
 */
export const effective = (target: string, own: BindingTable, declared: BindingTable): ReadonlyArray<string> => {
  const names: Array<string> = []
  let settled: Set<string> | undefined
  for (let cell = target; cell !== "/"; cell = Address.parent(cell)) {
    const lists = [own.get(cell), declared.get(cell)]
    if (lists[0] === undefined && lists[1] === undefined) continue
    settled ??= new Set()
    const here = new Set<string>()
    for (const list of lists) {
      for (const { enzyme, propagate, tombstone } of list ?? []) {
        if (here.has(enzyme)) continue
        here.add(enzyme)
        if (settled.has(enzyme) || !(tombstone || propagate || cell === target)) continue
        settled.add(enzyme)
        if (!tombstone) names.push(enzyme)
      }
    }
  }
  return names
}
