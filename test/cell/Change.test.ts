import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import type { Path } from "../../src/cell/Address.ts"
import * as Change from "../../src/cell/Change.ts"
import * as Document from "../../src/cell/Document.ts"
import * as Link from "../../src/cell/Link.ts"
import * as Value from "../../src/cell/Value.ts"
import { plain } from "./Values.ts"
import * as Trials from "../support/Trials.ts"

const path = (text: string): Path => text === "" ? [] : text.split("/")
const value = (of: unknown) => Value.canonical(of).value

/** Tests whether a write at `at` that turns `before` into `after` invalidates a read of `read`. */
const hears = (read: string) => (before: unknown, after: unknown, { at = "", shallow = false } = {}) =>
  Change.triggers({ path: path(read), shallow }, { path: path(at), before: value(before), after: value(after) })

describe("Change", () => {
  describe("triggers", () => {
    it("hears of a value that differs, and of none that does not", () => {
      assert.isTrue(hears("a")({ a: 1 }, { a: 2 }))
      assert.isFalse(hears("a")({ a: 1 }, { a: 1 }))
      assert.isFalse(hears("")({ a: [1] }, { a: [1] }))
    })

    it("hears of a change deep inside its path, and not beside it", () => {
      assert.isTrue(hears("a")({ a: { b: 1 } }, { a: { b: 2 } }, { at: "a/b" }))
      assert.isFalse(hears("a/b")({ a: { b: 1, c: 1 } }, { a: { b: 1, c: 2 } }, { at: "a/c" }))
      assert.isFalse(hears("a/b")({ a: { b: 1, c: 1 } }, { a: { b: 2, c: 2 } }, { at: "a/c" }))
    })

    it("hears of a new key at the key and above, not at its sibling", () => {
      const before = { obj: { existing: 1 } }
      const after = { obj: { existing: 1, newKey: 1 } }
      assert.deepStrictEqual(["obj/newKey", "obj", "obj/existing"].map((read) => hears(read)(before, after)), [true, true, false])
    })

    it("does not hear of a change along a path without a container", () => {
      assert.isFalse(hears("field")(42, 43))
      assert.isFalse(hears("field")("a", null))
    })

    it("does not hear of an item beyond both arrays", () => {
      assert.isFalse(hears("items/5")({ items: [1, 2] }, { items: [3, 4] }))
      assert.isTrue(hears("items/1")({ items: [1, 2] }, { items: [3, 4] }))
    })

    it.each([
      [undefined, 1, true],
      [1, undefined, true],
      [null, 1, true],
      [1, { a: 1 }, true],
      [[1], { 0: 1 }, true],
      [null, null, false],
      [undefined, undefined, false],
      [undefined, null, true]
    ])("from %j to %j: %j", (before, after, expected) => {
      assert.strictEqual(hears("")(before, after), expected)
      assert.strictEqual(hears("a")({ a: before }, { a: after }), expected)
    })

    it("hears of a path that leads further than before, though it still has no value", () => {
      assert.isTrue(hears("a/b/c")({ a: {} }, { a: { b: { x: 1 } } }))
      assert.isTrue(hears("a/b/c/d")({ a: 1 }, { a: { b: 1 } }))
      assert.isFalse(hears("a/b/c/d")({ a: { b: 1 } }, { a: { b: 2 } }))
    })

    it("hears of a document that comes and goes", () => {
      assert.isTrue(hears("a")(undefined, { a: 1 }))
      assert.isTrue(hears("a")({ a: 1 }, undefined))
      assert.isTrue(hears("a")(undefined, {}))
    })

    it("lets a shallow read hear of kind, length and keys alone", () => {
      const shallow = { shallow: true }
      assert.isFalse(hears("a")({ a: { b: 1 } }, { a: { b: 2 } }, shallow))
      assert.isTrue(hears("a")({ a: { b: 1 } }, { a: { c: 1 } }, shallow))
      assert.isTrue(hears("a")({ a: { b: 1 } }, { a: { b: 1, c: 1 } }, shallow))
      assert.isFalse(hears("a")({ a: [1, 2] }, { a: [3, 4] }, shallow))
      assert.isTrue(hears("a")({ a: [1] }, { a: [1, 2] }, shallow))
      assert.isTrue(hears("a")({ a: [] }, { a: {} }, shallow))
      assert.isTrue(hears("a")({ a: 1 }, { a: 2 }, shallow))
      assert.isTrue(hears("a")({ a: new Date(1) }, { a: new Date(2) }, shallow))
      assert.isTrue(hears("a")({ a: new Map([[1, 2]]) }, { a: new Map([[1, 3]]) }, shallow))
    })

    it("compares links in full, shallow or not", () => {
      for (const shallow of [false, true]) {
        assert.isTrue(hears("a")({ a: Link.make("/x") }, { a: Link.make("/y") }, { shallow }))
        assert.isFalse(hears("a")({ a: Link.make("/x") }, { a: Link.make("/x") }, { shallow }))
        assert.isTrue(hears("a")({ a: Link.make("/x") }, { a: { $link: 1 } }, { shallow }))
      }
    })

    it("hears at every ancestor and descendant of the written path", () => {
      const before = { users: { 123: { profile: 1 } } }
      const after = { users: { 123: { profile: 2 } } }
      const heard = ["users", "users/123", "users/123/profile", "users/456"].map((read) => hears(read)(before, after, { at: "users/123" }))
      assert.deepStrictEqual(heard, [true, true, true, false])
    })

    const Key = Schema.Literals(["a", "b", "9", "0", "json"])

    it.prop("never hears of a write that changes nothing", [plain, Schema.Array(Key), Schema.Boolean], ([before, read, shallow]) => {
      assert.isFalse(Change.triggers({ path: read, shallow }, { path: [], before: value(before), after: value(before) }))
    }, Trials.draws())

    it.prop("is symmetric", [plain, plain, Schema.Array(Key), Schema.Boolean], ([before, after, read, shallow]) => {
      const heard = Change.triggers({ path: read, shallow }, { path: [], before: value(before), after: value(after) })
      assert.strictEqual(Change.triggers({ path: read, shallow }, { path: [], before: value(after), after: value(before) }), heard)
    }, Trials.draws())

    it.prop("hears whenever what was read differs", [plain, plain, Schema.Array(Key)], ([before, after, read]) => {
      const step = { path: [], before: value(before), after: value(after) }
      const differs = !Value.equals(Value.at(step.before, read), Value.at(step.after, read))
      if (differs) assert.isTrue(Change.triggers({ path: read, shallow: false }, step))
    }, Trials.draws())

    it.prop("triggers at the place of a write exactly if it changed", [plain, plain, Schema.NonEmptyArray(Key)], ([inner, next, at]) => {
      const before = Document.write(undefined, at, inner)
      const after = Document.write(before, at, next)
      const step = { path: at, before: Document.read(before, []), after: Document.read(after, []) }
      const changed = !Value.equals(value(inner), value(next))
      assert.strictEqual(Change.triggers({ path: at, shallow: false }, step), changed)
      assert.strictEqual(Change.triggers({ path: [], shallow: false }, step), changed)
    }, Trials.draws())
  })
})
