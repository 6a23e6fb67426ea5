import { assert, describe, it } from "@effect/vitest"
import { Channel } from "systole"
import { Gathered } from "../../../plugins/connection/Gathered.ts"
import * as Messages from "../../../plugins/connection/Messages.ts"
import * as Random from "../../support/Random.ts"

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

/** The messages of a reader after each part, and the code of the failure that ends them. */
const read = (form: Messages.Form, limit: number, parts: Iterable<Uint8Array>): ReadonlyArray<string> => {
  const reader = Messages.reader(form, limit)
  const found: Array<string> = []
  try {
    for (const part of parts) {
      reader.push(part)
      for (let next = reader.next(true); next !== undefined; next = reader.next(true)) found.push(new TextDecoder().decode(next))
    }
  } catch (error) {
    found.push(error instanceof Channel.ChannelError ? error.code : String(error))
  }
  return found
}

const joined = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => Buffer.concat(parts)

function* cut(whole: Uint8Array, at: () => number): Iterable<Uint8Array> {
  for (let from = 0; from < whole.length;) {
    const to = from + at()
    yield whole.slice(from, to)
    from = to
  }
}

describe("Messages of a connection", () => {
  it.each([1, 2, 3])("are the same wherever the bytes are cut (seed %d)", (seed) => {
    const random = Random.make(seed)
    const texts = Array.from({ length: 40 }, () => "ä".repeat(random(30)))
    const encoded = (form: Messages.Form) => joined(...texts.map((text) => Messages.encode(form, bytes(text))))
    for (const form of ["lines", "length-prefixed"] as const) {
      assert.deepStrictEqual(read(form, 60, cut(encoded(form), () => 1)), texts)
      assert.deepStrictEqual(read(form, 60, cut(encoded(form), () => 1 + random(200))), texts)
    }
  })

  it("are lines without their ends", () => {
    assert.deepStrictEqual(read("lines", 4, [bytes("a\r\n\nab\rc\nabcd\r\n")]), ["a", "", "ab\rc", "abcd"])
  })

  it.each<[Messages.Form, Uint8Array]>([
    ["lines", bytes("ok\nabcdef\n")],
    ["lines", bytes("ok\nabcdef")],
    ["length-prefixed", joined(Messages.prefixed(bytes("ok")), new Uint8Array([255, 255, 255, 255]))],
    ["length-prefixed", joined(Messages.prefixed(bytes("ok")), new Uint8Array([0, 0, 0, 5]))]
  ])("of the form %s end at one beyond the limit, after the ones before it", (form, whole) => {
    assert.deepStrictEqual(read(form, 4, [whole]), ["ok", "io/protocol"])
    assert.deepStrictEqual(read(form, 4, cut(whole, () => 1)), ["ok", "io/protocol"])
  })

  it("of a batch wait with the failure of the next one", () => {
    const reader = Messages.reader("lines", 2)
    reader.push(bytes("ok\nlong\n"))
    assert.deepStrictEqual([reader.next(true), reader.next(false)], [bytes("ok"), undefined])
    assert.throws(() => reader.next(true), /more than 2 bytes/)
  })

  it("are lost as datagrams beyond their limits, and never in parts", () => {
    const reader = Messages.reader("datagram", 1000)
    assert.isFalse(reader.push(new Uint8Array(1001)))
    const taken = Array.from({ length: 5000 }, () => reader.push(new Uint8Array(872)))
    assert.strictEqual(taken.filter(Boolean).length, 1_048_576 / 1000 | 0)
    assert.strictEqual(reader.next(true)?.length, 872)
    assert.isTrue(reader.push(bytes("x")))
  })

  it("refuses a line feed within a line", () => {
    assert.throws(() => Messages.encode("lines", bytes("a\nb")), /line feed/)
  })
})

const bufferOf = (gathered: Gathered): number => (gathered as unknown as { readonly buffer: Uint8Array }).buffer.length

describe("Gathered bytes", () => {
  it("cost no more memory than twice their number, whatever their parts are", () => {
    const gathered = new Gathered()
    for (let i = 0; i < 10_000; i++) {
      gathered.add(new Uint8Array([i & 255]))
      if (gathered.size === 3) assert.strictEqual(gathered.take(2).length, 2)
    }
    assert.isAtMost(bufferOf(gathered), 1024)
  })

  it("cost no more than 64 KiB once they are taken, and the next ones are whole", () => {
    const gathered = new Gathered()
    for (const size of [1, 65_536, 1_048_576, 3]) {
      gathered.add(new Uint8Array(size).fill(size & 255))
      assert.deepStrictEqual(gathered.take(size), new Uint8Array(size).fill(size & 255))
      assert.isAtMost(bufferOf(gathered), 65_536)
    }
  })
})
