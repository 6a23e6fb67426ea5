/**
 * Bindings: the enzymes that accept signals at a cell.
 *
 * Each cell has a list of bindings and withdrawals, newest first; only the newest entry of each name counts.
 * Propagating entries apply to all descendants, and a tombstone masks inherited entries [S0 §Matching and Determinism].
 * Declarations of modules count as older than all entries made at run time.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import type { BindingChange } from "../stage/Launch.ts"

/**
 * One entry of a cell's list.
 */
export interface Binding {
  readonly enzyme: string
  readonly propagate: boolean
  readonly tombstone: boolean
  /** The beat that added the entry. */
  readonly beat: number
  /** Whether the binding exists because the enzyme awaits an operation at this cell; it ends with the wait. */
  readonly awaits?: true
}

/** The lists of all cells that have one, by the cell's id; newest entry first. */
export interface BindingTable {
  readonly get: (cell: string) => ReadonlyArray<Binding> | undefined
  /** The number of changes to the lists, if it is counted; cached results are valid for one version. */
  readonly version?: number
}

/**
 * The lists of a space as of its newest beat.
 */
export class BindingLists implements BindingTable {
  version = 0
  private readonly lists = new Map<string, ReadonlyArray<Binding>>()

  get(cell: string): ReadonlyArray<Binding> | undefined {
    return this.lists.get(cell)
  }

  /** Replaces a cell's list; an empty list removes it. */
  put(cell: string, list: ReadonlyArray<Binding>): void {
    this.version++
    if (list.length === 0) this.lists.delete(cell)
    else this.lists.set(cell, list)
  }

  /** Returns the cells that have a list. */
  cells(): Iterable<string> {
    return this.lists.keys()
  }
}

/** The declarations of modules, by the cell's id and then by name; newest last. */
export type Declarations = Pick<ReadonlyMap<string, ReadonlyMap<string, ReadonlyArray<Binding>>>, "get">

/** All bindings of a space: the ones made at run time, and the declarations of its modules. */
export interface Bound {
  readonly own: BindingTable
  readonly declared: Declarations
}

/** The maximum number of entries, and so of names, per cell. Obsolete entries are removed first. */
const MAX_BINDINGS = 1024

export { address, FOLDER } from "../stage/Binding.ts"

/**
 * Returns the reason why a cell cannot take another entry, or `undefined` if it can. Withdrawn names count, because
 * each masks an inherited binding.
 */
export const refusal = (list: ReadonlyArray<Binding>, { cell, enzyme }: Pick<BindingChange, "cell" | "enzyme">): string | undefined => {
  if (list.length < MAX_BINDINGS || list.some((binding) => binding.enzyme === enzyme)) return undefined
  if (new Set(list.map((binding) => binding.enzyme)).size < MAX_BINDINGS) return undefined
  return `${cell} has bindings of ${MAX_BINDINGS} names, which is the limit, and ${enzyme} would be one more; bind it at another cell`
}

/**
 * Returns a list with one more entry, for a name that {@link refusal} accepted.
 */
export const put = (list: ReadonlyArray<Binding>, change: BindingChange, beat: number): ReadonlyArray<Binding> => {
  const { enzyme, propagate, tombstone } = change
  const next = [{ beat, enzyme, propagate, tombstone }, ...list]
  if (next.length <= MAX_BINDINGS) return next
  const seen = new Set<string>()
  return next.filter(({ enzyme }) => !seen.has(enzyme) && seen.add(enzyme))
}

/**
 * Returns the names bound at a target, nearest cell first; only names in `among`, if it is given.
 */
export const effective = (target: string, { declared, own }: Bound, among?: ReadonlyMap<string, unknown>): ReadonlyArray<string> => {
  const names: Array<string> = []
  let settled: Set<string> | undefined
  for (let cell = target; cell !== "/"; cell = Address.parent(cell)) {
    const lists = [own.get(cell), newest(declared.get(cell), among)]
    if (lists[0] === undefined && lists[1] === undefined) continue
    settled ??= new Set()
    const here = new Set<string>()
    for (const list of lists) {
      for (const { awaits, enzyme, propagate, tombstone } of list ?? []) {
        // An enzyme that awaits an operation here accepts only that operation's signals.
        if (awaits === true || here.has(enzyme) || among?.has(enzyme) === false) continue
        here.add(enzyme)
        if (settled.has(enzyme) || !(tombstone || propagate || cell === target)) continue
        settled.add(enzyme)
        if (!tombstone) names.push(enzyme)
      }
    }
  }
  return names
}

/** Returns the newest declaration of each name at a cell. In a large map only the names in `among` are looked up. */
const newest = (
  here: ReadonlyMap<string, ReadonlyArray<Binding>> | undefined,
  among: ReadonlyMap<string, unknown> | undefined
): ReadonlyArray<Binding> | undefined => {
  if (here === undefined) return undefined
  const names = among !== undefined && among.size < here.size ? among.keys() : here.keys()
  const found: Array<Binding> = []
  for (const name of names) {
    const last = here.get(name)?.at(-1)
    if (last !== undefined) found.push(last)
  }
  return found
}

/**
 * Returns the nearest cell with a list, from a target upward; the root if there is none.
 */
export const nearest = (target: string, { declared, own }: Bound): string => {
  let cell = target
  while (cell !== "/" && own.get(cell) === undefined && declared.get(cell) === undefined) cell = Address.parent(cell)
  return cell
}

/**
 * Returns the number of bindings at a target and its ancestors.
 */
export const count = (target: string, { declared, own }: Bound): number => {
  let sum = 0
  for (let cell = target; cell !== "/"; cell = Address.parent(cell)) sum += (own.get(cell)?.length ?? 0) + (declared.get(cell)?.size ?? 0)
  return sum
}
