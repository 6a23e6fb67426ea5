import { assert, describe, it } from "@effect/vitest"
import { base64, hmac, sha256 } from "systole"
import { createHash, createHmac } from "node:crypto"
import * as Random from "../support/Random.ts"

/** Texts and bytes, of lengths around those of blocks and chunks. */
const samples: ReadonlyArray<string | Uint8Array> = [0, 1, 2, 3, 55, 56, 63, 64, 65, 8191, 8192, 8193, 100_000].flatMap((length) => {
  const draw = Random.make(length)
  const bytes = Uint8Array.from({ length }, () => draw(256))
  return [bytes, "aä€😀".repeat(Math.ceil(length / 4)).slice(0, length).toWellFormed()]
})

describe("Digests", () => {
  it("are those of the host, in each form", () => {
    for (const data of samples) {
      const [hash, mac] = [() => createHash("sha256").update(data), () => createHmac("sha256", "a key ä").update(data)]
      for (const form of ["hex", "base64"] as const) {
        assert.strictEqual(sha256(data, form), hash().digest(form))
        assert.strictEqual(hmac("a key ä", data, form), mac().digest(form))
      }
      assert.deepStrictEqual(sha256(data, "bytes"), new Uint8Array(hash().digest()))
      assert.strictEqual(sha256(data), hash().digest("hex"))
      assert.strictEqual(hmac("a key ä", data), mac().digest("hex"))
      assert.strictEqual(base64(data), Buffer.from(data).toString("base64"))
    }
  })
})
