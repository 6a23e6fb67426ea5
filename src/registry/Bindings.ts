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
  /** Whether it is there because the enzyme awaits something at this cell, and goes with that. */
  readonly awaits?: true
}

/** The lists of all cells that have one, by the cell's id; newest first. */
export interface BindingTable {
  readonly get: (cell: string) => ReadonlyArray<Binding> | undefined
  /** How often the lists were changed, where somebody counts that: what was found by them holds until then. */
  readonly version?: number
}

/**
 * The lists of a space as its newest beat left them.
 *
 * @category models
 * @since 0.1.0
 */
export class Lists implements BindingTable {
  version = 0
  private readonly lists = new Map<string, ReadonlyArray<Binding>>()

  get(cell: string): ReadonlyArray<Binding> | undefined {
    return this.lists.get(cell)
  }

  /** Puts a list in the place of a cell's; an empty one takes it away. */
  put(cell: string, list: ReadonlyArray<Binding>): void {
    this.version++
    if (list.length === 0) this.lists.delete(cell)
    else this.lists.set(cell, list)
  }

  /** The cells that have a list. */
  cells(): Iterable<string> {
    return this.lists.keys()
  }
}

/** What modules declare, by the cell's id and there by name; newest last. */
export type Declarations = Pick<ReadonlyMap<string, ReadonlyMap<string, ReadonlyArray<Binding>>>, "get">

/** All that is bound in a space: at run time, and by what its modules declare. */
export interface Bound {
  readonly own: BindingTable
  readonly declared: Declarations
}

/** Most entries that one cell keeps, and so most names; entries of names that newer ones settle go first. */
const MAX_BINDINGS = 1024

export { address, FOLDER } from "../stage/Binding.ts"

/**
 * Why a cell takes no entry for this name, or `undefined` when it takes one. Withdrawn names count: each masks what the cells above bind.
 *
 * @category guards
 * @since 0.1.0
 */
export const refusal = (list: ReadonlyArray<Binding>, { cell, enzyme }: Pick<BindingChange, "cell" | "enzyme">): string | undefined => {
  if (list.length < MAX_BINDINGS || list.some((binding) => binding.enzyme === enzyme)) return undefined
  if (new Set(list.map((binding) => binding.enzyme)).size < MAX_BINDINGS) return undefined
  return `${cell} has bindings of ${MAX_BINDINGS} names, which is the limit, and ${enzyme} would be one more; bind it at another cell`
}

/**
 * A list with one more entry, for a name that is not refused.
 *
 * @category combinators
 * @since 0.1.0
 */
export const put = (list: ReadonlyArray<Binding>, change: BindingChange, beat: number): ReadonlyArray<Binding> => {
  const { enzyme, propagate, tombstone } = change
  const next = [{ beat, enzyme, propagate, tombstone }, ...list]
  if (next.length <= MAX_BINDINGS) return next
  const seen = new Set<string>()
  return next.filter(({ enzyme }) => !seen.has(enzyme) && seen.add(enzyme))
}

/**
 * The names bound at a target, nearest cell first; of those in `among` alone, where it is given.
 *
 * @category getters
 * @since 0.1.0
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
        // Who awaits something here takes what it awaits and nothing that others send.
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

/** The newest declaration of each name at a cell; where they are many, only those asked for are looked up. */
const newest = (here: ReadonlyMap<string, ReadonlyArray<Binding>> | undefined, among: ReadonlyMap<string, unknown> | undefined): ReadonlyArray<Binding> | undefined => {
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
 * The nearest cell, from a target up, that has a list; the root where none has.
 *
 * @category getters
 * @since 0.1.0
 */
export const nearest = (target: string, { declared, own }: Bound): string => {
  let cell = target
  while (cell !== "/" && own.get(cell) === undefined && declared.get(cell) === undefined) cell = Address.parent(cell)
  return cell
}

/**
 * How many bindings there are at a target and above.
 *
 * @category getters
 * @since 0.1.0
 */
export const count = (target: string, { declared, own }: Bound): number => {
  let sum = 0
  for (let cell = target; cell !== "/"; cell = Address.parent(cell)) sum += (own.get(cell)?.length ?? 0) + (declared.get(cell)?.size ?? 0)
  return sum
}
