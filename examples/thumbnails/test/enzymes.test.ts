import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import type { Enzyme, SignalRequest, Transaction, Value } from "systole"
import { INDEX } from "../assets.ts"
import imageMetadata from "../enzymes/image_metadata.ts"
import indexAsset from "../enzymes/index_asset.ts"
import resizeImage from "../enzymes/resize_image.ts"
import { gallery } from "../gallery.ts"
import { photo, redAndBlue } from "./Files.ts"

const signal = "/signals/image/thumbnail"
const target = "/env/fs/projects/p1/img123.jpg"
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

/** The part of a transaction that these enzymes use, over plain maps. */
const makeSpace = () => {
  const cells = new Map<string, Value>()
  const signals: Array<SignalRequest> = []
  const keep = (bytes: Uint8Array): string => {
    const address = `/cas/${sha256(bytes)}`
    cells.set(address, bytes)
    return address
  }
  const tx: Partial<Transaction> = {
    get: (address) => cells.get(String(address)),
    set: (address, value) => void cells.set(String(address), value as Value),
    merge: (address, fields) => void cells.set(String(address), { ...cells.get(String(address)) as object, ...fields } as Value),
    blob: keep,
    signal: (request) => {
      signals.push(request)
      return "0.0.0"
    }
  }
  const run = (enzyme: Enzyme.Enzyme, request: SignalRequest) =>
    enzyme.run(tx as Transaction, {
      id: "x.0.0", signal: undefined, target: undefined, payload: undefined, params: {}, attempt: 1, ...request
    })
  return { cells, signals, keep, run }
}

const send = (bytes: Uint8Array) => {
  const space = makeSpace()
  const payload = { hash: sha256(bytes) }
  space.keep(bytes)
  return { ...space, payload }
}

describe("resize_image", () => {
  it("keeps three thumbnails, writes their cell and sends the signal to index them", () => {
    const { cells, signals, run, payload } = send(photo("rocket.jpg").bytes)
    run(resizeImage, { signal, target, payload })
    const cell = cells.get(
      "/data/assets/img123/thumbnail"
    ) as { target: string; sizes: ReadonlyArray<{ width: number; height: number; bytes: number; address: string }> }
    assert.strictEqual(cell.target, target)
    assert.deepStrictEqual(cell.sizes.map(({ width, height }) => [width, height]), [[64, 43], [160, 107], [320, 214]])
    for (const { address, bytes } of cell.sizes) assert.strictEqual((cells.get(address) as Uint8Array).length, bytes)
    assert.deepStrictEqual(signals, [{ signal: "/signals/db/write", target: "/data/assets/img123/thumbnail" }])
  })

  it("makes of a small image one thumbnail for each size that it has", () => {
    const { cells, run, payload } = send(redAndBlue(100, 50).bytes)
    run(resizeImage, { signal, target, payload })
    const cell = cells.get("/data/assets/img123/thumbnail") as { sizes: ReadonlyArray<{ width: number }> }
    assert.deepStrictEqual(cell.sizes.map(({ width }) => width), [64, 100])
  })

  it.each([
    ["a file that is no image", new TextEncoder().encode("hello"), "image/unreadable"],
    ["half a file", photo("blossom.jpg").bytes.subarray(0, 30_000), "image/unreadable"]
  ])("fails for good on %s, naming the target", (_kind, bytes, code) => {
    const { cells, signals, run, payload } = send(bytes)
    const before = cells.size
    try {
      run(resizeImage, { signal, target, payload })
      assert.fail("it did not fail")
    } catch (error) {
      assert.strictEqual((error as { code: string }).code, code)
      assert.include((error as Error).message, target)
    }
    assert.deepStrictEqual([cells.size, signals.length], [before, 0])
  })

  it("fails for good when the bytes or the target are not there", () => {
    const { run } = makeSpace()
    const payload = { hash: "0".repeat(64) }
    assert.throws(() => run(resizeImage, { signal, target, payload }), /\/cas\/0{64} holds nothing/)
    assert.throws(() => run(resizeImage, { signal, payload }), /has no target/)
  })
})

describe("image_metadata", () => {
  it("writes what the image says of itself", () => {
    const { cells, run, payload } = send(photo("blossom.jpg").bytes)
    run(imageMetadata, { signal, target, payload })
    const cell = cells.get("/data/assets/img123/metadata") as { width: number; bytes: number; source: string; exif: { model: string } }
    assert.deepStrictEqual([cell.width, cell.bytes, cell.exif.model], [500, photo("blossom.jpg").bytes.length, "NIKON D700"])
    assert.strictEqual(cell.source, `/cas/${payload.hash}`)
  })
})

describe("index_asset", () => {
  it("lists assets side by side, as the gallery shows them", () => {
    const { cells, keep, run, signals } = makeSpace()
    for (const [name, where] of [
      ["rocket.jpg", "/env/fs/projects/p1/rocket.jpg"],
      ["chelsea.png", "/env/fs/projects/p2/chelsea.v2.png"]
    ] as const) {
      const { bytes } = photo(name)
      keep(bytes)
      run(resizeImage, { signal, target: where, payload: { hash: sha256(bytes) } })
      run(imageMetadata, { signal, target: where, payload: { hash: sha256(bytes) } })
    }
    for (const request of signals) run(indexAsset, request)
    const index = cells.get(INDEX) as Record<string, unknown>
    assert.deepStrictEqual(Object.keys(index), ["rocket", "chelsea.v2"])
    const page = gallery("photos", index)
    assert.include(page, "Launch of DSCOVR on a Falcon 9, Cape Canaveral")
    assert.include(page, "451 × 300")
  })
})
