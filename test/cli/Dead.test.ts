import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { terminal } from "./Terminal.ts"

const fix = `import { Enzyme } from "systole"
export default Enzyme.make({
  name: "fix",
  query: "/signals/fix",
  run: (tx, event) => {
    if (tx.get("/data/mended") === undefined) throw new TypeError("not yet")
    tx.append("/data/fixed", event.payload)
  }
})
`
const project = { "enzymes/fix.ts": fix, "systole.config.ts": `export default { spaces: { create: "on-demand" } }\n` }

describe("systole dead", () => {
  it.live("lists, shows and redelivers dead letters", () =>
    Effect.flatMap(terminal(project), ({ json, run }) =>
      Effect.promise(async () => {
        for (const n of [1, 2]) await run("signal", "shop", "--signal", "/signals/fix", "--payload", `{"n":${n}}`, "--wait", "60")
        const letters = await json("dead", "ls", "shop") as ReadonlyArray<{ readonly id: string; readonly beat: number }>
        assert.lengthOf(letters, 2)
        const { id } = letters[1]!
        const page = await run("dead", "ls", "shop", "--limit", "1")
        assert.include(page.stdout, "/signals/fix")
        assert.include(page.stderr, `--after ${letters[0]!.id}/fix`)
        assert.deepStrictEqual(await json("dead", "ls", "shop", "--after", `${letters[0]!.id}/fix`), [letters[1]])
        const shown = await run("dead", "show", "shop", id, "fix")
        for (const part of [id, "run/failed", "not yet", `{"n":2}`]) assert.include(shown.stdout, part)
        await json("cell", "set", "shop", "/data/mended", "true")
        assert.deepInclude(await json("dead", "send", "shop", id, "fix") as object, { id, enzyme: "fix" })
        // The redelivered signal precedes later ones.
        await run("signal", "shop", "--signal", "/signals/fix", "--payload", `{"n":3}`, "--wait", "60")
        assert.deepStrictEqual(await json("cell", "get", "shop", "/data/fixed"), [{ n: 2 }, { n: 3 }])
        const absent = await run("dead", "send", "shop", id, "fix")
        assert.strictEqual(absent.code, 3)
        assert.include(absent.stderr, "dead/absent")
        assert.lengthOf(await json("dead", "ls", "shop") as ReadonlyArray<unknown>, 1)
      })))
})
