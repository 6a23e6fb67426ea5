import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { Computation } from "systole"
import { problem, test } from "./TestIngress.ts"

const cells = "/v1/spaces/shop/cells"

describe("A pull of a cell without a value", () => {
  test("names the failure of its node, until the node has derived a value", async ({ ask, kernel, put }) => {
    const ratio = Computation.make({ name: "ratio", output: "/data/ratio", run: (tx) => {
      if (tx.get("/data/a") === 0) throw new RangeError("a is 0")
      return tx.get("/data/a")
    } })
    await Effect.runPromise(kernel.register(ratio))
    await put(`${cells}/data/a`, 0)
    const answer = await ask(`${cells}/data/ratio?pull`)
    assert.deepStrictEqual(problem(answer), [404, "cell/absent"])
    const { detail } = answer.body as { readonly detail: string }
    assert.match(detail, /holds nothing in space "shop": node "ratio", which derives it, failed with \S+ \(a is 0\)\./)
    await put(`${cells}/data/a`, 3)
    assert.strictEqual((await ask(`${cells}/data/ratio?pull`)).body, 3)
  })

  test("says no more of a cell that no node derives", async ({ ask, put }) => {
    await put(`${cells}/data/a`, 0)
    const { body } = await ask(`${cells}/data/ratio?pull`)
    assert.match((body as { readonly detail: string }).detail, /holds nothing in space "shop"$/)
  })
})
