import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { serve, type TestIngress } from "./TestIngress.ts"

const test = (name: string, run: (app: TestIngress) => Promise<void>) =>
  it.live(name, () => Effect.flatMap(serve(), (app) => Effect.promise(() => run(app))))

describe("The removal of a space over HTTP", () => {
  test("ends the streams of a deleted space with a problem, and reports no failure", async ({ accidents, ask, fetch, put }) => {
    await put("/v1/spaces/shop/cells/data/a", 1)
    const stream = await fetch("/v1/spaces/shop/cells/data/a", { headers: { accept: "text/event-stream" } })
    const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader()
    let seen = ""
    const read = async (text: string) => {
      while (!seen.includes(text)) seen += (await reader.read()).value ?? assert.fail(`The stream ended after ${seen}`)
    }
    await read("event: value")
    assert.strictEqual((await ask("/v1/spaces/shop", { method: "DELETE" })).status, 200)
    await read("event: problem")
    assert.include(seen, "space/stopped")
    assert.include(seen, "it is being removed")
    assert.notInclude(seen, "opens again")
    assert.deepStrictEqual(accidents, [])
  })
})
