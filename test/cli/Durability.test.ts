import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { terminal } from "./Terminal.ts"

/** Reads the settings of each open database of the process, and of each file at its creation. */
const pragmas = `import { Enzyme } from "systole"
const { DatabaseSync } = process.getBuiltinModule("node:sqlite")
const { exec } = DatabaseSync.prototype
const databases = new Set()
const created = []
const ask = (database, name) => Object.values(database.prepare("PRAGMA " + name).get())[0]
DatabaseSync.prototype.exec = function(sql) {
  exec.call(this, sql)
  if (sql.startsWith("PRAGMA application_id")) created.push(ask(this, "synchronous"))
  else databases.add(this)
}
export default Enzyme.make({
  name: "pragmas",
  query: "/signals/pragmas",
  run: (tx) => {
    const open = [...databases].map((database) => [ask(database, "synchronous"), ask(database, "journal_mode")])
    tx.set("/data/pragmas", { created: [...created], open })
  }
})
`

/** `synchronous = FULL`, as SQLite numbers it. */
const FULL = 2

describe("systole start", () => {
  it.live("waits for the disk in each commit: synchronous is FULL in WAL mode, for each space and each new file", () =>
    Effect.gen(function*() {
      const { json, serve } = yield* terminal({
        "systole.config.ts": `export default { spaces: { create: "on-demand" } }\n`,
        "enzymes/pragmas.ts": pragmas
      })
      yield* Effect.promise(async () => {
        await serve("start")
        for (const [i, space] of ["shop", "market"].entries()) {
          assert.deepInclude(await json("signal", space, "--signal", "/signals/pragmas", "--wait", "60") as object, { status: "handled" })
          assert.deepStrictEqual(await json("cell", "get", space, "/data/pragmas"), {
            created: Array.from({ length: i + 1 }, () => FULL),
            open: Array.from({ length: i + 1 }, () => [FULL, "wal"])
          })
        }
      })
    }))
})
