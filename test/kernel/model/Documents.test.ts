import { assert, describe, it } from "@effect/vitest"
import type { SpaceStore } from "systole"
import * as Document from "../../../src/cell/Document.ts"
import { Documents } from "../../../src/kernel/model/Documents.ts"
import * as Random from "../../support/Random.ts"
import * as Trials from "../../support/Trials.ts"

const LIMIT = 20_000

/** Documents over a plain map that counts reads. */
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

/** The memory in use, in bytes of text at two per character. */
const held = (documents: Documents): number => {
  const parts = ["recent", "earlier"].map((part) => Reflect.get(documents, part) as ReadonlyMap<string, Document.Document | null>)
  return parts.flatMap((part) => [...part.values()]).reduce((sum, document) => sum + (document?.text.length ?? 0) * 2, 0)
}

describe("Documents", () => {
  it("return the newest version, from memory or from the store, and keep below the limit of memory", () => {
    for (const seed of Trials.seeds(20)) {
      const draw = Random.make(seed)
      const { asked, documents, put, texts } = make(LIMIT)
      for (let move = 0; move < 3000; move++) {
        const key = `/data/k${draw(40)}`
        const length = draw(8) === 0 ? draw(LIMIT / 4) : draw(400)
        if (draw(2) === 0) put(key, draw(4) === 0 ? undefined : JSON.stringify("x".repeat(length)))
        assert.strictEqual(documents.read(key)?.text, texts.get(key), `seed ${seed}, move ${move}`)
        assert.isAtMost(held(documents), LIMIT)
      }
      assert.isBelow(asked.length, 3000)
    }
  })

  it("read each document from the store once, present or absent, while few others are used", () => {
    const { asked, documents, texts } = make(LIMIT)
    for (let i = 0; i < 5; i++) texts.set(`/data/k${i}`, String(i))
    for (let round = 0; round < 200; round++) {
      for (let i = 0; i < 10; i++) assert.strictEqual(documents.read(`/data/k${i}`)?.text, i < 5 ? String(i) : undefined)
      documents.read(`/data/other${round}`)
    }
    assert.lengthOf(asked.filter((key) => key.startsWith("/data/k")), 10)
  })
})
