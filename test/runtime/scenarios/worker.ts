/**
 * A Worker that runs scenario tests: each test has a durable object of its own.
 *
 * @module
 */
import { DurableObject } from "cloudflare:workers"
import type { Namespace, ObjectState, Storage } from "../../../src/main/workers/Platform.ts"
import { type Collected, collected } from "./collect.ts"
import * as ObjectStores from "./ObjectStores.ts"

/** The result of a test. */
export interface Outcome {
  readonly title: string
  readonly failure: string | undefined
  /** The number of spaces in its object. */
  readonly spaces: number
}

/** Files of tests by their paths. */
export type Files = Readonly<Record<string, () => Promise<unknown>>>

/** The exports of a Worker's entry. */
export const make = (files: Files) => {
  const known = new Map<string, ReadonlyArray<Collected>>()
  const testsOf = async (file: string): Promise<ReadonlyArray<Collected>> => {
    const load = files[file]
    if (load === undefined) throw new Error(`there is no ${file}`)
    const tests = known.get(file) ?? await collected(load)
    known.set(file, tests)
    return tests
  }

  class Test extends DurableObject<object> {
    readonly #storage: Storage

    constructor(state: ObjectState, env: object) {
      super(state, env)
      this.#storage = state.storage
    }

    /** The outcome of a test by its number; `undefined` after the last. */
    async run(file: string, number: number, omitted: ReadonlyArray<string>): Promise<Outcome | undefined> {
      const test = (await testsOf(file)).filter(({ title }) => !omitted.includes(title))[number]
      ObjectStores.use(this.#storage)
      const failure = await test?.run().then(() => undefined, (error: unknown) => error instanceof Error ? error.stack : String(error))
      return test && { title: test.title, failure, spaces: ObjectStores.count() }
    }
  }

  /** Runs the tests of a file, except those omitted by their titles, one after another. */
  const fetch = async (request: Request, { TESTS }: { readonly TESTS: Namespace<Test> }): Promise<Response> => {
    const { file, omitted } = await request.json() as { readonly file: string; readonly omitted: ReadonlyArray<string> }
    const outcomes: Array<Outcome> = []
    for (let number = 0;; number++) {
      const outcome = await TESTS.getByName(`${file} ${number}`).run(file, number, omitted)
      if (outcome === undefined) return Response.json(outcomes)
      outcomes.push(outcome)
    }
  }

  return { Test, handler: { fetch } }
}
