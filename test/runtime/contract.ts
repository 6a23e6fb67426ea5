/**
 * A Worker that runs the contract of persistence in durable objects: an object for each test.
 *
 * @module
 */
import { DurableObject } from "cloudflare:workers"
import * as DurableObjectStore from "../../plugins/durable_object.ts"
import { persistenceContract } from "../../src/main/testing/index.ts"
import type { Namespace, ObjectState, Storage } from "../../src/main/workers/Platform.ts"

/** The tests, over a storage. */
const testsOf = (storage: Storage) =>
  persistenceContract({
    persistence: DurableObjectStore.layer({ space: "shop", storage, arm: () => {} }),
    spaces: "one",
    seeds: [1, 2]
  })

/** The outcome of a test. */
interface Outcome {
  readonly name: string
  readonly failure: string | undefined
}

export class Test extends DurableObject<object> {
  readonly #storage: Storage

  constructor(state: ObjectState, env: object) {
    super(state, env)
    this.#storage = state.storage
  }

  /** The outcome of a test by its number; `undefined` after the last. */
  async run(number: number): Promise<Outcome | undefined> {
    const test = testsOf(this.#storage)[number]
    const failure = await test?.run().then(() => undefined, (error: unknown) => String(error))
    return test && { name: test.name, failure }
  }
}

export default {
  fetch: async (_: Request, { TESTS }: { readonly TESTS: Namespace<Test> }): Promise<Response> => {
    const outcomes: Array<Outcome> = []
    for (let number = 0;; number++) {
      const outcome = await TESTS.getByName(`test${number}`).run(number)
      if (outcome === undefined) return Response.json(outcomes)
      outcomes.push(outcome)
    }
  }
}
