import { assert, describe, it } from "@effect/vitest"
import { running, script } from "./Edge.ts"

const calls = [
  "Date.now()", "new Date()", "performance.now()", "Math.random()", "crypto.randomUUID()", "crypto.getRandomValues()", "setTimeout()",
  "setInterval()", "AbortSignal.timeout()", "fetch()", "crypto.subtle.digest()", "scheduler.wait()", "new WebSocket()"
]

describe("The runs of a Worker", () => {
  it("are refused what no replay can repeat, also after an await, and promises of their own", async () =>
    running(await script("./test/runtime/guarded.ts"), async ({ signal }) => {
      const errorOf = async (path: string, payload?: string) =>
        (await signal("home", { signal: path, payload })).body.event.handlings[0]?.error
      for (const name of calls) {
        for (const path of ["/signals/now", "/signals/later"]) {
          const error = await errorOf(path, name)
          assert.strictEqual(error?.code, "run/nondeterministic", `${name} of ${path}`)
          assert.include(error.message, name)
        }
      }
      assert.strictEqual((await errorOf("/signals/foreign"))?.code, "run/foreign-await")
    }))
})
