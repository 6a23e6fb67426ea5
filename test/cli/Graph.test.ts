import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { terminal } from "./Terminal.ts"

const module = (kind: string, fields: string) => `import { ${kind} } from "systole"\nexport default ${kind}.make({ ${fields} })\n`
const project = {
  "enzymes/double.ts": module("Computation", `name: "double", output: "/data/double", run: (tx) => Number(tx.get("/data/one") ?? 0) * 2`),
  "enzymes/show.ts": module("Effect", `name: "show", read: (tx) => tx.get("/data/double"), deliver: () => {}`)
}

describe("systole graph", () => {
  it.live("prints and draws the nodes of a space and their edges", () =>
    Effect.flatMap(terminal(project), ({ json, run }) =>
      Effect.promise(async () => {
        await run("space", "create", "shop")
        await run("cell", "set", "shop", "/data/one", "4")
        const { edges } = await json("graph", "shop") as { readonly edges: unknown }
        assert.deepStrictEqual(edges, [{ from: "double", to: "show", address: "/data/double", back: false }])
        const { stdout } = await run("graph", "shop")
        assert.match(stdout, /^double +computation +clean +live .*\/data\/double$/m)
        assert.include(stdout, "double → show  /data/double")
        assert.include(stdout, "2 nodes, 1 edge, 2 live, 0 to run")
        assert.match((await run("graph", "shop", "--format", "mermaid")).stdout, /^flowchart LR/)
        assert.strictEqual((await run("graph", "nowhere")).code, 3)
      })))
})
