import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { Link } from "systole"
import { test } from "./TestIngress.ts"

describe("The list of cells with their values", () => {
  const cells = "/v1/spaces/shop/cells"

  test("ends a page after 1 MiB, and has values that JSON cannot represent", async ({ ask, kernel, put }) => {
    const large = "x".repeat(1_000_000)
    for (const [id, value] of Object.entries({ a: { b: [1] }, b: large, c: large, d: null })) await put(`${cells}/data/${id}`, value)
    const space = await Effect.runPromise(kernel.space("shop", { create: true }))
    await Effect.runPromise(space.set("/data/e", new Date(0)))
    const first = (await ask(`${cells}/data?below&values`)).body
    assert.deepStrictEqual(first, { cells: ["/data/a", "/data/b", "/data/c"], values: [{ b: [1] }, large, large], next: "/data/c" })
    const { body } = await ask(`${cells}/data?below&values&after=/data/c&limit=2`)
    assert.deepInclude(body as object, { cells: ["/data/d", "/data/e"], next: null })
    const [nothing, date] = (body as { readonly values: ReadonlyArray<unknown> }).values
    assert.isNull(nothing)
    assert.property(date, "$rich")
    assert.deepStrictEqual((await ask(`${cells}/data?below&values&after=/data/e`)).body, { cells: [], values: [], next: null })
  })

  test("goes on past a cell whose links do not end", async ({ ask, kernel, put }) => {
    for (const id of ["a", "c"]) await put(`${cells}/data/${id}`, id)
    const space = await Effect.runPromise(kernel.space("shop", { create: true }))
    await Effect.runPromise(space.set("/data/b", Link.make("/data/b")))
    const { body } = await ask(`${cells}/data?below&values`)
    assert.deepStrictEqual(body, { cells: ["/data/a", "/data/b", "/data/c"], values: ["a", null, "c"], next: null })
  })
})
