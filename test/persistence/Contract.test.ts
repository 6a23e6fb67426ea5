import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { MemoryStore, Persistence, type PlacedStore } from "systole"
import { persistenceContract } from "systole/testing"

type Broken = (store: PlacedStore) => Partial<PlacedStore>

/** Stores that break one part of the contract each, with the group of tests that has to notice. */
const breaches: ReadonlyArray<readonly [breach: string, group: string, broken: Broken]> = [
  ["keeps nothing of a flush", "durability", () => ({ flush: Effect.void })],
  ["lists names in another order", "reads", (store) => ({ children: (scope, id) => store.children(scope, id).toReversed() })],
  ["skips keys of a page", "reads", (store) => ({ below: (id, page) => store.below(id, page).slice(1) })],
  ["hides rows of the journal", "reads", (store) => ({ scanJournal: (from) => store.scanJournal(from + 1, Infinity) })],
  ["forgets digests of receipts", "receipts", (store) => ({ receipts: (id) => store.receipts(id).map(({ digest: _, ...row }) => row) })],
  ["mixes up own ids", "receipts", (store) => ({ named: (_own, limit) => store.named("a", limit) })],
  ["gives the queue backwards", "queue", (store) => ({ queue: (after) => [...store.queue(after)].toReversed() })],
  ["forgets observations", "observations", () => ({ observations: () => [] })],
  ["cuts content short", "blobs", (store) => ({ blob: (hash) => store.blob(hash)?.subarray(1) })],
  ["keeps content for ever", "content", () => ({ holds: () => true })],
  ["takes a beat that does not follow", "writers", (store) => ({ append: (batch) => { try { store.append(batch) } catch { return } } })],
  ["forgets the next moment", "moments", () => ({ setDue: () => {} })],
  ["shows pruned beats", "retention", (store) => ({ anchor: () => ({ ...store.anchor(), beat: -1 }) })],
  ["prunes nothing on request", "retention", () => ({ prune: () => {} })],
  ["forgets that a store is importing", "arrival", () => ({ arrival: () => undefined })],
  ["shows later rows in a pin", "pin", (store) => ({
    pin: (last) => Object.assign(Object.create(store.pin(last)), { queue: () => [[...store.queue()]] })
  })],
  ["loses a document", "model", (store) => ({ read: (key) => key === "/a/b" ? undefined : store.read(key) })]
]

/** The memory store, with some of its methods replaced. */
const breaking = (broken: Broken) =>
  Layer.effect(Persistence, Effect.map(Persistence, (memory) => ({
    ...memory,
    open: (name, options) => Effect.map(memory.open(name, options), (store) => {
      const replaced = broken(store)
      return new Proxy(store, {
        get: (target, key) => {
          const value: unknown = Reflect.get(key in replaced ? replaced : target, key, target)
          return typeof value === "function" && !(key in replaced) ? value.bind(target) : value
        }
      })
    })
  } satisfies Persistence["Service"]))).pipe(Layer.provide(MemoryStore.layer))

describe("The contract of persistence", () => {
  it.each(breaches)("fails for a store that %s", async (_breach, group, broken) => {
    const tests = persistenceContract({ persistence: breaking(broken), seeds: [1] }).filter(({ name }) => name.startsWith(`${group}: `))
    assert.isNotEmpty(tests)
    const ends = await Promise.allSettled(tests.map(({ run }) => run()))
    assert.isTrue(ends.some(({ status }) => status === "rejected"))
  })

  it("holds for the same store with no method replaced", async () => {
    const tests = persistenceContract({ persistence: breaking(() => ({})), seeds: [1] })
    for (const { name, run } of tests) if (!/^(?:blobs|content): /.test(name)) await run()
  })

  it("leaves out the tests of several spaces for a place that holds one", () => {
    const names = (spaces: "one" | "many") => persistenceContract({ persistence: MemoryStore.layer, spaces }).map(({ name }) => name)
    const left = names("many").filter((name) => !names("one").includes(name))
    assert.deepStrictEqual(left, ["spaces: lists the spaces by name and keeps them apart", "spaces: keeps the moments of spaces apart"])
    assert.lengthOf(new Set(names("many")), names("many").length)
  })
})
