import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Enzyme } from "systole"

const run = (): void => {}
const least: Enzyme.Definition = { name: "resize", query: "/signals/image/*", run }

/** Returns the reason why a definition with these fields is refused. */
const refusal = (fields: Readonly<Record<string, unknown>>): string => {
  try {
    Enzyme.make({ ...least, ...fields } as Enzyme.Definition)
  } catch (error) {
    assert.instanceOf(error, Enzyme.InvalidEnzyme)
    assert.strictEqual(error.code, "enzyme/invalid")
    return error.message
  }
  return "not refused"
}

describe("Enzyme.make", () => {
  it("gives every field but name, query and run a default", () => {
    const { run: own, ...metadata } = Enzyme.make(least)
    assert.strictEqual(own, run)
    assert.deepStrictEqual(metadata, {
      _tag: "Enzyme",
      name: "resize",
      label: "resize",
      query: "/signals/image/*",
      match: "exact",
      before: [],
      after: [],
      bind: [],
      target: undefined,
      payload: undefined,
      declares: [],
      services: [],
      reads: [],
      writes: undefined,
      retry: { attempts: 10 },
      schedule: undefined,
      lane: "pair",
      order: "strict",
      isolation: undefined,
      repeatable: false,
      exclusive: false,
      durable: false,
      hears: [],
      onMissing: "hold",
      onFatal: "shutdown",
      onDead: undefined,
      trusted: false,
      limitMs: 1000
    })
  })

  it("keeps the given fields", () => {
    const payload = Schema.Struct({ width: Schema.Int })
    const made = Enzyme.make(
      {
        ...least, payload, bind: ["/data", { cell: "/env", propagate: false }, { cell: "/x" }], retry: { attempts: 3 }, lane: "space"
      } as Enzyme.Definition
    )
    assert.strictEqual(made.payload, payload)
    assert.deepStrictEqual(made.bind, [
      { cell: "/data", propagate: true },
      { cell: "/env", propagate: false },
      { cell: "/x", propagate: true }
    ])
    assert.deepStrictEqual([made.retry.attempts, made.lane], [3, "space"])
    assert.isTrue(Enzyme.is(made))
    assert.isTrue(Object.isFrozen(made))
    for (const other of [least, undefined, null, "Enzyme"]) assert.isFalse(Enzyme.is(other))
  })

  const bad: ReadonlyArray<readonly [field: string, value: unknown]> = [
    ["name", ""],
    ["name", "two words"],
    ["name", 7],
    ["label", ""],
    ["query", 7],
    ["match", "suffix"],
    ["before", "other"],
    ["before", ["two words"]],
    ["after", [7]],
    ["bind", "/data"],
    ["bind", [{ cell: "/data", propagate: "no" }]],
    ["bind", [{ propagate: true }]],
    ["target", "optional"],
    ["target", "/data/orders"],
    ["payload", { width: "number" }],
    ["reads", [7]],
    ["writes", "/data"],
    ["retry", { attempts: 0 }],
    ["retry", { attempts: 1.5 }],
    ["lane", "global"],
    ["order", "none"],
    ["isolation", "none"],
    ["repeatable", 1],
    ["exclusive", "yes"],
    ["durable", null],
    ["onMissing", "drop"],
    ["onMissing", "end"],
    ["onFatal", "ignore"],
    ["onDead", 7],
    ["onDead", "died"],
    ["trusted", 0],
    ["limitMs", 0],
    ["limitMs", 3_600_001],
    ["colour", "red"]
  ]

  it.each(bad)("refuses a bad %s and names it: %j", (field, value) => {
    const message = refusal({ [field]: value })
    assert.match(message, /^Enzyme ".*" is refused: /)
    assert.include(message, field)
    assert.notInclude(message, "\n")
  })

  it("names the field and the text that is no pattern, no address or no cell", () => {
    assert.include(refusal({ query: "signals" }), "in its query, \"signals\" is not a pattern")
    assert.include(refusal({ query: "/a/x**" }), "in its query, ")
    assert.include(refusal({ writes: ["/data/ok", "data"] }), "in its writes, \"data\" is not a pattern")
    assert.include(refusal({ writes: ["/data/x?scope=nobody"] }), "in its writes, ")
    assert.include(refusal({ reads: ["/data/*"] }), "in its reads, \"/data/*\" is not an address")
    assert.include(refusal({ bind: ["/data", "/data/*"] }), "in its bind, \"/data/*\" is no cell")
    assert.include(refusal({ bind: [{ cell: "/" }] }), "in its bind, \"/\" is no cell")
  })

  it("refuses an enzyme that names itself, or that cannot be named", () => {
    for (const field of ["before", "after"]) assert.include(refusal({ [field]: ["other", "resize"] }), "it names itself in before or after")
    assert.include(refusal({ name: ":x" }), "empty domain or tag")
    assert.include(refusal({ name: ".." }), "would be relative")
  })
})
