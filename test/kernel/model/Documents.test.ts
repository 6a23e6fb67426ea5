import { assert, describe, it } from "@effect/vitest"
import type { SpaceStore } from "systole"
import * as Document from "../../../src/cell/Document.ts"
import { Documents } from "../../../src/kernel/model/Documents.ts"
import * as Dice from "../../support/Dice.ts"
import * as Trials from "../../support/Trials.ts"

const LIMIT = 20_000

/** Documents over a plain map, whose reads are counted. */
const make = (limit: number) => {
  const texts = new Map<string, string>()
  const asked: Array<string> = []
  const read = (key: string) => {
    asked.push(key)
    return texts.get(key)
  }
  const documents = new Documents({ read } as unknown as SpaceStore, limit)
  const put = (key: string, text: string | undefined) => {
    if (text === undefined) texts.delete(key)
    else texts.set(key, text)
    documents.put(key, text === undefined ? undefined : Document.decode(text))
  }
  return { asked, documents, put, texts }
}

/** What it holds in memory, in characters of texts. */
const held = (documents: Documents): number => {
  let sum = 0
  for (const part of ["recent", "earlier"]) for (const document of (Reflect.get(documents, part) as ReadonlyMap<string, Document.Document | null>).values()) sum += (document?.text.length ?? 0) * 2
  return sum
}

describe("Documents", () => {
  it("are what was put last, or what the store has, whatever leaves memory, which stays below its limit", () => {
    for (const seed of Trials.seeds(20)) {
      const roll = Dice.make(seed)
      const { asked, documents, put, texts } = make(LIMIT)
      for (let move = 0; move < 3000; move++) {
        const key = `/data/k${roll(40)}`
        const length = roll(8) === 0 ? roll(LIMIT / 4) : roll(400)
        if (roll(2) === 0) put(key, roll(4) === 0 ? undefined : JSON.stringify("x".repeat(length)))
        assert.strictEqual(documents.read(key)?.text, texts.get(key), `seed ${seed}, move ${move}`)
        assert.isAtMost(held(documents), LIMIT)
      }
      assert.isBelow(asked.length, 3000)
    }
  })

  it("are asked of the store once, there or not, as long as not much else is used", () => {
    const { asked, documents, texts } = make(LIMIT)
    for (let i = 0; i < 5; i++) texts.set(`/data/k${i}`, String(i))
    for (let round = 0; round < 200; round++) {
      for (let i = 0; i < 10; i++) assert.strictEqual(documents.read(`/data/k${i}`)?.text, i < 5 ? String(i) : undefined)
      documents.read(`/data/other${round}`)
    }
    assert.lengthOf(asked.filter((key) => key.startsWith("/data/k")), 10)
  })
})
