import { assert, describe, it } from "@effect/vitest"
import { Miniflare } from "miniflare"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { bundle, root } from "./Bundle.ts"

/** The folders of `src/` that are the same on every host. */
const portable = ["cell", "persistence", "stage", "diagnostic", "registry", "scheduler", "operation", "rendezvous", "flow", "reactor", "kernel"]

const filesOf = (folder: string): ReadonlyArray<string> => {
  const path = join(root, "src", folder)
  return existsSync(path)
    ? readdirSync(path, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts")).map((file) => `./src/${folder}/${file}`)
    : []
}

/** The last day whose rules give a Worker no module of Node's unasked. */
const COMPATIBILITY_DATE = "2026-08-03"

const running = async <A>(script: string, use: (fetch: (url: string, init?: object) => Promise<string>) => Promise<A>): Promise<A> => {
  const worker = new Miniflare({ modules: true, script, compatibilityDate: COMPATIBILITY_DATE, cf: false })
  try {
    return await use(async (url, init) => (await worker.dispatchFetch(url, init)).text())
  } finally {
    await worker.dispose()
  }
}

describe("Worker", () => {
  it("is built from floors 0 to 5 with nothing of a host", async () => {
    const files = portable.flatMap(filesOf)
    assert.isAbove(files.length, 20)
    const { imports } = await bundle(files.map((file, i) => `export * as f${i} from "${file}"`).join("\n"))
    assert.deepStrictEqual(imports, [])
  })

  it("cannot be built with a module of a host", async () => {
    const failure = await bundle("export * from \"node:fs\"").then(() => "", (error: Error) => error.message)
    assert.include(failure, "Could not resolve \"node:fs\"")
  })

  it("runs in workerd", async () => {
    const { text } = await bundle("export { default } from \"./test/runtime/worker.ts\"")
    const answer = await running(text, (fetch) => fetch("http://worker/", { method: "POST", body: "{\"b\":1,\"a\":2}" }))
    assert.include(answer, "\"value\":{\"a\":2,\"b\":1}")
    assert.include(answer, "\"1970-01-01T00:00:00.000Z\"")
  })
})
