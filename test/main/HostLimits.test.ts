import { assert, describe, it } from "@effect/vitest"
import { defaults } from "systole"
import * as HostLimits from "../../src/main/host/HostLimits.ts"

const bound = HostLimits.hosts.object

describe("The limits of a host", () => {
  it("bound the memory of an object, and leave lower limits of a configuration as they are", () => {
    const limits = HostLimits.bound({ ...defaults, inboxBytes: 1000 }, bound)
    assert.deepInclude(limits, { residentBytes: 25_165_824, inboxBytes: 1000, hops: defaults.hops })
    // The clock of an object stands still while a group runs.
    assert.strictEqual(limits.groupMillis, Infinity)
    assert.deepStrictEqual(HostLimits.bound(defaults, HostLimits.hosts.process), defaults)
  })

  it("let an object be full from 90 % of its storage on", () => {
    assert.deepStrictEqual([8_999_999_999, 9_000_000_000].map((bytes) => HostLimits.isFull(bytes, bound)), [false, true])
  })
})
