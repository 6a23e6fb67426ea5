import { afterEach, assert, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { type Channel, Plugin, type Value } from "systole"
import { provider } from "../../plugins/kv.ts"
import type { Namespace } from "../../plugins/kv/NamespaceTable.ts"
import { current } from "../scripts/Host.ts"
import * as TestJob from "../support/TestJob.ts"

const releases: Array<() => Promise<void> | void> = []
afterEach(async () => {
  for (const release of releases.splice(0).reverse()) await release()
})

const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), "systole-kv-"))
  releases.push(() => rmSync(path, { recursive: true, force: true }))
  return path
}

const settings = (options: Readonly<Record<string, unknown>> = {}, at = "/nowhere"): Plugin.ChannelSettings =>
  ({ id: "cache", root: at, folder: at, host: current(), options })

/** The channel over an SQLite file in a folder. */
const sqlite = (at = folder(), now = () => 0): Channel.Definition => {
  const channel = provider(now)(settings({}, join(at, "data")))
  releases.push(() => channel.close?.())
  return channel
}

/** A KV namespace in memory: keys in byte order, pages with opaque cursors, lives by a clock. */
const namespace = (now: () => number): Namespace => {
  const entries = new Map<string, { readonly value: Uint8Array; readonly metadata: unknown; readonly end: number }>()
  const live = (key: string) => {
    const found = entries.get(key)
    return found !== undefined && found.end > now() ? found : undefined
  }
  return {
    getWithMetadata: async (key) => {
      const found = live(key)
      return { value: found === undefined ? null : found.value.slice().buffer as ArrayBuffer, metadata: found?.metadata ?? null }
    },
    put: async (key, value, { expirationTtl = Infinity, metadata }) =>
      void entries.set(key, { value: value.slice(), metadata, end: now() + expirationTtl * 1000 }),
    delete: async (key) => void entries.delete(key),
    list: async ({ cursor, limit, prefix }) => {
      const names = [...entries.keys()].filter((key) => key.startsWith(prefix) && live(key) !== undefined)
        .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      const from = cursor === undefined || cursor === null ? 0 : Number(cursor.slice(1))
      const keys = names.slice(from, from + limit).map((name) => ({ name }))
      return from + limit < names.length ? { keys, list_complete: false, cursor: `@${from + limit}` } : { keys, list_complete: true }
    }
  }
}

const forms: ReadonlyArray<readonly [name: string, make: (now: () => number) => Channel.Definition]> = [
  ["SQLite", (now) => sqlite(folder(), now)],
  ["a KV namespace", (now) => provider(now)({ ...settings({ namespace: namespace(now) }), host: "workers" })]
]

const value = (channel: Channel.Definition) => async (...job: Parameters<typeof TestJob.make>): Promise<unknown> =>
  (await TestJob.run(channel, TestJob.make(...job))).value

