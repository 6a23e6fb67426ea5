import { assert, describe, it } from "@effect/vitest"
import { deflateRawSync } from "node:zlib"
import { concat } from "../../src/cell/Bytes.ts"
import * as Capability from "../../src/frame/Capability.ts"
import * as Chunk from "../../src/frame/Chunk.ts"
import type * as Header from "../../src/frame/Header.ts"
import type * as Record from "../../src/frame/Record.ts"
import * as Row from "../../src/frame/Row.ts"
import * as Random from "../support/Random.ts"
import { codeOf, compressed, forged, hash, header, type Outcome, read, record, whole, write } from "./Frames.ts"
import { present } from "../support/Present.ts"

const cells = (count: number, size: number, below = "/data/c"): ReadonlyArray<Record.Record> =>
  Array.from({ length: count }, (_, i) => record("cell", `${below}${String(i).padStart(5, "0")}`, JSON.stringify(`${i}`.repeat(size))))

/** A frame with chunks of four types, and a divided document. */
const mixed: ReadonlyArray<Record.Record> = [
  ...cells(20, 3),
  record("cell", "/data/long", "ü".repeat(200_000)),
  ...cells(3, 9, "/data/m"),
  record("journal", "3", "entry"),
  record("queue", "9", "signal"),
  record("content", "ab".repeat(32), "")
]

/** The records of an outcome with their bytes, by type and key. */
const gathered = ({ found }: Outcome): ReadonlyMap<string, string> => {
  const bytes = new Map<string, Array<Uint8Array>>()
  let owner = ""
  for (const each of found) {
    if (each.type !== "part") owner = `${each.type} ${each.key}`
    bytes.set(owner, [...bytes.get(owner) ?? [], each.here])
  }
  return new Map([...bytes].map(([key, parts]) => [key, new TextDecoder().decode(concat(parts))]))
}

const expected = (records: ReadonlyArray<Record.Record>): ReadonlyMap<string, string> =>
  new Map(records.map(({ bytes, key, type }) => [`${type} ${key}`, new TextDecoder().decode(bytes)]))

describe("A frame", () => {
  for (const [name, written] of [["as it is", write], ["compressed", compressed]] as const) {
    it(`N19 has all records again, ${name}, whatever the size of the pieces it comes in`, async () => {
      const frame = await written(mixed)
      for (const size of [1, 7, 4096, undefined]) {
        const outcome = await read(whole(frame), size)
        assert.deepStrictEqual(gathered(outcome), expected(mixed))
        assert.deepInclude(outcome.end, { root: frame.root, records: mixed.length })
      }
    })
  }

  it("fills each chunk as far as whole records go", async () => {
    const { chunks } = await write(cells(2000, 50))
    const sizes = chunks.slice(0, -1).map(({ raw }) => raw.length)
    assert.isAbove(sizes.length, 1)
    for (const size of sizes.slice(0, -1)) assert.isTrue(size <= Chunk.MAX_RAW && size > Chunk.MAX_RAW - 1000)
  })

  it("has one root for one header and one list of records", async () => {
    assert.strictEqual((await write(mixed)).root, (await write(mixed)).root)
    assert.notStrictEqual((await write(mixed)).root, (await write(mixed.slice(1))).root)
    assert.notStrictEqual((await write(mixed)).root, (await write(mixed, { clock: 1001 })).root)
  })

  it("without a record is its header and its seal", async () => {
    const frame = await write([])
    assert.deepInclude((await read(whole(frame))).end, { chunks: 0, records: 0, bytes: 0, root: frame.root })
  })
})

