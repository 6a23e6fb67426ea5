import { assert, describe, it } from "@effect/vitest"
import { orient, resize } from "../resize.ts"

/** Makes an image from one letter for each pixel, and back. */
const picture = (...rows: ReadonlyArray<string>) => ({
  width: rows[0]!.length,
  height: rows.length,
  rgb: Uint8Array.from(rows.join("").split("").flatMap((letter) => [letter.charCodeAt(0), 0, 0]))
})
const rows = ({ width, rgb }: { readonly width: number; readonly rgb: Uint8Array }) => {
  const letters = Array.from({ length: rgb.length / 3 }, (_, i) => String.fromCharCode(...rgb.subarray(i * 3, i * 3 + 1))).join("")
  return letters.match(new RegExp(`.{${width}}`, "g"))
}

describe("orient", () => {
  it.each([
    [1, ["ABC", "DEF"]],
    [2, ["CBA", "FED"]],
    [3, ["FED", "CBA"]],
    [4, ["DEF", "ABC"]],
    [5, ["AD", "BE", "CF"]],
    [6, ["DA", "EB", "FC"]],
    [7, ["FC", "EB", "DA"]],
    [8, ["CF", "BE", "AD"]]
  ])("shows orientation %i upright", (orientation, wanted) => {
    assert.deepStrictEqual(rows(orient(picture("ABC", "DEF"), orientation)), wanted)
  })
})

describe("resize", () => {
  it("averages the area that each pixel covers", () => {
    const source = { width: 4, height: 2, rgb: Uint8Array.from([0, 10, 20, 40].flatMap((v) => [v, v, v]).concat(Array(12).fill(100))) }
    assert.deepStrictEqual([...resize(source, 2, 1).rgb], [53, 53, 53, 65, 65, 65])
    assert.deepStrictEqual([...resize(source, 1, 1).rgb], [59, 59, 59])
  })

  it("shares a pixel between those that cover parts of it", () => {
    const source = { width: 3, height: 1, rgb: Uint8Array.from([0, 0, 0, 90, 90, 90, 240, 240, 240]) }
    assert.deepStrictEqual([...resize(source, 2, 1).rgb], [30, 30, 30, 190, 190, 190])
  })

  it("leaves a picture of that size as it is", () => {
    assert.deepStrictEqual(resize(picture("ABC", "DEF"), 3, 2), picture("ABC", "DEF"))
  })
})
