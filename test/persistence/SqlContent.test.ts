import { assert, describe, it } from "@effect/vitest"
import { filterOf } from "../../src/persistence/sql/SqlContent.ts"
import type { SqlStatement } from "../../src/persistence/sql/SqlDriver.ts"

describe("The filter of a table in a SQL store", () => {
  it("knows each stored text, also of a table that was once too large for a filter and then became empty", () => {
    let rows: ReadonlyArray<readonly [number, string]> = []
    let claimed: number | null = 8_000_000
    const statement = (get: SqlStatement["get"], all: SqlStatement["all"]): SqlStatement => ({ get, all, run: () => assert.fail() })
    const filter = filterOf({
      span: statement(() => [claimed], () => []),
      after: statement(() => undefined, (after, limit) =>
        rows.filter(([age]) => age > Number(after)).slice(0, Number(limit))),
      isNew: false
    })
    claimed = null
    filter.add([])
    assert.isFalse(filter.mayHave("a"))
    for (let age = 1; age <= 2_000; age++) {
      const text = `text ${age}`
      rows = [...rows, [age, text]]
      claimed = rows.length
      filter.add([text])
    }
    assert.isTrue(rows.every(([, text]) => filter.mayHave(text)))
  })
})
