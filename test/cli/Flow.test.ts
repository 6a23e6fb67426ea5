import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { relative } from "node:path"
import { fileURLToPath } from "node:url"
import { terminal } from "./Terminal.ts"

const enzymes = fileURLToPath(new URL("../../enzymes", import.meta.url))

const pack = `import { Flow } from "systole"
export default Flow.make({
  name: "pack",
  steps: {
    ask: { transform: () => ({ due_off: 5000 }) },
    packed: { wait: "ask", otherwise: "done" }
  }
})
`

describe("systole flow", () => {
  it.live("lists flows and their instances, starts, shows and follows one, pauses, resumes and cancels it", () =>
    Effect.flatMap(terminal({ "enzymes/pack.ts": pack }), ({ json, root, run, write }) =>
      Effect.promise(async () => {
        write(
          "systole.config.ts",
          `export default ${JSON.stringify({
            enzymes: ["enzymes", relative(root, enzymes)],
            system: ["inst_ing", "mr_init", "mr_route", "rv_init"],
            spaces: { create: "on-demand" }
          })}\n`
        )
        await json("signal", "shop", "--signal", "/CEP:sig_sys/init", "--wait", "60")
        const declared = await run("flow", "declared")
        for (const part of ["pack", "ask", "transform", "→ packed", "wait"]) assert.include(declared.stdout, part)
        for (const id of ["one", "two"]) await json("flow", "start", "shop", "pack", "--inst", id, "--input", `{"boxes":2}`)
        const rows = await json("flow", "ls", "shop") as ReadonlyArray<{ readonly inst: string }>
        assert.deepStrictEqual(rows.map(({ inst }) => inst), ["one", "two"])
        assert.include((await run("flow", "ls", "shop", "--limit", "1")).stderr, "--after one")
        assert.deepInclude(await json("flow", "pause", "shop", "one") as object, { inst: "one" })
        const shown = await run("flow", "show", "shop", "one")
        for (const part of ["one pack paused", `{"boxes":2}`]) assert.include(shown.stdout, part)
        await json("flow", "resume", "shop", "one")
        assert.property(await json("flow", "watch", "shop", "one", "--times", "1"), "state")
        await json("flow", "cancel", "shop", "two")
        assert.include((await run("flow", "show", "shop", "two")).stdout, "cancelled")
        const absent = await run("flow", "cancel", "shop", "none")
        assert.deepStrictEqual([absent.code, /flow\/absent/.test(absent.stderr)], [3, true])
        assert.strictEqual((await run("flow", "start", "shop", "none")).code, 3)
      })))
})
