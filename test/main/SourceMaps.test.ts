import { assert, describe, it } from "@effect/vitest"
import * as SourceMaps from "../../src/main/module/SourceMaps.ts"

describe("Source maps", () => {
  // A search that is not linear does not end within the time of a test.
  it("scan a stack in linear time for any message", () => {
    const part = "/.systole/modules/"
    for (const message of ["x".repeat(1_000_000), part.repeat(50_000), part + "a".repeat(1_000_000), `${part}aa.mjs:1:2`.repeat(20_000)]) {
      const error = new Error(message)
      assert.isUndefined(SourceMaps.place(error))
      assert.include(SourceMaps.stack(error), message)
    }
  })
})
