import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { terminal } from "./Terminal.ts"

const count = `import { Enzyme } from "systole"
export default Enzyme.make({ name: "count", query: "/signals/count", run: (tx) => tx.increment("/data/n") })
`

const project = { "enzymes/count.ts": count, "systole.config.ts": `export default { spaces: { create: "on-demand" } }\n` }

describe("systole pause, rollback, resume, shutdown and restart", () => {
  it.live("stop a space, take it back, let it go on, and tell how it stands", () =>
    Effect.flatMap(terminal(project), ({ json, run }) =>
      Effect.promise(async () => {
        await json("space", "create", "shop")
        const receipt = await json("signal", "shop", "--signal", "/signals/count", "--wait", "10") as { readonly beat: number }
        await json("signal", "shop", "--signal", "/signals/count", "--wait", "10")
        assert.deepInclude(await json("pause", "shop") as object, { state: "paused", control: null, locks: [{ cell: "/data", by: "OPS:7.x.0" }] })
        const parked = await run("signal", "shop", "--signal", "/signals/count", "--wait", "0")
        assert.strictEqual(parked.code, 5)
        assert.strictEqual((await run("cell", "set", "shop", "/data/n", "7")).stderr.includes("cell/locked"), true)
        assert.deepInclude(await json("rollback", "shop", String(receipt.beat)) as object, { view_hzn: receipt.beat, parked: 1 })
        assert.strictEqual(await json("cell", "get", "shop", "/data/n"), 1)
        const state = await run("space", "state", "shop")
        for (const line of ["paused", "1 signals wait", `rolled back to beat ${receipt.beat}`, "/data is locked by OPS:7.x.0"]) assert.include(state.stdout, line)
        assert.include((await run("resume", "shop")).stdout, "resumed shop")
        assert.strictEqual(await json("cell", "get", "shop", "/data/n"), 2)
        const refused = await run("rollback", "shop", "1")
        assert.strictEqual(refused.code, 1)
        assert.include(refused.stderr, "not paused")
        assert.strictEqual((await run("rollback", "shop", "x")).code, 2)
        assert.deepInclude(await json("shutdown", "shop") as object, { state: "halted" })
        assert.deepInclude(await json("restart", "shop") as object, { state: "running" })
        await json("space", "lock", "shop", "/data")
        const failed = await run("pause", "shop")
        assert.strictEqual(failed.code, 1)
        assert.include(failed.stderr, "/data is locked by (outside)")
        await json("space", "unlock", "shop", "/data")
        assert.strictEqual((await run("journal", "verify", "shop")).code, 0)
        assert.strictEqual((await run("replay", "shop")).code, 0)
      })), 120_000)
})
