import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { DocumentCheck, MOST } from "../../src/archive/DocumentCheck.ts"
import type { Record } from "../../src/frame/Record.ts"
import * as Frames from "../frame/Frames.ts"
import { enzyme, steps } from "../kernel/TestSpace.ts"
import * as Random from "../support/Random.ts"
import { bring, frameOf, node } from "./Nodes.ts"
import { headerOf, recordsOf } from "./Spaces.ts"

const modules = [
  enzyme("put", (tx, { payload }) => {
    for (const [name, value] of Object.entries(payload as object)) tx.set(`/data/${name}`, value ?? undefined)
  })
]

/** A row of a journal that changes documents. */
const row = (beat: number, changes: { readonly [key: string]: unknown }) => {
  const cells = Object.entries(changes).map(([key, after]) => [key, 0, [], after === undefined ? [] : [after]])
  return { beat, text: `{"v":3,"beat":${beat},"prev":"","clock":0,"seed":"","cells":${JSON.stringify(cells)}}` }
}

/** The key that passes find, and their number. */
const passes = (
  rows: ReadonlyArray<ReturnType<typeof row>>, documents: { readonly [key: string]: unknown }, most = MOST
): readonly [string | undefined, number] => {
  let count = 0
  for (let from: number | undefined = 0; from !== undefined;) {
    count++
    const pass = new DocumentCheck(Frames.hash, from, most)
    for (const each of rows) pass.row(each)
    for (const [key, value] of Object.entries(documents)) pass.document(key, JSON.stringify(value))
    if (pass.differing !== undefined) return [pass.differing, count]
    from = pass.next
  }
  return [undefined, count]
}

describe("The check of documents against a journal", () => {
  it("takes the last change of each, and documents without one as they are", () => {
    const rows = [row(0, { "/a": 1, "/b": 1 }), row(1, { "/a": 2, "/b": undefined }), row(2, { "/c": "x".repeat(100) })]
    assert.deepStrictEqual(passes(rows, { "/a": 2, "/c": "x".repeat(100), "/d": 7 }), [undefined, 1])
    assert.strictEqual(passes(rows, { "/a": 1, "/c": "x".repeat(100) })[0], "/a")
    assert.strictEqual(passes(rows, { "/a": 2, "/b": 1, "/c": "x".repeat(100) })[0], "/b")
    assert.strictEqual(passes(rows, { "/a": 2 })[0], "/c")
  })

  it("finds one document among many in the memory of few", () => {
    const keys = Array.from({ length: 500 }, (_, i) => `/data/n/${i}`)
    const rows = [1, 2].map((beat) => row(beat, Object.fromEntries(keys.map((key, i) => [key, beat * i]))))
    const documents = Object.fromEntries(keys.map((key, i) => [key, 2 * i]))
    const [found, count] = passes(rows, documents, 10_000)
    assert.isUndefined(found)
    assert.isAbove(count, 8)
    const draw = Random.make(5)
    for (const key of [keys[0], keys[499], ...Array.from({ length: 8 }, () => keys[draw(500)])]) {
      assert.strictEqual(passes(rows, { ...documents, [String(key)]: "other" }, 10_000)[0], key)
    }
  })

  it.effect("refuses a frame whose documents are not those of its journal, by the address, and takes a chain of true ones", () =>
    Effect.scoped(Effect.gen(function*() {
      const here = yield* node({ modules })
      const home = yield* here.kernel.space("home")
      yield* steps(home, 6)
      const put = (payload: object) => Effect.andThen(home.signal({ signal: "/signals/put", payload }), steps(home, 1))
      yield* put({ a: 1, b: 2, c: { text: "x".repeat(300_000) } })
      const frame = yield* frameOf(here, "home")
      const since = yield* home.examine(({ store }) => store.head())
      yield* put({ a: 3, b: null })
      yield* bring(here, "true", { frames: [frame, yield* frameOf(here, "home", { since })] })
      const records = yield* Effect.promise(() => recordsOf(frame))
      const forged = (name: string, change: (records: ReadonlyArray<Record>) => ReadonlyArray<Record>) =>
        Effect.gen(function*() {
          const { pieces } = yield* Effect.promise(() => Frames.write(change(records), headerOf(frame)))
          return yield* Effect.flip(bring(here, name, { frames: [Frames.whole({ pieces })] }))
        })
      const changed = yield* forged("one", (all) => all.map((each) => each.type === "cell" && each.key === "/data/a"
        ? Frames.record("cell", "/data/a", "7")
        : each))
      const gone = yield* forged("two", (all) => all.filter(({ key, type }) => type !== "cell" || key !== "/data/c"))
      for (const [error, key] of [[changed, "/data/a"], [gone, "/data/c"]] as const) {
        assert.deepInclude(error, { code: "frame/changed" })
        assert.include(error.message, `the document ${key} differs from its last change in the journal`)
      }
      assert.deepStrictEqual((yield* here.kernel.spaces).toSorted(), ["home", "true"])
    })))
})
