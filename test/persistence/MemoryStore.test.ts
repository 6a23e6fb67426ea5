import { describe, it } from "@effect/vitest"
import { MemoryStore } from "systole"
import { persistenceContract } from "systole/testing"
import * as Trials from "../support/Trials.ts"

describe("MemoryStore keeps the contract of persistence", () => {
  for (const { name, run } of persistenceContract({ persistence: MemoryStore.layer, seeds: Trials.seeds(6, { from: 1 }) })) it(name, run)
})
