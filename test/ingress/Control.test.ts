import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { problem, serve, type Settings, type TestIngress } from "./TestIngress.ts"

const test = (name: string, run: (app: TestIngress) => Promise<void>, config?: Settings["config"]) =>
  it.live(name, () => Effect.flatMap(serve(config === undefined ? {} : { config }), (app) => Effect.promise(() => run(app))))

/** The digest of the newest row of a space's journal. */
const digest = ({ kernel }: TestIngress) =>
  Effect.runPromise(Effect.gen(function*() {
    const found = yield* kernel.space("shop")
    return (yield* found.journal(yield* found.head))?.hash
  }))

const space = "/v1/spaces/shop"

describe("Control over HTTP", () => {
  test("pauses, rolls back, resumes, shuts down and restarts a space, each as an operation", async ({ accidents, ask, kernel, put }) => {
    const control = async (verb: string, body?: unknown) => {
      const begun = await ask(
        `${space}/control/${verb}`,
        { method: "POST", ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }) }
      )
      assert.strictEqual(begun.status, 202, JSON.stringify(begun.body))
      const { oid } = begun.body as { readonly oid: string }
      assert.strictEqual(begun.headers.get("location"), `${space}/ops/${oid}`)
      await Effect.runPromise(Effect.flatMap(kernel.space("shop"), ({ idle }) => idle))
      const { status } = (await ask(`${space}/ops/${oid}`)).body as { readonly status: string | null }
      return [status, ((await ask(`${space}/control`)).body as { readonly state: string }).state]
    }
    await put(space, {})
    await put(`${space}/cells/data/x`, 1)
    await put(`${space}/cells/data/x`, 2)
    assert.deepStrictEqual(await control("pause"), ["sts:ok", "paused"])
    assert.deepStrictEqual(problem(await put(`${space}/cells/data/x`, 3)), [423, "cell/locked"])
    assert.deepStrictEqual(await control("rollback", { to: 0 }), ["sts:ok", "paused"])
    assert.strictEqual((await ask(`${space}/cells/data/x`)).body, 1)
    assert.deepStrictEqual(await control("resume"), ["sts:ok", "running"])
    assert.deepStrictEqual(await control("shutdown"), ["sts:ok", "halted"])
    assert.deepStrictEqual(await control("restart"), ["sts:ok", "running"])
    assert.deepInclude(
      (await ask(`${space}/control`)).body as object,
      { control: null, parked: 0, view_hzn: null, shdn_oid: null, locks: [] }
    )
    assert.deepStrictEqual(accidents, [])
  })

  test("refuses the commands to a held space after their limit, and withdraws them", async ({ accidents, ask, put }) => {
    await put(space, {})
    await put(`${space}/cells/data/x`, 1)
    await ask(`${space}/control/hold`, { method: "POST" })
    const refused = await Promise.all([
      put(`${space}/cells/data/x`, 2),
      ask(`${space}/cells/data/x`, { method: "DELETE" }),
      ask(`${space}/control/pause`, { method: "POST" }),
      put(`${space}/locks/data/x`, undefined),
      ask(`${space}/clock/reset`, { method: "POST" }),
      put(`${space}/cells/data/x`, 3)
    ])
    assert.deepStrictEqual(refused.map(problem), Array(6).fill([409, "space/held"]))
    await ask(`${space}/control/release`, { method: "POST" })
    await put(`${space}/cells/data/y`, 1)
    assert.strictEqual((await ask(`${space}/cells/data/x`)).body, 1)
    assert.deepInclude((await ask(`${space}/control`)).body as object, { state: "running", held: false, locks: [] })
    assert.deepStrictEqual(accidents, [])
  }, { spaces: { create: "on-demand" }, limits: { commandMillis: 20 } })

  test("shows the locks of a space in pages, in the order of their cells", async ({ ask, kernel, put }) => {
    await put(space, {})
    const cells = Array.from({ length: 401 }, (_, i) => `/data/${i}`).toSorted()
    await Effect.runPromise(Effect.flatMap(kernel.space("shop"), ({ control }) =>
      Effect.forEach(cells.toReversed(), (cell) => control.lock(cell), { concurrency: "unbounded" })))
    const page = async (query: string, method = "GET") => {
      const { body } = await ask(`${space}/control${query}`, { method })
      const { locks, next } = body as { readonly locks: ReadonlyArray<{ readonly cell: string }>; readonly next: string | null }
      return { cells: locks.map(({ cell }) => cell), next }
    }
    const [, last = ""] = cells.slice(398)
    const first = { cells: cells.slice(0, 400), next: last }
    assert.deepStrictEqual(await page("?limit=1000"), first)
    assert.deepStrictEqual(await page(`?after=${encodeURIComponent(last)}`), { cells: cells.slice(400), next: null })
    assert.deepStrictEqual(await page("?limit=2"), { cells: cells.slice(0, 2), next: "/data/1" })
    assert.deepStrictEqual(await page("?limit=0"), { cells: [], next: null })
    assert.deepStrictEqual(await page("/hold", "POST"), first)
  })

  test("refuses impossible and malformed requests with a code, without a change of the ledger", async (app) => {
    const { accidents, ask, post, put } = app
    await put(space, {})
    assert.deepStrictEqual(problem(await ask("/v1/spaces/none/control")), [404, "space/unknown"])
    assert.deepStrictEqual(problem(await ask("/v1/spaces/none/control/pause", { method: "POST" })), [404, "space/unknown"])
    assert.deepStrictEqual((await ask("/v1/spaces")).body, { spaces: ["shop"], next: null })
    // A transition that the current state does not allow is recorded in the operation.
    assert.deepStrictEqual(problem(await ask(`${space}/control/resume`, { method: "POST" })), [409, "control/refused"])
    const before = await digest(app)
    assert.isString(before)
    for (const body of [{}, { to: -1 }, { to: "1" }, { to: 0.5 }, { to: 1, more: 1 }, [], 1]) {
      assert.deepStrictEqual(problem(await post(`${space}/control/rollback`, body)), [400, "body/malformed"])
    }
    assert.deepStrictEqual(problem(await post(`${space}/control/rollback`, { to: 99 })), [409, "control/refused"])
    assert.deepStrictEqual(problem(await ask(`${space}/control/sleep`, { method: "POST" })), [404, "route/absent"])
    assert.deepStrictEqual(problem(await post(`${space}/signals`, { signal: "/signals/x", qos: "loud" })), [400, "body/malformed"])
    for (const [cell, refused] of [
      ["data//x", [400, "address/invalid"]],
      ["rt/x", [403, "cell/refused"]],
      ["data/x?scope=user:1", [403, "cell/refused"]],
      ["data/x?path=/y", [403, "cell/refused"]]
    ] as const) {
      assert.deepStrictEqual(problem(await ask(`${space}/locks/${cell}`, { method: "PUT" })), [...refused], cell)
    }
    assert.strictEqual(await digest(app), before)
    assert.deepStrictEqual(accidents, [])
  })

  test("requires the token and refuses pages of other sites", async (app) => {
    const { ask, put } = app
    const authorization = "Bearer a-token-of-some-length"
    await put(space, {}, { authorization })
    const before = await digest(app)
    const requests = [
      [
        "GET",
        "/control"
      ], ["POST", "/control/pause"], ["POST", "/control/rollback"], ["POST", "/control/resume"], ["POST", "/control/shutdown"],
      ["POST", "/control/restart"], ["PUT", "/locks/data/x"], ["DELETE", "/locks/data/x"], ["GET", "/clock"], ["POST", "/clock/reset"]
    ] as const
    for (const [method, path] of requests) assert.deepStrictEqual(problem(await ask(space + path, { method })), [401, "auth/missing"], path)
    assert.strictEqual(await digest(app), before)
    assert.strictEqual((await ask(`${space}/control/pause`, { method: "POST", headers: { authorization } })).status, 202)
  }, { token: "a-token-of-some-length", spaces: { create: "on-demand" } })

  test("tells and resets the clock", async ({ ask, put }) => {
    await put(space, {})
    await put(`${space}/cells/data/x`, 1)
    const found = await ask(`${space}/clock`)
    const { host } = found.body as { readonly host: number }
    assert.strictEqual(found.status, 200)
    assert.deepStrictEqual(found.body, { date: host, host, keeps: null, offset: 0, shifts: [] })
    const reset = await ask(`${space}/clock/reset`, { method: "POST" })
    assert.deepStrictEqual([reset.status, (reset.body as { readonly offset: number }).offset], [200, 0])
    assert.deepStrictEqual(problem(await ask(`${space}/clock`, { method: "POST" })), [405, "route/method"])
  })

  test("locks and unlocks cells", async ({ ask, put }) => {
    await put(space, {})
    assert.strictEqual((await ask(`${space}/locks/data/a%20b`, { method: "PUT" })).status, 400)
    assert.strictEqual((await ask(`${space}/locks/data/x`, { method: "PUT" })).status, 200)
    assert.deepStrictEqual(problem(await ask(`${space}/locks/data/x`, { method: "PUT" })), [409, "control/refused"])
    assert.deepStrictEqual(problem(await put(`${space}/cells/data/x/y`, 1)), [423, "cell/locked"])
    assert.strictEqual((await ask(`${space}/locks/data/x`, { method: "DELETE" })).status, 200)
    assert.strictEqual((await put(`${space}/cells/data/x/y`, 1)).status, 200)
    assert.deepStrictEqual(problem(await ask(`${space}/locks/rt/x`, { method: "PUT" })), [403, "cell/refused"])
  })
})
