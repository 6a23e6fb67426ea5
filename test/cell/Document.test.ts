import { assert, describe, it } from "@effect/vitest"
import * as Document from "../../src/cell/Document.ts"
import * as Value from "../../src/cell/Value.ts"
import * as Address from "../../src/cell/Address.ts"
import * as Write from "../../src/stage/write/Write.ts"
import { present } from "../support/Present.ts"
import * as Random from "../support/Random.ts"
import { any, plain, twin } from "./Values.ts"
import * as Trials from "../support/Trials.ts"

const doc = (value: unknown) => Document.encode(value)
const write = (before: unknown, path: ReadonlyArray<string>, value: unknown): unknown => {
  const after = Document.write(before === undefined ? undefined : doc(before), path, value)
  return Document.read(after, [])
}

/** A document, or the message of the refusal. */
interface Outcome {
  readonly document?: Document.Document | undefined
  readonly error?: string
}

const outcomeOf = (act: () => Document.Document | undefined): Outcome => {
  try {
    return { document: act() }
  } catch (error) {
    return { error: String(error) }
  }
}

/** Values that JSON lacks, made afresh. */
const richItems: ReadonlyArray<() => Value.Value> = [
  () => undefined,
  () => new Date(0),
  () => 12345678901234567890n,
  () => ({ "a.b": [new Date(1), { at: new URL("http://a/") }] }),
  () => new Map<Value.Value, Value.Value>([[new Date(2), [1n]]]),
  () => new Set([1, undefined]),
  () => new Uint8Array([0, 255])
]

