import { assert, it } from "@effect/vitest"
import * as CliFailure from "../../src/cli/CliFailure.ts"

it("J16 a cell that has not settled in time has another exit code than a failure", () => {
  const failure = CliFailure.from({ code: "cell/held", message: "Ask again in 700 ms" })
  assert.deepStrictEqual([failure.exit, failure.code, failure.message], [CliFailure.exits.pending, "cell/held", "Ask again in 700 ms"])
})
