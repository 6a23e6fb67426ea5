import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Registry, SystemGrants } from "systole"
import * as Address from "../../src/cell/Address.ts"
import * as Name from "../../src/cell/Name.ts"
import * as Pattern from "../../src/cell/Pattern.ts"
import * as Bindings from "../../src/registry/Bindings.ts"
import * as Enzyme from "../../src/registry/Enzyme.ts"
import * as Order from "../../src/registry/Order.ts"
import type { Entry } from "../../src/registry/Registry.ts"
import { Enzymes, successor } from "../../src/registry/Registry.ts"
import * as Random from "../support/Random.ts"
import * as Trials from "../support/Trials.ts"

const run = (): void => {}
const enzyme = (name: string, query: string, more: Partial<Enzyme.Definition> = {}) => Enzyme.make({ name, query, run, ...more })
const unbound = new Map<string, ReadonlyArray<Bindings.Binding>>()

const active = (...enzymes: ReadonlyArray<Enzyme.Enzyme>): Enzymes => {
  const registry = new Enzymes(new Set())
  for (const one of enzymes) registry.register(one)
  registry.activate()
  return registry
}

const keys = (registry: Enzymes, signal: string) => registry.resolve(signal, undefined, unbound).entries.map(({ key }) => key)

describe("Enzymes", () => {
  it("refuses a name like the id of an operation, which the journal holds among the handlings of a signal", () => {
    assert.throws(() => active(enzyme("OPS:x", "/signals/x")), Enzyme.InvalidEnzyme, "as the ids of operations do")
  })

  it("holds the signals of an enzyme that is disabled by name once its broken file loads again", () => {
    const registry = active()
    const [own, description] = [enzyme("a", "/s"), enzyme("a", "/s")]
    registry.breaks("a.ts")
    registry.leaveOut(description, { hash: "", file: "a.ts" })
    registry.leaveOut(own, { hash: "1", file: "a.ts" })
    registry.leaveOut(description, { hash: "", file: "a.ts" })
    registry.mends("a.ts")
    assert.deepStrictEqual(registry.leftOut().map(({ code }) => code?.hash), ["1"])
    assert.strictEqual(registry.resolve("/s", undefined, unbound).status, "held")
    registry.unregister(own)
    assert.strictEqual(registry.resolve("/s", undefined, unbound).status, "no-match")
  })

  it("applies registrations and withdrawals together, and returns their number", () => {
    const registry = new Enzymes(new Set())
    const a = enzyme("a", "/s")
    registry.register(a)
    registry.register(enzyme("b", "/s"))
    assert.deepStrictEqual(keys(registry, "/s"), [])
    assert.strictEqual(registry.activate(), 2)
    assert.deepStrictEqual(keys(registry, "/s"), ["a", "b"])
    const { version } = registry
    assert.strictEqual(registry.activate(), 0)
    assert.strictEqual(registry.version, version)
    registry.unregister(a)
    assert.deepStrictEqual(keys(registry, "/s"), ["a", "b"])
    assert.strictEqual(registry.activate(), 1)
    assert.deepStrictEqual(keys(registry, "/s"), ["b"])
    assert.isAbove(registry.version, version)
  })

  it("forgets all of an enzyme that is withdrawn, active or pending", () => {
    const a = enzyme("a", "/s/*x/**", { bind: ["/data/a", "/data/b"] })
    const registry = active(a)
    registry.unregister(a)
    assert.throws(() => registry.unregister(a), "not registered with exactly this descriptor")
    registry.activate()
    assert.deepStrictEqual(registry.all(), [])
    assert.strictEqual(registry.resolve(undefined, "/data/a", unbound).status, "no-match")
    registry.register(a)
    registry.unregister(a)
    assert.deepStrictEqual(registry.all(), [])
    assert.strictEqual(registry.activate(), 0)
  })

  it.each([0, 1, 2])("withdraws as often as it was registered, %i of them active", (count) => {
    const a = enzyme("a", "/s")
    const registry = active(...[a, a].slice(0, count))
    for (let i = count; i < 2; i++) registry.register(a)
    registry.unregister(a)
    registry.unregister(a)
    assert.throws(() => registry.unregister(a), "not registered")
    registry.activate()
    assert.deepStrictEqual(registry.all(), [])
  })

  it("gives each of several enzymes with one name a receipt key of its own", () => {
    const registry = active(enzyme("twin", "/s/*"), enzyme("twin", "/s/x"), enzyme("other", "/s/x"), enzyme("twin", "/**"))
    const [other, ...twins] = keys(registry, "/s/x")
    assert.strictEqual(other, "other")
    assert.strictEqual(new Set(twins).size, 3)
    for (const key of twins) assert.match(key, /^twin~/)
    assert.deepStrictEqual(keys(registry, "/s/y"), twins.filter((key) => keys(registry, "/s/y").includes(key)))
    assert.deepStrictEqual(keys(registry, "/other"), ["twin"])
  })

  it("makes these keys from the descriptors alone, independent of other enzymes", () => {
    const queries = ["/s/*", "/s/x", "/**", "/s/:a", ""]
    const modes = ["exact", "prefix"] as const
    const twins = queries.flatMap((query) => modes.map((match) => enzyme("twin", query, { match })))
    const some = (enzymes: ReadonlyArray<Enzyme.Enzyme>) =>
      new Map(active(...enzymes).resolve("/s/x", undefined, unbound).entries.map((entry) => [entry.enzyme, entry.key]))
    const all = some(twins)
    for (const key of all.values()) assert.isUndefined(Name.refusal(key), key)
    assert.strictEqual(new Set(all.values()).size, all.size)
    for (const [one, key] of some(twins.toReversed().slice(2))) assert.strictEqual(key, all.get(one))
  })

  it("numbers enzymes with the same name and query", () => {
    const registry = active(enzyme("a", "/s"), enzyme("a", "/s"), enzyme("a", "/*"))
    const [first, second, third] = keys(registry, "/s")
    assert.strictEqual(second, `${first}~2`)
    assert.notStrictEqual(third, first)
  })

  it("finds the successor of a key, shared by now or not, and no other enzyme", () => {
    const [one, two] = [enzyme("a", "/s"), enzyme("a", "/*")]
    const both = active(one, two).resolve("/s", undefined, unbound)
    const alone = (left: Enzyme.Enzyme) => active(left).resolve("/s", undefined, unbound)
    const [first, second] = both.entries.map(({ key }) => key)
    assert.deepStrictEqual([first, second].map((key) => successor(both, { key: key!, id: key })?.enzyme), [one, two])
    assert.strictEqual(successor(alone(one), { key: first!, id: first })?.enzyme, one)
    assert.strictEqual(successor(alone(one), { key: second!, id: second }), undefined)
    assert.deepStrictEqual([first, second].map((id) => successor(both, { key: "a", id })?.enzyme), [one, two])
    assert.strictEqual(successor(alone(two), { key: "a", id: first })?.enzyme, two)
  })

  it("finds the very one of twins, while both are there", () => {
    const twins = active(enzyme("a", "/s"), enzyme("a", "/s")).resolve("/s", undefined, unbound)
    for (const { id, key } of twins.entries) assert.strictEqual(successor(twins, { key, id })?.key, key)
  })

  it("takes the coarsest lane among the enzymes that match a signal", () => {
    const registry = active(enzyme("a", "/s/*"), enzyme("b", "/s/x", { lane: "space" }), enzyme("c", "/s/*", { lane: "target" }))
    assert.strictEqual(registry.resolve("/s/x", undefined, unbound).lane, "space")
    assert.strictEqual(registry.resolve("/s/y", undefined, unbound).lane, "target")
    assert.strictEqual(registry.resolve("/none", undefined, unbound).lane, "pair")
  })

  it("lists the active enzymes, with their modules", () => {
    const registry = new Enzymes(new Set())
    registry.register(enzyme("a", "/s"), { hash: "abc" })
    registry.register(enzyme("b", "/s"))
    assert.deepStrictEqual(registry.active(), [])
    registry.activate()
    assert.deepStrictEqual(registry.active().map(({ code, name }) => [name, code?.hash]), [["a", "abc"], ["b", undefined]])
  })

  it("takes for each bound name its best match, for any number of bindings", () => {
    for (const seed of Trials.seeds(150)) {
      const draw = Random.make(seed)
      const queries = ["", "/s", "/s/*", "/s/x", "/s/x*", "/:any/x", "/t", "/**/x"]
      const cells = ["/data", "/data/a", "/data/a/b", "/else"]
      const enzymes = Array.from({ length: 1 + draw(30) }, () =>
        enzyme(`e${draw(12)}`, Random.pick(draw, queries), {
          bind: draw(3) === 0 ? [] : [{ cell: Random.pick(draw, cells), propagate: draw(4) > 0 }]
        })
      )
      const registry = active(...enzymes)
      for (const signal of ["/s", "/s/x", "/s/xy", "/none", undefined]) {
        for (const target of cells) {
          const found = registry.resolve(signal, target, unbound).entries.map((entry) => entry.enzyme)
          assert.deepStrictEqual(found, bestPerName(registry.all(), signal, target), `${signal} at ${target}, seed ${seed}`)
        }
      }
    }
  })

  it("is bound by the cell of a target, with or without others at that cell", () => {
    const registry = active(enzyme("a", "/s", { bind: ["/data/a"] }))
    const target = Address.parse("/data/a/b?scope=user:42").key
    assert.deepStrictEqual(registry.resolve("/s", target, unbound).entries.map(({ name }) => name), ["a"])
  })
})

