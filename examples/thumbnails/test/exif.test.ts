import { assert, describe, it } from "@effect/vitest"
import * as Exif from "../exif.ts"
import { big, directory, exif } from "./Files.ts"

const rational = (...values: ReadonlyArray<readonly [number, number]>) => values.flatMap(([n, d]) => [...big(n, 4), ...big(d, 4)])

describe("exif", () => {
  it("reads where a picture was taken", () => {
    // The directory at 8 has one field and ends at 26; the one of the place follows, then its numbers.
    const place = [
      ...directory(
        { tag: 1, type: 2, count: 2, value: [0x53, 0, 0, 0] },
        { tag: 2, type: 5, count: 3, value: big(80, 4) },
        { tag: 3, type: 2, count: 2, value: [0x45, 0, 0, 0] },
        { tag: 4, type: 5, count: 3, value: big(104, 4) }
      ),
      ...rational([33, 1], [51, 1], [3540, 100]),
      ...rational([151, 1], [12, 1], [36, 1])
    ]
    const block = exif([{ tag: 0x8825, type: 4, count: 1, value: big(26, 4) }], place)
    assert.deepStrictEqual(Exif.read(block), { orientation: 1, exif: { latitude: -33.85983, longitude: 151.21 } })
  })

  it("leaves out what makes no sense", () => {
    const block = exif(
      [
        { tag: 0x0112, type: 3, count: 1, value: [0, 99, 0, 0] },
        { tag: 0x829a, type: 5, count: 1, value: big(74, 4) },
        { tag: 0x829d, type: 5, count: 1, value: big(82, 4) },
        { tag: 0x0110, type: 2, count: 3, value: [0x20, 0x20, 0, 0] },
        { tag: 0x0132, type: 2, count: 4, value: [0x6e, 0x6f, 0x77, 0] }
      ],
      rational([1, 0], [0, 0])
    )
    assert.deepStrictEqual(Exif.read(block), { orientation: 1, exif: {} })
    assert.deepStrictEqual(Exif.read(undefined), { orientation: 1, exif: {} })
    assert.deepStrictEqual(Exif.read(new Uint8Array([0x4d, 0x4d, 0])), { orientation: 1, exif: {} })
  })

  it("cuts texts short and takes control characters out", () => {
    const long = Array.from({ length: 5_000 }, (_, i) => i === 2 ? 7 : 0x61)
    const block = exif([{ tag: 0x010f, type: 2, count: 5_000, value: big(26, 4) }], long)
    assert.strictEqual(Exif.read(block).exif.make, `aa ${"a".repeat(125)}`)
  })

  it("is not led in circles, nor to values that are not there", () => {
    const circular = exif([
      { tag: 0x8769, type: 4, count: 1, value: big(8, 4) },
      { tag: 0x8825, type: 4, count: 1, value: big(8, 4) },
      { tag: 0x010f, type: 2, count: 0xffff_ffff, value: big(8, 4) },
      { tag: 0x8827, type: 4, count: 0x3fff_ffff, value: big(8, 4) },
      { tag: 0x829a, type: 5, count: 1, value: big(0xffff_ffff, 4) }
    ])
    assert.deepStrictEqual(Exif.read(circular), { orientation: 1, exif: {} })
    const crowded = Uint8Array.from([0x49, 0x49, 42, 0, 8, 0, 0, 0, 0xff, 0xff, ...Array.from({ length: 60_000 }, () => 1)])
    assert.deepStrictEqual(Exif.read(crowded), { orientation: 1, exif: {} })
  })
})
