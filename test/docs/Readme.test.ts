import { assert, describe, it } from "@effect/vitest"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { root } from "../scripts/Host.ts"
import { start } from "../scripts/Server.ts"

const readme = readFileSync(join(root, "README.md"), "utf8")

/** The files that the README shows, by their names. */
const files = [...readme.matchAll(/^```ts (\S+)\n([\s\S]*?)^```$/gm)].map((match) => [match[1]!, match[2]!] as const)

/** The requests that the README sends with curl: headers and body. */
const requests = [...readme.matchAll(/curl -X POST \S+(\/v1\/\S+) ([\s\S]*?) -d '([^']*)'/g)].map((match) => ({
  path: match[1]!,
  headers: Object.fromEntries([...match[2]!.matchAll(/-H '([^:]+): ([^']+)'/g)].map(([, name, value]) => [name!, value!])),
  body: match[3]!
}))

describe("The README", () => {
  it("shows an enzyme that answers as it says, once per idempotency key", { timeout: 30_000 }, async () => {
    assert.deepStrictEqual(files.map(([file]) => file), ["enzymes/place_order.ts", "enzymes/total.ts", "systole.config.ts"])
    assert.strictEqual(requests.length, 1)
    const project = mkdtempSync(join(tmpdir(), "systole-readme-"))
    try {
      for (const [file, text] of files) {
        mkdirSync(dirname(join(project, file)), { recursive: true })
        writeFileSync(join(project, file), text)
      }
      const server = await start(project, join(project, ".data"))
      const { body, headers, path } = requests[0]!
      const answers = []
      for (let i = 0; i < 2; i++) {
        const response = await fetch(`${server.url}${path}`, { method: "POST", headers, body })
        assert.strictEqual(response.status, 200)
        answers.push(await response.json())
      }
      assert.deepStrictEqual(answers[1], answers[0])
      assert.strictEqual((answers[0] as { readonly status: string }).status, "handled")
      const sold = await fetch(`${server.url}/v1/spaces/home/cells/data/sold/tea`)
      assert.strictEqual(await sold.json(), 2)
      const total = await fetch(`${server.url}/v1/spaces/home/cells/data/total?pull`)
      assert.strictEqual(await total.json(), 2)
      await server.end("SIGTERM")
    } finally {
      rmSync(project, { recursive: true, force: true })
    }
  })

  it("names scripts that there are, and all of those that a user needs", () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { readonly scripts: Readonly<Record<string, string>> }
    const named = new Set([...readme.matchAll(/npm (?:run )?(demo|start|test|ok|conformance|mutants|bench|\w+)\b/g)].map((match) => match[1]!))
    for (const name of ["demo", "start", "test", "ok", "conformance", "mutants", "bench"]) {
      assert.isTrue(named.has(name), name)
      assert.isDefined(scripts[name], name)
    }
  })

  it("lists every dependency with its reason", () => {
    const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Readonly<Record<string, Readonly<Record<string, string>>>>
    for (const name of [...Object.keys(dependencies!), ...Object.keys(optionalDependencies!)]) assert.include(readme, `\`${name}\``)
  })
})
