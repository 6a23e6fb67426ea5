import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { terminal } from "./Terminal.ts"

const project = {
  "systole.config.ts": `import { defineConfig } from "systole"
export default defineConfig({
  pages: { "/": { html: ({ get }) => "<p id=total>", module: "page.ts" } }
})
`,
  "cells.ts": `import { Cell, Schema } from "systole/cells"
export const Total = Cell.of("/data/total", Schema.Natural)
`,
  "page.ts": `import { connect } from "systole/client"
import { Total } from "./cells.ts"
const text: string = "</script>"
document.title = text
connect().space("home").get(Total)
`
}

/** The script of the page of a server. */
const scriptOf = async (url: string): Promise<string> =>
  /<script type="module">([^]*?)<\/script>/.exec(await (await fetch(url)).text())?.[1] ?? ""

describe("The module of a page", () => {
  it.live("is bundled with the client and the cells, and anew after a change under dev", () =>
    Effect.gen(function*() {
      const { root, serve } = yield* terminal(project)
      const { url, told } = yield* Effect.promise(() => serve("dev"))
      yield* Effect.promise(async () => {
        const script = await scriptOf(url)
        for (const part of ["/data/total", "authorization", "<\\/script>"]) assert.include(script, part)
        assert.notInclude(script, "import {")
        assert.notInclude(script, "~effect/")
        writeFileSync(join(root, "page.ts"), "document.title = 'changed'\n")
        assert.include(await scriptOf(url), "changed")
        writeFileSync(join(root, "page.ts"), "import { Enzyme } from 'systole'\nconsole.log(Enzyme)\n")
        assert.strictEqual((await fetch(url)).status, 500)
        await told("Module page.ts is not loaded: page.ts:1:24: \"systole\" is no part of a page")
      })
    }).pipe(Effect.scoped))

  it.live("is a part of a build, and its error refuses the build", () =>
    Effect.gen(function*() {
      const { root, run } = yield* terminal(project)
      const build = () => Effect.promise(() => run("build", "--target", "node"))
      assert.strictEqual((yield* build()).code, 0)
      const folder = join(root, "dist", "node")
      const texts = readdirSync(folder).filter((name) => name.endsWith(".js")).map((name) => readFileSync(join(folder, name), "utf8"))
      assert.isTrue(texts.some((text) => text.includes("document.title")))
      writeFileSync(join(root, "page.ts"), "import './none.ts'\n")
      const refused = yield* build()
      assert.include(refused.stderr, "Module page.ts is not loaded: page.ts:1:8: Could not resolve \"./none.ts\"")
      assert.strictEqual(refused.code, 2)
    }).pipe(Effect.scoped))
})
