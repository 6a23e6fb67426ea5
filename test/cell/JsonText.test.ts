import { assert, describe, it } from "@effect/vitest"
import * as JsonText from "../../src/cell/JsonText.ts"
import * as Trials from "../support/Trials.ts"
import * as JsonTexts from "./JsonTexts.ts"

const refusal = (text: string): Pick<JsonText.InvalidJson, "code" | "reason"> | undefined => {
  try {
    JsonText.parse(text)
    return undefined
  } catch (error) {
    assert.instanceOf(error, JsonText.InvalidJson)
    return error
  }
}

const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth)

describe("JsonText", () => {
  describe("parse", () => {
    it("refuses exactly the texts that exact arithmetic finds changed, at their first fault", () => {
      const found = new Set<string | undefined>()
      for (const seed of Trials.seeds(20_000, { least: 2000 })) {
        const { faults, text, value } = JsonTexts.make(seed)
        const code = refusal(text)?.code
        assert.strictEqual(code, faults[0], `${seed}: ${text}`)
        if (code === undefined) assert.strictEqual(JSON.stringify(JsonText.parse(text)), JSON.stringify(value), `${seed}: ${text}`)
        found.add(code)
      }
      assert.deepStrictEqual(found, new Set([undefined, "json/key", "json/number"]))
    })

    it("gives each key, although the engine takes some keys with escape sequences for others", () => {
      for (const key of ["\\", "\"", "\n", "\\\"ab", "\"ab\"", "__proto__", "\u0000"]) {
        for (const value of [[], 1, { [key]: key }]) {
          const made = Object.fromEntries([["h", value], [key, 0]])
          assert.strictEqual(JSON.stringify(JsonText.parse(JSON.stringify(made))), JSON.stringify(made))
        }
      }
    })

    it("refuses an integer that a double does not hold, with its place and the remedy", () => {
      assert.strictEqual(
        refusal(`{"order":[{"id":616581622363398142}]}`)?.reason,
        "the number 616581622363398142 at /order/0/id has more digits than a number holds, and would become 616581622363398144. " +
          "Send it as text, or with an exponent if it may be rounded"
      )
      assert.include(refusal("9007199254740993")?.reason, "the number 9007199254740993 has more digits")
      for (const text of ["9007199254740992", "-9007199254740994", "616581622363398144", "1000000000000000000000", "12345678901234567e0"]) {
        assert.strictEqual(JsonText.parse(text), Number(text))
      }
    })

    it("refuses a number that would become infinite or 0", () => {
      assert.strictEqual(refusal(`{"a/b":1e309}`)?.reason, "the number 1e309 at /a~1b is beyond all that a cell holds. Send it as text")
      assert.strictEqual(refusal("[0,1e-999]")?.reason, "the number 1e-999 at /1 would become 0. Send it as text")
      assert.strictEqual(refusal(`0.${"0".repeat(400)}1`)?.code, "json/number")
      assert.include(refusal("9".repeat(100_000))?.reason, `${"9".repeat(100)}… of 100000 characters is beyond`)
      assert.strictEqual(JsonText.parse("0e999"), 0)
      assert.strictEqual(JsonText.parse("4.9e-324"), 5e-324)
    })

    it("refuses a key that is there twice, however it is written", () => {
      assert.strictEqual(refusal(`{"a":{"x":1,"x":2}}`)?.reason, "the key at /a/x is there twice, and only one can count. Leave one out")
      assert.strictEqual(refusal(`[{"x":1,"\\u0078":1}]`)?.code, "json/key")
      assert.strictEqual(refusal(`{"__proto__":1,"__proto__":2}`)?.code, "json/key")
      assert.deepStrictEqual(JsonText.parse(`[{"x":":"},{"x":{"x":1}}]`), [{ x: ":" }, { x: { x: 1 } }])
    })

    it("refuses a byte order mark and a text that is not JSON", () => {
      assert.include(refusal("\ufeff1"), { code: "json/syntax", reason: "it begins with a byte order mark. Leave that out" })
      for (const text of ["", "{", `{"a":12345678901234567890`, "[1,]", "NaN", "01", `"`]) {
        assert.strictEqual(refusal(text)?.code, "json/syntax", text)
      }
    })

    it("refuses a text that nests too deep, before it is parsed", () => {
      assert.isUndefined(refusal(nested(JsonText.MAX_DEPTH)))
      assert.strictEqual(refusal(nested(JsonText.MAX_DEPTH + 1))?.code, "json/depth")
      assert.strictEqual(refusal("[".repeat(100_000))?.code, "json/depth")
      assert.strictEqual(refusal(`["\\\\",${nested(JsonText.MAX_DEPTH)}]`)?.code, "json/depth")
    })

    it("counts no bracket, digit or colon inside strings", () => {
      for (const part of ["[{".repeat(100), "12345678901234567890", ":::", "1e999"]) {
        for (const text of [part, `\\"${part}`, `\\\\\\"${part}`, `"${part}"`, `${part}\\`]) {
          const value = { text, [text]: [text] }
          assert.deepStrictEqual(JsonText.parse(JSON.stringify(value)), value, text)
        }
      }
    })
  })

  describe("write", () => {
    it("writes each number so that it is accepted, and gives the number", () => {
      const numbers = [2 ** 67, -(2 ** 63), 1e21, 1e300, 5e-324, 0.1, 123456789012345680000, 9007199254740992, 0]
      const value = { list: numbers, text: "147573952589676410000" }
      assert.deepStrictEqual(JsonText.parse(JsonText.write(value)), value)
      assert.strictEqual(JsonText.write([2 ** 67]), "[147573952589676412928]")
      assert.strictEqual(refusal(JSON.stringify([2 ** 67]))?.code, "json/number")
    })
  })
})
