import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { MemoryStore, Redacted } from "systole"
import sqlite from "../../plugins/sqlite.ts"
import { Reporter } from "../../src/diagnostic/Reporter.ts"
import * as Config from "../../src/loader/Config.ts"
import * as Project from "../../src/main/composition/Project.ts"
import * as Slices from "../../src/main/composition/Slices.ts"
import * as HostPacemaker from "../../src/main/host/HostPacemaker.ts"
import * as ManifestModules from "../../src/main/module/ManifestModules.ts"

/** The answers of a project with pages, to the operator. */
const opened = (pages: Config.Definition["pages"] & {}, bundle: () => Promise<string>) => {
  const root = mkdtempSync(join(tmpdir(), "systole-pages-"))
  return Effect.gen(function*() {
    const told: Array<string> = []
    const project = yield* Project.open(yield* Config.decode({ pages }), {
      root, slices: Slices.all, modules: ManifestModules.layer({ "systole/plugins/sqlite": { module: sqlite, hash: "" } }),
      pacemaker: HostPacemaker.layer((run) => void setImmediate(run)), persistence: MemoryStore.layer, isOwnProcess: false,
      reporter: new Reporter(({ cause }) => void told.push(String(cause))), pageModule: bundle
    })
    const headers = { authorization: `Bearer ${Redacted.value(project.localToken)}` }
    const ask = async (path: string) => {
      const answer = await project.app.fetch(new Request(`http://localhost${path}`, { headers }))
      return { status: answer.status, text: await answer.text() }
    }
    return { ask, told }
  }).pipe(Effect.tap(() => Effect.addFinalizer(() => Effect.sync(() => rmSync(root, { recursive: true, force: true })))))
}

describe("A page of a project", () => {
  it.live("whose module could not be bundled is bundled anew for the next request", () =>
    Effect.gen(function*() {
      let attempts = 0
      const { ask } = yield* opened({ "/page": { html: "<p>", module: "page.ts" } }, () =>
        ++attempts === 1 ? Promise.reject(new Error("the file is busy")) : Promise.resolve("console.log(1)"))
      yield* Effect.promise(async () => {
        assert.strictEqual((await ask("/page")).status, 500)
        for (const path of ["/page", "/page"]) assert.deepInclude(await ask(path), { status: 200 })
        assert.strictEqual(attempts, 2)
      })
    }))

  it.live("ends its script where it ends, whatever texts are in it", () =>
    Effect.gen(function*() {
      const script = "console.log(\"<!--<script>\", /<!--/u.test(\"<!--\"))"
      const { ask, told } = yield* opened({
        "/module": { html: "<p>", module: "page.ts" },
        "/own": () => ({ html: "<p>", script }),
        "/end": () => ({ html: "<p>", script: "\"</SCRIPT>\"" }),
        "/good": () => ({ html: "<!-- a comment --><p>", script: "console.log(1)" })
      }, async () => script)
      yield* Effect.promise(async () => {
        const { status, text } = await ask("/module")
        assert.strictEqual(status, 200)
        const [, sent = ""] = /<script type="module">(.*)<\/script>$/.exec(text) ?? assert.fail(text)
        assert.notInclude(sent, "<!--")
        const lines: Array<unknown> = []
        new Function("console", sent)({ log: (...given: ReadonlyArray<unknown>) => lines.push(...given) })
        assert.deepStrictEqual(lines, ["<!--<script>", true])
        for (const [path, shown] of [["/own", "<!--"], ["/end", "</SCRIPT"]] as const) {
          assert.strictEqual((await ask(path)).status, 500)
          assert.include(told.join("\n"), `the script of a page has the text ${shown},`)
        }
        assert.strictEqual((await ask("/good")).status, 200)
      })
    }))
})
