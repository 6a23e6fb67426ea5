import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { BloomFilter } from "../../src/persistence/sql/BloomFilter.ts"

const idOf = (n: number): string => createHash("sha256").update(String(n)).digest("hex").slice(0, 32)

/** A table of ids; `reads` counts the rows read. */
const table = (count: number, claimed?: number) => {
  const rows = Array.from({ length: count }, (_, n) => [n + 1, idOf(n)] as const)
  const state = { reads: 0, rows }
  const filter = new BloomFilter({
    size: () => claimed ?? rows.length,
    page: (after, limit) => {
      const page = rows.slice(after, after + limit)
      state.reads += page.length
      return page
    }
  })
  /** Stores new ids, a hundred at a time. */
  const store = (upTo: number, seen: () => void = () => undefined): void => {
    for (let n = rows.length; n < upTo; n = rows.length) {
      const ids = Array.from({ length: 100 }, (_, i) => idOf(n + i))
      for (const id of ids) rows.push([rows.length + 1, id])
      filter.add(ids)
      seen()
    }
  }
  return { filter, state, store }
}

const free = (filter: BloomFilter, count: number): number =>
  Array.from({ length: count }, (_, n) => filter.mayHave(`free ${n}`)).filter((mayHave) => !mayHave).length

describe("BloomFilter", () => {
  it("calls no id free that is stored, however many come", () => {
    const { filter, state, store } = table(0)
    assert.strictEqual(free(filter, 100), 100)
    store(60_000, () => assert.isTrue(filter.mayHave(state.rows[0]![1]) && filter.mayHave(state.rows.at(-1)![1])))
    assert.isTrue(state.rows.every(([, id]) => filter.mayHave(id)))
  })

  it("calls nearly all ids free that are, even when it grew many times", () => {
    const { filter, store } = table(0)
    store(60_000, () => assert.isAbove(free(filter, 200), 170))
    assert.isAbove(free(filter, 2000), 1800)
  })

  it("gives no answer before it has read the stored ids, and reads them as new ones come", () => {
    const { filter, state, store } = table(10_000)
    assert.isAtMost(state.reads, 100)
    assert.strictEqual(free(filter, 100), 0)
    store(13_000)
    assert.isAbove(free(filter, 1000), 950)
    assert.isTrue(state.rows.every(([, id]) => filter.mayHave(id)))
  })

  it("takes all ids for stored where there are more than it may keep bits for", () => {
    const { filter, store } = table(0, 5_000_000)
    store(3000)
    assert.strictEqual(free(filter, 100), 0)
  })
})
