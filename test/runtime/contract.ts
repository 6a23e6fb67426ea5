/**
 * A Worker that runs the contract of persistence over the memory store, one space per place.
 *
 * @module
 */
import * as MemoryStore from "../../src/persistence/MemoryStore.ts"
import { persistenceContract } from "../../src/main/testing/index.ts"

export default {
  /** The failures, by the names of their tests, and the number of all tests. */
  fetch: async (): Promise<Response> => {
    const tests = persistenceContract({ persistence: MemoryStore.layer, spaces: "one", seeds: [1] })
    const failures: Array<readonly [name: string, message: string]> = []
    for (const { name, run } of tests) {
      await run().catch((error: unknown) => failures.push([name, String(error)]))
    }
    return Response.json({ failures, count: tests.length })
  }
}
