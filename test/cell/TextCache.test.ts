import { assert, describe, it } from "@effect/vitest"
import { TextCache } from "../../src/cell/TextCache.ts"

/** The characters of all texts of a cache, and their number. */
const kept = (cache: TextCache<number>, texts: ReadonlyArray<string>) => {
  const found = texts.filter((text) => cache.get(text) !== undefined)
  return { texts: found.length, characters: found.join("").length }
}

describe("A cache of texts", () => {
  it("has the values of few texts", () => {
    const cache = new TextCache<number>(4)
    for (const [i, text] of ["a", "b", "c", "d"].entries()) cache.set(text, i)
    assert.deepStrictEqual(["a", "b", "c", "d", "e"].map((text) => cache.get(text)), [0, 1, 2, 3, undefined])
  })

  it("never has more entries than it may, however short they are", () => {
    const cache = new TextCache<number>(100)
    const texts = Array.from({ length: 1000 }, (_, i) => String(i))
    for (const [i, text] of texts.entries()) {
      cache.set(text, i)
      assert.strictEqual(cache.get(text), i)
      assert.isAtMost(cache.size, 100)
    }
  })

  it("never has more characters than 64 times as many, however long its texts are", () => {
    const cache = new TextCache<number>(100)
    const texts = Array.from({ length: 200 }, (_, i) => String(i).padStart(2048, "x"))
    for (const [i, text] of texts.entries()) {
      cache.set(text, i)
      assert.strictEqual(cache.get(text), i)
      assert.isAtMost(kept(cache, texts).characters, 6400)
    }
    cache.set("y".repeat(6401), 1)
    assert.deepStrictEqual(kept(cache, [...texts, "y".repeat(6401)]), { texts: 0, characters: 0 })
    cache.set("z", 1)
    assert.strictEqual(cache.get("z"), 1)
  })
})
