/**
 * Awaited signals: an enzyme awaits a signal at a cell. It is bound there meanwhile, and the signal reaches it regardless
 * of other bindings.
 *
 * @module
 */
import type { Binding, BindingTable } from "../../registry/Bindings.ts"
import type { Signal } from "./Signal.ts"

/** The binding of an enzyme at a cell where it awaits signals. */
const attentive = (enzyme: string, beat: number): Binding => ({ beat, enzyme, propagate: false, tombstone: false })

/**
 * The bindings that resolve a signal. An awaited signal reaches its enzyme even if the binding is removed by then.
 */
export const tableFor = (table: BindingTable, { awaits, target }: Pick<Signal, "awaits" | "target">): BindingTable =>
  awaits === undefined || target === undefined ? table : tableWith(table, target, awaits)

/** The bindings with an enzyme bound at a cell. */
export const tableWith = (table: BindingTable, cell: string, enzyme: string): BindingTable => ({
  get: (id) => id === cell ? [attentive(enzyme, -1), ...table.get(id) ?? []] : table.get(id)
})

/** The bindings of a cell after an enzyme starts or stops to await signals there. */
export const listOf = (
  list: ReadonlyArray<Binding> = [],
  { awaits, beat, enzyme }: { readonly awaits: boolean; readonly beat: number; readonly enzyme: string }
): ReadonlyArray<Binding> => {
  const rest = list.filter((binding) => binding.enzyme !== enzyme || binding.awaits !== true)
  return awaits ? [{ ...attentive(enzyme, beat), awaits: true }, ...rest] : rest
}