describe("A frame is refused, and nothing of the refused chunk is handed on, if", () => {
  it("N19 any byte of it is changed", async () => {
    const frame = await write(mixed.filter(({ bytes }) => bytes.length < 1000))
    const bytes = whole(frame)
    const ends = frame.pieces.map((_, i) => frame.pieces.slice(0, i + 1).reduce((size, piece) => size + piece.length, 0))
    const { found } = await read(bytes)
    for (let at = 0; at < bytes.length; at++) {
      const changed = bytes.slice()
      changed[at]! ^= 1 + at % 255
      const outcome = await read(changed)
      assert.isDefined(codeOf(outcome), `byte ${at}`)
      // The chunks before the changed byte are as they were, and nothing comes after them.
      assert.deepStrictEqual(outcome.found, found.slice(0, outcome.found.length))
      const chunk = Math.max(1, ends.filter((end) => end <= at).length)
      if (codeOf(outcome) === "frame/changed" && "chunk" in outcome.end) assert.strictEqual(outcome.end.chunk, chunk)
    }
  })

  it("N19 it ends early, at any length", async () => {
    const bytes = whole(await write(mixed.filter(({ bytes }) => bytes.length < 1000)))
    for (let length = 0; length < bytes.length; length++) {
      assert.strictEqual(codeOf(await read(bytes.subarray(0, length))), "frame/unsealed")
    }
  })

  it("N19 a chunk is left out, repeated, exchanged, or of another frame", async () => {
    const { pieces } = await write(mixed)
    const other = await write([...cells(20, 4), ...mixed.slice(20)])
    for (let at = 1; at < pieces.length - 1; at++) {
      const [before, piece, next, rest] = [pieces.slice(0, at), present(pieces[at]), present(pieces[at + 1]), pieces.slice(at + 2)]
      assert.strictEqual(codeOf(await read(concat([...before, next, ...rest]))), "frame/order")
      assert.strictEqual(codeOf(await read(concat([...before, piece, piece, next, ...rest]))), "frame/order")
      assert.strictEqual(codeOf(await read(concat([...before, next, piece, ...rest]))), "frame/order")
      assert.strictEqual(codeOf(await read(concat([...before, present(other.pieces[at]), next, ...rest]))), "frame/changed")
    }
  })

  it("N19 bytes follow its seal", async () => {
    assert.strictEqual(codeOf(await read(concat([whole(await write(mixed)), Uint8Array.of(0)]))), "frame/order")
  })

  it("N19 its seal tells other totals", async () => {
    const { chunks, pieces } = await write(cells(3, 3))
    const raw = new TextEncoder().encode(new TextDecoder().decode(present(chunks.at(-1)).raw).replace("\"records\":3", "\"records\":4"))
    const seal = forged(present(chunks[0]).digest, { type: Chunk.SEAL, seq: 2, raw })
    assert.strictEqual(codeOf(await read(concat([present(pieces[0]), present(pieces[1]), seal]))), "frame/changed")
  })
})

describe("A frame is refused with its header, before any record, if it needs", () => {
  const needs: Readonly<Record<string, Partial<globalThis.Record<keyof Header.Header, unknown>>>> = {
    "N20 a capability that is not known": { caps: 2 ** 31 },
    "a feature that is not known": { features: ["teleport"] },
    "a newer version": { v: 2 },
    "a kind that is not known": { kind: "wish" }
  }
  for (const [name, fields] of Object.entries(needs)) {
    it(name, async () => {
      const opening = Chunk.opening(new TextEncoder().encode(JSON.stringify({ ...header, ...fields })))
      assert.strictEqual(codeOf(await read(opening)), "frame/unknown")
    })
  }

  it("a type that is not known", async () => {
    const { pieces } = await write([])
    const chunk = forged(Chunk.first(hash, present(pieces[0])), { type: 0x20, seq: 1, raw: Uint8Array.of(1) })
    assert.strictEqual(codeOf(await read(concat([present(pieces[0]), chunk]))), "frame/unknown")
  })

  it("N20 and records in another order are the same records", async () => {
    const shuffled = Random.shuffled(Random.make(7), mixed)
    assert.deepStrictEqual(new Map([...gathered(await read(whole(await write(shuffled))))].sort()), new Map([...expected(mixed)].sort()))
  })

  it("names each capability by its bit", () => {
    assert.deepStrictEqual(Capability.namesOf(0b101), ["content", "deflate"])
    assert.deepStrictEqual(Capability.unknown(1 << 9 | 1 << 31), [9, 31])
  })
})

