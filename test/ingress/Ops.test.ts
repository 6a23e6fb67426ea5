import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { problem, serve, type TestIngress } from "./TestIngress.ts"
import * as StreamText from "../support/StreamText.ts"

const test = (name: string, run: (app: TestIngress) => Promise<void>) =>
  it.live(name, () => Effect.flatMap(serve(), (app) => Effect.promise(() => run(app))))

const space = "/v1/spaces/shop"
const request = { verb: "op/render", target: "/data/scene", mode: "opm:states" }

/** The body of a list. */
interface List {
  readonly operations: ReadonlyArray<{ readonly oid: string }>
  readonly next: string | null
}

describe("Operations over HTTP", () => {
  test("are started, moved, shown, listed page by page and closed", async ({ ask, post, put }) => {
    await put(space, {})
    const started = await post(`${space}/ops`, { ...request, payload: { size: 2 }, ttl: "500ms" })
    const { oid } = started.body as { readonly oid: string }
    assert.strictEqual(started.status, 201)
    assert.strictEqual(started.headers.get("location"), `${space}/ops/${oid}`)
    const other = (await post(`${space}/ops`, { verb: "op/io", target: "/rt/async" })).body as { readonly oid: string }
    assert.strictEqual((await post(`${space}/ops/${oid}/state`, { state: "ist:plan", code: 2, note: "soon" })).status, 200)
    const first = (await ask(`${space}/ops?limit=1`)).body as List
    assert.deepStrictEqual(first.operations, [{
      oid, verb: "op/render", target: "/data/scene", mode: "opm:states", state: "ist:plan", code: 2, note: "soon", status: null, watchers: 0
    } as never])
    const rest = (await ask(`${space}/ops?after=${first.next}`)).body as List
    assert.deepStrictEqual([rest.operations.map((row) => row.oid), rest.next], [[other.oid], null])
    await post(`${space}/ops/${oid}/close`, { status: "sts:ok", summary: [1] })
    const shown = (await ask(`${space}/ops/${oid}`)).body as { readonly history: ReadonlyArray<{ readonly state: string }> }
    assert.deepInclude(
      shown,
      { payload: { size: 2 }, ttl: 5, state: "ist:ok", close: { status: "sts:ok", closed_beat: 3, summary: [1] } } as never
    )
    assert.deepStrictEqual(shown.history.map(({ state }) => state), ["ist:run", "ist:plan", "ist:ok"])
    assert.strictEqual((await ask(`${space}/ops/${other.oid}/cancel`, { method: "POST" })).status, 200)
    assert.deepInclude((await ask(`${space}/cells/rt/ops/${other.oid}`)).body as object, { state: "ist:cnl", status: "sts:cnl" })
  })

  test("are followed through their states", async ({ ask, fetch, post, put }) => {
    await put(space, {})
    const { oid } = (await post(`${space}/ops`, request)).body as { readonly oid: string }
    const response = await fetch(`${space}/ops/${oid}`, { headers: { accept: "text/event-stream" } })
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    const begin = (await reader.read()).value
    await ask(`${space}/ops/${oid}/cancel`, { method: "POST" })
    const text = await StreamText.until(reader, "sts:cnl", begin)
    await reader.cancel()
    assert.deepStrictEqual([...text.matchAll(/"state":"([^"]+)"/g)].map((match) => match[1]), ["ist:run", "ist:cnl"])
  })

  test("refuse unknown and closed operations and malformed requests with a code, without a change", async (
    { accidents, ask, post, put }
  ) => {
    await put(space, {})
    const { oid } = (await post(`${space}/ops`, request)).body as { readonly oid: string }
    await post(`${space}/ops/${oid}/close`, { status: "sts:ok" })
    const before = (await ask(`${space}/cells/rt?below`)).body
    const refusals: ReadonlyArray<readonly [string, unknown, number, string]> = [
      ["ops/OPS:9.9.9/close", { status: "sts:ok" }, 404, "ops/absent"],
      ["ops/nothing/state", { state: "ist:plan" }, 404, "ops/absent"],
      ["ops/OPS:9.9.9/cancel", {}, 404, "ops/absent"],
      ["ops/OPS:9.9.9/await", { want: "ist:ok", signal: "/x" }, 404, "ops/absent"],
      [`ops/${oid}/await`, { want: "ist:ok", signal: "/x" }, 409, "ops/unheard"],
      [`ops/${oid}/await`, { want: "ist:ok" }, 400, "ops/invalid"],
      [`ops/${oid}/state`, { state: "ist:plan" }, 409, "ops/closed"],
      [`ops/${oid}/close`, { status: "sts:fail" }, 409, "ops/closed"],
      [`ops/${oid}/close`, { status: "ist:ok" }, 400, "ops/invalid"],
      [`ops/${oid}/state`, { state: "plan" }, 400, "ops/invalid"],
      [`ops/${oid}/state`, {}, 400, "ops/invalid"],
      [`ops/${oid}/state`, { state: "ist:plan", code: 1.5 }, 400, "ops/invalid"],
      ["ops", { ...request, verb: "a//b" }, 400, "ops/invalid"],
      ["ops", { ...request, mode: "fast" }, 400, "ops/invalid"],
      ["ops", { ...request, ttl: -1 }, 400, "ops/invalid"],
      ["ops", { verb: "op/x" }, 400, "ops/invalid"],
      ["ops", { ...request, ttl: "soon" }, 400, "ops/invalid"],
      ["ops", { ...request, ttl: true }, 400, "body/malformed"],
      ["ops", { ...request, more: 1 }, 400, "body/malformed"],
      ["ops", [], 400, "body/malformed"]
    ]
    for (const [path, body, status, code] of refusals) {
      assert.deepStrictEqual(problem(await post(`${space}/${path}`, body)), [status, code], `${path} ${JSON.stringify(body)}`)
    }
    assert.deepStrictEqual(problem(await ask(`${space}/ops/OPS:9.9.9`)), [404, "ops/absent"])
    assert.deepStrictEqual(problem(await ask(`${space}/ops?limit=x`)), [400, "query/invalid"])
    assert.deepStrictEqual(problem(await ask("/v1/spaces/nowhere/ops")), [404, "space/unknown"])
    assert.strictEqual((await post(`${space}/ops/${oid}/close`, { status: "sts:ok" })).status, 200)
    assert.deepStrictEqual((await ask(`${space}/cells/rt?below`)).body, before)
    assert.deepStrictEqual(accidents, [])
  })
})
