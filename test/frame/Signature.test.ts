import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "../../src/cell/Redacted.ts"
import { inspect } from "node:util"
import * as Signature from "../../src/frame/Signature.ts"

const root = "ab".repeat(32)
const secret = Signature.secretOf(new Uint8Array(32).fill(7))
const made = Signature.signer(secret, "NODE_KEY")

describe("The key of a node", () => {
  it.effect("is the same for the same secret on each host", () =>
    Effect.gen(function*() {
      const signer = yield* made
      assert.strictEqual(signer.key, "ed25519:6kpsY-KcUgq-9VB7Ey7F-ZVHdq6-vnuSQh7qaRRG0iw")
      const [first, second] = yield* Effect.promise(() => Promise.all([signer.sign(root), signer.sign(root)]))
      assert.deepStrictEqual(first, second)
    }))

  it("signs a root, which any other root, key or value does not fit", async () => {
    const signer = await Effect.runPromise(made)
    const other = await Effect.runPromise(Signature.signer(Signature.secretOf(new Uint8Array(32).fill(8)), "OTHER"))
    const signature = await signer.sign(root)
    assert.isTrue(Signature.isSignature(signature))
    assert.isTrue(await Signature.isOf(signature, root))
    assert.isFalse(await Signature.isOf(signature, "ac".repeat(32)))
    assert.isFalse(await Signature.isOf({ ...signature, key: other.key }, root))
    assert.isFalse(await Signature.isOf({ ...signature, key: `ed25519:${"_".repeat(43)}` }, root))
    for (let i = 0; i < 85; i++) {
      const changed = signature.value.slice(0, i) + (signature.value[i] === "A" ? "B" : "A") + signature.value.slice(i + 1)
      assert.isFalse(await Signature.isOf({ ...signature, value: changed }, root), `character ${i}`)
    }
  })

  it.effect("is refused by its place, and the refusal has nothing of the text", () =>
    Effect.gen(function*() {
      for (const text of ["", "syskey_", `syskey_${"a".repeat(42)}`, `${Redacted.value(secret)}a`, "hunter2hunter2"]) {
        const error = yield* Effect.flip(Signature.signer(Redacted.make(text), "NODE_KEY"))
        assert.strictEqual(error.code, "key/invalid")
        assert.include(error.message, "NODE_KEY")
        if (text.length > 8) assert.notInclude(inspect(error), text)
      }
    }))

  it.effect("shows its secret nowhere", () =>
    Effect.gen(function*() {
      const signer = yield* made
      assert.notInclude(`${inspect(signer, { depth: 9 })}${JSON.stringify(signer)}${inspect(secret)}`, Redacted.value(secret).slice(7))
    }))
})
