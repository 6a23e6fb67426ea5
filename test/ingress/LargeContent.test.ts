import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { Enzyme } from "systole"
import { LOADS, RecentParts } from "../../src/kernel/live/RecentParts.ts"
import { encode, OBJECT, STORED } from "../../src/persistence/LargeContent.ts"
import { contentOf, make, type MemoryContents, PAGE } from "../support/MemoryContents.ts"
import { problem, serve, type Settings, signals, type TestIngress } from "./TestIngress.ts"

const blobs = "/v1/spaces/shop/blobs"
const MiB = 1_048_576
const digestOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

const bytes = contentOf(STORED + MiB + 5)
const digest = digestOf(bytes)

/** Reads content whole, after a write. */
const reading = Enzyme.make({
  name: "reading",
  query: "/signals/reading",
  writes: ["/data/**"],
  retry: { attempts: 1 },
  run: (tx, { payload }) => {
    const { address } = payload as { readonly address: string }
    tx.set("/data/holder", { address })
    return (tx.get(address) as Uint8Array).length
  }
})

const holding = Enzyme.make({
  name: "holding",
  query: "/signals/holding",
  writes: ["/data/**"],
  run: (tx, { payload }) => tx.set("/data/holder", payload as { readonly address: string })
})

/** A body in chunks, as a server gets it. A request with the bytes themselves would copy them. */
const chunked = (bytes: Uint8Array): ReadableStream<Uint8Array> => {
  let at = 0
  return new ReadableStream({
    pull: (controller) => at < bytes.length ? controller.enqueue(bytes.subarray(at, at += MiB)) : controller.close()
  })
}

/** Sends content with its length declared. */
const put = ({ ask }: TestIngress, body: Uint8Array, length = body.length) =>
  ask(blobs, { method: "PUT", body: chunked(body), duplex: "half", headers: { "content-length": String(length) } } as RequestInit)

const test = (name: string, run: (app: TestIngress, contents: MemoryContents) => Promise<void>, settings: Settings = {}) =>
  it.live(name, () => Effect.suspend(() => {
    const contents = make()
    return Effect.flatMap(serve({ contents: contents.store, enzymes: [reading, holding], ...settings }), (app) =>
      Effect.promise(() => run(app, contents)))
  }))

const waited = { prefer: "wait=60" }

