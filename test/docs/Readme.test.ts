import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../scripts/Host.ts"
import * as Pages from "./Pages.ts"
import { walk } from "./Walk.ts"

const pages = Pages.all()
type Names = Readonly<Record<string, string>>

const { dependencies, optionalDependencies, scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly [field in "dependencies" | "optionalDependencies" | "scripts"]: Names
}

/** Commands that are run elsewhere, each by the test that runs it or its like. */
const elsewhere: Readonly<Record<string, string>> = {
  "npm ci --omit=dev && npm run demo": "test/scripts/Demo.test.ts",
  "npm ci && npm test": ".ci/run",
  "npm ci && npm pack": "test/package/Package.test.ts",
  "cd .. && npx --yes ./systole/systole-0.1.0.tgz new project hello": "test/package/Package.test.ts",
  "cd hello && npm install": "test/package/Package.test.ts"
}

/** The indented commands of a page. */
const indented = (text: string): ReadonlyArray<string> =>
  [...text.replaceAll(/^```[\s\S]*?^```$/gm, "").matchAll(/^ {4}((?:npm|npx|cd|node) .*)$/gm)].map(([, line]) => line!)

describe("The README", () => {
  it("says how to run every test, as CI does", () => {
    const { text } = Pages.read("README.md")
    assert.include(text, "\n    npm ci && npm test\n\nruns every test: on Node, Deno and Bun, in workerd, and on the packed package.\n")
    assert.match(readFileSync(join(root, ".ci/run"), "utf8"), /^npm ci\nnpm test$/m)
  })

  it("shows no command that no test runs", () => {
    for (const line of indented(Pages.read("README.md").text)) assert.property(elsewhere, line)
    for (const test of Object.values(elsewhere)) assert.isNotEmpty(readFileSync(join(root, test), "utf8"))
  })
})

describe("The pages", () => {
  const walked = pages.filter(({ path, text }) => path !== "examples/README.md" && /^```console$/m.test(text))

  it.live.each(walked)("$path works as it says", ({ text }) => walk(text), 60_000)

  it("name scripts that there are, and all of them", () => {
    const namedBy = ({ text }: Pages.Page) => [...text.matchAll(/\bnpm (?:run (\w+)|(start|test))\b/g)].map(([, run, own]) => run ?? own!)
    const named = new Set(pages.flatMap(namedBy))
    for (const name of named) assert.property(scripts, name)
    const silent = new Set(["prepack", "typecheck", "lint", "build"])
    assert.deepStrictEqual(Object.keys(scripts).filter((name) => !named.has(name) && !silent.has(name)), [])
  })

  it("list every dependency with its reason", () => {
    const { text } = Pages.read("src/main/README.md")
    for (const name of [...Object.keys(dependencies), ...Object.keys(optionalDependencies)]) assert.include(text, `\`${name}\``)
  })
})
