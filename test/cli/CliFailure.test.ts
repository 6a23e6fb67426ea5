import { assert, it } from "@effect/vitest"
import * as CliFailure from "../../src/cli/CliFailure.ts"

it("J16 a cell that is not settled in time is another exit than a failure", () => {
  const failure = CliFailure.from({ code: "cell/held", message: "Ask again in 700 ms" })
  assert.deepStrictEqual([failure.exit, failure.code, failure.message], [CliFailure.exits.pending, "cell/held", "Ask again in 700 ms"])
})
