import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { terminal } from "./Terminal.ts"

const count = `import { Enzyme } from "systole"
export default Enzyme.make({ name: "count", query: "/signals/count", run: (tx) => tx.increment("/data/n") })
`

const project = { "enzymes/count.ts": count, "systole.config.ts": `export default { spaces: { create: "on-demand" } }\n` }

describe("systole upgrade and systole store", () => {
  it.live("show the formats, raise them when each host has this version, and rewrite the rows", () =>
    Effect.flatMap(terminal(project), ({ json, root, run }) =>
      Effect.promise(async () => {
        for (const space of ["one", "two"]) {
          await json("signal", space, "--signal", "/signals/count", "--wait", "60")
        }
        const before = await run("upgrade", "status")
        assert.include(before.stdout, "an earlier version can take it back")
        const early = await run("store", "upgrade", "one")
        assert.strictEqual(early.code, 1)
        assert.include(early.stderr, "store/unfinished")
        const unasked = await run("upgrade", "finish")
        assert.strictEqual(unasked.code, 2)
        assert.include(unasked.stderr, "upgrade/unconfirmed")
        const formatOf = (space: string): unknown => {
          const database = new DatabaseSync(join(root, ".data", `${space}.sqlite`), { readOnly: true })
          try {
            return database.prepare("SELECT format FROM meta").get()?.["format"]
          } finally {
            database.close()
          }
        }
        assert.deepStrictEqual([formatOf("one"), formatOf("two")], [10, 10])
        const [raised = {}] = await json("upgrade", "finish", "one", "--yes") as ReadonlyArray<object>
        assert.deepInclude(raised, { space: "one", format: 12 })
        assert.deepStrictEqual([formatOf("one"), formatOf("two")], [12, 10])
        const all = await json("upgrade", "finish", "--yes") as ReadonlyArray<{ readonly space: string }>
        assert.deepStrictEqual(all.map(({ space }) => space), ["two"])
        assert.include((await run("upgrade", "finish")).stdout, "nothing to do")
        assert.include((await run("upgrade", "status")).stdout, "systole store upgrade rewrites")
        assert.deepStrictEqual(await json("store", "upgrade"), [{ space: "one", rows: 0 }, { space: "two", rows: 0 }])
        assert.notInclude((await run("upgrade", "status")).stdout, "systole")
        await json("signal", "one", "--signal", "/signals/count", "--wait", "60")
        assert.strictEqual(await json("cell", "get", "one", "/data/n"), 2)
      })))
})
