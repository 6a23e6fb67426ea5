import { assert, describe, it } from "@effect/vitest"
import * as CliFailure from "../../src/cli/CliFailure.ts"
import * as Refusal from "../../src/contract/Refusal.ts"
import { statusOf } from "../../src/ingress/wire/Problem.ts"

describe("Refusal", () => {
  it("gives all codes of a kind one status and one exit code", () => {
    const byKind = Map.groupBy(Object.entries(Refusal.kinds), ([, kind]) => kind)
    for (const [kind, codes] of byKind) {
      assert.strictEqual(new Set(codes.map(([code]) => CliFailure.exitOf(code))).size, 1, kind)
      // The events that an own id names are a choice, and no fault of the request.
      if (kind === "ambiguous") assert.strictEqual(statusOf(kind), 300)
      else assert.isAtLeast(statusOf(kind), 400)
    }
  })

  it.each([
    ["id/ambiguous", 2], ["query/invalid", 2], ["body/number", 2], ["cell/absent", 3], ["flow/unknown", 3],
    ["agent/file-absent", 3], ["inbox/full", 4], ["ops/full", 4], ["store/unavailable", 4], ["server/timeout", 4],
    ["store/damaged", 1], ["ops/closed", 1], ["cell/held", 5],
    ["constructor", 1]
  ])("a command that ends with %s has the exit code %i", (code, exit) => assert.strictEqual(CliFailure.exitOf(code), exit))
})
