import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
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
  "systole export home home.frame": "test/cli/Archive.test.ts",
  "systole frame verify home.frame": "test/cli/Archive.test.ts",
  "systole restore home.frame home": "test/cli/Archive.test.ts",
  "systole import home.frame copy": "test/cli/Archive.test.ts",
  "systole space release copy": "test/cli/Archive.test.ts",
  "systole space release copy --drop requests,timers": "test/cli/Archive.test.ts",
  "npm ci --omit=dev && npm run demo": "test/scripts/Demo.test.ts",
  "npm ci && npm test": ".ci/run",
  "npm ci && npm run ok": "test/scripts/Checks.test.ts",
  "npm ci && npm pack": "test/package/Package.test.ts",
  "cd .. && npx --yes ./systole/systole-0.1.0.tgz new project hello": "test/package/Package.test.ts",
  "cd hello && npm install": "test/package/Package.test.ts",
  "node --inspect node_modules/systole/dist/command/systole.js dev": "test/cli/Debug.test.ts",
  "npx systole build --target node": "test/main/build/Build.test.ts",
  "npx systole build --target workers": "test/main/build/Build.test.ts",
  "cd dist/workers && npx wrangler secret put SYSTOLE_TOKEN && npx wrangler deploy": "test/runtime/Build.test.ts",
  "cd dist/node && node systole.js": "test/main/build/Build.test.ts",
  "npm run demo": "test/scripts/Demo.test.ts",
  "npm run demo -- FILE…": "test/scripts/Demo.test.ts",
  "npm start": "test/scripts/Demo.test.ts",
  "npm run demo:agent": "test/examples/Watchman.test.ts",
  "node site.ts": "test/examples/Watchman.test.ts",
  "npx systole agent check": "test/cli/Agent.test.ts",
  "npx systole agent approve": "test/cli/Agent.test.ts",
  "npx systole agent approve HASH": "test/cli/Agent.test.ts",
  "npx systole agent run": "test/cli/AgentRun.test.ts",
  "systole backup /backups --all": "test/cli/Backup.test.ts",
  "systole backups ls /backups": "test/cli/Backup.test.ts",
  "npx systole --help": "test/docs/Generated.test.ts",
  "npx systole start --permission": "test/cli/Held.test.ts",
  "npm run bench -- NAME [--json] [--host node|deno|bun]": "test/bench/Bench.test.ts",
  "npm run bench -- watch COMMIT": "test/bench/Watch.test.ts"
}

/** The pages without their generated parts, in which usage lines stand. */
const written = (text: string): string => text.replaceAll(/<!-- (\w+) -->[\s\S]*?<!-- \/\1 -->/g, "")

/** The indented commands of a page. */
const indented = (text: string): ReadonlyArray<string> =>
  [...written(text).replaceAll(/^```[\s\S]*?^```$/gm, "").matchAll(/^ {4}((?:npm|npx|cd|node|systole|python3) .*)$/gm)]
    .map(([, line = ""]) => line.replace(/\s{2,}#? .*/, ""))

describe("The README", () => {
  it("says how to run every test, as CI does", () => {
    const { text } = Pages.read("README.md")
    assert.include(text, "\n    npm ci && npm test\n\nruns every test: on Node, in workerd, on the package, and some on Deno and Bun.\n")
    assert.match(readFileSync(join(root, ".ci/run"), "utf8"), /^npm ci\nnpm test$/m)
  })
})

describe("The pages", () => {
  const walked = pages.filter(({ path, text }) => path !== "examples/README.md" && /^```console$/m.test(text))

  it.live.each(walked)("$path works as it says", ({ path, text }) => {
    const folder = dirname(path)
    return walk(text, folder.startsWith("examples/") ? join(root, folder) : undefined)
  })

  it("show no command that no test runs", () => {
    const commands = pages.flatMap(({ text }) => indented(text))
    assert.deepStrictEqual(commands.filter((line) => elsewhere[line] === undefined), [])
    for (const test of Object.values(elsewhere)) assert.isNotEmpty(readFileSync(join(root, test), "utf8"))
  })

  it("name scripts that there are, and all of them", () => {
    const script = /\bnpm (?:run (\w+(?::\w+)*)|(start|test))\b/g
    const namedBy = ({ text }: Pages.Page) => [...text.matchAll(script)].map(([, run, own = ""]) => run ?? own)
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
