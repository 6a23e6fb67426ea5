import { assert, describe, it } from "@effect/vitest"
import { Effect as Fx } from "effect"
import { Computation, Reaction } from "systole"
import { problem, serve, type TestIngress } from "./TestIngress.ts"

const graph = "/v1/spaces/shop/graph"
const double = Computation.make({ name: "double", output: "/data/double", run: (tx) => Number(tx.get("/data/one") ?? 0) * 2 })
const show = Reaction.make({ name: "show", read: (tx) => tx.get("/data/double"), deliver: () => {} })

const test = (name: string, run: (app: TestIngress) => Promise<void>) =>
  it.live(name, () => Fx.gen(function*() {
    const app = yield* serve()
    for (const node of [double, show]) yield* app.kernel.register(node)
    yield* Fx.promise(() => run(app))
  }))

describe("The graph over HTTP", () => {
  test("is available as JSON, for Graphviz and for Mermaid", async ({ ask, put }) => {
    await put("/v1/spaces/shop/cells/data/one", 4)
    const { body } = await ask(graph) as { readonly body: { readonly nodes: ReadonlyArray<object>; readonly edges: unknown } }
    assert.deepInclude(body.nodes[0], {
      name: "double", kind: "computation", status: "clean", live: true, runs: 1, outputs: ["/data/double"], reads: ["/data/one"]
    })
    assert.deepStrictEqual(body.edges, [{ from: "double", to: "show", address: "/data/double", back: false }])
    const dot = await ask(`${graph}?format=dot`)
    assert.strictEqual(dot.headers.get("content-type"), "text/vnd.graphviz; charset=utf-8")
    assert.match(String(dot.body), /^digraph systole \{[^]*"double" -> "show"/)
    assert.match(String((await ask(`${graph}?format=mermaid`)).body), /^flowchart LR\n[^]*n0 -->\|"\/data\/double"\| n1/)
    assert.deepStrictEqual(problem(await ask(`${graph}?format=png`)), [400, "query/invalid"])
    assert.deepStrictEqual(problem(await ask("/v1/spaces/nowhere/graph")), [404, "space/unknown"])
  })

  test("leads from page to page of one size and one form by its header", async ({ ask, put }) => {
    await put("/v1/spaces/shop/cells/data/one", 4)
    const nextOf = (headers: Headers): string | undefined => /^<(.+)>; rel="next"$/.exec(headers.get("link") ?? "")?.[1]
    const shown: Array<ReadonlyArray<string>> = []
    for (let page: string | undefined = `${graph}?format=dot&limit=1`; page !== undefined;) {
      const { body, headers } = await ask(page)
      shown.push(["double", "show"].filter((name) => String(body).includes(`"${name}" [`)))
      page = nextOf(headers)
      if (page !== undefined) assert.strictEqual(new URL(page, "http://localhost").searchParams.get("limit"), "1")
    }
    assert.deepStrictEqual(shown.filter((names) => names.length > 0), [["double"], ["show"]])
  })

  test("is traced on demand", async ({ ask, put }) => {
    await put("/v1/spaces/shop/cells/data/one", 1)
    assert.deepStrictEqual((await put(`${graph}/trace`, { kinds: ["run"] })).body, { kinds: ["run"] })
    await put("/v1/spaces/shop/cells/data/one", 2)
    const { body } = await ask(`${graph}/trace`) as {
      readonly body: { readonly kinds: unknown; readonly run: ReadonlyArray<{ readonly node: string; readonly causes: unknown }> }
    }
    assert.deepStrictEqual(body.kinds, ["run"])
    assert.deepStrictEqual(body.run.map(({ causes, node }) => [node, causes]), [["double", ["/data/one"]], ["show", ["/data/double"]]])
    for (const wrong of [{}, { kinds: "run" }, { kinds: ["jump"] }, null]) {
      assert.deepStrictEqual(problem(await put(`${graph}/trace`, wrong)), [400, "body/malformed"])
    }
  })
})
