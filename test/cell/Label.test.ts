import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import * as Label from "../../src/cell/Label.ts"
import * as Trials from "../support/Trials.ts"

const label = Arbitrary.schema(Schema.Array(Schema.Literals(["a", "b", "c", "d", "B"]))).pipe(Arbitrary.map(Label.make))

describe("Label", () => {
  it("is sorted and without repeats", () => {
    assert.deepStrictEqual(Label.make(["b", "a", "b", "B"]), ["B", "a", "b"])
    assert.strictEqual(Label.make([]), Label.none)
    assert.isTrue(Object.isFrozen(Label.make(["a"])))
  })

  describe("join", () => {
    it.prop("is associative, commutative and idempotent", [label, label, label], ([a, b, c]) => {
      assert.deepStrictEqual(Label.join(Label.join(a, b), c), Label.join(a, Label.join(b, c)))
      assert.deepStrictEqual(Label.join(a, b), Label.join(b, a))
      assert.strictEqual(Label.join(a, a), a)
      assert.strictEqual(Label.join(a, Label.none), a)
    }, Trials.draws())

    it.prop("is the least label above both", [label, label, label], ([a, b, c]) => {
      const both = Label.join(a, b)
      assert.isTrue(Label.isWithin(a, both) && Label.isWithin(b, both))
      if (Label.isWithin(a, c) && Label.isWithin(b, c)) assert.isTrue(Label.isWithin(both, c))
    }, Trials.draws())
  })

  describe("isWithin", () => {
    it("admits a label within the clearance", () => {
      assert.isTrue(Label.isWithin(Label.none, Label.none))
      assert.isTrue(Label.isWithin(["a"], ["a", "b"]))
      assert.isFalse(Label.isWithin(["a", "c"], ["a", "b"]))
    })
  })
})
