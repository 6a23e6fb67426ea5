import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expectCell, expectReceipt, TestSpace } from "systole/testing"
import { Index } from "../../examples/thumbnails/assets.ts"
import image_metadata from "../../examples/thumbnails/enzymes/image_metadata.ts"
import index_asset from "../../examples/thumbnails/enzymes/index_asset.ts"
import resize_image from "../../examples/thumbnails/enzymes/resize_image.ts"
import { gallery } from "../../examples/thumbnails/gallery.ts"

const photos = join(import.meta.dirname, "..", "..", "examples", "thumbnails", "photos")

const send = async (space: TestSpace, name: string, bytes: Uint8Array = readFileSync(join(photos, name))) =>
  space.signal({ signal: "/signals/image/thumbnail", target: `/env/fs/projects/p1/${name}`, payload: { hash: await space.keep(bytes) } })

const use = (body: (space: TestSpace) => Promise<void>) => TestSpace.use([image_metadata, index_asset, resize_image], body)

describe("The example of thumbnails", () => {
  it("makes thumbnails and reads metadata in one beat, resize_image first, and indexes in the next", () =>
    use(async (space) => {
      await send(space, "rocket.jpg")
      const beat = await space.step()
      const target = "signal=/signals/image/thumbnail target=/env/fs/projects/p1/rocket.jpg"
      assert.deepStrictEqual(await space.get(`/rt/beat/${beat}/agenda`), [
        `enzyme=${resize_image.label} rc=0 ${target}`,
        `enzyme=${image_metadata.label} rc=0 ${target}`
      ])
      await expectCell(space, Index, undefined)
      await space.step()
      const index = await space.get(Index)
      const sizes = index?.["rocket"]?.thumbnail?.sizes ?? []
      assert.strictEqual(sizes.length, 3)
      for (const { address, bytes } of sizes) assert.strictEqual((await space.get(address) as Uint8Array).length, bytes)
      assert.strictEqual(index?.["rocket"]?.metadata?.width, 640)
      assert.include(gallery("photos", index), sizes[0]?.address.slice(5) ?? "?")
    }))

  it("lists photographs that share a beat without a conflict", () =>
    use(async (space) => {
      for (const name of ["blossom.jpg", "chelsea.png", "rocket.jpg"]) await send(space, name)
      const beat = await space.step(2)
      const agenda = await space.get(`/rt/beat/${beat}/agenda`) as ReadonlyArray<string>
      assert.strictEqual(agenda.filter((line) => line.includes("rc=0")).length, 3)
      assert.deepStrictEqual(Object.keys(await space.get(Index) ?? {}), ["blossom", "chelsea", "rocket"])
    }))

  it("puts a file that is no image into the dead letters, with a message that says so, and goes on with others", () =>
    use(async (space) => {
      const id = await send(space, "text.jpg", new TextEncoder().encode("this is no image"))
      await send(space, "rocket.jpg")
      await space.step(2)
      const receipt = await space.receipt(id)
      const dead = { outcome: "dead", code: "image/unreadable" } as const
      expectReceipt(receipt, { status: "dead", handlings: { image_metadata: dead, resize_image: dead } })
      assert.include(receipt?.handlings[0]?.error?.message, "text.jpg")
      assert.isDefined(await space.get(`/rt/dead/${id}/resize_image`))
      await expectCell(space, "/data/assets/text/thumbnail", undefined)
      assert.isDefined((await space.get(Index))?.["rocket"])
    }))
})