describe.each(forms)("The kv channel over %s", (_, make) => {
  it("gives back the values that were put", async () => {
    const kv = make(() => 0)
    const values: ReadonlyArray<Value> =
      [null, false, 0, "", "ä€😀", [1, { a: [] }], new Map([["k", 2n]]), new Date(0), new Uint8Array([0, 255]), { $: 1 }]
    for (const [i, each] of values.entries()) {
      await value(kv)("kv_put", { key: `k${i}`, value: each })
      assert.deepStrictEqual(await value(kv)("kv_get", { key: `k${i}` }), { key: `k${i}`, found: true, value: each })
    }
    assert.deepStrictEqual(await value(kv)("kv_get", { key: "none" }), { key: "none", found: false })
  })

  it("stores content as bytes, and gives back its address", async () => {
    const kv = make(() => 0)
    const big = new Uint8Array(100_000).fill(7)
    const contents = new Map<string, Uint8Array>()
    const content = TestJob.add(contents, big)
    assert.deepStrictEqual(await value(kv)("kv_put", { key: "big", content }, { contents }), { key: "big", bytes: 100_000 })
    const job = TestJob.make("kv_get", { key: "big" })
    const result = await TestJob.run(kv, job)
    assert.deepStrictEqual(result, { value: { key: "big", found: true, content, bytes: 100_000 }, bytes: 100_000 })
    assert.deepStrictEqual([...job.contents], [[content, big]])
  })

  it("takes the longest value that a completion can contain", async () => {
    const kv = make(() => 0)
    const longest = "x".repeat(65_536 - JSON.stringify({ key: "k", found: true, value: "" }).length)
    await value(kv)("kv_put", { key: "k", value: longest })
    assert.deepInclude(await value(kv)("kv_get", { key: "k" }), { value: longest })
    assert.strictEqual((await TestJob.failure(kv, TestJob.make("kv_put", { key: "k", value: `${longest}x` }))).code, "io/invalid")
  })

  it("has the same state after a second execution of each request", async () => {
    const kv = make(() => 0)
    for (let execution = 0; execution < 2; execution++) {
      await value(kv)("kv_put", { key: "a", value: 1 })
      await value(kv)("kv_delete", { key: "b" })
    }
    assert.deepStrictEqual(await value(kv)("kv_list", {}), { keys: ["a"] })
    assert.deepStrictEqual(new Set(Object.values(kv.opcodes).map(({ repeatable }) => repeatable)), new Set([true]))
  })

  it("keeps the keys of spaces apart", async () => {
    const kv = make(() => 0)
    await value(kv)("kv_put", { key: "a", value: "shop" })
    await value(kv)("kv_put", { key: "b", value: "other" }, { space: "other" })
    assert.deepStrictEqual(await value(kv)("kv_get", { key: "b" }), { key: "b", found: false })
    assert.deepStrictEqual(await value(kv)("kv_list", {}, { space: "other" }), { keys: ["b"] })
    await value(kv)("kv_delete", { key: "a" }, { space: "other" })
    assert.deepStrictEqual(await value(kv)("kv_list", {}), { keys: ["a"] })
  })

  it("lists keys by prefix in the order of their bytes, page by page", async () => {
    const kv = make(() => 0)
    const keys = ["a", "ab", "a\uffff", "a😀", "b", "B"]
    for (const key of keys) await value(kv)("kv_put", { key, value: 0 })
    assert.deepStrictEqual(await value(kv)("kv_list", { prefix: "a" }), { keys: ["a", "ab", "a\uffff", "a😀"] })
    const seen: Array<string> = []
    let cursor: string | undefined
    do {
      const page = await value(kv)("kv_list", { limit: 2, ...cursor === undefined ? {} : { cursor } }) as {
        readonly keys: ReadonlyArray<string>
        readonly cursor?: string
      }
      seen.push(...page.keys)
      cursor = page.cursor
    } while (cursor !== undefined)
    assert.deepStrictEqual(seen, ["B", "a", "ab", "a\uffff", "a😀", "b"])
  })

  it("drops a value at the end of its life, and keeps others", async () => {
    let now = 1000
    const kv = make(() => now)
    await value(kv)("kv_put", { key: "short", value: 1, ttl: 60_000 })
    await value(kv)("kv_put", { key: "long", value: 1 })
    now += 59_999
    assert.deepInclude(await value(kv)("kv_get", { key: "short" }), { found: true })
    now += 1
    assert.deepInclude(await value(kv)("kv_get", { key: "short" }), { found: false })
    assert.deepStrictEqual(await value(kv)("kv_list", {}), { keys: ["long"] })
  })

  it.each<readonly [string, Value, string]>([
    ["kv_get", {}, "io/invalid"],
    ["kv_get", { key: "" }, "io/invalid"],
    ["kv_get", { key: "\ud800" }, "io/invalid"],
    ["kv_get", { key: "x".repeat(508) }, "io/invalid"],
    ["kv_get", { key: "a", space: "other" }, "io/invalid"],
    ["kv_put", { key: "a" }, "io/invalid"],
    ["kv_put", { key: "a", value: 1, content: `/cas/${"0".repeat(64)}` }, "io/invalid"],
    ["kv_put", { key: "a", value: "x".repeat(65_536) }, "io/invalid"],
    ["kv_put", { key: "a", value: 1, ttl: 59_999 }, "io/invalid"],
    ["kv_put", { key: "a", content: "/cas/1" }, "io/invalid"],
    ["kv_put", { key: "a", content: `/cas/${"0".repeat(64)}` }, "io/absent"],
    ["kv_list", { limit: 1001 }, "io/invalid"],
    ["kv_drop", {}, "io/invalid"]
  ])("refuses %s %j", async (opcode, payload, code) => {
    const failure = await TestJob.failure(make(() => 0), TestJob.make(opcode, payload))
    assert.strictEqual(failure.code, code)
    assert.include(failure.message, "R1")
    assert.isFalse(failure.retryable)
  })
})

