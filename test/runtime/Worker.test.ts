import { assert, describe, it } from "@effect/vitest"
import { Miniflare } from "miniflare"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import type { Receipt } from "systole"
import { bundle, modulesOf, root } from "./Bundle.ts"
import { COMPATIBILITY_DATE, script } from "./Edge.ts"

/** The host-independent folders of `src/`. */
const portable =
  ["cell", "persistence", "stage", "diagnostic", "registry", "scheduler", "operation", "rendezvous", "flow", "reactor", "kernel"]

const filesOf = (folder: string): ReadonlyArray<string> => {
  const path = join(root, "src", folder)
  return existsSync(path)
    ? readdirSync(path, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts")).map(
      (file) => `./src/${folder}/${file}`
    )
    : []
}


const running = async <A>(script: string, use: (fetch: (url: string, init?: object) => Promise<string>) => Promise<A>): Promise<A> => {
  const worker = new Miniflare({ ...modulesOf(script), compatibilityDate: COMPATIBILITY_DATE, cf: false, kvNamespaces: ["CACHE"] })
  try {
    return await use(async (url, init) => (await worker.dispatchFetch(url, init)).text())
  } finally {
    await worker.dispose()
  }
}

/** The response of the Worker that runs one beat. */
interface Answer {
  readonly receipt: Receipt
  readonly head: number
  readonly greeting: unknown
}

describe("Worker", () => {
  it("is built from floors 0 to 6 without modules of a host", async () => {
    const files = portable.flatMap(filesOf)
    assert.isAbove(files.length, 20)
    const { imports } = await bundle(files.map((file, i) => `export * as f${i} from "${file}"`).join("\n"))
    assert.deepStrictEqual(imports, [])
  })

  it("cannot be built with a module of a host", async () => {
    const failure = await bundle("export * from \"node:fs\"").then(() => "", (error: Error) => error.message)
    assert.include(failure, "Could not resolve \"node:fs\"")
  })

  it("runs a beat in workerd", async () => {
    const { imports, text } = await bundle("export { default } from \"./test/runtime/beat.ts\"")
    assert.deepStrictEqual(imports, [])
    const answer =
      JSON.parse(await running(text, (fetch) => fetch("http://worker/", { method: "POST", body: "{\"who\":\"world\"}" }))) as Answer
    assert.strictEqual(answer.receipt.status, "handled")
    assert.deepStrictEqual(answer.receipt.handlings.map(({ enzyme, outcome }) => [enzyme, outcome]), [["greet", "ok"]])
    assert.deepStrictEqual(answer.greeting, { at: "1970-01-01T00:00:00.000Z", beat: 0 })
    assert.strictEqual(answer.head, 0)
  })

  it("runs the contract of persistence in durable objects", async () => {
    const text = await script("./test/runtime/contract.ts")
    const worker = new Miniflare({
      ...modulesOf(text),
      compatibilityDate: COMPATIBILITY_DATE,
      cf: false,
      durableObjects: { TESTS: { className: "Test", useSQLite: true } }
    })
    try {
      const outcomes = await (await worker.dispatchFetch("http://worker/")).json() as ReadonlyArray<Record<string, unknown>>
      assert.deepStrictEqual(outcomes.filter(({ failure }) => failure !== undefined), [])
      assert.isAbove(outcomes.length, 40)
    } finally {
      await worker.dispose()
    }
  })

  it("runs the channels kv, over a namespace of KV, and timer in workerd", async () => {
    const { imports, text } = await bundle("export { default } from \"./test/runtime/channels.ts\"")
    assert.deepStrictEqual(imports, [])
    const kv = (opcode: string, payload: object) => ({ channel: "kv", opcode, payload })
    const answers = await running(text, (fetch) =>
      fetch("http://worker/", {
        method: "POST",
        body: JSON.stringify([
          kv("kv_put", { key: "a", value: { n: 1 }, ttl: 60_000 }),
          kv("kv_put", { key: "b", content: `/cas/${"0".repeat(64)}` }),
          kv("kv_get", { key: "a" }),
          kv("kv_get", { key: "b" }),
          kv("kv_list", { limit: 1 }),
          kv("kv_delete", { key: "a" }),
          kv("kv_get", { key: "a" }),
          kv("kv_list", {}),
          { channel: "timer", opcode: "sleep", payload: { until: 0 } },
          { channel: "timer", opcode: "sleep", payload: { ms: 1 } }
        ])
      }))
    const [put, big, small, large, page, deleted, absent, all, past, slept] = JSON.parse(answers) as ReadonlyArray<unknown>
    assert.deepStrictEqual([put, big], [{ key: "a", bytes: 7 }, { key: "b", bytes: 70_000 }])
    assert.deepStrictEqual(small, { key: "a", found: true, value: { n: 1 } })
    assert.deepStrictEqual(large, { key: "b", found: true, content: "/cas/kept", bytes: 70_000 })
    assert.deepInclude(page, { keys: ["a"] })
    assert.isString((page as { readonly cursor?: unknown }).cursor)
    assert.deepStrictEqual([deleted, absent, all], [{ key: "a" }, { key: "a", found: false }, { keys: ["b"] }])
    for (const wait of [past, slept]) assert.hasAllKeys(wait, ["until"])
  })
})
