/**
 * The names of documents directly below another one, from the rows of a SQL store.
 *
 * Rows are ordered by key, so the documents below an id are one range. Their own descendants lie within that range, and
 * so do documents of other scopes with the same ids. A scan skips both, name by name. Documents of a scope other than
 * `space` are few and have an index of their own.
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import { keyOf } from "../Overlay.ts"
import * as SortKey from "../SortKey.ts"
import type * as SqlSchema from "./SqlSchema.ts"

/** The fewest and the most rows of one page of a scan. */
const FEW = 4
const MANY = 512

/** The most rows for each name that are cheaper to read than to skip. */
const ROWS = 8

const SLASH = 47
const QUESTION = 63

/**
 * The key of the parent as a row stores it; `null` for a document of the scope `space`, which the order of the keys finds.
 */
export const parentOf = ({ id, scope }: Address.Address): string | null =>
  scope === Address.SPACE ? null : SortKey.encode(keyOf(scope, Address.parent(id)))

/**
 * The names of the documents directly below `id` in a scope, in order.
 */
export const of = (sql: SqlSchema.Statements, scope: string, id: string): ReadonlyArray<string> =>
  (scope === Address.SPACE ? scanned(sql, id) : listed(sql, scope, id)).sort()

const listed = (sql: SqlSchema.Statements, scope: string, id: string): Array<string> =>
  sql.children.all(SortKey.encode(keyOf(scope, id))).map(([key]) => Address.name(Address.idOf(SortKey.decode(key as string))))

const scanned = (sql: SqlSchema.Statements, id: string): Array<string> => {
  const prefix = SortKey.encode(Address.child(id, ""))
  const { start, end } = SortKey.range(prefix)
  const names: Array<string> = []
  let limit = FEW
  for (let after = start;;) {
    const rows = sql.below.all(after, end, limit)
    let cut = 0
    let last = ""
    let met = 0
    for (const [found] of rows) {
      const key = found as string
      after = key
      cut = endOfName(key, prefix.length)
      const name = key.slice(prefix.length, cut)
      if (name !== last) met++
      last = name
      if (cut === key.length) names.push(SortKey.decode(name))
    }
    if (rows.length < limit) return names
    // The rest of what lies below the last name, or beside it in other scopes, is skipped.
    const isBeside = cut < after.length
    if (isBeside) after = SortKey.range(after.slice(0, cut + 1)).last
    // A call costs as much as some rows, so a page with many names is followed by a longer one.
    limit = met * ROWS > limit ? Math.min(MANY, limit << 1) : Math.max(FEW, limit >> 1)
  }
}

/** The end of the name that begins at `from`. No name contains a slash or a question mark. */
const endOfName = (key: string, from: number): number => {
  for (let i = from; i < key.length; i++) {
    const unit = key.charCodeAt(i)
    if (unit === SLASH || unit === QUESTION) return i
  }
  return key.length
}
