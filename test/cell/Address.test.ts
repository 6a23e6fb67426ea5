import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Address from "../../src/cell/Address.ts"
import * as Trials from "../support/Trials.ts"

const reason = (text: string): string => {
  try {
    Address.parse(text)
  } catch (error) {
    if (error instanceof Address.InvalidAddress) return error.message
    throw error
  }
  throw new Error(`${text} was not refused`)
}

const Part = Schema.Literals(["a", "b", "0", "", "~", "/", "~1", "a b", "ä", "#", "?", "%", "\"", "x.y"])
const Id = Schema.Literals(["/a", "/data/assets/img123", "/CEP:x/ä.b-c_d~", "/a/b/c"])
const Scope = Schema.Literals(["space", "user:42", "session:a.b@c~d-e_f"])

describe("Address", () => {
  describe("parse", () => {
    it("takes an address apart", () => {
      const address = Address.parse("/data/assets/img123?scope=user:42#/width/0")
      assert.deepInclude(address, {
        id: "/data/assets/img123", scope: "user:42", path: ["width", "0"], key: "/data/assets/img123?scope=user:42"
      })
    })

    it("leaves out what says nothing", () => {
      assert.strictEqual(Address.parse("/a?scope=space#").text, "/a")
      assert.strictEqual(Address.parse("/a?scope=space").key, "/a")
    })

    it("tells the whole document from its empty key", () => {
      assert.deepStrictEqual(Address.parse("/a#").path, [])
      assert.deepStrictEqual(Address.parse("/a#/").path, [""])
    })

    it.prop("is undone by its text", [Id, Scope, Schema.Array(Part)], ([id, scope, path]) => {
      const made = Address.make(id, { scope, path })
      const parsed = Address.parse(made.text)
      assert.deepStrictEqual({ ...parsed }, { ...made })
      assert.deepStrictEqual({ ...Address.ofKey(made.key) }, { ...Address.make(id, { scope }) })
    }, Trials.draws())

    it.each([
      ["", "a path starts with a slash"],
      ["data", "a path starts with a slash"],
      ["/", "a path needs at least one name"],
      ["/a//b", "a name between slashes is empty"],
      ["/a/", "a name between slashes is empty"],
      ["/a/..", "would be relative"],
      ["/a/*", "holds the character \"*\""],
      ["/a b", "holds the character \" \""],
      ["/a\u0000", "holds the character"],
      ["/:a", "empty domain or tag"],
      ["/a:", "empty domain or tag"],
      ["/e\u0301", "normal form C"],
      ["/\ud800", "half of a surrogate pair"],
      ["/a?scope=team:1", "is not ?scope=space"],
      ["/a?x=1", "is not ?scope=space"],
      ["/a?scope=user:", "is not ?scope=space"],
      ["/a#width", "comes a JSON pointer"],
      ["/a#/~2", "a ~ is followed by neither 0 nor 1"],
      ["/a#/~", "a ~ is followed by neither 0 nor 1"],
      ["/a#/\ud800", "half of a surrogate pair"],
      [`/${"a".repeat(256)}`, "a name has 256 characters and the limit is 255"],
      ["/a".repeat(65), "a path has 65 names and the limit is 64"],
      [`/a#${"/b".repeat(65)}`, "its pointer has 65 parts and the limit is 64"],
      [`/${"a/".repeat(1024)}a`, "and the limit is 2048"]
    ])("refuses %j", (text, why) => {
      assert.include(reason(text), why)
      assert.include(reason(text), "Write it like /data/orders/17")
    })

    it("shows no more than the beginning of a long text", () => {
      assert.isBelow(reason(`/${"a".repeat(5000)}`).length, 400)
    })

    it("takes names of any alphabet, with or without a domain", () => {
      for (const id of ["/data/größe", "/CEP:sig_rv/x", "/日本", "/a:b:c", "/\ud83d\ude00", "/__proto__"]) {
        assert.strictEqual(Address.parse(id).id, id)
      }
    })
  })

  describe("into", () => {
    it("goes deeper in the same document", () => {
      const address = Address.into(Address.parse("/a?scope=user:1#/x"), ["y", "0"])
      assert.strictEqual(address.text, "/a?scope=user:1#/x/y/0")
      assert.strictEqual(Address.into(address, []), address)
    })
  })

  describe("parent, name and child", () => {
    it("go up and down", () => {
      assert.deepStrictEqual(["/a/b/c", "/a/b", "/a"].map(Address.parent), ["/a/b", "/a", "/"])
      assert.strictEqual(Address.name("/a/b"), "b")
      assert.strictEqual(Address.child("/a", "b"), "/a/b")
      assert.strictEqual(Address.child("/", "b"), "/b")
    })

    it.prop("undo each other", [Id], ([id]) => {
      assert.strictEqual(Address.child(Address.parent(id), Address.name(id)), id)
    }, Trials.draws())
  })

  describe("isWithin", () => {
    it("holds for the id itself and for its descendants", () => {
      assert.isTrue(Address.isWithin("/a", "/a"))
      assert.isTrue(Address.isWithin("/a", "/a/b"))
      assert.isTrue(Address.isWithin("/", "/a"))
      assert.isFalse(Address.isWithin("/a", "/ab"))
      assert.isFalse(Address.isWithin("/a/b", "/a"))
    })
  })

  describe("overlaps", () => {
    const path = Schema.Array(Schema.Literals(["a", "b"]))

    it.prop("holds exactly where one is the beginning of the other", [path, path], ([a, b]) => {
      const text = (parts: ReadonlyArray<string>) => parts.map((part) => `/${part}`).join("")
      const expected = `${text(a)}/`.startsWith(`${text(b)}/`) || `${text(b)}/`.startsWith(`${text(a)}/`)
      assert.strictEqual(Address.overlaps(a, b), expected)
      assert.strictEqual(Address.overlaps(b, a), expected)
    }, Trials.draws())
  })

  describe("ofValidKey", () => {
    it.prop("gives what a check of the key gives", [Id, Scope], ([id, scope]) => {
      const { key } = Address.make(id, { scope })
      assert.deepStrictEqual(Address.ofValidKey(key), Address.ofKey(key))
    }, Trials.draws())
  })

  describe("full", () => {
    it("names the space", () => {
      assert.strictEqual(Address.full("shop", Address.parse("/data/x?scope=user:42#/a")), "cell://shop/data/x?scope=user:42#/a")
    })
  })
})