describe("the cache of resolutions", () => {
  const bind = (lists: Bindings.BindingLists, cell: string, change: { readonly enzyme: string; readonly tombstone?: boolean }) =>
    lists.put(cell, Bindings.put(lists.get(cell) ?? [], { cell, propagate: true, tombstone: false, ...change }, 0))

  it("is found again as long as bindings and enzymes stay", () => {
    const registry = active(enzyme("a", "/s"))
    const lists = new Bindings.BindingLists()
    bind(lists, "/data", { enzyme: "a" })
    const first = registry.resolve("/s", "/data/x", lists)
    assert.strictEqual(registry.resolve("/s", "/data/x", lists), first)
    assert.strictEqual(registry.resolve("/s", "/data/y/z", lists), first, "nothing else is bound there")
    assert.strictEqual(registry.resolutions, 3)
    bind(lists, "/other", { enzyme: "a" })
    const second = registry.resolve("/s", "/data/x", lists)
    assert.notStrictEqual(second, first)
    assert.deepStrictEqual(second, first)
  })

  it("has a limit, beyond which it begins anew only where it was of use", () => {
    const registry = active(enzyme("a", "/s/*", { bind: ["/data"] }))
    const lists = new Bindings.BindingLists()
    const ask = (n: number) => registry.resolve(`/s/${n}`, "/data/x", lists)
    const first = ask(0)
    for (let n = 1; n < 2000; n++) ask(n)
    assert.strictEqual(ask(0), first)
    assert.notStrictEqual(ask(1999), ask(1999))
    for (let n = 0; n < 1024; n++) ask(n)
    assert.strictEqual(ask(1999), ask(1999))
    assert.notStrictEqual(ask(0), first)
  })

  it("agrees with resolving anew in two spaces, while enzymes and bindings come and go", () => {
    const draw = Random.make(7)
    const cells = ["/data", "/data/a", "/data/a/b", "/else"]
    const spaces = [new Bindings.BindingLists(), new Bindings.BindingLists()]
    const registry = active()
    const there: Array<Enzyme.Enzyme> = []
    for (let step = 0; step < 3000; step++) {
      const lists = Random.pick(draw, spaces)
      const turn = draw(12)
      if (turn === 0) {
        const added = enzyme(`e${draw(5)}`, Random.pick(draw, ["", "/s", "/s/*", "/s/x"]), {
          bind: draw(3) === 0 ? [Random.pick(draw, cells)] : []
        })
        registry.register(added)
        there.push(added)
      }
      if (turn === 1 && there.length > 0) registry.unregister(there.splice(draw(there.length), 1)[0]!)
      if (turn <= 1) registry.activate()
      if (turn === 2) bind(lists, Random.pick(draw, cells), { enzyme: `e${draw(5)}`, tombstone: draw(3) === 0 })
      if (turn === 3) lists.put(Random.pick(draw, cells), [])
      const signal = Random.pick(draw, ["/s", "/s/x", undefined])
      const target = Random.pick(draw, [...cells, undefined])
      const asked = { get: (cell: string) => lists.get(cell) }
      assert.deepStrictEqual(registry.resolve(signal, target, lists), registry.resolve(signal, target, asked), `step ${step}`)
    }
  })
})

