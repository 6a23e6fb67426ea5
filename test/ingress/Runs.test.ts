import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { approve } from "../recorded/HttpModules.ts"
import { problem, serve, type TestIngress } from "./TestIngress.ts"

const space = "/v1/spaces/shop"

const test = (name: string, run: (app: TestIngress) => Promise<void>) =>
  it.live(name, () => Effect.flatMap(serve({ enzymes: [approve] }), (app) => Effect.promise(async () => {
    await app.put(space, {})
    await run(app)
  })))

/** The body of a list. */
interface List {
  readonly runs: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly next: string | null
}

/** The body of a run. */
interface Shown {
  readonly steps: ReadonlyArray<object>
  readonly awaits: ReadonlyArray<object>
}

/** Begins a run; answers its event. */
const begin = async ({ post }: TestIngress): Promise<string> =>
  ((await post(`${space}/signals`, { signal: "/signals/placed" })).body as { readonly id: string }).id

/** The runs, once there are so many of a state: each look waits for a signal of its own. */
const listed = async (app: TestIngress, state: string, count: number): Promise<List["runs"]> => {
  for (let i = 0; i < 20; i++) {
    await app.post(`${space}/signals`, { signal: "/signals/none" }, { prefer: "wait=10" })
    const { runs } = (await app.ask(`${space}/runs`)).body as List
    if (runs.filter((run) => run["state"] === state).length === count) return runs
  }
  throw new Error(`there are not ${count} runs that are ${state}`)
}

describe("Durable runs over HTTP", () => {
  test("are listed page by page, shown, cancelled and sent again", async (app) => {
    const { ask, post } = app
    for (let i = 0; i < 3; i++) await begin(app)
    const oids = (await listed(app, "waiting", 3)).map(({ oid }) => String(oid))
    const page = (await ask(`${space}/runs?limit=2`)).body as List
    assert.deepStrictEqual([page.runs.map(({ oid }) => oid), page.next], [oids.slice(0, 2), oids[1]])
    const rest = (await ask(`${space}/runs?limit=2&after=${page.next}`)).body as List
    assert.deepStrictEqual([rest.runs.map(({ oid }) => oid), rest.next], [oids.slice(2), null])
    const [oid = "", other = ""] = oids
    const shown = (await ask(`${space}/runs/${oid}`)).body as Shown
    assert.deepInclude(shown.steps[0], { segment: 0, on: ["0 /signals/approved /data/order"] })
    assert.deepInclude(shown.awaits[0], { number: 0, object: "/signals/approved /data/order" })
    assert.deepInclude((await post(`${space}/runs/${oid}/cancel?now`, undefined)).body as object, { oid })
    assert.deepInclude((await post(`${space}/runs/${other}/cancel`, undefined)).body as object, { oid: other })
    const dead = await listed(app, "dead", 2)
    assert.deepInclude(dead.find((run) => run["oid"] === other), { note: "run/cancelled" })
    await post(`${space}/runs/${oid}/retry`, undefined)
    await post(`${space}/runs/${other}/retry?anew`, undefined)
    await listed(app, "waiting", 3)
    await post(`${space}/signals`, { signal: "/signals/approved", target: "/data/order", payload: 1 }, { prefer: "wait=10" })
    const all = (await ask(`${space}/runs?all`)).body as List
    assert.deepStrictEqual(all.runs.map(({ state }) => state), ["over", "over", "over"])
    assert.deepStrictEqual(((await ask(`${space}/runs`)).body as List).runs, [])
    assert.deepStrictEqual(problem(await post(`${space}/runs/${oid}/retry`, undefined)), [409, "run/state"])
  })

  test("refuse an unknown id", async ({ ask, post }) => {
    for (const oid of ["x", "OPS:io", "OPS:1.2.3", `OPS:${"0".repeat(32)}`, "%2e%2e", "OPS%3Aa%2Fb"]) {
      assert.strictEqual((await ask(`${space}/runs/${oid}`)).status, 404, oid)
      for (const verb of ["cancel", "cancel?now", "retry", "retry?anew"]) {
        assert.strictEqual((await post(`${space}/runs/${oid}/${verb}`, undefined)).status, 404, `${oid} ${verb}`)
      }
    }
  })
})
