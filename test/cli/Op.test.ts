import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { terminal } from "./Terminal.ts"

const render = `import { Enzyme } from "systole"
export default Enzyme.make({
  name: "render",
  query: "/signals/render",
  run: (tx, { payload }) => {
    for (let i = 0; i < payload; i++) tx.op.start({ verb: "op/many", target: "/data/scene", mode: "opm:states" })
    const oid = tx.op.start({ verb: "op/render", target: "/data/scene", mode: "opm:states", payload: { size: 2 } })
    tx.op.await(oid, "sts:ok", { signal: "/signals/render", ttl: 1000 })
    tx.op.setState(oid, "ist:plan", { note: "soon" })
  }
})
`
const project = { "enzymes/render.ts": render, "systole.config.ts": `export default { spaces: { create: "on-demand" } }\n` }

describe("systole op", () => {
  it.live("lists operations, shows and follows one, and cancels it", () =>
    Effect.flatMap(terminal(project), ({ json, run }) =>
      Effect.promise(async () => {
        await run("space", "create", "shop")
        for (const n of [0, 0]) await run("signal", "shop", "--signal", "/signals/render", "--payload", `${n}`, "--wait", "60")
        const [boot, ...operations] =
          await json("op", "ls", "shop") as ReadonlyArray<{ readonly oid: string; readonly state: string; readonly verb: string }>
        assert.strictEqual(boot?.verb, "op/boot")
        assert.deepStrictEqual(operations.map(({ state }) => state), ["ist:plan", "ist:plan"])
        const { oid } = operations[0]!
        const page = await run("op", "ls", "shop", "--limit", "2")
        assert.include(page.stdout, "op/render")
        assert.include(page.stderr, `--after ${oid}`)
        assert.deepStrictEqual(await json("op", "ls", "shop", "--after", oid), [operations[1]])
        assert.deepStrictEqual(await json("op", "ls", "shop", "--after", "OPS:999999.x.0"), [], "behind one that is gone")
        const shown = await run("op", "show", "shop", oid)
        for (const part of [oid, "ist:plan", "soon", `{"size":2}`, "OPH:1", "OPW:1 render awaits sts:ok", "open"]) {
          assert.include(shown.stdout, part)
        }
        assert.deepInclude(await json("op", "watch", "shop", oid, "--times", "1") as object, { state: "ist:plan", watchers: 1 })
        assert.deepInclude(await json("op", "cancel", "shop", oid) as object, { oid })
        assert.include((await run("op", "show", "shop", oid)).stdout, "closed sts:cnl")
        await run("signal", "shop", "--signal", "/signals/render", "--payload", "12", "--wait", "60")
        const many = await json("op", "ls", "shop") as ReadonlyArray<{ readonly oid: string }>
        const numbers = many.slice(3).map(({ oid }) => Number(oid.split(".")[2]))
        assert.deepStrictEqual(numbers, Array.from({ length: 13 }, (_, i) => i))
        const less = await run("op", "ls", "shop", "--limit", "-1")
        assert.strictEqual(less.code, 2)
        assert.include(less.stderr, "-1 is no count")
        const absent = await run("op", "cancel", "shop", "OPS:9.9.9")
        assert.strictEqual(absent.code, 3)
        assert.include(absent.stderr, "ops/absent")
      })))
})
