import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme } from "systole"
import { concat } from "../../src/cell/Bytes.ts"
import * as Chunk from "../../src/frame/Chunk.ts"
import * as Frames from "../frame/Frames.ts"
import { serve } from "../ingress/TestIngress.ts"

/** Counts its signals in a cell. */
const count = Enzyme.make({
  name: "count",
  query: "/count",
  run: (tx, event) => tx.set(`/data/n/${event.payload as number}`, { n: event.payload, text: "x".repeat(100) })
})

type Served = Effect.Success<ReturnType<typeof serve>>

const post = (app: Served, space: string, payload: number) =>
  Effect.promise(() => app.ask(`/v1/spaces/${space}/signals`, {
    method: "POST",
    headers: { "content-type": "application/json", prefer: "wait=5" },
    body: JSON.stringify({ signal: "/count", payload })
  }))

/** A part of an export: the first one, or the one that begins with a chunk. */
const part = async (app: Served, space: string, from?: number): Promise<Uint8Array> => {
  const response = await app.fetch(`/v1/spaces/${space}/export${from === undefined ? "" : `?from=${from}`}`)
  assert.strictEqual(response.status, 200, await response.clone().text().then((text) => text.slice(0, 300)))
  return new Uint8Array(await response.arrayBuffer())
}

/** The number of the chunk after a part; `undefined` after the seal. */
const nextOf = (bytes: Uint8Array, isFirst: boolean): number | undefined => {
  let next: number | undefined
  for (let at = isFirst ? Chunk.OPENING + Chunk.lengthOf(bytes) : 0; at < bytes.length;) {
    const { seq, stored, type } = Chunk.numbers(bytes.subarray(at))
    next = type === Chunk.SEAL ? undefined : seq + 1
    at += Chunk.HEAD + stored + Chunk.DIGEST
  }
  return next
}

/** All parts of an export. */
const exported = async (app: Served, space: string): Promise<Uint8Array> => {
  const first = await part(app, space)
  const parts = [first]
  for (let from = nextOf(first, true); from !== undefined;) {
    const bytes = await part(app, space, from)
    parts.push(bytes)
    from = nextOf(bytes, false)
  }
  return concat(parts)
}

describe("the archive over HTTP", () => {
  it.live("N31 a part that is asked for twice at once is one part, and the export goes on after it", () => Effect.gen(function*() {
    const app = yield* serve({ config: { spaces: { create: "on-demand" } } })
    const headers = { "content-type": "application/json" }
    const body = JSON.stringify("x".repeat(1_000_000))
    for (let i = 0; i < 6; i++) {
      yield* Effect.promise(() => app.ask(`/v1/spaces/home/cells/data/t${i}`, { method: "PUT", body, headers }))
    }
    const first = yield* Effect.promise(() => part(app, "home"))
    const next = nextOf(first, true)
    const twice = yield* Effect.promise(() => Promise.all([part(app, "home", next), part(app, "home", next)]))
    assert.isTrue(twice[0].length > 0 && Buffer.compare(twice[0], twice[1]) === 0)
    const bytes = [first, twice[0]]
    for (let from = nextOf(twice[0], false); from !== undefined; from = nextOf(bytes.at(-1)!, false)) {
      bytes.push(yield* Effect.promise(() => part(app, "home", from)))
    }
    const { end } = yield* Effect.promise(() => Frames.read(concat(bytes)))
    assert.property(end, "root")
  }))

  it.live("a space is taken out while it runs, and comes back with its state", () => Effect.gen(function*() {
    const app = yield* serve({ enzymes: [count], config: { spaces: { create: "on-demand" } } })
    for (let i = 0; i < 20; i++) yield* post(app, "home", i)
    const frame = yield* Effect.promise(() => exported(app, "home"))
    const body = new Uint8Array(frame)
    const put = yield* Effect.promise(() => app.ask("/v1/spaces/copy/import/abcdefgh1?from=0", { method: "PUT", body }))
    assert.strictEqual(put.status, 200, JSON.stringify(put.body))
    for (const path of ["/data/n/3", "/data/n/19"]) {
      const [a, b] = yield* Effect.promise(() => Promise.all(["home", "copy"].map((space) => app.ask(`/v1/spaces/${space}/cells${path}`))))
      assert.deepStrictEqual(a?.body, b?.body)
    }
    const verified = yield* Effect.promise(() => app.ask("/v1/spaces/copy/journal/verification"))
    assert.notProperty(verified.body as object, "fault")
  }))
})
