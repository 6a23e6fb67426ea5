import { assert, describe, it } from "@effect/vitest"
import { Address, Computation, Materializer, type NodeDefinition, Reaction, SpaceScheduler } from "systole"

const watch = (...places: ReadonlyArray<string>) =>
  Reaction.make({ name: "watch", read: (tx) => places.map((place) => tx.get(place) ?? null), deliver: () => {} })

/** The origins of a place: places inside documents, and lists of names. */
const origins = (place: string, nodes: ReadonlyArray<NodeDefinition>, depth: "deep" | "children" = "deep") => {
  const scheduler = new SpaceScheduler()
  scheduler.set("/x", { a: 1, b: 2 })
  scheduler.set("/p/one", 1)
  for (const node of nodes) scheduler.register(node)
  scheduler.settle()
  const found = scheduler.ancestry().origins(Address.parse(place), depth)
  return found === undefined
    ? undefined
    : [
      ...[...found.places].flatMap(([key, paths]) => paths.map((path) => Address.into(Address.ofKey(key), path).text)),
      ...[...found.lists].map((key) => `${key}/*`)
    ].sort()
}

const twice = Computation.make({ name: "twice", output: "/twice", run: (tx) => Number(tx.get("/x#/a")) * 2 })
const more = Computation.make({ name: "more", output: "/more", run: (tx) => Number(tx.get("/twice")) + Number(tx.get("/y") ?? 0) })

describe("Ancestry", () => {
  it("names the transitive sources of a derived place, and none of any other place", () => {
    assert.deepStrictEqual(origins("/more", [twice, more, watch("/more")]), ["/twice", "/x#/a", "/y"])
    assert.deepStrictEqual(origins("/more#/part", [twice, more, watch("/more")]), ["/twice", "/x#/a", "/y"])
    assert.isUndefined(origins("/x", [twice, more, watch("/more")]))
  })

  it("ends in a ring, and follows lists of names and their derived members", () => {
    const ring = ["a", "b"].map(
      (name, i) => Computation.make({
        name,
        output: `/r/${name}`,
        run: (tx) => Math.min(Number(tx.get(`/r/${"ba"[i]}`) ?? 0) + Number(tx.get("/x#/b")), 3)
      })
    )
    assert.deepStrictEqual(origins("/r/a", [...ring, watch("/r/a")]), ["/r/a", "/r/b", "/x#/b"])
    const count = Computation.make({ name: "count", output: "/count", run: (tx) => tx.list("/p").length })
    const child = Computation.make({ name: "child", output: "/p/two", run: (tx) => tx.get("/x#/a") as number })
    assert.deepStrictEqual(origins("/count", [child, count, watch("/count")]), ["/p/*", "/x#/a"])
    assert.deepStrictEqual(origins("/p", [child, count, watch("/count")], "children"), ["/x#/a"])
  })

  it("follows materializers, and the reads of a node's creators", () => {
    const materializer = Materializer.make({ name: "all", writes: ["/m/*"], run: (tx) => tx.set("/m/one", tx.get("/x#/b")) })
    const above = Computation.make({ name: "above", output: "/above", run: (tx) => Number(tx.get("/m/one") ?? 0) })
    assert.deepStrictEqual(origins("/above", [materializer, above, watch("/above")]), ["/m/one", "/x#/b"])
    const creator = Computation.make({
      name: "creator",
      output: "/creator",
      run: (tx) => {
        const base = Number(tx.get("/x#/a"))
        tx.start(Computation.make({ name: "started", output: "/started", run: (tx) => base + Number(tx.get("/y") ?? 0) }))
        return base
      }
    })
    assert.deepStrictEqual(origins("/started", [creator, watch("/creator", "/started")]), ["/x#/a", "/y"])
  })
})