/** The reference model: the nearest declaration of each name, and its best matching entry. */
const bestPerName = (entries: ReadonlyArray<Entry>, signal: string | undefined, target: string): ReadonlyArray<Enzyme.Enzyme> => {
  const isBound = (name: string): boolean =>
    ["/data/a/b", "/data/a", "/data", "/else"].filter((cell) => Address.isWithin(cell, target)).some((cell) => {
      const newest = entries.filter((entry) => entry.name === name).flatMap(
        (entry) => entry.enzyme.bind.filter((bind) => bind.cell === cell)
      ).at(-1)
      return newest !== undefined && (newest.propagate || cell === target)
    })
  const taking = entries.filter(({ mode, name, pattern }) =>
    isBound(name) && (signal === undefined || Pattern.matches(pattern, signal.slice(1).split("/"), mode))
  ).toSorted(Order.priority)
  return taking.filter((entry, i) => taking.findIndex(({ name }) => name === entry.name) === i).map((entry) => entry.enzyme)
}

describe("an enzyme that is durable", () => {
  it("leaves its lane while it waits, unless it says otherwise", () => {
    assert.deepStrictEqual([enzyme("slow", "/s", { durable: true }).order, enzyme("quick", "/s").order], ["loose", "strict"])
    assert.strictEqual(enzyme("alone", "/s", { durable: true, order: "strict" }).order, "strict")
    assert.isFalse(enzyme("quick", "/s", { durable: false }).durable)
  })
})

