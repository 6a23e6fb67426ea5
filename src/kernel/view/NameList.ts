/**
 * The names directly below a cell, a page at a time.
 *
 * The keys of a store are in the order of their texts, so the cells below a name may lie between two names. A page skips
 * them, and counts each key that it looks at. Its cursor stands behind the last one: at a cell, or behind all that lies
 * below a name.
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import type { LiveState } from "../beat/loop/LiveState.ts"
import { isView } from "../../stage/View.ts"
import * as BeatView from "./BeatView.ts"
import { behind, type CountedRows } from "./CountedRows.ts"
import { MAX_ROWS } from "./PageTurns.ts"
import type { NamePage, Page } from "./Pages.ts"
import { beatsBefore } from "./Queries.ts"

/** The fewest and the most keys that are taken at once. */
const FEW = 4
const MANY = 64

/** The state that a list of names reads. */
type Source = Pick<LiveState, "settings" | "store">

/**
 * A page of the names below a cell or a view.
 *
 * @throws InvalidAddress
 */
export const page = (state: Source, rows: CountedRows, { id, ...page }: Page & { readonly id: string }): NamePage => {
  if (id === "/") return stored(rows, { prefix: "/", suffix: "", id }, page)
  const address = Address.parse(id)
  if (address.path.length > 0) {
    throw new Address.InvalidAddress({ text: id, reason: "it is a place inside a cell, and only cells have others below them" })
  }
  if (isView(address.id)) return cut(`${address.id}/`, after(viewNames(state, address.id), address.id, page), page)
  const found = stored(rows, { prefix: `${address.id}/`, suffix: address.key.slice(address.id.length), id: address.id }, page)
  return address.key === "/rt" ? withRoots(state, found, page) : found
}

/** The names that are listed: those of cells with the same scope. */
interface Folder {
  readonly id: string
  readonly prefix: string
  /** The scope in the keys of its cells. */
  readonly suffix: string
}

const stored = (rows: CountedRows, { id, prefix, suffix }: Folder, { after, limit }: Page): NamePage => {
  const names: Array<string> = []
  let [last, size] = [after, FEW]
  while (!rows.isSpent) {
    const most = Math.min(size, rows.left)
    const keys = rows.below(id, { limit: most, ...last === undefined ? {} : { after: behind(last) } })
    let met = 0
    for (const key of keys) {
      const end = endOfName(key, prefix.length)
      if (key.slice(end) === suffix) {
        if (names.length >= limit) return { names, next: limit === 0 ? undefined : last }
        names.push(key.slice(prefix.length, end))
        met++
      }
      // All that lies below the last name, or beside it in other scopes, is skipped.
      last = end < key.length && key.slice(end) !== suffix && (suffix === "" || key[end] === "/") ? key.slice(0, end + 1) : key
    }
    if (keys.length < most) return { names, next: undefined }
    size = met * 2 > size ? Math.min(MANY, size * 2) : FEW
  }
  return { names, next: last }
}

/** The end of the name that begins at `from`. No name contains a slash or a question mark. */
const endOfName = (key: string, from: number): number => {
  const end = key.slice(from).search(/[/?]/)
  return end < 0 ? key.length : from + end
}

/** The names of a sorted list after a cursor. */
const after = (names: ReadonlyArray<string>, id: string, { after = "" }: Page): ReadonlyArray<string> =>
  names.filter((name) => `${id}/${name}` > after)

/** The first of some names. */
const cut = (prefix: string, names: ReadonlyArray<string>, { limit }: Page): NamePage => {
  const shown = names.slice(0, limit)
  return { names: shown, next: limit > 0 && names.length > limit ? `${prefix}${shown.at(-1)}` : undefined }
}

/** Adds the roots of the views to a page of the names below `/rt`. */
const withRoots = ({ settings: { ledgers } }: Source, { names, next }: NamePage, page: Page): NamePage => {
  const shown = BeatView.ROOTS.filter((root) => ledgers || root !== "beat")
  const roots = after(shown, "/rt", page).filter((root) => next === undefined || `/rt/${root}` <= next)
  const all = cut("/rt/", [...new Set([...names, ...roots])].sort(), page)
  return all.next === undefined ? { ...all, next } : all
}

/** The names below a view: of `/rt/beat` the newest beats alone. Receipts and the parts of a receipt are not listed. */
const viewNames = ({ settings: { ledgers }, store }: Source, id: string): ReadonlyArray<string> => {
  if (!ledgers || !id.startsWith(BeatView.BEATS)) return BeatView.names(id)
  if (id !== BeatView.BEATS) return BeatView.parts(store, id)
  return beatsBefore({ store }, store.head().beat + 1, MAX_ROWS).rows.map(({ beat }) => String(beat)).sort()
}
