import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as TestKernel from "../../support/TestKernel.ts"
import { enzyme, steps } from "../TestSpace.ts"

/** The greatest character of a name. */
const GREATEST = "\uffff"

const folders = ["b", "b/a", `b/${GREATEST}`, `b/${GREATEST.repeat(255)}`].map((folder) => `/data/${folder}`)

/** Cells below names that come after most others, and one more beside each folder. */
const cells = folders.flatMap((folder) =>
  [..."123456789"].flatMap((n) => [`${folder}/below/${GREATEST}${n}`, `${folder}/below/${GREATEST.repeat(255)}/${n}`, `${folder}/c`]))

const fill = enzyme("fill", (tx) => {
  for (const key of cells) tx.set(key, 1)
}, { writes: ["/data/**"] })

describe("the list of the names below a cell", () => {
  it.effect("passes over all cells below a name, whatever characters they have", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([fill])
      yield* space.signal({ signal: "/signals/fill" })
      yield* steps(space, 2)
      for (const folder of folders) {
        const names: Array<string> = []
        for (let after: string | undefined; ;) {
          const page = yield* space.names(folder, { after, limit: 10 })
          names.push(...page.names)
          if (page.next === undefined) break
          assert.notStrictEqual(page.next, after)
          after = page.next
        }
        assert.deepStrictEqual(names, ["c"], folder)
        assert.deepStrictEqual(yield* space.list(folder), names)
      }
    }).pipe(Effect.provide(TestKernel.layer())))
})
