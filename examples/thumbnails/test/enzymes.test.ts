import { assert, describe, it } from "@effect/vitest"
import type { Enzyme } from "systole"
import { expectReceipt, expectSignal, TestSpace } from "systole/testing"
import { Index, MetadataOf, ThumbnailsOf } from "../assets.ts"
import imageMetadata from "../enzymes/image_metadata.ts"
import indexAsset from "../enzymes/index_asset.ts"
import resizeImage from "../enzymes/resize_image.ts"
import { gallery } from "../gallery.ts"
import { photo, redAndBlue } from "./Files.ts"

const signal = "/signals/image/thumbnail"
const target = "/env/fs/projects/p1/img123.jpg"

/** A space with these enzymes, after an image came to a target. */
const sent = (enzymes: ReadonlyArray<Enzyme.Enzyme>, bytes: Uint8Array, body: (space: TestSpace) => Promise<void>) =>
  TestSpace.use(enzymes, async (space) => {
    expectReceipt(await space.handled({ signal, target, payload: { hash: await space.keep(bytes) } }))
    await body(space)
  })

const thumbnail = ThumbnailsOf.at({ name: "img123" })

const sizesOf = async (space: TestSpace) => (await space.get(thumbnail))?.sizes ?? []

describe("resize_image", () => {
  it("keeps three thumbnails, writes their cell and sends the signal to index them", () =>
    sent([resizeImage], photo("rocket.jpg").bytes, async (space) => {
      const sizes = await sizesOf(space)
      assert.strictEqual((await space.get(thumbnail))?.target, target)
      assert.deepStrictEqual(sizes.map(({ width, height }) => [width, height]), [[64, 43], [160, 107], [320, 214]])
      for (const { address, bytes } of sizes) assert.strictEqual((await space.get(address) as Uint8Array).length, bytes)
      expectSignal(space, { signal: "/signals/db/write", target: "/data/assets/img123/thumbnail", times: 1 })
    }))

  it("makes of a small image one thumbnail for each size that it has", () =>
    sent([resizeImage], redAndBlue(100, 50).bytes, async (space) => {
      assert.deepStrictEqual((await sizesOf(space)).map(({ width }) => width), [64, 100])
    }))

  it.each([
    ["a file that is no image", new TextEncoder().encode("hello"), "image/unreadable"],
    ["half a file", photo("blossom.jpg").bytes.subarray(0, 30_000), "image/unreadable"]
  ])("fails for good on %s, naming the target", (_kind, bytes, code) =>
    TestSpace.use([resizeImage], async (space) => {
      const receipt = await space.handled({ signal, target, payload: { hash: await space.keep(bytes) } })
      expectReceipt(receipt, { status: "dead", handlings: { resize_image: { code } } })
      assert.include(receipt.handlings[0]?.error?.message, target)
      assert.deepStrictEqual(await space.list("/data/assets"), [])
      expectSignal(space, { times: 0 })
    }))

  it("fails for good when the bytes are not there", () =>
    TestSpace.use([resizeImage], async (space) => {
      const receipt = await space.handled({ signal, target, payload: { hash: "0".repeat(64) } })
      expectReceipt(receipt, { status: "dead" })
      assert.match(receipt.handlings[0]?.error?.message ?? "", /\/cas\/0{64} holds nothing/)
    }))

  it("takes no signal without a target", () =>
    TestSpace.use([resizeImage], async (space) => {
      const receipt = await space.handled({ signal, payload: { hash: "0".repeat(64) } })
      assert.strictEqual(receipt.status, "no-match")
    }))
})

describe("image_metadata", () => {
  it("writes what the image says of itself", () =>
    sent([imageMetadata], photo("blossom.jpg").bytes, async (space) => {
      const { bytes } = photo("blossom.jpg")
      const metadata = await space.get(MetadataOf.at({ name: "img123" }))
      assert.deepStrictEqual([metadata?.width, metadata?.bytes, metadata?.exif.model], [500, bytes.length, "NIKON D700"])
      assert.strictEqual(metadata?.source, `/cas/${await space.keep(bytes)}`)
    }))
})

describe("index_asset", () => {
  it("lists assets side by side, as the gallery shows them", () =>
    TestSpace.use([resizeImage, imageMetadata, indexAsset], async (space) => {
      for (const [name, where] of [["rocket.jpg", "p1/rocket.jpg"], ["chelsea.png", "p2/chelsea.v2.png"]] as const) {
        const payload = { hash: await space.keep(photo(name).bytes) }
        await space.handled({ signal, target: `/env/fs/projects/${where}`, payload })
      }
      await space.idle()
      const index = await space.get(Index)
      assert.sameMembers(Object.keys(index ?? {}), ["rocket", "chelsea.v2"])
      const page = gallery("photos", index)
      assert.include(page, "Launch of DSCOVR on a Falcon 9, Cape Canaveral")
      assert.include(page, "451 × 300")
    }))
})
