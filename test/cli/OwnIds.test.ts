import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { terminal } from "./Terminal.ts"

const fix = `import { Enzyme } from "systole"
export default Enzyme.make({
  name: "fix",
  query: "/signals/fix/**",
  run: (tx, event) => {
    if (tx.get("/data/mended") === undefined) throw new TypeError("not yet")
    tx.set("/data/fixed", event.payload)
  }
})
`
const project = { "enzymes/fix.ts": fix, "systole.config.ts": `export default { spaces: { create: "on-demand" } }\n` }

describe("An own id on the command line", () => {
  it.live("is shown with the event's id, and taken in its place", () =>
    Effect.flatMap(terminal(project), ({ json, run }) =>
      Effect.promise(async () => {
        const send = (signal: string) => run("signal", "shop", "--signal", signal, "--payload", "1", "--id", "my-own-id", "--wait", "60")
        assert.match((await send("/signals/fix/a")).stdout, /^dead [0-9a-f]{32} \(my-own-id\)/)
        const { id } = await json("cell", "get", "shop", "/rt/receipts/my-own-id") as { readonly id: string }
        const both = `${id} (my-own-id)`
        assert.include((await run("dead", "ls", "shop")).stdout, both)
        assert.include((await run("dead", "show", "shop", "my-own-id", "fix")).stdout, both)
        await json("cell", "set", "shop", "/data/mended", "true")
        assert.include((await run("dead", "send", "shop", "my-own-id", "fix")).stdout, both)
        await send("/signals/fix/b")
        assert.include((await run("why", "shop", "/data/fixed")).stdout, "(my-own-id)")
        const ambiguous = await run("cell", "get", "shop", "/rt/receipts/my-own-id")
        assert.strictEqual(ambiguous.code, 2)
        for (const text of ["id/ambiguous", "names 2 events", id]) assert.include(ambiguous.stderr, text)
        assert.strictEqual((await run("cell", "get", "shop", "/rt/receipts/another-id")).code, 3)
        const refused = await run("signal", "shop", "--signal", "/signals/fix/c", "--id", "x.12.0")
        assert.strictEqual(refused.code, 2)
        assert.include(refused.stderr, "signal/invalid")
      })))
})
