import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { relative } from "node:path"
import { fileURLToPath } from "node:url"
import { terminal } from "./Terminal.ts"

const enzymes = fileURLToPath(new URL("../../enzymes", import.meta.url))

const work = `import { Enzyme } from "systole"
export default Enzyme.make({
  name: "work",
  query: "/signals/work",
  run: (tx) => ["one", "two"].forEach((key) => tx.rv.spawn({ key, due: 5000, telemetry: { asked: true } }))
})
`

describe("systole rv", () => {
  it.live("lists, shows, follows, reschedules, reports and ends rendezvous", () =>
    Effect.flatMap(terminal({ "enzymes/work.ts": work }), ({ json, root, run, write }) =>
      Effect.promise(async () => {
        write(
          "systole.config.ts",
          `export default ${JSON.stringify({
            enzymes: ["enzymes", relative(root, enzymes)],
            system: ["inst_ing", "mr_init", "mr_route", "rv_init"],
            spaces: { create: "on-demand" }
          })}\n`
        )
        for (const signal of ["/CEP:sig_sys/init", "/signals/work"]) await json("signal", "shop", "--signal", signal, "--wait", "60")
        const rows = await json("rv", "ls", "shop") as ReadonlyArray<{ readonly key: string; readonly state: string }>
        assert.deepStrictEqual(rows.map(({ key, state }) => [key, state]), [["one", "pending"], ["two", "pending"]])
        const page = await run("rv", "ls", "shop", "--limit", "1")
        assert.include(page.stdout, "due 5000")
        assert.include(page.stderr, "--after one")
        const shown = await run("rv", "show", "shop", "one")
        for (const part of ["pending", "rv-fixed", `{"asked":true}`, "CEP:sig_rv/one"]) assert.include(shown.stdout, part)
        await json("rv", "resched", "shop", "one", "--delta", "1s")
        await json("rv", "resched", "shop", "one", "--delta=-5")
        assert.deepInclude(await json("rv", "watch", "shop", "one", "--times", "1") as object, { state: "pending", due: "5005" })
        process.env["SYSTOLE_RV_TOKEN"] = "0".repeat(64)
        const wrong = await run("rv", "report", "shop", "one")
        delete process.env["SYSTOLE_RV_TOKEN"]
        assert.deepStrictEqual([wrong.code, /rv\/token/.test(wrong.stderr)], [1, true])
        await json("rv", "report", "shop", "one", "--telemetry", `{"frames":3}`)
        assert.deepInclude(await json("rv", "show", "shop", "one") as object, { state: "applied", telemetry: { frames: 3 } })
        const free = await run("rv", "release", "shop", "two")
        assert.deepStrictEqual([free.code, /rv\/not-quarantined/.test(free.stderr)], [1, true])
        await json("rv", "kill", "shop", "two", "--mode", "cancel", "--wait", "9")
        assert.deepInclude(await json("rv", "show", "shop", "two") as object, { kill_mode: "cancel" })
        await json("rv", "kill", "shop", "two")
        assert.deepInclude(await json("rv", "show", "shop", "two") as object, { state: "killed" })
        const absent = await run("rv", "kill", "shop", "none")
        assert.strictEqual(absent.code, 3)
        assert.include(absent.stderr, "rv/absent")
      })))
})
