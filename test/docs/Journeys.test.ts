import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { dirname } from "node:path"
import * as Journeys from "./Journeys.ts"
import * as Pages from "./Pages.ts"

const PAGE = "src/JOURNEYS.md"

/** A function at a point of a journey. */
type Row = readonly [point: string, file: string, name: string]

/** A row of the page: the point, if it is the first one there, the file, the function and its decision. */
const ROW = /^\| ([^|]*?) ?\| `([^`]+)` `([^`]+)` \| (.+) \|$/gm

const sections = new Map(Pages.sections(Pages.read(PAGE).text, 2))

/** The functions that a section of the page names. */
const rowsOf = (title: string): ReadonlyArray<Row> => {
  let point = ""
  return [...(sections.get(title) ?? "").matchAll(ROW)].map(([, begun = "", file = "", name = ""]) => {
    if (begun !== "") point = begun
    return [point, file.startsWith("plugins/") ? file : `src/${file}`, name]
  })
}

/** The number of functions and of folders that a section states. */
const statedOf = (title: string): ReadonlyArray<number> =>
  /\*\*(\d+) functions in (\d+) folders\.\*\*/.exec(sections.get(title) ?? "")?.slice(1).map(Number) ?? []

describe("The page of journeys", () => {
  for (const { isTimed, record, title } of Journeys.all) {
    const recorded = Effect.gen(function*() {
      const legs = yield* record
      const rows = legs.flatMap(({ frames, point }) => frames.map(({ file, name }): Row => [point, file, name]))
      assert.deepStrictEqual(rowsOf(title), rows, `${PAGE} differs from the call: ${JSON.stringify(rows, undefined, 1)}`)
      const folders = new Set(rows.map(([, file]) => dirname(file)))
      assert.deepStrictEqual(statedOf(title), [rows.length, folders.size])
    })
    if (isTimed) it.effect(`names the functions of "${title}" in their order`, () => recorded)
    else it.live(`names the functions of "${title}" in their order`, () => recorded)
  }

  it("keeps a durable await within 28 functions and 7 folders", () => {
    const [functions = Infinity, folders = Infinity] = statedOf("A durable await")
    assert.isAtMost(functions, 28)
    assert.isAtMost(folders, 7)
  })
})