describe("A frame is refused, in bounded memory, if", () => {
  const opening = async (caps = 0): Promise<{ readonly bytes: Uint8Array; readonly first: string }> => {
    const { pieces } = await write([], { caps })
    return { bytes: present(pieces[0]), first: Chunk.first(hash, present(pieces[0])) }
  }

  it("N34 its header has 1 GiB, or is no JSON, or lacks a field", async () => {
    const huge = Chunk.opening(new Uint8Array())
    new DataView(huge.buffer).setUint32(4, 2 ** 30)
    assert.strictEqual(codeOf(await read(huge)), "frame/bounds")
    const texts = ["", "{", "null", "[]", JSON.stringify({ ...header, clock: -1 }), JSON.stringify({ ...header, head: { beat: 1 } })]
    for (const text of texts) {
      assert.strictEqual(codeOf(await read(Chunk.opening(new TextEncoder().encode(text)))), "frame/magic", text)
    }
    assert.strictEqual(codeOf(await read(new TextEncoder().encode("PK\u0003\u0004 and more"))), "frame/magic")
  })

  it("N34 a chunk is larger than 262,144 bytes, empty, or larger in the frame than before", async () => {
    const { bytes, first } = await opening(Capability.of(["deflate"]))
    const big = forged(first, { type: 1, seq: 1, raw: new Uint8Array(Chunk.MAX_RAW + 1) })
    assert.strictEqual(codeOf(await read(concat([bytes, big]))), "frame/bounds")
    assert.strictEqual(codeOf(await read(concat([bytes, forged(first, { type: 1, seq: 1, raw: new Uint8Array() })]))), "frame/bounds")
    const grown = forged(first, { type: 1, seq: 1, raw: new Uint8Array(8), stored: new Uint8Array(9) })
    assert.strictEqual(codeOf(await read(concat([bytes, grown]))), "frame/bounds")
  })

  it("N34 a compressed chunk becomes more or less than it says, or is no compressed chunk", async () => {
    const { bytes, first } = await opening(Capability.of(["deflate"]))
    const bomb = deflateRawSync(new Uint8Array(64 * 1_048_576))
    const before = process.resourceUsage().maxRSS
    for (const stored of [bomb, deflateRawSync(new Uint8Array(10)), new Uint8Array(50).fill(255)]) {
      const chunk = forged(first, { type: 1, seq: 1, raw: new Uint8Array(Chunk.MAX_RAW), stored })
      assert.strictEqual(codeOf(await read(concat([bytes, chunk]))), "frame/bounds")
    }
    // In KiB. The bomb itself was made before.
    assert.isBelow(process.resourceUsage().maxRSS - before, 16_384)
  })

  it("a chunk is compressed, and the header does not say so", async () => {
    const { bytes, first } = await opening()
    const raw = new Uint8Array(1000)
    const chunk = forged(first, { type: 1, seq: 1, raw, stored: deflateRawSync(raw) })
    assert.strictEqual(codeOf(await read(concat([bytes, chunk]))), "frame/bounds")
  })

  it("a record passes the end of its chunk, or has a number without an end", async () => {
    const { bytes, first } = await opening()
    for (const raw of [[200, 1], [1, 65, 5, 5, 1], [255, 255, 255, 255, 255, 255, 255, 1], [1, 255, 1, 1, 1], [1, 65, 5, 4, 1, 1, 1, 1]]) {
      const chunk = forged(first, { type: 1, seq: 1, raw: Uint8Array.from(raw) })
      assert.strictEqual(codeOf(await read(concat([bytes, chunk]))), "frame/bounds", String(raw))
    }
  })

  it("a part is of another record, out of order, too long, or missing", async () => {
    const { bytes, first } = await opening()
    const part = (key: number, [ordinal, offset]: readonly [number, number], here: ReadonlyArray<number>) =>
      [1, key, ordinal, offset, here.length, ...here]
    const wrong: Readonly<Record<string, ReadonlyArray<number>>> = {
      "of another record": part(66, [0, 0], [1]),
      "with another ordinal": part(65, [1, 0], [1]),
      "at another offset": part(65, [0, 1], [1]),
      "longer than its record": part(65, [0, 0], [1, 2, 3, 4]),
      "empty": part(65, [0, 0], [])
    }
    const owner = { type: 1, seq: 1, raw: Uint8Array.of(1, 65, 3, 0) }
    const second = Chunk.after(hash, first, owner)
    for (const [name, raw] of Object.entries(wrong)) {
      const chunk = forged(second, { type: 2, seq: 2, raw: Uint8Array.from(raw) })
      assert.strictEqual(codeOf(await read(concat([bytes, forged(first, owner), chunk]))), "frame/order", name)
    }
    const orphan = forged(first, { ...owner, type: 2, raw: Uint8Array.from(part(65, [0, 0], [1])) })
    assert.strictEqual(codeOf(await read(concat([bytes, orphan]))), "frame/order")
    const again = forged(second, { ...owner, seq: 2 })
    assert.strictEqual(codeOf(await read(concat([bytes, forged(first, owner), again]))), "frame/order")
  })

  it("it is any bytes at all", async () => {
    const draw = Random.make(3)
    const bytes = whole(await compressed(mixed))
    for (let trial = 0; trial < 300; trial++) {
      const changed = bytes.slice(0, 1 + draw(bytes.length))
      for (let change = draw(4); change > 0; change--) changed[draw(changed.length)] = draw(256)
      const { end } = await read(changed, 1 + draw(5000))
      if (!("code" in end)) assert.deepStrictEqual(changed, bytes)
    }
  })
})

