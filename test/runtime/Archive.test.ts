import { assert, beforeAll, describe, it } from "@effect/vitest"
import { concat } from "../../src/cell/Bytes.ts"
import * as Chunk from "../../src/frame/Chunk.ts"
import * as Frames from "../frame/Frames.ts"
import * as Edge from "./Edge.ts"

let text = ""

beforeAll(async () => {
  text = await Edge.script("./test/runtime/worker.ts")
})

/** The pieces of a frame: its opening, its chunks and its seal. */
const piecesOf = (frame: Uint8Array): ReadonlyArray<Uint8Array> => {
  let end = Chunk.OPENING + Chunk.lengthOf(frame)
  const pieces = [frame.subarray(0, end)]
  for (let at = end; at < frame.length; at = end) {
    end = at + Chunk.HEAD + Chunk.numbers(frame.subarray(at)).stored + Chunk.DIGEST
    pieces.push(frame.subarray(at, end))
  }
  return pieces
}

/** Fills a space whose frame has several chunks. */
const filled = async ({ fetch, signal }: Edge.Edge): Promise<void> => {
  for (const n of [0, 1, 2, 3]) {
    const init = { method: "PUT", headers: { "content-type": "application/json" }, body: JSON.stringify(`${n}${"x".repeat(100_000)}`) }
    assert.strictEqual((await fetch(`/v1/spaces/home/cells/data/t${n}`, init)).status, 200)
  }
  for (const who of ["ann", "bob"]) await signal("home", { signal: "/signals/greet", payload: { who }, id: who })
}

/** A part of the export of a space. */
const exported = async ({ fetch }: Edge.Edge, query = ""): Promise<Uint8Array> => {
  const response = await fetch(`/v1/spaces/home/export${query}`)
  assert.strictEqual(response.status, 200, await response.clone().text().then((text) => text.slice(0, 300)))
  return new Uint8Array(await response.arrayBuffer())
}

/** Sends pieces of a frame from one on. */
const sent = async ({ fetch }: Edge.Edge, space: string, { from, id = "abcdefgh", pieces, why = "copy" }: {
  readonly pieces: ReadonlyArray<Uint8Array>
  readonly from: number
  readonly id?: string
  readonly why?: string
}) => {
  const path = `/v1/spaces/${space}/import/${id}?from=${from}&why=${why}`
  const response = await fetch(path, { method: "PUT", body: new Uint8Array(concat(pieces)) })
  return await response.json() as { readonly code?: string; readonly next?: number; readonly root?: string; readonly beat?: number }
}

const names = async ({ json }: Edge.Edge): Promise<ReadonlyArray<string>> => (await json("/v1/spaces")).spaces

describe("The archive of durable objects", { timeout: 300_000 }, () => {
  it("N33 a frame comes into an object in parts, evicted between them, and the directory has its name when it is whole", () =>
    Edge.running(text, async (edge) => {
      const { fetch, json } = edge
      await filled(edge)
      const frame = await exported(edge)
      const { end } = await Frames.read(frame)
      const pieces = piecesOf(frame)
      assert.isAbove(pieces.length, 4)
      assert.deepInclude(await sent(edge, "copy", { pieces: pieces.slice(0, 2), from: 0 }), { next: 2 })
      await Edge.evict(edge, "copy")
      for (const from of [0, 1, 4]) assert.deepInclude(await sent(edge, "copy", { pieces: pieces.slice(from), from }), { next: 2 })
      assert.deepInclude(await sent(edge, "copy", { pieces: pieces.slice(2, 3), from: 2 }), { next: 3 })
      await Edge.evict(edge, "copy")
      assert.deepStrictEqual(await names(edge), ["home"])
      assert.strictEqual((await json("/v1/spaces/copy/cells/data/t0")).code, "space/importing")
      assert.strictEqual((await sent(edge, "copy", { pieces, from: 0, id: "another1" })).code, "space/importing")
      const { next = 0 } = await sent(edge, "copy", { pieces: [], from: 0 })
      assert.isAtLeast(next, 2)
      assert.deepInclude(await sent(edge, "copy", { pieces: pieces.slice(next), from: next }), { root: "root" in end ? end.root : "" })
      assert.deepStrictEqual(await names(edge), ["copy", "home"])
      await Edge.evict(edge, "copy")
      for (const path of ["t0", "t3", "greetings/ann"]) {
        assert.deepStrictEqual(await json(`/v1/spaces/copy/cells/data/${path}`), await json(`/v1/spaces/home/cells/data/${path}`))
      }
      assert.notProperty(await json("/v1/spaces/copy/journal/verification"), "fault")
      const damaged = frame.map((byte, at) => at === frame.length - 1 ? byte ^ 1 : byte)
      assert.strictEqual((await sent(edge, "bad", { pieces: [damaged], from: 0 })).code, "frame/changed")
      assert.strictEqual((await fetch("/v1/spaces/bad/cells/data/t0")).status, 404)
      assert.deepStrictEqual(await names(edge), ["copy", "home"])
    }))

  it("N33 an import without a part for an hour is removed by the alarm of its object, and its name is free", () =>
    Edge.running(text, async (edge) => {
      const { fetch, json } = edge
      await filled(edge)
      const frame = await exported(edge)
      const pieces = piecesOf(frame)
      await sent(edge, "copy", { pieces: pieces.slice(0, 2), from: 0 })
      await Edge.evict(edge, "copy")
      await fetch("/test/ring/copy")
      assert.deepInclude(await sent(edge, "copy", { pieces: [], from: 0 }), { next: 2 })
      await Edge.evict(edge, "copy")
      await fetch("/test/later/copy")
      await fetch("/test/ring/copy")
      assert.strictEqual((await fetch("/v1/spaces/copy/cells/data/t0")).status, 404)
      assert.isNull((await json("/test/seen/copy")).alarm)
      assert.property(await sent(edge, "copy", { pieces, from: 0, id: "another1" }), "root")
    }))

  it("N32 a lost space is restored into its object, and the replay of its newest beats agrees with the original", () =>
    Edge.running(text, async (edge) => {
      const { fetch, json, signal } = edge
      await filled(edge)
      const before = await json("/v1/spaces/home/replay?last=2")
      const frame = await exported(edge)
      assert.strictEqual((await fetch("/v1/spaces/home", { method: "DELETE" })).status, 200)
      assert.deepStrictEqual(await names(edge), [])
      const { beat } = await sent(edge, "home", { pieces: [frame], from: 0, why: "restore" })
      assert.isAbove(beat ?? -1, 0)
      assert.notProperty(await json("/v1/spaces/home/journal/verification"), "fault")
      const after = await json("/v1/spaces/home/replay?last=4")
      assert.deepStrictEqual([before.beats, before.difference, after.beats, after.difference], [2, undefined, 4, undefined])
      assert.strictEqual((await fetch("/v1/spaces/home/detached", { method: "DELETE" })).status, 200)
      await Edge.evict(edge, "home")
      // The same id was handled before.
      await signal("home", { signal: "/signals/greet", payload: { who: "ann" }, id: "ann" })
      assert.deepStrictEqual((await json("/v1/spaces/home/cells/data/greetings?list")).names, ["ann", "bob"])
    }))
})
