import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Mutant } from "../mutants/Mutants.ts"
import { root } from "../scripts/Host.ts"
import * as Planted from "../scripts/Planted.ts"

describe("The planted faults", () => {
  it("are mutants", () => {
    const listed = JSON.parse(readFileSync(join(root, "test/mutants/mutants.json"), "utf8")) as ReadonlyArray<Mutant>
    const names = new Set(listed.map(({ name }) => name))
    assert.deepStrictEqual(Object.values(Planted.faults).filter((name) => !names.has(name)), [])
  })
})