describe("A row of a store", () => {
  const rows: { readonly [T in Row.RowType]: ReadonlyArray<Row.Rows[T]> } = {
    cell: [{ key: "/data/a", text: "{\"n\":1}" }],
    journal: [{ beat: 0, clock: 12, hash: "ab".repeat(32), text: "{}\n\nx" }],
    queue: [{ seq: 0, text: "" }, { seq: 4, id: "my\nid", text: "a\nb" }],
    receipt: [{ id: "1.0.0", enzyme: "", beat: 4 }, { id: "ff", enzyme: "e", beat: 0, digest: "d", own: "o", label: ["a"] }],
    observation: [{ node: "total", text: "{}" }]
  }
  it("is the same after a frame", async () => {
    for (const type of Object.keys(rows) as ReadonlyArray<Row.RowType>) {
      const { found } = await read(whole(await write(rows[type].map((row) => Row.write(type, row as never)))))
      const back = found.map(({ here, key }) => Row.read(type, { key, bytes: here }))
      assert.deepStrictEqual(back, [...rows[type]], type)
    }
  })

  it("is refused where a record is none", () => {
    const wrong: ReadonlyArray<readonly [Row.RowType, string, string]> = [
      ["journal", "x", `1 ${"a".repeat(64)}\n`], ["journal", "1", "text"], ["journal", "1", `-1 ${"a".repeat(64)}\n`],
      ["queue", "1", "text"], ["queue", "01", "null\n"], ["queue", "1", "7\ntext"],
      ["receipt", "1", "{}"], ["receipt", "[1,2,3]", "{}"], ["receipt", "[1,\"a\",\"b\"]", "{\"digest\":1}"],
      ["receipt", "[1,\"a\",\"b\"]", "{\"label\":\"a\"}"], ["receipt", "[1,\"a\",\"b\"]", "{\"label\":[1]}"]
    ]
    for (const [type, key, text] of wrong) {
      assert.throws(() => Row.read(type, { key, bytes: new TextEncoder().encode(text) }), /is no row of type/)
    }
  })
})