describe("Document", () => {
  describe("encode and decode", () => {
    it.prop("give the value back", [any], ([value]) => {
      const document = doc(value)
      const canonical = Value.canonical(value).value
      assert.isTrue(Value.equals(Document.read(document, []), canonical))
      assert.isTrue(Value.equals(Document.read(Document.decode(document.text), []), canonical))
    }, Trials.draws())

    it("give each key back, although the engine takes some keys with escape sequences for others", () => {
      for (const last of [1, new Date(0)]) {
        for (const key of ["\\", "\"", "\n", "a.b", "\\\"ab", "\"ab\""]) {
          const { text } = doc({ "!": [], [key]: last })
          assert.deepStrictEqual(Document.read(Document.decode(text), []), { "!": [], [key]: last } as never)
        }
      }
    })

    it.prop("give equal values equal texts", [any], ([value]) => {
      assert.strictEqual(doc(value).text, doc(twin(value)).text)
    }, Trials.draws())

    it.prop("give different values different texts", [any, any], ([a, b]) => {
      const same = Value.equals(Value.canonical(a).value, Value.canonical(b).value)
      assert.strictEqual(doc(a).text === doc(b).text, same)
    }, Trials.draws())

    it.prop("store JSON as it is", [plain], ([value]) => {
      const document = doc(value)
      if (document.plain === undefined) assert.property(value, "$rich")
      else assert.strictEqual(document.text, JSON.stringify(document.plain))
    }, Trials.draws())

    it("give one text to values that share an object and values that repeat it", () => {
      const shared = { n: 1n }
      assert.strictEqual(doc({ a: shared, b: shared }).text, doc({ a: { n: 1n }, b: { n: 1n } }).text)
      const [a, b] = Document.read(doc([shared, shared]), []) as ReadonlyArray<unknown>
      assert.notStrictEqual(a, b)
    })

    it("pin the stored form", () => {
      assert.strictEqual(doc({ b: 1, a: [true, null, "x"] }).text, "{\"a\":[true,null,\"x\"],\"b\":1}")
      assert.strictEqual(
      doc({ at: new Date(0), n: 1n }).text,
      `{"$rich":{"json":{"at":"1970-01-01T00:00:00.000Z","n":"1"},"meta":{"values":{"at":["Date"],"n":["bigint"]},"v":1}}}`
    )
      assert.strictEqual(doc({ $rich: 1 }).text, "{\"$rich\":{\"json\":{\"$rich\":1}}}")
    })

    it("refuse undefined, and a text that is too long", () => {
      assert.throws(() => doc(undefined), "undefined deletes a cell")
      assert.strictEqual(doc("x".repeat(Document.MAX_TEXT - 2)).text.length, Document.MAX_TEXT)
      assert.throws(() => doc("x".repeat(Document.MAX_TEXT - 1)), "its text has 1048577 characters and the limit is 1048576")
    })
  })

  describe("read", () => {
    it("gives the frozen value of a plain document, the same each time", () => {
      const document = Document.decode("{\"a\":{\"b\":[1]}}")
      const value = Document.read(document, ["a"]) as { readonly b: ReadonlyArray<number> }
      assert.isTrue(Object.isFrozen(value) && Object.isFrozen(value.b))
      assert.strictEqual(Document.read(document, ["a"]), value)
    })

    it("copies a date for each reader, so that changing one does not change the document", () => {
      const document = doc({ at: new Date(5) })
      const first = Document.read(document, ["at"]) as Date
      first.setTime(9)
      assert.strictEqual((Document.read(document, ["at"]) as Date).getTime(), 5)
    })

    it("finds no value in an absent document", () => {
      assert.isUndefined(Document.read(undefined, []))
      assert.isUndefined(Document.read(undefined, ["a"]))
      assert.isUndefined(Document.read(doc({ a: 1 }), ["b", "c"]))
    })
  })

  describe("derive", () => {
    it.prop("gives the text that encoding gives, and bounds its length before", [any], ([value]) => {
      const derived = Document.derive(twin(value))
      const { size } = derived
      assert.strictEqual(derived.text, doc(value).text)
      assert.isAtLeast(size, derived.text.length)
    }, Trials.draws())

    it("keeps an object whose keys are in the engine's order, array indexes first, and copies any other", () => {
      const ordered = { 2: 1, 10: { a: 1, b: 1 }, a: 0, b: 0 }
      assert.strictEqual(Document.derive(ordered).plain, ordered)
      assert.strictEqual(Document.derive({ b: 1, 10: 1, 2: 1, a: 1 }).text, '{"2":1,"10":1,"a":1,"b":1}')
      assert.strictEqual(Document.derive({ "4294967295": 1, "4294967294": 1, "01": 1 }).text, '{"4294967294":1,"01":1,"4294967295":1}')
    })
  })

  describe("write", () => {
    it("replaces, deletes and creates the whole", () => {
      assert.strictEqual(write(1, [], 2), 2)
      assert.isUndefined(Document.write(doc(1), [], undefined))
      assert.deepStrictEqual(write(undefined, ["a", "b"], 1), { a: { b: 1 } })
    })

    it("changes one place and shares the rest", () => {
      const before = doc({ a: { x: 1 }, b: { y: 1 } })
      const after = Document.write(before, ["b", "y"], 2)
      assert.deepStrictEqual(Document.read(after, []), { a: { x: 1 }, b: { y: 2 } })
      assert.strictEqual(Document.read(after, ["a"]), Document.read(before, ["a"]))
      assert.deepStrictEqual(Document.read(before, []), { a: { x: 1 }, b: { y: 1 } })
    })

    it.prop("gives the text that the whole would be given, and bounds its length before", [any, plain, plain], ([before, key, value]) => {
      const under = { b: before, m: [1, { k: before }] }
      for (const path of [["m", "1", JSON.stringify(key)], ["m", "-", "x"], ["m", "1"], ["b"], ["7"], ["$rich"]]) {
        const after = Document.write(doc(under), path, value)!
        const { size } = after
        assert.strictEqual(after.text, doc(twin(Document.read(after, []))).text)
        assert.isAtLeast(size, after.text.length)
        assert.strictEqual(after.size, after.text.length)
      }
    }, Trials.draws())

    it("refuses a value that is too long, too deep or no data at once", () => {
      const long = doc({ a: "x".repeat(Document.MAX_TEXT - 20) })
      assert.strictEqual(Document.write(long, ["b"], 1)!.text.length, Document.MAX_TEXT - 6)
      assert.throws(() => Document.write(long, ["b"], "y".repeat(20)), "and the limit is 1048576")
      const deep = Array.from({ length: 64 }, () => "d")
      assert.throws(() => write({}, deep, []), "deeper than 64 levels")
      assert.throws(() => write({ a: {} }, ["a", "f"], () => 1), "at /a/f: a function is not data")
    })

    it("removes a key, and an item of an array", () => {
      assert.deepStrictEqual(write({ a: 1, b: 2 }, ["a"], undefined), { b: 2 })
      assert.deepStrictEqual(write([1, 2, 3], ["1"], undefined), [1, 3])
    })

    it("returns the same document if there is no value to remove", () => {
      const before = doc({ a: [1] })
      for (const path of [["b"], ["a", "1"], ["a", "-"], ["b", "c"]]) assert.strictEqual(Document.write(before, path, undefined), before)
      assert.isUndefined(Document.write(undefined, ["a"], undefined))
    })

    it("appends and replaces items", () => {
      assert.deepStrictEqual(write([1], ["-"], 2), [1, 2])
      assert.deepStrictEqual(write([1], ["1"], 2), [1, 2])
      assert.deepStrictEqual(write([1, 2], ["0"], 3), [3, 2])
      assert.deepStrictEqual(write([], ["0", "a"], 1), [{ a: 1 }])
    })

    it.each(Trials.seeds(100))("appends to arrays as if each were written anew, with seed %i", (seed) => {
      const draw = Random.make(seed)
      const plain = [() => draw(1000), () => "text", () => null, () => ({ a: [draw(9)] }), () => "\"ü\n"]
      const item = (): Value.Value => Random.pick(draw, [...plain, ...plain, ...richItems])()
      const known: Array<{ readonly document: Document.Document; readonly value: ReadonlyArray<Value.Value> }> =
        [{ document: doc([]), value: [] }, { document: doc([1, "a"]), value: [1, "a"] }]
      for (let i = 0; i < 30; i++) {
        const { document, value } = Random.pick(draw, [...known, ...known.slice(-1), ...known.slice(-1)])
        const items = Array.from({ length: draw(3) }, item)
        const write = { kind: "append", address: Address.make("/a"), items } as const
        const after = { document: Write.apply(document, write), value: [...value, ...items] }
        const expected = doc(after.value)
        if (draw(2) === 0) assert.strictEqual(after.document?.text, expected.text)
        assert.strictEqual(after.document?.size, expected.size)
        known.push({ ...after, document: present(after.document) })
      }
      for (const { document, value } of known) {
        assert.deepStrictEqual(Document.read(document, []), Value.canonical(value).value)
        assert.strictEqual(document.text, doc(value).text)
      }
    })

    it.each(Trials.seeds(100))("appends inside documents as if each were written anew, with seed %i", (seed) => {
      const draw = Random.make(seed)
      const paths = ["/l", "/m", "/new", "/n", "/rows", "/rows/0/l", "/rows/1/l", "/rows/-", "/rows/0/x", "/rows/1", "/a.b\\"]
      const start = { "a.b\\": [], l: [], m: [1], n: 0, rows: [{ l: [] }, { l: [7] }] }
      const dated = { ...start, m: [new Date(1)], n: draw(2) === 0 ? 0 : new Map([[1, 2]]) }
      const starts = [start, dated].slice(draw(2))
      const known: Array<Outcome & { readonly value: Value.Value }> = starts.map((value) => ({ document: doc(value), value }))
      for (let i = 0; i < 40; i++) {
        const { document, value } = Random.pick(draw, [...known, ...known.slice(-1), ...known.slice(-1), ...known.slice(-1)])
        const address = Address.parse(`/a#${Random.pick(draw, paths)}`)
        const lists: ReadonlyArray<ReadonlyArray<Value.Value>> =
          [[draw(9)], ["text", { a: 1 }], [{ l: [draw(3)] }], [], [null, undefined], [Random.pick(draw, richItems)()]]
        const items = Random.pick(draw, lists)
        const write: Write.Write = draw(3) > 0
          ? { kind: "append", address, items }
          : Write.set(address, Random.pick(draw, [undefined, draw(9), { l: [draw(9)] }, [{ l: [] }], Random.pick(draw, richItems)()]))
        const expected = outcomeOf(() => Write.apply(value === undefined ? undefined : doc(value), write))
        const actual = outcomeOf(() => Write.apply(document, write))
        if (expected.error !== undefined) {
          assert.strictEqual(actual.error, expected.error)
          continue
        }
        if (draw(4) === 0) assert.strictEqual(actual.document?.text, expected.document?.text)
        // A read of a list makes its value, which ends its series.
        const valueOf = ({ document }: Outcome): Value.Value => Document.read(document, address.path)
        if (draw(4) === 0) assert.deepStrictEqual(valueOf(actual), valueOf(expected))
        assert.isAtLeast(actual.document?.size ?? 0, expected.document?.text.length ?? 0)
        known.push({ document: actual.document, value: Document.read(expected.document, []) })
      }
      for (const { document, value } of known) {
        assert.strictEqual(document?.text, value === undefined ? undefined : doc(value).text)
        assert.deepStrictEqual(Document.read(document, []), value)
      }
    })

    it("sets a bigint inside a document", () => {
      assert.deepStrictEqual(write({ a: 1 }, ["b"], 5n), { a: 1, b: 5n })
    })

    it("checks appended items at their depth", () => {
      const deep = (levels: number): Value.Value => Array.from({ length: levels }).reduce<Value.Value>((inner) => [inner], [])
      const before = doc({ a: { l: [] } })
      const apply = (item: Value.Value) => Write.apply(before, { kind: "append", address: Address.parse("/d#/a/l"), items: [item] })
      assert.deepStrictEqual(Document.read(apply(deep(Value.MAX_DEPTH - 4)), ["a", "l"]), [deep(Value.MAX_DEPTH - 4)])
      assert.throws(() => apply(deep(Value.MAX_DEPTH - 3)), "nests deeper than 64 levels")
    })

    it("appends as long as the text fits", () => {
      const full = doc(["x".repeat(Document.MAX_TEXT - 6)])
      assert.strictEqual(Document.append(full, [], [1])?.size, Document.MAX_TEXT)
      assert.isUndefined(Document.append(full, [], [12]))
    })

    it.each([["2"], ["x"], ["01"], ["-1"]])("refuses the place %s of an array of one item", (key) => {
      assert.throws(() => write([1], [key], 1), "an array of 1 items has no such place")
    })

    it("refuses a path through a value that is not a container", () => {
      for (const value of [1, "x", null, new Date(0), new Map()]) {
        assert.throws(() => write({ a: value }, ["a", "b"], 1), "the path leads through a value that holds no others")
      }
    })

    it("refuses a forbidden key on the way", () => {
      assert.throws(() => write({}, ["__proto__", "x"], 1), "the key \"__proto__\" is not allowed")
      assert.isUndefined(({} as { readonly x?: unknown }).x)
    })

    it.prop("is read where it was written", [any, plain], ([before, value]) => {
      const path = ["w", "here"]
      const under = typeof before === "object" && before !== null && Object.getPrototypeOf(before) === Object.prototype ? before : {}
      const after = Document.write(doc(under), path, value)
      assert.isTrue(Value.equals(Document.read(after, path), Value.canonical(value).value))
    }, Trials.draws())
  })
})
