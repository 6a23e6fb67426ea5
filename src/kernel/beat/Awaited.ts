/**
 * Awaited signals: a signal that an enzyme awaits at a cell reaches that enzyme
 * there, whatever is bound, and the enzyme is bound there meanwhile.
 *
 * @module
 */
import type { Binding, BindingTable } from "../../registry/Bindings.ts"
import type { Signal } from "../model/Signal.ts"

/** The binding of an enzyme at a cell where it is to take the signals that it awaits. */
const attentive = (enzyme: string, beat: number): Binding => ({ beat, enzyme, propagate: false, tombstone: false })

/**
 * The bindings that a signal is resolved with: an awaited one reaches the enzyme that awaits it, though its binding is gone by then.
 *
 * @category getters
 * @since 0.1.0
 */
export const tableFor = (table: BindingTable, { awaits, target }: Pick<Signal, "awaits" | "target">): BindingTable =>
  awaits === undefined || target === undefined ? table : tableWith(table, target, awaits)

/** The bindings with an enzyme bound at a cell. */
export const tableWith = (table: BindingTable, cell: string, enzyme: string): BindingTable => ({
  get: (id) => id === cell ? [attentive(enzyme, -1), ...table.get(id) ?? []] : table.get(id)
})

/** The list of a cell at which an enzyme begins or ends to await signals. */
export const listOf = (
  list: ReadonlyArray<Binding> = [],
  { awaits, beat, enzyme }: { readonly awaits: boolean; readonly beat: number; readonly enzyme: string }
): ReadonlyArray<Binding> => {
  const rest = list.filter((binding) => binding.enzyme !== enzyme || binding.awaits !== true)
  return awaits ? [{ ...attentive(enzyme, beat), awaits: true }, ...rest] : rest
}
