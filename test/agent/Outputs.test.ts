import { assert, describe, it } from "@effect/vitest"
import * as Outputs from "../../plugins/agent/text/Outputs.ts"

const BEGIN = "${output:"

describe("Outputs", () => {
  it("stand in the place of their references, and are not searched", () => {
    const text = `a ${BEGIN} x }b${BEGIN}y}${BEGIN}x}c ${BEGIN}`
    assert.deepStrictEqual(Outputs.references(text), ["x", "y"])
    assert.strictEqual(Outputs.insert(text, (id) => `<${id}${BEGIN}x}>`), `a <x${BEGIN}x}>b<y${BEGIN}x}><x${BEGIN}x}>c ${BEGIN}`)
  })

  it("are found with two looks at each beginning, however many have no end", () => {
    const text = BEGIN.repeat(1_000_000)
    assert.deepStrictEqual(Outputs.references(text), [])
    assert.strictEqual(Outputs.insert("x".repeat(3), () => ""), "xxx")
  })

  it("make no text beyond its limit", () => {
    const text = `${BEGIN}a}`.repeat(20_000)
    let asked = 0
    const output = (): string => {
      asked++
      return "x".repeat(65_536)
    }
    assert.isUndefined(Outputs.insert(text, output))
    assert.strictEqual(asked, 17)
    assert.strictEqual(Outputs.insert(`${BEGIN}a}`.repeat(16), output)?.length, Outputs.MAX_TEXT)
  })
})