describe("Content beyond 32 MiB", () => {
  test("goes to the content store in parts, and comes back whole and by ranges", async (app, { at, objects }) => {
    const stored = await put(app, bytes)
    assert.deepStrictEqual([stored.status, stored.body], [201, {
      hash: digest, address: `/cas/${digest}`, size: bytes.length, link: `${blobs}/${digest}`
    }])
    assert.strictEqual(at.most, OBJECT)
    assert.strictEqual(objects.size, 1 + Math.ceil(bytes.length / OBJECT))
    const whole = await app.fetch(`${blobs}/${digest}`)
    assert.strictEqual(whole.headers.get("content-length"), String(bytes.length))
    assert.strictEqual(digestOf(new Uint8Array(await whole.arrayBuffer())), digest)
    for (const [from, to] of [[0, 0], [OBJECT - 2, OBJECT + 1], [STORED, STORED + 9], [bytes.length - 3, bytes.length - 1]] as const) {
      const part = await app.fetch(`${blobs}/${digest}`, { headers: { range: `bytes=${from}-${to}` } })
      assert.deepStrictEqual([part.status, new Uint8Array(await part.arrayBuffer())], [206, bytes.slice(from, to + 1)])
    }
  })

  test("keeps few parts in memory, however many clients read slowly", async (app, { store }) => {
    await put(app, bytes)
    const { get } = store
    let now = 0
    let most = 0
    Object.assign(store, {
      get: async (key: string) => {
        most = Math.max(most, ++now)
        for (let turn = 0; turn < 20; turn++) await new Promise((resume) => setImmediate(resume))
        const found = await get(key)
        now--
        return found
      }
    })
    const parts = Array.from({ length: Math.ceil(bytes.length / OBJECT) }, (_, part) => part * OBJECT)
    const chunks = await Promise.all(parts.map(async (from) => {
      const { body } = await app.fetch(`${blobs}/${digest}`, { headers: { range: `bytes=${from}-` } })
      const reader = body!.getReader()
      return { reader, value: (await reader.read()).value }
    }))
    assert.isAtMost(most, LOADS)
    // No chunk is a view of its part.
    for (const { value } of chunks) assert.isAtMost(value?.buffer.byteLength ?? Infinity, MiB)
    assert.deepStrictEqual(chunks.map(({ value }) => value?.[0]), parts.map((from) => bytes[from]))
    await Promise.all(chunks.map(({ reader }) => reader.cancel()))
  })

  it("shares a load of a part, and drops the oldest parts for those that are being loaded", async () => {
    const { store } = make()
    const loads: Array<string> = []
    const get = (key: string, load = async (): Promise<Uint8Array> => new Uint8Array()) =>
      RecentParts.of(store).get(key, () => {
        loads.push(key)
        return load()
      })
    await Promise.all(["a", "b", "a", "c", "d"].map((key) => get(key)))
    assert.deepStrictEqual(loads.splice(0), ["a", "b", "c", "d"])
    const { promise, resolve } = Promise.withResolvers<Uint8Array>()
    const failed = get("e", () => promise.then(() => Promise.reject(new Error("closed")))).catch(String)
    const running = get("f", () => promise)
    await Promise.all([get("c"), get("d")])
    assert.deepStrictEqual(loads.splice(0), ["e", "f"])
    const dropped = get("a")
    assert.deepStrictEqual(loads, [])
    resolve(new Uint8Array())
    assert.strictEqual(await failed, "Error: closed")
    await Promise.all([running, dropped, get("e")])
    assert.deepStrictEqual(loads, ["a", "e"])
  })

  test("stays with the space up to 32 MiB, and is refused above the limit of the store", async (app, { objects }) => {
    const small = contentOf(STORED)
    assert.strictEqual((await put(app, small)).status, 201)
    assert.strictEqual(objects.size, 0)
    assert.deepStrictEqual(problem(await put(app, contentOf(8), 40 * MiB + 1)), [413, "body/too-large"])
    const unmeasured = await app.ask(blobs, { method: "PUT", body: chunked(bytes), duplex: "half" } as RequestInit)
    assert.deepStrictEqual(problem(unmeasured), [413, "body/too-large"])
    assert.include(JSON.stringify(unmeasured.body), "Declare the size with the header Content-Length")
    assert.strictEqual(objects.size, 0)
  })

  test("is refused to code that needs all of it, by a message with a remedy", async (app) => {
    await put(app, bytes)
    const { body } = await app.post(signals, { signal: "/signals/reading", payload: { address: `/cas/${digest}` } }, waited)
    const refusal = new RegExp(`/cas/${digest} has ${bytes.length} bytes and is in the content store.*read it over HTTP`)
    assert.match(JSON.stringify(body), refusal)
    assert.deepStrictEqual(problem(await app.ask(`/v1/spaces/shop/cells/cas/${digest}`)), [413, "content/large"])
    assert.strictEqual((await app.ask("/v1/spaces/shop/cells/data/holder")).status, 404)
  })

  test("is not served if an object is changed or gone, nor its descriptor in its place", async (app, { objects }) => {
    await put(app, bytes)
    const [first = "", key = ""] = [...objects.keys()].filter((key) => key.includes("/part-")).sort()
    const object = objects.get(first)
    assert.isDefined(object)
    objects.delete(first)
    assert.deepStrictEqual(problem(await app.ask(`${blobs}/${digest}`)), [503, "store/damaged"])
    objects.set(first, object)
    const last = `bytes=${OBJECT}-${OBJECT + 9}`
    objects.set(key, { bytes: contentOf(OBJECT, 2), modified: 0 })
    const read = () => app.fetch(`${blobs}/${digest}`, { headers: { range: last } }).then((response) => response.arrayBuffer())
    assert.match(String(await read().then(() => "served", (error: Error) => error)), /has the digest/)
    objects.delete(key)
    assert.match(String(await read().then(() => "served", (error: Error) => error)), /is absent/)
  })

  test("is plain content if somebody sends the text of a descriptor", async (app) => {
    const forged = encode({ size: 50 * MiB, upload: "a", parts: ["b"] })
    await put(app, forged)
    const read = await app.fetch(`${blobs}/${digestOf(forged)}`)
    assert.deepStrictEqual(new Uint8Array(await read.arrayBuffer()), forged)
  })

  test("is plain content if its first part is the text of a descriptor", async (app, { objects }) => {
    await put(app, bytes)
    const [, upload = ""] = [...objects.keys()][0]?.split("/") ?? []
    const forged = new Uint8Array(MiB + 1).fill(32)
    forged.set(encode({ size: 8, upload, parts: [digestOf(bytes.subarray(0, OBJECT))] }))
    await put(app, forged)
    const read = await app.fetch(`${blobs}/${digestOf(forged)}`)
    assert.strictEqual(digestOf(new Uint8Array(await read.arrayBuffer())), digestOf(forged))
  })

  test("leaves nothing where its client goes away", async (app, { objects }) => {
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(bytes.slice(0, 2 * OBJECT)),
      pull: (controller) => controller.error(new Error("gone"))
    })
    const init = { method: "PUT", body, duplex: "half", headers: { "content-length": String(bytes.length) } } as RequestInit
    assert.deepStrictEqual(problem(await app.ask(blobs, init)), [400, "body/malformed"])
    assert.deepStrictEqual([objects.size, app.accidents], [0, []])
  })

  test("answers an upload before it collects, once at a time", async (app, { store }) => {
    const freed = Promise.withResolvers<void>()
    const { list } = store
    let looks = 0
    Object.assign(store, {
      list: async (prefix: string, after: string) => {
        looks++
        await freed.promise
        return list(prefix, after)
      }
    })
    for (const seed of [1, 2]) assert.strictEqual((await put(app, contentOf(STORED + MiB, seed))).status, 201)
    assert.strictEqual(looks, 1)
    freed.resolve()
  })

  test("ends a list that does not go on", async (app, { objects, store }) => {
    let looks = 0
    Object.assign(store, {
      list: async (prefix: string) => {
        assert.isBelow(++looks, 10)
        return { objects: [{ key: `${prefix}a/part-000000`, modified: 0 }], more: true }
      }
    })
    assert.strictEqual((await put(app, bytes)).status, 201)
    assert.strictEqual((await app.ask("/v1/spaces/shop", { method: "DELETE" })).status, 200)
    assert.isAbove(objects.size, 0, "the list did not tell them")
  })

  test("holds up no other space while its objects are deleted", async (app, { store }) => {
    await put(app, bytes)
    const begun = Promise.withResolvers<void>()
    const freed = Promise.withResolvers<void>()
    const { list } = store
    Object.assign(store, {
      list: async (prefix: string, after: string) => {
        begun.resolve()
        await freed.promise
        return list(prefix, after)
      }
    })
    const removal = app.ask("/v1/spaces/shop", { method: "DELETE" })
    await begun.promise
    const again = put(app, bytes)
    const other = await app.post("/v1/spaces/other/signals", { signal: "/signals/holding", payload: {} }, waited)
    freed.resolve()
    assert.deepStrictEqual([(await removal).status, other.status, (await again).status], [200, 200, 201])
    // The space of the same name that came meanwhile keeps its objects.
    const whole = await app.fetch(`${blobs}/${digest}`)
    assert.strictEqual(digestOf(new Uint8Array(await whole.arrayBuffer())), digest)
  })

  test("goes with a repeated deletion of its space, where the first one could not delete it", async (app, { objects, store }) => {
    await put(app, bytes)
    const { list } = store
    Object.assign(store, { list: () => Promise.reject(new Error("the bucket is closed")) })
    assert.strictEqual((await app.ask("/v1/spaces/shop", { method: "DELETE" })).status, 200)
    assert.isAbove(objects.size, 0)
    Object.assign(store, { list })
    assert.deepStrictEqual(problem(await app.ask("/v1/spaces/shop", { method: "DELETE" })), [404, "space/unknown"])
    assert.strictEqual(objects.size, 0)
  })

  test("leaves nothing where its upload fails, and is taken later", async (app, { at, objects }) => {
    at.failing = true
    assert.deepStrictEqual(problem(await put(app, bytes)), [503, "store/unavailable"])
    assert.deepStrictEqual(problem(await app.ask(`${blobs}/${digest}`)), [404, "blob/absent"])
    at.failing = false
    assert.deepStrictEqual([(await put(app, bytes)).status, objects.size], [201, 1 + Math.ceil(bytes.length / OBJECT)])
    assert.strictEqual((await put(app, bytes)).status, 201)
    assert.strictEqual(objects.size, 1 + Math.ceil(bytes.length / OBJECT))
  })

  test("is collected a day later unless a descriptor names it, and goes with its space", async (app, { at, objects, store }) => {
    await put(app, bytes)
    await app.post(signals, { signal: "/signals/holding", payload: { address: `/cas/${digest}` } }, waited)
    const used = [...objects.keys()]
    at.now -= 2 * 86_400_000
    for (const [key, object] of objects) objects.set(key, { ...object, modified: at.now })
    for (const key of ["shop/0/content-" + "0".repeat(64), "shop/0/part-000000", "shop/zz/part-000000"]) await store.put(key, contentOf(4))
    at.now = Date.now()
    await store.put("shop/1/part-000000", contentOf(4))
    await store.put("other/1/part-000000", contentOf(4))
    // Each upload looks at some uploads; these are known and add no object.
    for (let time = 0; time < 3; time++) await put(app, bytes)
    const kept = [...used, "shop/1/part-000000", "other/1/part-000000"].sort()
    assert.deepStrictEqual([...objects.keys()].sort(), kept)
    const { deletions } = at
    assert.strictEqual((await app.ask("/v1/spaces/shop", { method: "DELETE" })).status, 200)
    assert.deepStrictEqual([...objects.keys()], ["other/1/part-000000"])
    // One for each page.
    assert.strictEqual(at.deletions - deletions, Math.ceil((kept.length - 1) / PAGE))
  })
})
