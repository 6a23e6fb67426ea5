import { assert, describe, it } from "@effect/vitest"
import { join } from "node:path"
import { command, current } from "../../scripts/Host.ts"
import { run } from "../../scripts/Process.ts"

/** The most bytes of a signal that grow old. */
const LIMIT = 300

// The measured process is always Node's, whichever host starts it.
describe.runIf(current() === "node")("What a beat makes", () => {
  // A signal allocates some 10 KB. Objects promoted to the old generation are copied twice, and need a major collection.
  // Measured: between 80 and 210 bytes, and a map that is cleared in each beat adds 150. Beside other tests a collection may
  // come late and find more alive, so the least of three measurements counts.
  for (const [atOnce, targets] of [[1, 256], [16, 256], [16, 3000], [256, 256]] as const) {
    it(`dies young, with ${atOnce} at once for ${targets} targets`, { timeout: 60_000 }, async () => {
      let least = Infinity
      for (let tries = 0; tries < 3 && least >= LIMIT; tries++) {
        const { code, output } = await run([...command("node", join(import.meta.dirname, "young.ts")), String(atOnce), String(targets)])
        assert.strictEqual(code, 0, output)
        least = Math.min(least, Number(output))
      }
      assert.isBelow(least, LIMIT)
    })
  }
})
