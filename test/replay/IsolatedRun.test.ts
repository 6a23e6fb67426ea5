import { assert, describe, it } from "@effect/vitest"
import * as Address from "../../src/cell/Address.ts"
import { IsolatedRun } from "../../src/replay/IsolatedRun.ts"
import { CHILDREN } from "../../src/stage/write/Children.ts"
import { ReadLog } from "../../src/stage/write/ReadLog.ts"

describe("IsolatedRun", () => {
  it("stays valid until a document that it read changes", () => {
    const reads = new ReadLog()
    reads.add(Address.ofKey("/data/a"), undefined, undefined)
    const run = new IsolatedRun({ own: undefined, reads })
    run.changed("/data/b")
    run.changed("/data/a/below")
    assert.isFalse(run.isStale)
    reads.add(Address.ofKey("/data/b"), undefined, undefined)
    run.changed("/data/c")
    assert.isFalse(run.isStale, "what changed before it was read")
    run.changed("/data/b")
    run.changed("/data/c")
    assert.isTrue(run.isStale)
  })

  it("stays valid until a child appears or disappears below a listed address", () => {
    const reads = new ReadLog()
    reads.add(Address.ofKey("/data/a"), CHILDREN, undefined)
    const run = new IsolatedRun({ own: undefined, reads })
    run.changed("/data/a")
    run.changed("/data/a/b/c")
    assert.isFalse(run.isStale)
    run.changed("/data/a/b")
    assert.isTrue(run.isStale)
  })
})
