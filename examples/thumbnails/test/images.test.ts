import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { encode as encodePng } from "fast-png"
import { zlibSync } from "fflate"
import jpeg from "jpeg-js"
import type { Source } from "../headers.ts"
import * as Images from "../images.ts"
import { big, chunk, exif, file, photo, pngSignature, pngSize, redAndBlue, segment, withExif } from "./Files.ts"

const digest = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex").slice(0, 12)

/** The code and the message of a failure to decode. */
const refusal = (source: Source, work: (source: Source) => unknown = Images.decode): { code: string; message: string } => {
  try {
    work(source)
  } catch (error) {
    return error as { code: string; message: string }
  }
  return assert.fail(`${source.name} was not refused`)
}

const pixelAt = (bytes: Uint8Array, x: number, y: number): ReadonlyArray<number> => {
  const { width, data } = jpeg.decode(bytes, { useTArray: true })
  return [...data.subarray((y * width + x) * 4, (y * width + x) * 4 + 3)]
}

const isNear = (pixel: ReadonlyArray<number>, wanted: ReadonlyArray<number>): boolean =>
  pixel.every((value, i) => Math.abs(value - (wanted[i] ?? NaN)) < 24)

describe("images", () => {
  describe("metadata", () => {
    it("reads size, format and EXIF of the photographs", () => {
      assert.deepStrictEqual(Images.metadata(photo("blossom.jpg")), {
        format: "jpeg",
        width: 500,
        height: 500,
        orientation: 1,
        exif: {
          make: "NIKON CORPORATION",
          model: "NIKON D700",
          software: "darktable 2.4.0",
          copyright: "CC0 1.0",
          taken: "2018-03-19T16:38:28",
          exposureSeconds: 1 / 640,
          aperture: 3.5,
          iso: 200,
          focalLengthMm: 125
        }
      })
      const rocket = Images.metadata(photo("rocket.jpg"))
      assert.deepStrictEqual([rocket.width, rocket.height, rocket.exif.artist], [640, 427, "SpaceX"])
      const cat = Images.metadata(photo("chelsea.png"))
      assert.deepStrictEqual(cat, { format: "png", width: 451, height: 300, orientation: 1, exif: {} })
    })

    it("gives the size as it is seen when the camera was held upright", () => {
      const turned = withExif(redAndBlue(40, 24), exif([{ tag: 0x0112, type: 3, count: 1, value: [0, 6, 0, 0] }]))
      assert.deepStrictEqual(Images.metadata(turned), { format: "jpeg", width: 24, height: 40, orientation: 6, exif: {} })
    })
  })

  describe("thumbnail", () => {
    it.each([
      { name: "blossom.jpg", width: 64, height: 64, hash: "56c3072ea202" },
      { name: "blossom.jpg", width: 320, height: 320, hash: "8ef615aa14bd" },
      { name: "rocket.jpg", width: 160, height: 107, hash: "25a8fe70084a" },
      { name: "chelsea.png", width: 160, height: 106, hash: "9da00b651e82" }
    ])("makes of $name at $width pixels the same JPEG on every host", ({ name, width, height, hash }) => {
      const made = Images.thumbnail(Images.decode(photo(name)), width)
      assert.deepStrictEqual([made.width, made.height], [width, height])
      const decoded = jpeg.decode(made.bytes, { useTArray: true, tolerantDecoding: false })
      assert.deepStrictEqual([decoded.width, decoded.height], [width, height])
      assert.strictEqual(digest(made.bytes), hash)
    })

    it("never enlarges", () => {
      const made = Images.thumbnail(Images.decode(redAndBlue(40, 24)), 320)
      assert.deepStrictEqual([made.width, made.height], [40, 24])
    })

    it("turns a picture upright", () => {
      const turned = withExif(redAndBlue(80, 48), exif([{ tag: 0x0112, type: 3, count: 1, value: [0, 6, 0, 0] }]))
      const made = Images.thumbnail(Images.decode(turned), 24)
      assert.deepStrictEqual([made.width, made.height], [24, 40])
      assert.isTrue(isNear(pixelAt(made.bytes, 12, 4), [255, 0, 0]), "red is at the top")
      assert.isTrue(isNear(pixelAt(made.bytes, 12, 36), [0, 0, 255]), "blue is at the bottom")
    })

    it.each([
      ["grey", { depth: 8, channels: 1, data: new Uint8Array(256).fill(100) }, [100, 100, 100]],
      ["grey with alpha", { depth: 8, channels: 2, data: new Uint8Array(512).map((_, i) => i % 2 === 0 ? 0 : 51) }, [204, 204, 204]],
      ["16 bits", { depth: 16, channels: 3, data: new Uint16Array(768).fill(200 * 257) }, [200, 200, 200]],
      ["transparent", { depth: 8, channels: 4, data: new Uint8Array(1024) }, [255, 255, 255]]
    ] as const)("reads a PNG of the kind: %s", (_kind, image, wanted) => {
      const source = { name: "upload", bytes: encodePng({ width: 16, height: 16, ...image }) }
      const made = Images.thumbnail(Images.decode(source), 16)
      assert.isTrue(isNear(pixelAt(made.bytes, 8, 8), wanted), String(pixelAt(made.bytes, 8, 8)))
    })

    it("reads a PNG with a palette, and one with a bit for each pixel", () => {
      const ends = [...chunk("IDAT", zlibSync(Uint8Array.from([0, 0b01000000]))), ...chunk("IEND", [])]
      const header = (colours: number) => chunk("IHDR", [...big(2, 4), ...big(1, 4), 1, colours, 0, 0, 0])
      const sealed = (bytes: Source) => Images.decode(withChecks(bytes)).pixels.rgb
      const palette = chunk("PLTE", [255, 0, 0, 0, 0, 255])
      assert.deepStrictEqual([...sealed(file(pngSignature, header(3), palette, ends))], [255, 0, 0, 0, 0, 255])
      assert.deepStrictEqual([...sealed(file(pngSignature, header(0), ends))], [0, 0, 0, 255, 255, 255])
    })
  })

  describe("a bad file", () => {
    it("is refused when it is no image, with its name, what it starts with and what to do", () => {
      const { code, message } = refusal({ name: "The image for /env/fs/projects/p1/notes.jpg", bytes: new TextEncoder().encode("hello") })
      assert.strictEqual(code, "image/unreadable")
      assert.include(message, "The image for /env/fs/projects/p1/notes.jpg cannot be read as an image: its 5 bytes start with 68 65 6c 6c")
      assert.include(message, "Send a whole JPEG or PNG file")
      assert.include(refusal(file()).message, "it is empty")
    })

    it.each(["blossom.jpg", "rocket.jpg", "chelsea.png"])("is refused when %s breaks off anywhere", (name) => {
      const { bytes } = photo(name)
      for (let length = 0; length < bytes.length; length += Math.ceil(bytes.length / 300)) {
        assert.strictEqual(refusal({ name, bytes: bytes.subarray(0, length) }).code, "image/unreadable", `${length} bytes`)
      }
      assert.include(refusal({ name, bytes: bytes.subarray(0, -20) }).message, "it breaks off in its")
    })

    it("is refused when bytes of a PNG were changed on the way", () => {
      const bytes = photo("chelsea.png").bytes.slice()
      bytes.set(bytes.subarray(50_000, 50_001).map((byte) => byte ^ 1), 50_000)
      const { code, message } = refusal({ name: "chelsea.png", bytes })
      assert.strictEqual(code, "image/unreadable")
      assert.include(message, "its png data is damaged")
    })

    it("is refused by its header when it claims more pixels than are decoded", () => {
      const png = file(pngSignature, pngSize(100_000, 100_000), chunk("IDAT", [0]), chunk("IEND", []))
      const frame = segment(0xc0, [8, ...big(65_535, 2), ...big(65_535, 2), 1, 1, 0x11, 0])
      const picture = file([0xff, 0xd8], frame, segment(0xda, [1, 1, 0, 0, 63, 0]), [0, 0xff, 0xd9])
      for (const source of [png, picture]) {
        assert.strictEqual(refusal(source).code, "image/too-large")
        assert.strictEqual(refusal(source, Images.metadata).code, "image/too-large")
      }
      assert.include(refusal(png).message, "100000 × 100000 pixels and the limit is 40000000")
    })

    it("is refused when a PNG of one pixel inflates to megabytes", () => {
      const bomb = zlibSync(new Uint8Array(32_000_000), { level: 9 })
      const { code, message } = refusal(file(pngSignature, pngSize(1, 1), chunk("IDAT", bomb), chunk("IEND", [])))
      assert.strictEqual(code, "image/unreadable")
      assert.include(message, "it inflates to more than its size asks for")
    })

    it("is refused when a PNG says its size twice", () => {
      const twice = file(pngSignature, pngSize(1, 1), pngSize(60_000, 60_000), chunk("IDAT", [0]), chunk("IEND", []))
      assert.include(refusal(twice).message, "it does not say its size once")
    })

    it("is refused when a JPEG asks for thousands of passes over its pixels", () => {
      const frame = segment(0xc2, [8, ...big(6_000, 2), ...big(6_000, 2), 1, 1, 0x11, 0])
      const scans = Array.from({ length: 2_000 }, () => [...segment(0xda, [1, 1, 0, 0, 0, 0]), 0]).flat()
      assert.include(refusal(file([0xff, 0xd8], frame, scans, [0xff, 0xd9])).message, "more than 64 scans")
    })

    it("is refused when a JPEG has a size of nothing, or no picture at all", () => {
      const empty = segment(0xc0, [8, 0, 0, 0, 0, 1, 1, 0x11, 0])
      assert.include(refusal(file([0xff, 0xd8], empty, segment(0xda, []), [0xff, 0xd9])).message, "its size is 0 × 0")
      assert.include(refusal(file([0xff, 0xd8, 0xff, 0xd9])).message, "it holds no picture")
    })
  })
})

/** The PNG with correct checksums. */
const withChecks = ({ name, bytes }: Source): Source => {
  const sealed = bytes.slice()
  const data = new DataView(sealed.buffer)
  for (let offset = 8; offset < sealed.length;) {
    const end = offset + 8 + data.getUint32(offset)
    data.setUint32(end, crc32(sealed.subarray(offset + 4, end)))
    offset = end + 4
  }
  return { name, bytes: sealed }
}

const crc32 = (bytes: Uint8Array): number => {
  let crc = -1
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc >>> 1 ^ (crc & 1) * 0xedb88320
  }
  return ~crc >>> 0
}
