import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Address } from "systole"
import * as ChildNames from "../../src/persistence/sql/ChildNames.ts"
import * as SortKey from "../../src/persistence/SortKey.ts"
import type { Statements } from "../../src/persistence/sql/SqlSchema.ts"
import { beat, cell, using, write } from "../../src/main/testing/contract/Batches.ts"
import * as SqliteFolder from "./SqliteFolder.ts"

/** Names around the separators, and around the characters whose order the stored keys change. */
const NAMES = ["a", "a-", "a.", "a0", "a@", "aa", "b", "\ud7ff", "\ue000", "\uffed", "\u{10000}", "\u{10ffff}", "\u{10ffff}x"]
const SCOPES = ["space", "user:1", "user:2"]

const parents = ["/", "/x", ...NAMES.map((name) => `/x/${name}`)]

/** Some of all documents: at the root, below `/x`, and below each of those, in each scope. */
const someKeys = (seed: number): ReadonlyArray<string> => {
  const all = parents.flatMap((parent) => NAMES.flatMap((name) =>
    SCOPES.map((scope) => Address.make(Address.child(parent, name), { scope }).key)))
  return all.filter((_, i) => (i * 7919 + seed * 104_729) % 11 < seed)
}

const expected = (keys: ReadonlyArray<string>, scope: string, id: string): ReadonlyArray<string> =>
  keys.map(Address.ofKey).filter((one) => one.scope === scope && Address.parent(one.id) === id).map((one) => Address.name(one.id)).sort()

/** The statements over keys in memory, with the number of calls, and of rows that they returned. */
const over = (keys: ReadonlyArray<string>) => {
  const stored = keys.map(SortKey.encode).sort()
  const counts = { calls: 0, rows: 0 }
  const below = {
    all: (after: string, end: string, limit: number) => {
      const found = stored.filter((key) => key > after && key < end).slice(0, limit)
      counts.calls++
      counts.rows += found.length
      return found.map((key) => [key])
    }
  }
  return { sql: { below } as unknown as Statements, counts }
}

describe("The names below a document", () => {
  for (const seed of [1, 4, 9]) {
    it.effect(`are those of a plain filter, scope by scope (${seed} of 11 documents)`, () =>
      SqliteFolder.folder.pipe(
        Effect.flatMap((folder) => {
          const keys = someKeys(seed)
          return Effect.provide(
            using("shop", (store) =>
              Effect.map(write(store, beat(0, { cells: keys.map((key) => cell(key, "1")) })), () => {
                for (const id of [...parents, "/x/a/a", "/none"]) {
                  for (const scope of [...SCOPES, "user:3"]) {
                    assert.deepStrictEqual(store.children(scope, id), expected(keys, scope, id), `${scope} ${id}`)
                  }
                }
              })),
            SqliteFolder.layerIn(folder)
          )
        }),
        Effect.scoped
      ))
  }

  it("are found without the rows below them and beside them in other scopes", () => {
    const deep = Array.from({ length: 300 }, (_, n) => `/x/one/${n}`)
    const scoped = Array.from({ length: 300 }, (_, n) => `/x/two?scope=user:${n}`)
    const { counts, sql } = over(["/x/one", ...deep, "/x/three", "/x/two", ...scoped, "/x/zero"])
    assert.deepStrictEqual(ChildNames.of(sql, "space", "/x"), ["one", "three", "two", "zero"])
    assert.isBelow(counts.rows, 40)
  })

  it("are read with each row once where there is nothing else", () => {
    const { counts, sql } = over(Array.from({ length: 5000 }, (_, n) => `/x/${n}`))
    assert.strictEqual(ChildNames.of(sql, "space", "/x").length, 5000)
    assert.strictEqual(counts.rows, 5000)
  })

  it("are read in long pages where little lies below each, or names have no document of the scope", () => {
    const few = Array.from({ length: 2000 }, (_, n) => [`/x/${n}`, `/x/${n}/a`, `/x/${n}/b`]).flat()
    const folders = Array.from({ length: 2000 }, (_, n) => `/x/${n}/a`)
    const scoped = Array.from({ length: 2000 }, (_, n) => `/x/${n}?scope=user:1`)
    for (const [keys, names] of [[few, 2000], [folders, 0], [scoped, 0]] as const) {
      const { counts, sql } = over(keys)
      assert.strictEqual(ChildNames.of(sql, "space", "/x").length, names)
      assert.isBelow(counts.calls, 30)
    }
  })
})
