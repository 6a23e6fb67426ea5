import { assert, describe, it } from "@effect/vitest"
import * as Redacted from "../../src/cell/Redacted.ts"
import { MAX_CHARACTERS, MAX_REMEMBERED, VerificationCache } from "../../src/access/VerificationCache.ts"
import * as Token from "../../src/access/Token.ts"
import { claims, key } from "./Issuer.ts"
import { make, settings } from "./TestJwts.ts"

describe("A remembered result", () => {
  it("is given for its name with its proof alone, and no other proof replaces it", () => {
    const remembered = new VerificationCache<number>()
    const proved = Redacted.make("proof")
    remembered.set("name", proved, 1)
    assert.strictEqual(remembered.get("name", proved), 1)
    for (const proof of ["", "proo", "proof ", "Proof", "proof\0"]) {
      assert.isUndefined(remembered.get("name", Redacted.make(proof)), JSON.stringify(proof))
      remembered.delete("name", Redacted.make(proof))
    }
    assert.isUndefined(remembered.get("other", proved))
    assert.strictEqual(remembered.get("name", proved), 1)
    remembered.delete("name", proved)
    assert.strictEqual(remembered.size, 0)
  })

  it("is one of at most 10,000, and all have at most 8 Mi characters: the oldest goes first", () => {
    const remembered = new VerificationCache<number>()
    const short = Redacted.make("proof")
    for (let i = 0; i <= MAX_REMEMBERED; i++) remembered.set(`${i}`, short, i)
    assert.strictEqual(remembered.size, MAX_REMEMBERED)
    assert.isUndefined(remembered.get("0", short))
    assert.strictEqual(remembered.get("1", short), 1)
    const long = Redacted.make("x".repeat(MAX_CHARACTERS / 8))
    for (let i = 0; i < 20; i++) remembered.set(`long ${i}`, long, i)
    assert.isBelow(remembered.size, 8)
    assert.strictEqual(remembered.get("long 19", long), 19)
    remembered.set("too long", Redacted.make("x".repeat(MAX_CHARACTERS)), 0)
    assert.strictEqual(remembered.size, 0)
  })

  it("of a JSON Web Token outlives the same claims with a wrong signature", async () => {
    const issuer = await key("first")
    const { code, set } = make(settings({ keys: [{ ...issuer.jwk }] }))
    const jwt = await issuer.sign(claims(Date.now()))
    assert.strictEqual(await code(jwt), "jwt:alice")
    const forged = `${jwt.slice(0, -20)}${"A".repeat(20)}`
    for (const wrong of [forged, jwt.slice(0, -1), `${jwt}A`]) {
      assert.strictEqual(await code(wrong), "auth/jwt")
      assert.isUndefined(set.known(Redacted.make(wrong)))
      assert.isFalse(set.check(Redacted.make(jwt)) instanceof Promise, "the accepted one is not verified again")
    }
  })
})

describe("The comparison with a secret", () => {
  it("tells texts of any length apart", () => {
    for (const [shown, secret, same] of [["", "", true], ["a", "a", true], ["a", "", false], ["", "a", false], ["ab", "a", false],
      ["a", "ab", false], ["a\0", "a", false], ["ä", "a", false]] as const) {
      assert.strictEqual(Token.isSame(shown, secret), same, JSON.stringify([shown, secret]))
    }
  })
})
