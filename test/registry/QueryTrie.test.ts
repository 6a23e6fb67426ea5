import { assert, describe, it } from "@effect/vitest"
import * as Pattern from "../../src/cell/Pattern.ts"
import type { Query } from "../../src/registry/QueryTrie.ts"
import { QueryTrie } from "../../src/registry/QueryTrie.ts"
import * as Random from "../support/Random.ts"
import * as Trials from "../support/Trials.ts"

const segments = ["a", "b", "ab", "ba", "*", ":x", ":y", "**", "**", "a*", "*a", "*b*", "a*b", "b*b", "a*b*", "ab*ba", "**"]
const names = ["a", "b", "ab", "ba", "aab", "abb", "abba", "bab", "aba", "c"]

const query = (text: string, mode: Pattern.Mode = "exact"): Query => ({ pattern: Pattern.parse(text), mode })

const randomQuery = (draw: Random.Random): Query =>
  query(Array.from({ length: draw(5) }, () => `/${Random.pick(draw, segments)}`).join(""), Random.pick(draw, ["exact", "prefix"]))

const randomNames = (draw: Random.Random): ReadonlyArray<string> => Array.from({ length: 1 + draw(5) }, () => Random.pick(draw, names))

/** The reference model: it tries every query. */
const reference = (queries: ReadonlyArray<Query>, path: ReadonlyArray<string>) =>
  queries.filter(({ mode, pattern }) => Pattern.matches(pattern, path, mode))

const agrees = (trie: QueryTrie<Query>, queries: ReadonlyArray<Query>, draw: Random.Random): void => {
  for (let i = 0; i < 20; i++) {
    const path = randomNames(draw)
    const found = trie.match(path)
    const expected = reference(queries, path)
    assert.strictEqual(
      found.length,
      expected.length,
      `/${path.join("/")} among ${queries.map(({ mode, pattern }) => `${mode} ${pattern.text}`).join(" ")}`
    )
    assert.sameMembers(found, [...expected])
  }
}

describe("QueryTrie", () => {
  it("agrees with trying every query, while queries come and go", () => {
    for (const seed of Trials.seeds(150)) {
      const draw = Random.make(seed)
      const trie = new QueryTrie<Query>()
      let queries: ReadonlyArray<Query> = []
      for (let step = 0; step < 12; step++) {
        const arriving = Array.from({ length: draw(8) }, () => randomQuery(draw))
        const leaving = queries.filter(() => draw(4) === 0)
        for (const one of arriving) trie.add(one)
        for (const one of leaving) trie.delete(one)
        queries = [...queries.filter((one) => !leaving.includes(one)), ...arriving]
        agrees(trie, queries, draw)
      }
    }
  })

  it("is as new when all that was added is deleted", () => {
    for (const seed of Trials.seeds(50)) {
      const draw = Random.make(seed)
      const trie = new QueryTrie<Query>()
      const queries = Array.from({ length: 40 }, () => randomQuery(draw))
      for (const one of queries) trie.add(one)
      assert.notDeepEqual(trie, new QueryTrie<Query>())
      for (const one of Random.shuffled(draw, queries)) trie.delete(one)
      assert.deepStrictEqual(trie, new QueryTrie<Query>())
    }
  })

  it("keeps equal queries apart, and takes the deletion of one that it does not hold", () => {
    const trie = new QueryTrie<Query>()
    const [one, other] = [query("/a/x*"), query("/a/x*")]
    trie.add(one)
    trie.add(other)
    trie.delete(one)
    trie.delete(one)
    trie.delete(query("/a/y*/z"))
    trie.delete(query("/b/**"))
    assert.deepStrictEqual(trie.match(["a", "xyz"]), [other])
  })

  it("answers a query once that ** lets match in many ways", () => {
    const trie = new QueryTrie<Query>()
    const queries = [query("/**/**/a", "prefix"), query("/**", "prefix"), query("/**/a/**")]
    for (const one of queries) trie.add(one)
    assert.sameMembers(trie.match(["a", "a", "a"]), queries)
    assert.strictEqual(trie.match(["a", "a", "a"]).length, queries.length)
  })

  it("takes no name that is shorter than the two ends of a segment together", () => {
    const trie = new QueryTrie<Query>()
    trie.add(query("/ab*ba"))
    assert.lengthOf(trie.match(["aba"]), 0)
    assert.lengthOf(trie.match(["abba"]), 1)
  })
})
