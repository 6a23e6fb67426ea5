import { assert, describe, it } from "@effect/vitest"
import * as Address from "../../src/cell/Address.ts"
import { Aside } from "../../src/replay/Aside.ts"
import { CHILDREN } from "../../src/stage/Children.ts"
import { ReadLog } from "../../src/stage/ReadLog.ts"

describe("A run aside", () => {
  it("says what another run would start until something changes that it read", () => {
    const reads = new ReadLog()
    reads.add(Address.ofKey("/data/a"), undefined, undefined)
    const aside = new Aside({ own: undefined, reads })
    aside.changed("/data/b")
    aside.changed("/data/a/below")
    assert.isFalse(aside.isStale)
    reads.add(Address.ofKey("/data/b"), undefined, undefined)
    aside.changed("/data/c")
    assert.isFalse(aside.isStale, "what changed before it was read")
    aside.changed("/data/b")
    aside.changed("/data/c")
    assert.isTrue(aside.isStale)
  })

  it("says so until a name comes or goes where it listed", () => {
    const reads = new ReadLog()
    reads.add(Address.ofKey("/data/a"), CHILDREN, undefined)
    const aside = new Aside({ own: undefined, reads })
    aside.changed("/data/a")
    aside.changed("/data/a/b/c")
    assert.isFalse(aside.isStale)
    aside.changed("/data/a/b")
    assert.isTrue(aside.isStale)
  })
})
