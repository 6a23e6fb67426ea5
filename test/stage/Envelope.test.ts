import { assert, describe, it } from "@effect/vitest"
import { Address } from "systole"
import * as Envelope from "../../src/stage/Envelope.ts"
import { code } from "./TestBeat.ts"

const allows = (writes: ReadonlyArray<string> | undefined, text: string, system = false): boolean =>
  code(() => Envelope.check(Envelope.make(writes, system), Address.parse(text))) === "none"

describe("Envelope", () => {
  const cases: ReadonlyArray<readonly [pattern: string, inside: ReadonlyArray<string>, outside: ReadonlyArray<string>]> = [
    ["/data/a", ["/data/a", "/data/a#/x", "/data/a?scope=user:1"], ["/data/b", "/data/a/b", "/data", "/data/ab"]],
    ["/data/*", ["/data/a", "/data/b#/x"], ["/data", "/data/a/b", "/other/a"]],
    ["/data/**", ["/data", "/data/a", "/data/a/b/c"], ["/datax", "/other"]],
    ["/data/img*", ["/data/img", "/data/img7"], ["/data/im", "/data/img7/x"]],
    ["/data/:id/meta", ["/data/7/meta", "/data/7/meta#/w"], ["/data/meta", "/data/7/8/meta"]],
    ["/data/**/leaf", ["/data/leaf", "/data/a/b/leaf"], ["/data/a/leaf/b"]],
    ["/data/a#/x", ["/data/a#/x", "/data/a#/x/y"], ["/data/a", "/data/a#/xy", "/data/a#/y"]],
    ["/data/a?scope=user:7", ["/data/a?scope=user:7", "/data/a?scope=user:7#/x"], ["/data/a", "/data/a?scope=user:8"]],
    ["/data/a?scope=space", ["/data/a"], ["/data/a?scope=user:7"]],
    ["/data/*?scope=user:7#/x", ["/data/b?scope=user:7#/x/y"], ["/data/b?scope=user:7", "/data/b#/x"]]
  ]
  it.each(cases)("%s allows exactly the addresses that it names", (pattern, inside, outside) => {
    for (const text of inside) assert.isTrue(allows([pattern], text), text)
    for (const text of outside) assert.isFalse(allows([pattern], text), text)
  })

  it("with several patterns allows the addresses of each", () => {
    assert.isTrue(allows(["/a", "/b"], "/b"))
    assert.isFalse(allows(["/a", "/b"], "/c"))
  })

  it("that is empty allows no address, and an undeclared one every cell except for the runtime's", () => {
    assert.isFalse(allows([], "/data/a"))
    assert.isTrue(allows(undefined, "/data/a"))
    assert.isTrue(allows(undefined, "/anywhere/else"))
  })

  it("never includes the runtime's cells", () => {
    const cells = [
      "/rt", "/rt/x", "/sys/bind/a", "/net/x", "/cas/x", "/data/rv/k", "/data/flow/x", "/data/mailbox", "/data/mailbox/diag/msgs/1",
      "/data/inbox/flow/inst_event/k"
    ]
    for (const cell of cells) {
      for (const writes of [undefined, ["/**"], [""], [cell]]) assert.isFalse(allows(writes, cell), cell)
      assert.isTrue(allows(["/**"], cell, true), `${cell} with the grant`)
    }
    for (const cell of ["/rtx", "/data/rvx", "/data/inbox/flow/x", "/data/inbox"]) assert.isTrue(allows(["/**"], cell), cell)
  })

  it("excludes the cells of verbs and of the beat, granted or not", () => {
    for (const cell of ["/rt/ops", "/rt/ops/OPS:1.0.0/close", "/sys/index", "/sys/index/over/rv", "/sys/index/rv/k"]) {
      for (const writes of [undefined, ["/**"], [cell]]) assert.isFalse(allows(writes, cell, true), cell)
    }
    for (const cell of ["/rt/opsx", "/sys/indexx", "/sys/labels"]) assert.isTrue(allows(["/**"], cell, true), cell)
  })

  it("names the address and itself when it refuses", () => {
    try {
      Envelope.check(Envelope.make(["/data/*", "/b"], false), Address.parse("/c#/x"))
      assert.fail("it was allowed")
    } catch (error) {
      assert.include((error as Error).message, "/c#/x")
      assert.include((error as Error).message, "/data/*, /b")
    }
  })

  it("finds the pattern that names cells of the runtime", () => {
    assert.strictEqual(Envelope.problemOf(["/data/a", "/rt/*"]), "/rt/*")
    assert.strictEqual(Envelope.problemOf(["/data/mailbox/**"]), "/data/mailbox/**")
    assert.strictEqual(Envelope.problemOf(["/data/**", "/**"]), undefined)
  })
})
