import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../scripts/Host.ts"
import * as Pages from "./Pages.ts"
import { walk } from "./Walk.ts"

const pages = Pages.all()
const { optionalDependencies, dependencies, scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Readonly<Record<string, Readonly<Record<string, string>>>>

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
  [...text.replaceAll(/^```[\s\S]*?^```$/gm, "").matchAll(/^ {4}(\S.*)$/gm)].map(([, line]) => line!.replace(/\s{2,}#.*/, "")).filter((line) => /^(?:npm|npx|cd|node) /.test(line))

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
  const walked = pages.filter(({ path, text }) => path !== "examples/README.md" && Pages.blocksOf(text).some(({ language }) => language === "console"))

  it.live.each(walked)("$path works as it says", ({ text }) => walk(text), 60_000)

  it("name scripts that there are, and all of them", () => {
    const named = new Set(pages.flatMap(({ text }) => [...text.matchAll(/\bnpm (?:run )?(demo|start|test|(?<=npm run )\w+)\b/g)].map((match) => match[1]!)))
    for (const name of named) assert.isDefined(scripts![name], name)
    const silent = new Set(["prepack", "typecheck", "lint", "build"])
    assert.deepStrictEqual(Object.keys(scripts!).filter((name) => !named.has(name) && !silent.has(name)), [])
  })

  it("list every dependency with its reason", () => {
    const { text } = Pages.read("src/main/README.md")
    for (const name of [...Object.keys(dependencies!), ...Object.keys(optionalDependencies!)]) assert.include(text, `\`${name}\``)
  })
})
