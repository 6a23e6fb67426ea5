import { assert, describe, it } from "@effect/vitest"
import { join } from "node:path"
import { command } from "../scripts/Host.ts"
import { run } from "../scripts/Process.ts"

describe("What a beat makes", () => {
  // A beat makes some 10 KB. What of it comes of age is copied twice, and waits for a collection of the whole heap.
  it("dies young", { timeout: 60_000 }, async () => {
    const { code, output } = await run(command("node", join(import.meta.dirname, "young.ts")))
    assert.strictEqual(code, 0, output)
    assert.isBelow(Number(output), 400, output)
  })
})
