import { assert, describe, it } from "@effect/vitest"
import { refusal } from "../../src/main/host/HostVersion.ts"

describe("HostVersion", () => {
  describe("refusal", () => {
    it("accepts Node from 22.19 on, Deno and Bun", () => {
      for (const node of ["22.19.0", "22.20.1", "23.0.0", "24.21.0"]) assert.isUndefined(refusal({ node }), node)
      assert.isUndefined(refusal({ node: "20.0.0", bun: "1.4.5" }))
      assert.isUndefined(refusal({ node: "20.0.0", deno: "2.9.5" }))
    })

    it("names an outdated Node and the remedy", () => {
      for (const node of ["22.18.0", "20.20.2", "18.0.0"]) {
        const reason = refusal({ node }) ?? ""
        assert.include(reason, node)
        assert.include(reason, "22.19")
      }
    })
  })
})