describe("Enzymes.register", () => {
  it("lets an exclusive enzyme be alone on its query, whichever of the two is exclusive and active", () => {
    const lonely = enzyme("lonely", "/s", { exclusive: true })
    for (const activate of [true, false]) {
      const first = new Enzymes(new Set())
      first.register(lonely)
      if (activate) first.activate()
      assert.throws(
        () => first.register(enzyme("second", "/s")),
        Enzyme.InvalidEnzyme,
        "the query /s is exclusive, and \"lonely\" is there already"
      )
      assert.throws(() => first.register(lonely), "\"lonely\" is there already")
      first.register(enzyme("second", "/s/*"))

      const second = new Enzymes(new Set())
      second.register(enzyme("second", "/s"))
      if (activate) second.activate()
      assert.throws(() => second.register(lonely), Enzyme.InvalidEnzyme, "\"second\" is there already")
    }
  })

  it("frees the query of an exclusive enzyme at once when that is withdrawn", () => {
    const lonely = enzyme("lonely", "/s", { exclusive: true })
    const registry = active(lonely)
    registry.unregister(lonely)
    registry.register(enzyme("heir", "/s", { exclusive: true }))
    registry.activate()
    assert.deepStrictEqual(keys(registry, "/s"), ["heir"])
    assert.throws(() => registry.register(lonely), "\"heir\" is there already")
  })

  it("refuses envelopes that name the runtime's cells, and takes others that only reach them", () => {
    const registry = new Enzymes(new Set())
    for (const writes of [
        "/rt/**", "/sys/bind/*", "/net", "/data/rv/x", "/data/flow/:id", "/data/mailbox/*", "/data/inbox/flow/inst_event/*", "/cas/x"
      ]) {
      assert.throws(
        () => registry.register(enzyme("a", "/s", { writes: ["/data/ok", writes] })),
        Enzyme.InvalidEnzyme,
        `its envelope names ${writes}`
      )
    }
    registry.register(enzyme("a", "/s", { writes: ["/**", "/data/*", "/data/rvx", "/rtx/*"] }))
    assert.lengthOf(registry.all(), 1)
  })

  it.effect("lets only enzymes with the grant name the runtime's cells", () =>
    Effect.gen(function*() {
      const registry = yield* Registry
      registry.register(enzyme("rv_init", "/s", { writes: ["/data/rv/**"] }))
      assert.isTrue(registry.all()[0]?.envelope.system)
      assert.throws(() => registry.register(enzyme("rv_other", "/s", { writes: ["/data/rv/**"] })), "its envelope names /data/rv/**")
    }).pipe(Effect.provide(Registry.layer), Effect.provideService(SystemGrants, new Set(["rv_init"]))))
})
