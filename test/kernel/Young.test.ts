import { assert, describe, it } from "@effect/vitest"
import { join } from "node:path"
import { command } from "../scripts/Host.ts"
import { run } from "../scripts/Process.ts"

describe("What a beat makes", () => {
  // A signal makes some 10 KB. What of it comes of age is copied twice, and waits for a collection of the whole heap.
  for (const atOnce of [1, 16, 256]) {
    it(`dies young, with ${atOnce} at once`, { timeout: 60_000 }, async () => {
      const { code, output } = await run([...command("node", join(import.meta.dirname, "young.ts")), String(atOnce)])
      assert.strictEqual(code, 0, output)
      assert.isBelow(Number(output), 600, output)
    })
  }
})
