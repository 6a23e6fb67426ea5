import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Computation } from "systole"
import * as OpenSpace from "../support/OpenSpace.ts"
import { problem, serve, type TestIngress } from "./TestIngress.ts"

const reader = "the-token-of-the-page"
const operator = "the-operators-own-token"

/** A computation whose throttle gate closes for an hour after each run. */
const slow = Computation.make({ name: "slow", output: "/data/slow", throttle: 3_600_000, run: (tx) => tx.get("/data/x") })
const quick = Computation.make({ name: "quick", output: "/data/quick", run: (tx) => tx.get("/data/x") })

type App = TestIngress
type Fetch = (path: string, init?: RequestInit) => ReturnType<App["ask"]>

/** A space with a node behind a closed gate and its last derived value, and the requests of the operator. */
const test = (name: string, run: (app: App, ask: Fetch) => Promise<void>) =>
  it.live(name, () =>
    Effect.flatMap(
      serve({
        config: {
          token: operator,
          spaces: { create: "on-demand" },
          labels: { cells: {}, readers: { web: { token: reader, clearance: [] } } },
          pages: {
            "/slow": async ({ get }) => `<p>${String(await get("shop", "/data/slow"))}</p>`,
            "/quick": async ({ get }) => `<p>${String(await get("shop", "/data/quick"))} ${String(await get("shop", "/data/x"))}</p>`
          }
        }
      }),
      (app) =>
        Effect.promise(async () => {
          for (const node of [slow, quick]) await Effect.runPromise(app.kernel.register(node))
          const ask: Fetch = (path, init = {}) =>
            app.ask(path, { ...init, headers: { authorization: `Bearer ${operator}`, ...init.headers } })
          const set = (x: number) =>
            ask("/v1/spaces/shop/cells/data/x", { method: "PUT", body: String(x), headers: { "content-type": "application/json" } })
          await set(1)
          assert.strictEqual((await ask("/v1/spaces/shop/cells/data/slow?pull")).body, 1)
          await set(2)
          await run(app, ask)
        })
    ))

describe("J16 a derived cell behind a closed gate, over HTTP,", () => {
  test("answers a pull with 503 and the time of the next retry", async (_, ask) => {
    const began = Date.now()
    const answer = await ask("/v1/spaces/shop/cells/data/slow?pull", { headers: { prefer: "wait=1" } })
    assert.deepStrictEqual(problem(answer), [503, "cell/held"])
    const opens = (answer.body as { readonly retry_at: number }).retry_at
    assert.isTrue(opens > began && opens <= Date.now() + 3_600_000)
    const after = Number(answer.headers.get("retry-after"))
    assert.isTrue(after >= (opens - Date.now()) / 1000 - 1 && after <= (opens - began) / 1000 + 1)
    assert.strictEqual((await ask("/v1/spaces/shop/cells/data/slow")).body, 1)
  })

  test("answers a reader with 503, and serves settled cells", async (app) => {
    const as = (path: string) =>
      app.ask(`/v1/spaces/shop/cells${path}`, { headers: { authorization: `Bearer ${reader}`, prefer: "wait=1" } })
    assert.deepStrictEqual(problem(await as("/data/slow")), [503, "cell/held"])
    assert.strictEqual((await as("/data/quick")).body, 2)
  })

  test("is not shown on a page, which does not wait for the gate", async (_, ask) => {
    assert.deepStrictEqual(problem(await ask("/slow")), [503, "cell/held"])
    assert.strictEqual((await ask("/quick")).body, "<p>2 2</p>")
  })

  test("is no longer waited for after the client disconnected", async (app, ask) => {
    const caller = new AbortController()
    const asked = ask("/v1/spaces/shop/cells/data/slow?pull", { signal: caller.signal })
    const space = await Effect.runPromise(app.kernel.space("shop"))
    const { pulls } = OpenSpace.of<{ readonly graph: { readonly pulls: { readonly size: number } } }>(space).graph
    while (pulls.size === 0) await new Promise((resolve) => void setImmediate(resolve))
    caller.abort()
    assert.strictEqual((await asked).status, 499)
    assert.deepStrictEqual([pulls.size, app.accidents], [0, []])
  })
})
