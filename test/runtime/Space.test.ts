import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Edge from "./Edge.ts"

let text = ""

beforeAll(async () => {
  text = await Edge.script("./test/runtime/worker.ts")
})

const greet = (who: string) => ({ signal: "/signals/greet", payload: { who } })

describe("A space in a durable object", () => {
  it("handles each of 100 posts, one after another and side by side", () =>
    Edge.running(text, async ({ json, signal }) => {
      for (let n = 0; n < 40; n++) {
        const { body, status } = await signal("shop", greet(`guest${n}`), n % 2 === 0 ? "wait=10" : "")
        assert.strictEqual(status, n % 2 === 0 ? 200 : 202, JSON.stringify(body))
      }
      const answers = await Promise.all(Array.from({ length: 60 }, (_, n) => signal("shop", greet(`guest${40 + n}`))))
      assert.deepStrictEqual(answers.filter(({ body }) => body.status !== "handled"), [])
      assert.strictEqual((await json("/v1/spaces/shop/cells/data/greetings?list")).names.length, 100)
    }))
})
