import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { persistenceContract } from "systole/testing"
import * as KeyValueStore from "./KeyValueStore.ts"
import * as Trials from "../support/Trials.ts"

describe("A store of another project, over a key-value database", () => {
  describe("keeps the contract of persistence", () => {
    for (const { name, run } of persistenceContract({ persistence: KeyValueStore.layer, seeds: Trials.seeds(6, { from: 1 }) })) {
      it(name, run)
    }
  })

  it("knows the runtime by its public name alone", () => {
    const text = readFileSync(join(import.meta.dirname, "KeyValueStore.ts"), "utf8")
    const imported = new Set(Array.from(text.matchAll(/from "([^"]+)"/g), ([, name]) => name))
    assert.deepStrictEqual([...imported], ["effect", "systole", "./KeyValue.ts"])
  })
})
