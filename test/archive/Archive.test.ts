import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme } from "systole"
import { concat } from "../../src/cell/Bytes.ts"
import * as Chunk from "../../src/frame/Chunk.ts"
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

/** All parts of an export. */
const exported = async (app: Served, space: string, query = ""): Promise<Uint8Array> => {
  const parts: Array<Uint8Array> = []
  for (let from: number | undefined; ;) {
    const response = await app.fetch(`/v1/spaces/${space}/export?${from === undefined ? query : `from=${from}&${query}`}`)
    assert.strictEqual(response.status, 200, await response.clone().text().then((text) => text.slice(0, 300)))
    const bytes = new Uint8Array(await response.arrayBuffer())
    parts.push(bytes)
    let at = from === undefined ? Chunk.OPENING + Chunk.lengthOf(bytes) : 0
    let seal = false
    while (at < bytes.length) {
      const { seq, stored, type } = Chunk.numbers(bytes.subarray(at))
      from = seq + 1
      seal = type === Chunk.SEAL
      at += Chunk.HEAD + stored + Chunk.DIGEST
    }
    if (seal) return concat(parts)
  }
}

describe("the archive over HTTP", () => {
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
