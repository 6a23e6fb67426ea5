import { assert, describe, it } from "@effect/vitest"
import * as Address from "../../../src/cell/Address.ts"
import { MAX_READ, MissedValues } from "../../../src/kernel/view/CatchUp.ts"
import type { SpaceStore } from "../../../src/persistence/Persistence.ts"

/** A journal in which each beat changes one of ten documents to its number, and the numbers of the beats that were read. */
const journal = (count: number, padding = 0) => {
  const read: Array<number> = []
  const textOf = (beat: number) => {
    const cells = [[`/data/x${beat % 10}`, 0, [beat < 10 ? null : beat - 10], [beat]]]
    return JSON.stringify({ v: 3, in: [], runs: [], cells, padding: "x".repeat(padding) })
  }
  const rows = Array.from({ length: count }, (_, beat) => ({ beat, clock: 0, hash: "", text: textOf(beat) }))
  const store = {
    head: () => ({ beat: rows.length - 1, clock: 0, hash: "" }),
    anchor: () => ({ beat: -1, hash: "" }),
    scanJournal: (from: number, to: number) => {
      const found = rows.filter(({ beat }) => beat >= from && beat <= to)
      read.push(...found.map(({ beat }) => beat))
      return found
    }
  } as unknown as SpaceStore
  const append = () => void rows.push({ beat: rows.length, clock: 0, hash: "", text: textOf(rows.length) })
  return { append, read, store }
}

const cell = (n: number) => Address.parse(`/data/x${n}`)

describe("What returning subscribers missed", () => {
  it("is read once for all of them, as far back as one needs it", () => {
    const { append, read, store } = journal(300)
    const missed = new MissedValues()
    const beats = (n: number, after: number) => {
      const found = missed.since(store, cell(n), after)
      return typeof found === "string" ? found : found.map(({ beat, value }) => `${beat} ${String(value)}`)
    }
    assert.deepStrictEqual(beats(5, 279), ["285 285", "295 295"])
    assert.strictEqual(read.length, 20)
    for (let n = 0; n < 10; n++) assert.deepStrictEqual(beats(n, 289), [`${290 + n} ${290 + n}`])
    assert.strictEqual(read.length, 20)
    for (let n = 0; n < 10; n++) assert.lengthOf(beats(n, 99), 20)
    assert.deepStrictEqual([read.length, new Set(read).size], [200, 200])
    assert.deepStrictEqual(beats(0, 299), [])
    append()
    assert.deepStrictEqual([beats(0, 299), beats(0, 300)], [["300 300"], []])
    assert.strictEqual(missed.since(store, cell(1), 99), missed.since(store, cell(1), 99))
  })

  it("is told up to a size of the journal, which is read once for those that want more", () => {
    const { read, store } = journal(300, MAX_READ / 100)
    const missed = new MissedValues()
    for (let n = 0; n < 100; n++) assert.include(missed.since(store, cell(n % 10), n), `more than ${MAX_READ} characters`)
    assert.isBelow(read.length, 200)
    const before = read.length
    assert.lengthOf(missed.since(store, cell(3), 249), 5)
    assert.strictEqual(read.length, before)
  })

  it("is read on after a further beat, and not once more from the beginning", () => {
    const { append, read, store } = journal(300)
    const missed = new MissedValues()
    for (let n = 0; n < 20; n++) {
      assert.lengthOf(missed.since(store, cell(5), 99), 20 + Math.floor((n + 4) / 10))
      append()
    }
    assert.deepStrictEqual([read.length, new Set(read).size], [219, 219])
  })

  it("is the same for the first subscriber after a beat as for later ones, up to the size of the journal", () => {
    const { append, store } = journal(300, MAX_READ / 100)
    const missed = new MissedValues()
    for (let head = 299; head < 360; head++) {
      for (const behind of [10, 60, ...head % 20 === 0 ? [120] : []]) {
        const of = (missed: MissedValues) => missed.since(store, cell(3), head - behind)
        assert.deepStrictEqual(of(missed), of(new MissedValues()), `${behind} behind beat ${head}`)
      }
      append()
    }
  })
})
