import { assert, describe, it } from "@effect/vitest"
import type { Asset } from "../assets.ts"
import { gallery } from "../gallery.ts"

const address = `/cas/${"a".repeat(64)}`
const entry = (target: string, exif: NonNullable<Asset["metadata"]>["exif"]) => ({
  thumbnail: { target, source: address, sizes: [
    { width: 64, height: 43, bytes: 900, address },
    { width: 320, height: 214, bytes: 9_000, address }
  ] },
  metadata: { target, source: address, bytes: 112_719, format: "jpeg" as const, width: 640, height: 427, orientation: 1, exif }
})

describe("gallery", () => {
  it("shows each asset's thumbnails, size and EXIF", () => {
    const exif = {
      make: "NIKON CORPORATION", model: "NIKON D700", taken: "2018-03-19T16:38:28", exposureSeconds: 1 / 640, aperture: 3.5, iso: 200,
      focalLengthMm: 125
    }
    const page = gallery("photos", { img123: entry("/env/fs/projects/p1/img123.jpg", exif) })
    const link = `/v1/spaces/photos/blobs/${"a".repeat(64)}`
    for (
      const text of [
        `<img src="${link}" srcset="${link} 64w, ${link} 320w"`,
        "1 photograph",
        "640 × 427",
        "JPEG, 111 KiB",
        "<dd>NIKON D700</dd>",
        "2018-03-19 16:38:28",
        "1/640 s",
        "f/3.5",
        "125 mm",
        "/env/fs/projects/p1/img123.jpg"
      ]
    ) assert.include(page, text)
  })

  it("lets nothing that it shows become a tag or an attribute", () => {
    const evil = `"><script>alert('1')</script>&`
    const page =
      gallery(evil, { [evil]: entry(evil, { description: evil, make: evil, artist: evil, copyright: evil, lens: evil, model: evil }) })
    assert.notInclude(page, "<script")
    assert.include(page, "&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;")
    assert.include(page, "/v1/spaces/%22%3E%3Cscript%3E")
    for (const [tag] of page.matchAll(/<[a-z][^>]*>/g)) assert.notInclude(tag, "alert('")
  })

  it("links to content of the space alone, whatever an address is", () => {
    const asset = entry("/a/b.jpg", {})
    const sizes = [{ width: 1, height: 1, bytes: 1, address: "javascript:alert(1)" }]
    const page = gallery("photos", { b: { ...asset, thumbnail: { ...asset.thumbnail, sizes } } })
    for (const [, link] of page.matchAll(/(?:href|src)="([^"]*)"/g)) assert.match(link ?? "", /^\/v1\/spaces\/photos\/blobs\//)
  })

  it("shows an asset of which only a part is known, and an index that is not there", () => {
    assert.include(gallery("photos", { half: { metadata: entry("/a/half.png", {}).metadata } }), "/a/half.png")
    assert.include(gallery("photos", { bare: {} }), "<h2>bare</h2>")
    assert.include(gallery("photos", undefined), "No photograph has been sent")
  })
})