describe("The kv channel over SQLite", () => {
  it("keeps its values when it is closed, and two processes share them", async () => {
    const at = folder()
    const first = sqlite(at)
    await value(first)("kv_put", { key: "a", value: 1 })
    const second = sqlite(at)
    assert.deepInclude(await value(second)("kv_get", { key: "a" }), { value: 1 })
    await first.close?.()
    assert.deepInclude(await value(first)("kv_get", { key: "a" }), { value: 1 })
  })

  it("keeps its file where an option says, relative to the project", async () => {
    const at = folder()
    const kv = provider(() => 0)(settings({ file: "shared/values.sqlite" }, at))
    releases.push(() => kv.close?.())
    await value(kv)("kv_put", { key: "a", value: 1 })
    assert.isTrue(statSync(join(at, "shared", "values.sqlite")).isFile())
  })

  it("refuses a locked file and another program's database, with the request's id", async () => {
    const at = folder()
    const kv = sqlite(at)
    await value(kv)("kv_put", { key: "a", value: 1 })
    const file = join(at, "data", "cache.kv.sqlite")
    assert.isTrue(statSync(file).isFile())
    const other = new DatabaseSync(file)
    other.exec("BEGIN EXCLUSIVE")
    const busy = await TestJob.failure(kv, TestJob.make("kv_put", { key: "a", value: 2 }))
    other.exec("ROLLBACK")
    other.close()
    assert.deepInclude(busy, { code: "kv/busy", retryable: true })
    assert.include(busy.message, "R1")
    assert.deepInclude(await value(kv)("kv_put", { key: "a", value: 2 }), { key: "a" })

    const theirs = new DatabaseSync(join(at, "theirs.sqlite"))
    theirs.exec("CREATE TABLE mine (a)")
    theirs.close()
    const wrong = provider(() => 0)(settings({ file: join(at, "theirs.sqlite") }))
    assert.deepInclude(await TestJob.failure(wrong, TestJob.make("kv_get", { key: "a" })), { code: "kv/damaged", retryable: false })
  })

  it("is not the channel of Workers, which need a namespace", () => {
    const make = provider(() => 0)
    assert.notInclude(make(settings({}, folder())).hosts, "workers")
    assert.throws(() => make({ ...settings(), host: "workers" }), Plugin.InvalidPlugin, /needs the option namespace/)
    assert.throws(() => make(settings({ namespace: {} })), Plugin.InvalidPlugin, /a KV namespace binding is expected/)
    assert.throws(() => make(settings({ nmespace: {} })), Plugin.InvalidPlugin, /"nmespace" is unknown/)
  })
})

describe("The kv channel over a KV namespace", () => {
  it.each([["KV PUT failed: 429 Too Many Requests", "kv/busy"], ["KV GET failed: 500 secret=1", "kv/failed"], ["gone", "kv/failed"]])(
    "reports %j as retryable, without its text",
    async (text, code) => {
      const failing = { ...namespace(() => 0), getWithMetadata: () => Promise.reject(new Error(text)) }
      const kv = provider(() => 0)(settings({ namespace: failing }))
      const failure = await TestJob.failure(kv, TestJob.make("kv_get", { key: "a" }))
      assert.deepInclude(failure, { code, retryable: true })
      assert.include(failure.message, "R1")
      assert.notInclude(failure.message, "secret")
    }
  )
})
