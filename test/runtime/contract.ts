/**
 * A Worker that runs the contract of persistence in durable objects: an object for each test.
 *
 * @module
 */
import { DurableObject } from "cloudflare:workers"
import * as DurableObjectStore from "../../plugins/durable_object.ts"
import { persistenceContract } from "../../src/main/testing/index.ts"
import type { Namespace, ObjectState, Storage } from "../../src/main/workers/Platform.ts"

/** The largest value of a database of Cloudflare, in bytes. The local one accepts larger ones. */
const LARGEST = 2_000_000

const encoder = new TextEncoder()

const sizeOf = (value: unknown): number =>
  typeof value === "string" ? encoder.encode(value).length : value instanceof Uint8Array ? value.length : 0

/** A storage that refuses values that Cloudflare would refuse. */
const strict = ({ sql, transactionSync }: Storage, storage: Storage): DurableObjectStore.ObjectStorage => ({
  deleteAlarm: () => storage.deleteAlarm(),
  deleteAll: () => storage.deleteAll(),
  sql: {
    databaseSize: sql.databaseSize,
    exec: (query, ...values) => {
      const size = Math.max(0, ...values.map(sizeOf))
      if (size > LARGEST) throw new Error(`a value of ${size} bytes in ${query.slice(0, 60)}`)
      return sql.exec.call(storage.sql, query, ...values)
    }
  },
  transactionSync: (body) => transactionSync.call(storage, body) as ReturnType<typeof body>
})

/** The tests, over a storage. */
const testsOf = (storage: Storage) =>
  persistenceContract({
    persistence: DurableObjectStore.layer({ space: "shop", storage: strict(storage, storage), arm: () => {} }),
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
