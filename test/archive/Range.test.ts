import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme } from "systole"
import { createHash } from "node:crypto"
import * as Chunk from "../../src/frame/Chunk.ts"
import type { FrameRecord, FrameEnd } from "../../src/frame/FrameReader.ts"
import * as Header from "../../src/frame/Header.ts"
import * as Row from "../../src/frame/Row.ts"
import * as Journal from "../../src/kernel/journal/Journal.ts"
import * as Frames from "../frame/Frames.ts"
import { serve } from "../ingress/TestIngress.ts"

/** Writes its payload to a cell. */
const note = Enzyme.make({ name: "note", query: "/note", run: (tx, event) => tx.set("/data/note", event.payload) })
/** Keeps a list of content, and counts. */
const keep = Enzyme.make({ name: "keep", query: "/keep", run: (tx, event) => {
  const { list = [] } = (tx.get("/data/kept") ?? {}) as { readonly list?: ReadonlyArray<unknown> }
  tx.set("/data/kept", { list: [...list, event.payload] })
} })

type Served = Effect.Success<ReturnType<typeof serve>>

const post = (app: Served, signal: string, payload: unknown) => app.ask("/v1/spaces/home/signals", {
  method: "POST",
  headers: { "content-type": "application/json", prefer: "wait=5" },
  body: JSON.stringify({ signal, payload, id: `${signal} ${String(payload).slice(0, 80)}` })
})

const upload = async (app: Served, text: string): Promise<string> => {
  const hash = createHash("sha256").update(text).digest("hex")
  assert.isBelow((await app.ask("/v1/spaces/home/blobs", { method: "PUT", body: text })).status, 300)
  return hash
}

/** A frame in one part: its header and its records. */
interface Taken {
  readonly header: Header.Header
  readonly found: ReadonlyArray<FrameRecord>
}

const taken = async (app: Served, query = ""): Promise<Taken> => {
  const response = await app.fetch(`/v1/spaces/home/export?${query}`)
  assert.strictEqual(response.status, 200, await response.clone().text().then((text) => text.slice(0, 300)))
  const bytes = new Uint8Array(await response.arrayBuffer())
  const { end, found } = await Frames.read(bytes)
  assert.property(end as FrameEnd, "root")
  return { found, header: Header.decode(bytes.subarray(Chunk.OPENING, Chunk.OPENING + Chunk.lengthOf(bytes))) }
}

const since = ({ header: { head } }: Taken, digits = 16): string => `since=${head.beat}-${head.hash.slice(0, digits)}`

const of = ({ found }: Taken, type: FrameRecord["type"]): ReadonlyArray<FrameRecord> => found.filter((record) => record.type === type)

const journal = (frame: Taken) =>
  of(frame, "journal").map((record) => Row.read("journal", { key: record.key, bytes: record.here }))

const code = async (app: Served, query: string): Promise<unknown> =>
  ((await app.ask(`/v1/spaces/home/export?${query}`)).body as { readonly code: string }).code

const ranges = { enzymes: [note, keep], config: { spaces: { create: "on-demand" } } } as const

describe("a range", () => {
  it.live("has the journal after the frame before, and no documents; the next one follows it", () =>
    Effect.flatMap(serve(ranges), (app) => Effect.promise(async () => {
      for (let i = 0; i < 5; i++) await post(app, "/note", i)
      const full = await taken(app)
      assert.strictEqual(full.header.kind, "snapshot")
      const frames = [full]
      for (const payload of ["a", "b"]) {
        for (let i = 0; i < 3; i++) await post(app, "/note", `${payload}${i}`)
        const before = frames.at(-1)?.header.head
        const range = await taken(app, since(frames.at(-1) ?? full))
        const { anchor, from, head, kind, to } = range.header
        assert.deepStrictEqual({ anchor, from, kind, to }, { kind: "range", from: before?.beat, to: head.beat, anchor: before })
        const rows = journal(range)
        assert.strictEqual(rows.length, 3)
        assert.strictEqual(Journal.prevOf(rows[0]?.text ?? ""), before?.hash)
        assert.deepStrictEqual(rows.at(-1)?.hash, head.hash)
        assert.include(rows.at(-1)?.text, `[${JSON.stringify(`${payload}2`)}]`)
        assert.isEmpty(of(range, "cell"))
        const beats = of(range, "receipt").map(({ key }) => (JSON.parse(key) as [number])[0])
        assert.strictEqual(beats.length, 3)
        assert.isTrue(beats.every((beat) => beat > (before?.beat ?? 0)))
        frames.push(range)
      }
    })))

  it.live("has the content that came since, and not that of documents before", () =>
    Effect.flatMap(serve(ranges), (app) => Effect.promise(async () => {
      const first = await upload(app, "first")
      await post(app, "/keep", `/cas/${first}`)
      const full = await taken(app)
      assert.deepStrictEqual(of(full, "content").map(({ key }) => key), [first])
      const second = await upload(app, "second")
      await post(app, "/keep", `/cas/${second}`)
      const range = await taken(app, since(full, 64))
      assert.deepStrictEqual(of(range, "content").map(({ key }) => key), [second])
    })))

  it.live("is refused where the frame before is of another history, and where there was no beat", () =>
    Effect.flatMap(serve(ranges), (app) => Effect.promise(async () => {
      await post(app, "/note", 1)
      const full = await taken(app)
      const { beat } = full.header.head
      assert.strictEqual(await code(app, since(full)), "export/unchanged")
      assert.strictEqual(await code(app, `since=${beat}-${"0".repeat(16)}`), "export/no-range")
      assert.strictEqual(await code(app, `since=${beat + 7}-${"0".repeat(16)}`), "export/no-range")
      assert.strictEqual(await code(app, `since=${beat}`), "query/invalid")
      await post(app, "/note", 2)
      assert.strictEqual((await taken(app, since(full))).header.kind, "range")
    })))

  it.live("is refused where the journal after the frame before is no longer kept", () =>
    Effect.flatMap(serve({ ...ranges, config: { ...ranges.config, retention: { journalBytes: 1 } } }), (app) => Effect.promise(async () => {
      await post(app, "/note", 1)
      const full = await taken(app)
      // A store looks for old rows after each MiB.
      for (let i = 0; i < 3; i++) await post(app, "/note", `${i}${"x".repeat(700_000)}`)
      assert.strictEqual(await code(app, since(full)), "export/no-range")
    })))

  it.live("of a held space has the signals that it took without a beat", () =>
    Effect.flatMap(serve(ranges), (app) => Effect.promise(async () => {
      await post(app, "/note", 1)
      const held = await app.ask("/v1/spaces/home/control/hold", { method: "POST" })
      assert.strictEqual(held.status, 200, JSON.stringify(held.body))
      const full = await taken(app)
      const sent = await app.ask("/v1/spaces/home/signals", {
        method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ signal: "/note", payload: "later" })
      })
      assert.strictEqual(sent.status, 202)
      const range = await taken(app, since(full))
      assert.deepInclude(range.header, { kind: "range", from: range.header.to })
      assert.isEmpty(journal(range))
      assert.strictEqual(of(range, "queue").length, of(full, "queue").length + 1)
    })))
})
