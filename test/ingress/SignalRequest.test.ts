import { assert, describe, it } from "@effect/vitest"
import type { RequestRefused } from "../../src/ingress/wire/Problem.ts"
import * as SignalRequest from "../../src/ingress/signal/SignalRequest.ts"

const refusal = (body: unknown, key: string | null = null): string => {
  try {
    SignalRequest.decode(body, key)
    return "accepted"
  } catch (error) {
    return (error as RequestRefused).code
  }
}

describe("SignalRequest", () => {
  describe("decode", () => {
    it("accepts each form of the due time", () => {
      for (const at of [{ beat: 7 }, { beats: 3 }, { ms: 1000 }]) {
        assert.deepStrictEqual(SignalRequest.decode({ signal: "/s", at }, null), { signal: "/s", at })
      }
    })

    it("keeps the payload unchanged, and distinguishes null from absent", () => {
      assert.deepStrictEqual(SignalRequest.decode({ target: "/t", payload: null }, null), { target: "/t", payload: null })
      assert.deepStrictEqual(SignalRequest.decode({ target: "/t" }, null), { target: "/t" })
    })

    it("refuses a body that is not a signal", () => {
      const bodies = [null, 1, "x", [], { signal: 1 }, { signal: "/s", id: "" }, { signal: "/s", at: {} }, { signal: "/s", at: { ms: -1 } }]
      for (const body of bodies) assert.strictEqual(refusal(body), "body/malformed", JSON.stringify(body))
      assert.strictEqual(refusal({ signal: "/s", at: { ms: 1, beats: 1 } }), "body/malformed")
      assert.strictEqual(refusal({ singal: "/s", target: "/t" }), "body/malformed")
    })

    it("explains the format of the due time", () => {
      for (const at of [{ ms: -1 }, {}, 5, { ms: 1, beats: 1 }]) {
        assert.throws(
          () => SignalRequest.decode({ signal: "/s", at }, null),
          /its field "at" is .*\. Expected a time such as "10s", or one of { beat }, { beats } and { ms } with a whole number from 0\./
        )
      }
    })

    it("refuses a header with several keys", () => {
      for (const key of ["a, b", "\"a\", \"b\"", "a\"b"]) assert.strictEqual(refusal({ signal: "/s" }, key), "signal/id-malformed", key)
      assert.strictEqual(SignalRequest.decode({ signal: "/s" }, "\"a, b\"").id, "a, b")
    })

    it("accepts Idempotency-Key as the id, bare or quoted", () => {
      for (const key of ["order-17", "\"order-17\"", "  order-17 "]) {
        assert.strictEqual(SignalRequest.decode({ signal: "/s" }, key).id, "order-17")
      }
      assert.strictEqual(SignalRequest.decode({ signal: "/s" }, `"a\\"b\\\\"`).id, "a\"b\\")
    })

    it("requires the ids of body and header to be equal", () => {
      assert.strictEqual(refusal({ signal: "/s", id: "a" }, "a"), "accepted")
      assert.strictEqual(refusal({ signal: "/s", id: "a" }, "b"), "signal/id-unequal")
    })
  })

  describe("waitSeconds", () => {
    it("reads the preference up to the limit", () => {
      assert.strictEqual(SignalRequest.waitSeconds("wait=5"), 5)
      assert.strictEqual(SignalRequest.waitSeconds("respond-async, wait=10"), 10)
      assert.strictEqual(SignalRequest.waitSeconds("Wait = \"7\"; foo"), 7)
      assert.strictEqual(SignalRequest.waitSeconds("wait=99999"), SignalRequest.MAX_WAIT_SECONDS)
      for (const other of [null, "", "wait", "wait=soon", "await=5", "wait=-1"]) {
        assert.isUndefined(SignalRequest.waitSeconds(other), String(other))
      }
    })
  })
})
