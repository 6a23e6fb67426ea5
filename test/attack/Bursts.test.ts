import { assert, describe, it } from "@effect/vitest"
import * as Generated from "../docs/Generated.ts"
import { turned } from "./parts/Lists.ts"

/**
 * The state of a space counts as no list: its locks are in memory, at most 1,001. So are the tokens, at most 1,000. A page of the
 * upgrade is a change of the operator, and answers a number.
 */
const others = ["/v1/spaces/:space/control", "/v1/access/tokens", "/v1/spaces/:space/store/upgrade"]

describe("The bursts of the attack", () => {
  it("have each list that a server has", () => {
    const fields = (query: unknown): object => (query as { readonly fields?: object } | undefined)?.fields ?? {}
    const paged = Generated.endpoints().filter(({ query }) => Object.hasOwn(fields(query?.()), "limit"))
    assert.isAtLeast(paged.length, 15)
    assert.deepStrictEqual(paged.map(({ path }) => path).filter((path) => !others.includes(path) && !Object.hasOwn(turned, path)), [])
  })
})
