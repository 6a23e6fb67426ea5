import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Space } from "systole"
import { INDEX } from "../../examples/thumbnails/assets.ts"
import image_metadata from "../../examples/thumbnails/enzymes/image_metadata.ts"
import index_asset from "../../examples/thumbnails/enzymes/index_asset.ts"
import resize_image from "../../examples/thumbnails/enzymes/resize_image.ts"
import { gallery } from "../../examples/thumbnails/gallery.ts"
import * as TestKernel from "../support/TestKernel.ts"

const photos = join(import.meta.dirname, "..", "..", "examples", "thumbnails", "photos")

const keep = Effect.fnUntraced(function*(space: Space, bytes: Uint8Array) {
  const hash = createHash("sha256").update(bytes).digest("hex")
  const { store, writer } = yield* space.content
  writer.write(bytes)
  yield* store(hash)
  return hash
})

const send = Effect.fnUntraced(function*(space: Space, name: string, bytes: Uint8Array) {
  const hash = yield* keep(space, bytes)
  return yield* space.signal({ signal: "/signals/image/thumbnail", target: `/env/fs/projects/p1/${name}`, payload: { hash } })
})

const enzymes = [image_metadata, index_asset, resize_image]

describe("The example of thumbnails", () => {
  it.effect("makes thumbnails and reads metadata in one beat, resize_image first, and indexes in the next", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space(enzymes)
      yield* send(space, "rocket.jpg", readFileSync(join(photos, "rocket.jpg")))
      const beat = yield* space.step
      const target = "signal=/signals/image/thumbnail target=/env/fs/projects/p1/rocket.jpg"
      assert.deepStrictEqual(yield* TestKernel.ledger(space, beat, "agenda"), [
        `enzyme=${resize_image.label} rc=0 ${target}`,
        `enzyme=${image_metadata.label} rc=0 ${target}`
      ])
      assert.isUndefined(yield* space.get(INDEX))
      yield* space.step
      const sizes = (yield* space.get(`${INDEX}#/rocket/thumbnail/sizes`)) as unknown as ReadonlyArray<{ readonly address: string; readonly bytes: number }>
      assert.strictEqual(sizes.length, 3)
      for (const { address, bytes } of sizes) assert.strictEqual(((yield* space.get(address)) as Uint8Array).length, bytes)
      assert.strictEqual(yield* space.get(`${INDEX}#/rocket/metadata/width`), 640)
      assert.include(gallery("photos", yield* space.get(INDEX)), sizes[0]!.address.slice(5))
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("lists photographs that share a beat without a conflict", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space(enzymes)
      for (const name of ["blossom.jpg", "chelsea.png", "rocket.jpg"]) yield* send(space, name, readFileSync(join(photos, name)))
      yield* space.step
      const beat = yield* space.step
      assert.strictEqual((yield* TestKernel.ledger(space, beat, "agenda"))?.filter((line) => line.includes("rc=0")).length, 3)
      const index = yield* space.get(INDEX)
      assert.deepStrictEqual(Object.keys(index as object), ["blossom", "chelsea", "rocket"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("puts a file that is no image into the dead letters, with a message that says so, and goes on with others", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space(enzymes)
      const { id } = yield* send(space, "text.jpg", new TextEncoder().encode("this is no image"))
      yield* send(space, "rocket.jpg", readFileSync(join(photos, "rocket.jpg")))
      yield* space.step
      yield* space.step
      const receipt = yield* space.receipt(id)
      assert.strictEqual(receipt?.status, "dead")
      assert.strictEqual(receipt?.handlings[0]?.error?.code, "image/unreadable")
      assert.include(receipt?.handlings[0]?.error?.message, "text.jpg")
      assert.isDefined(yield* space.get(`/rt/dead/${id}/resize_image`))
      assert.isUndefined(yield* space.get("/data/assets/text/thumbnail"))
      assert.isDefined(yield* space.get(`${INDEX}#/rocket`))
    }).pipe(Effect.provide(TestKernel.layer())))
})
