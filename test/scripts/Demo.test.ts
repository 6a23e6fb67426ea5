import { assert, describe, it } from "@effect/vitest"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { node, root } from "./Host.ts"
import { run } from "./Process.ts"
import { start } from "./Server.ts"

/** Runs `npm run demo` over a temporary data folder. */
const demo = async (
  test: (data: string, demo: (...args: ReadonlyArray<string>) => ReturnType<typeof run>) => Promise<void>
): Promise<void> => {
  const data = mkdtempSync(join(tmpdir(), "systole-demo-"))
  try {
    await test(data, (...args) => run([node(), "test/scripts/run.mjs", "demo", "--data", data, ...args]))
  } finally {
    rmSync(data, { recursive: true, force: true })
  }
}

/** The scripts that the README's section names, in its order. */
const shown = (): ReadonlyArray<string> => {
  const [, section = ""] = /^## See it work$([\s\S]*?)^## /m.exec(readFileSync(join(root, "README.md"), "utf8")) ?? []
  return [...section.matchAll(/npm (?:run (demo(?: -- FILE…)?)|(start))/g)].map(([, run, own = ""]) => run ?? own)
}

/** The gallery that `npm start` shows over a data folder. */
const gallery = async (data: string): Promise<string> => {
  const server = await start(root, data, { line: [node(), "test/scripts/run.mjs", "start", "--port", "0"] })
  try {
    return await (await fetch(`${server.url}/gallery`)).text()
  } finally {
    await server.end("SIGTERM")
  }
}

describe("npm run demo", () => {
  it("works if a reader repeats the README's commands in one folder, also after files of the space were deleted", () =>
    demo(async (data, demo) => {
      assert.deepStrictEqual(shown(), ["demo", "demo -- FILE…", "start"])
      const first = await demo()
      assert.strictEqual(first.code, 0, first.output)
      rmSync(join(data, "photos.sqlite"))
      const second = await demo(join("examples", "thumbnails", "photos", "rocket.jpg"))
      assert.strictEqual(second.code, 0, second.output)
      const page = await gallery(data)
      assert.include(page, "rocket")
      assert.notInclude(page, "blossom")
      const again = await demo()
      assert.strictEqual(again.code, 0, again.output)
    }))

  it("lists a file that is no photograph as a dead letter with its beat, and succeeds", () =>
    demo(async (_data, demo) => {
      const { code, output } = await demo("README.md")
      assert.strictEqual(code, 0, output)
      assert.notInclude(output, "AbortError")
      assert.match(output, /became a dead letter of resize_image: .*README\.md/)
      assert.match(output, /agenda {2}enzyme=.* target=\/env\/fs\/projects\/p1\/README\.md/)
    }))

  it("prints how to view the result, and the server of the example shows it", () =>
    demo(async (data, demo) => {
      const { code, output } = await demo()
      assert.strictEqual(code, 0, output)
      assert.match(output.trimEnd().split("\n").at(-1) ?? "", /npm start.*\/gallery/)
      const server = await start(join(root, "examples", "thumbnails"), data)
      try {
        const page = await (await fetch(`${server.url}/gallery`)).text()
        for (const name of ["blossom", "chelsea", "rocket"]) assert.include(page, name)
        const image = /\/v1\/spaces\/photos\/blobs\/[0-9a-f]{64}/.exec(page)?.[0]
        assert.strictEqual((await fetch(`${server.url}${image}`)).status, 200)
        const refused = await demo()
        assert.strictEqual(refused.code, 1)
        assert.include(refused.output, server.url)
      } finally {
        await server.end("SIGTERM")
      }
    }))

  it("reports a missing file in one line", () =>
    demo(async (_data, demo) => {
      const { code, output } = await demo("src")
      assert.deepStrictEqual([code, output.trimEnd().split("\n").length], [2, 1], output)
    }))
})
