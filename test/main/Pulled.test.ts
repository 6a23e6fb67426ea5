import { assert, describe, it } from "@effect/vitest"
import { CellHeld, PersistenceError, SpaceStopped, StoreUnavailable } from "systole"
import * as Problem from "../../src/ingress/wire/Problem.ts"
import * as Pulled from "../../src/main/workers/Pulled.ts"

/** The failures of a read. */
const failures: ReadonlyArray<readonly [name: string, failure: Error]> = [
  ["a cell that is held", new CellHeld({ address: "/data/a", at: 5000, after: 2500 })],
  ["a space that stopped", new SpaceStopped({ space: "shop", reason: "its disk is full" })],
  ["a store", new PersistenceError({ reason: new StoreUnavailable({ space: "shop", place: "memory", detail: "broken" }) })],
  ["the runtime", new TypeError("x is undefined")]
]

/** The problem details of a failure, and the delay that they name. */
const problemOf = async (failure: unknown) => {
  const response = Problem.response(failure)
  return { ...await response.json() as object, after: response.headers.get("retry-after") }
}

describe("The answer to a read of a page", () => {
  it.each(failures)("keeps the problem details of %s between two objects", async (_, failure) => {
    const pulled = structuredClone(await Pulled.make(Promise.reject(failure)))
    const found = await Promise.resolve(pulled).then(Pulled.valueOf).catch((error: unknown) => error)
    assert.deepStrictEqual(await problemOf(found), await problemOf(failure))
    assert.strictEqual(Problem.isReported(found), Problem.isReported(failure))
  })

  it("keeps each kind of value", async () => {
    const values = [undefined, null, 7, { a: [1] }, new Map([["a", 1]]), new Set([1n]), new Date(1), new URL("https://a.example/b")]
    for (const value of [...values, new Uint8Array([1, 2]), { link: new URL("https://a.example/b") }]) {
      assert.deepStrictEqual(Pulled.valueOf(structuredClone(await Pulled.make(Promise.resolve(value)))), value)
    }
  })
})
