import { assert, describe, it } from "@effect/vitest"
import type { Binding } from "../../src/registry/Bindings.ts"
import * as Bindings from "../../src/registry/Bindings.ts"
import * as Random from "../support/Random.ts"
import * as Trials from "../support/Trials.ts"

const cells = ["/a", "/a/b", "/a/b/c", "/a/bb", "/a/b/c/d", "/e"]
const names = ["x", "y", "z"]

interface Put {
  readonly cell: string
  readonly binding: Binding
  readonly declared: boolean
}

const randomPut = (draw: Random.Random, beat: number): Put => {
  const declared = draw(4) === 0
  const tombstone = !declared && draw(3) === 0
  return {
    cell: Random.pick(draw, cells),
    declared,
    binding: { enzyme: Random.pick(draw, names), tombstone, propagate: tombstone || draw(2) === 0, beat: declared ? -1 : beat }
  }
}

/** The reference model: for each name, the newest entry at the nearest cell decides. */
const reference = (target: string, puts: ReadonlyArray<Put>): ReadonlyArray<string> => {
  const ancestry = cells.filter((cell) => target === cell || target.startsWith(`${cell}/`)).toSorted((a, b) => b.length - a.length)
  // Declarations of modules are older than all entries made at run time.
  const newestFirst = [...puts.filter(({ declared }) => !declared).toReversed(), ...puts.filter(({ declared }) => declared).toReversed()]
  return names.filter((name) => {
    const deciding = ancestry
      .map((cell) => ({ cell, newest: newestFirst.find((put) => put.cell === cell && put.binding.enzyme === name)?.binding }))
      .find(({ cell, newest }) => newest !== undefined && (newest.tombstone || newest.propagate || cell === target))
    return deciding?.newest?.tombstone === false
  })
}

const tables = (puts: ReadonlyArray<Put>): Bindings.Bound => {
  const own = new Map<string, ReadonlyArray<Binding>>()
  const declared = new Map<string, Map<string, Array<Binding>>>()
  for (const { binding, cell, declared: isDeclared } of puts) {
    if (isDeclared) {
      const here = declared.get(cell) ?? new Map<string, Array<Binding>>()
      declared.set(cell, here.set(binding.enzyme, [...here.get(binding.enzyme) ?? [], binding]))
    } else own.set(cell, Bindings.put(own.get(cell) ?? [], { cell, ...binding }, binding.beat))
  }
  return { own, declared }
}

describe("Bindings", () => {
  it("count as the nearest cell and the newest entry have it", () => {
    for (const seed of Trials.seeds(400)) {
      const draw = Random.make(seed)
      const puts = Array.from({ length: draw(25) }, (_, beat) => randomPut(draw, beat))
      const bound = tables(puts)
      for (const target of [...cells, "/a/b/other", "/a/b/c/d/e/f", "/none"]) {
        const expected = reference(target, puts)
        assert.sameMembers([...Bindings.effective(target, bound)], [...expected], `${target} with ${JSON.stringify(puts)}`)
        for (const asked of [["x"], ["x", "z", "unbound"], []]) {
          const among = new Map(asked.map((name) => [name, true]))
          assert.sameMembers([...Bindings.effective(target, bound, among)], expected.filter((name) => among.has(name)))
        }
      }
    }
  })

  it("are named nearest first", () => {
    const entry = (enzyme: string): Binding => ({ enzyme, propagate: true, tombstone: false, beat: 0 })
    const own = new Map([["/a", [entry("far")]], ["/a/b/c", [entry("near"), entry("far")]], ["/a/b", [entry("middle")]]])
    assert.deepStrictEqual(Bindings.effective("/a/b/c", { own, declared: new Map() }), ["near", "far", "middle"])
  })

  it("are kept newest first, without obsolete ones once a cell has many", () => {
    let list: ReadonlyArray<Binding> = []
    for (let beat = 0; beat < 3000; beat++) {
      list = Bindings.put(list, { cell: "/a", enzyme: `e${beat % 7}`, propagate: true, tombstone: beat % 2 === 0 }, beat)
      assert.isAtMost(list.length, 1024)
      assert.strictEqual(list[0]?.beat, beat)
    }
    for (let name = 0; name < 7; name++) {
      const newest = list.find(({ enzyme }) => enzyme === `e${name}`)
      assert.strictEqual(newest!.beat % 7, name)
      assert.isAbove(newest!.beat, 3000 - 8)
    }
    assert.deepStrictEqual(list.map(({ beat }) => beat), list.map(({ beat }) => beat).toSorted((a, b) => b - a))
  })

  it("are of 1,024 names at one cell, and of no other once it has them", () => {
    const change = (enzyme: string) => ({ cell: "/a", enzyme, propagate: true, tombstone: false })
    let list: ReadonlyArray<Binding> = []
    for (let i = 0; i < 1024; i++) {
      assert.isUndefined(Bindings.refusal(list, change(`e${i}`)))
      list = Bindings.put(list, change(`e${i}`), i)
    }
    assert.match(Bindings.refusal(list, change("other"))!, /^\/a has bindings of 1024 names/)
    assert.isUndefined(Bindings.refusal(list, change("e7")))
    list = Bindings.put(list, { ...change("e7"), tombstone: true }, 1024)
    assert.lengthOf(list, 1024)
    assert.strictEqual(list[0]?.tombstone, true)
    const repeated = Array.from({ length: 1024 }, (_, i) => ({ ...list[0]!, enzyme: `e${i % 1000}` }))
    assert.isUndefined(Bindings.refusal(repeated, change("other")))
  })

  it("are counted at the target and above", () => {
    const bound = tables([
      { cell: "/a", declared: true, binding: { enzyme: "x", propagate: true, tombstone: false, beat: -1 } },
      { cell: "/a/b", declared: false, binding: { enzyme: "x", propagate: true, tombstone: true, beat: 1 } },
      { cell: "/e", declared: false, binding: { enzyme: "x", propagate: true, tombstone: false, beat: 2 } }
    ])
    assert.strictEqual(Bindings.count("/a/b/c", bound), 2)
    assert.strictEqual(Bindings.count("/none", bound), 0)
  })
})
