/**
 * Repeated names in a block. Two values of one name have no meaning: a person reads one of them, and the other one would run.
 *
 * @module
 */
import type { Block, Item } from "./Block.ts"
import type { Finding } from "./Issue.ts"

/** The fields whose nested items are a list, and no table. */
const LISTS: ReadonlySet<string> = new Set(["actions", "condition", "depends_on"])

/** The names of a block that are taken, and the findings about others. */
class Names {
  readonly findings: Array<Finding> = []
  private readonly block: number
  private readonly taken = new Set<string>()

  constructor(block: number) {
    this.block = block
  }

  /** Takes a name of a field or of an entry of `params`, which are one table. */
  take(name: string, offset: number, described: string): void {
    if (this.taken.has(name)) this.find(offset, described)
    this.taken.add(name)
  }

  /** Takes the entries of a table. */
  takeEntries(table: string, items: ReadonlyArray<Item>): void {
    const names = new Set<string>()
    for (const { key, start } of items) {
      if (key === undefined) continue
      if (names.has(key)) this.find(start, `The entry "${key}" of ${table} is repeated`)
      names.add(key)
    }
  }

  private find(offset: number, message: string): void {
    this.findings.push({ code: "agent/field-repeated", offset, message, suggestion: "remove one of the lines", block: this.block })
  }
}

/**
 * The repeated fields of a block, and the repeated entries of its tables.
 */
export const findings = ({ fields, index }: Block): ReadonlyArray<Finding> => {
  const names = new Names(index)
  for (const { items, key, span } of fields) {
    names.take(key, span.start, `The field "${key}" is repeated`)
    if (key !== "params" && !LISTS.has(key)) names.takeEntries(key, items)
    for (const item of key === "params" ? items : []) {
      const name = item.key?.toLowerCase()
      if (name === undefined) continue
      names.take(name, item.start, `The entry "${name}" of params is also another entry, or a field`)
      names.takeEntries(name, item.items)
    }
  }
  return names.findings
}
