import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import rvInit from "../../enzymes/rv_init.ts"
import rvRoute from "../../enzymes/rv_route.ts"
import { problem, serve, type TestIngress } from "./TestIngress.ts"
import * as StreamText from "../support/StreamText.ts"

type Definition = NonNullable<NonNullable<Parameters<typeof serve>[0]>["config"]>
type App = TestIngress

const space = "/v1/spaces/shop"

const test = (name: string, run: (app: App) => Promise<void>, config: Definition = {}) =>
  it.live(name, () =>
    Effect.flatMap(serve({
      enzymes: [rvInit, rvRoute],
      config: { spaces: { create: "on-demand" }, system: ["rv_init"], ...config }
    }), (app) =>
      Effect.promise(() => run(app))))

const begin = async ({ ask }: App, headers: Readonly<Record<string, string>> = {}): Promise<void> => {
  const init = {
    method: "POST",
    body: JSON.stringify({ signal: "/CEP:sig_sys/init" }),
    headers: { "content-type": "application/json", prefer: "wait=10", ...headers }
  }
  assert.deepInclude((await ask(`${space}/signals`, init)).body as object, { status: "handled" })
}

/** The stored cells of all rendezvous and of their completions. */
const ledger = async ({ ask }: App): Promise<unknown> => {
  const cells: Array<unknown> = []
  for (const folder of ["rv", "inbox", "flow"]) cells.push((await ask(`${space}/cells/data/${folder}?below`)).body)
  return [cells, (await ask(`${space}/rv`)).body]
}

const shows = (token: string) => ({ authorization: `Rendezvous ${token}` })

describe("A report to a closed space", () => {
  it.live("opens it for a good token alone", () =>
    Effect.gen(function*() {
      const opened: Array<string> = []
      let isClosed = false
      const app = yield* serve({
        enzymes: [rvInit, rvRoute],
        config: { spaces: { create: "on-demand" }, system: ["rv_init"], token: "operator-operator" },
        kernel: (kernel) => ({
          ...kernel,
          opened: (name) => isClosed ? undefined : kernel.opened(name),
          space: (name, options) => {
            opened.push(name)
            return kernel.space(name, options)
          }
        })
      })
      yield* Effect.promise(async () => {
        const operator = { authorization: "Bearer operator-operator" }
        await begin(app, operator)
        const { token } = (await app.post(`${space}/rv`, { key: "one", due_off: 500 }, operator)).body as { readonly token: string }
        isClosed = true
        opened.length = 0
        const report = (key: string, shown: string, name = "shop") =>
          app.post(`/v1/spaces/${name}/rv/${encodeURIComponent(key)}/report`, {}, shows(shown))
        const bad = [["one", "abcd"], ["two", token], ["a/b", token], ["one", token, "nowhere"], ["one", token, "No"]]
        for (const [key, shown, name] of bad) {
          assert.deepStrictEqual(problem(await report(key!, shown!, name)), [403, "rv/token"], `${key} ${name}`)
        }
        assert.deepStrictEqual(opened, [])
        assert.strictEqual((await report("one", token)).status, 200)
        assert.deepStrictEqual(opened, ["shop"])
      })
    }))
})

describe("Rendezvous over HTTP", () => {
  test("are spawned, listed page by page, shown, rescheduled, reported by a worker and killed", async (app) => {
    await begin(app)
    const { ask, post } = app
    const spawned = await post(`${space}/rv`, { key: "app:one", due_off: 500, telemetry: { from: "here" } })
    assert.strictEqual(spawned.status, 201)
    assert.strictEqual(spawned.headers.get("location"), `${space}/rv/app:one`)
    const { token } = spawned.body as { readonly token: string }
    await post(`${space}/rv`, { key: "two", due_off: 500 })
    const first =
      (await ask(`${space}/rv?limit=1`)).body as { readonly rendezvous: ReadonlyArray<Record<string, unknown>>; readonly next: string }
    const { due, ...row } = first.rendezvous[0]!
    assert.deepInclude(row, { key: "app:one", state: "pending", prof: "rv-fixed", telemetry: { from: "here" } })
    assert.notProperty(row, "token_id")
    const rest = (await ask(`${space}/rv?after=${encodeURIComponent(first.next)}`)).body as typeof first
    assert.deepStrictEqual([rest.rendezvous.map(({ key }) => key), rest.next], [["two"], null])
    assert.deepStrictEqual((await ask(`${space}/rv?limit=0`)).body, { rendezvous: [], next: null })
    assert.strictEqual((await post(`${space}/rv/app:one/resched`, { delta: 3 })).status, 200)
    assert.strictEqual(
      (await ask(`${space}/rv/app:one`)).body && ((await ask(`${space}/rv/app:one`)).body as { readonly due: number }).due,
      (due as number) + 3
    )
    // The tempo is 100 ms.
    for (const [delta, after] of [["1s", 13], ["-500ms", 8], ["-2", 6], ["2", 8]] as const) {
      assert.strictEqual((await post(`${space}/rv/app:one/resched`, { delta })).status, 200)
      assert.deepInclude((await ask(`${space}/rv/app:one`)).body as object, { due: (due as number) + after })
    }
    assert.strictEqual((await post(`${space}/rv/app:one/report`, { telemetry: { frames: 3 } }, shows(token))).status, 200)
    assert.deepInclude((await ask(`${space}/rv/app:one`)).body as object, { state: "applied", telemetry: { frames: 3 } })
    assert.deepInclude(
      (await ask(`${space}/cells/data/inbox/flow/inst_event/app:one`)).body as object,
      { outcome: "applied", telemetry: { frames: 3 } }
    )
    await post(`${space}/rv`, { key: "three", prof: "rv-cas" })
    assert.deepStrictEqual(problem(await post(`${space}/rv/three/release`, {})), [409, "rv/not-quarantined"])
    await post(`${space}/rv/three/report`, { telemetry: { cas_hash: "0" } })
    assert.strictEqual((await post(`${space}/rv/three/release`, {})).status, 200)
    assert.deepInclude((await ask(`${space}/rv/three`)).body as object, { state: "ready" })
    assert.deepStrictEqual(problem(await post(`${space}/rv/none/release`, {})), [404, "rv/absent"])
    assert.strictEqual((await post(`${space}/rv/two/kill`, { mode: "stop" })).status, 200)
    const killed = await app.fetch(`${space}/rv/two`, { headers: { accept: "text/event-stream" } })
    const reader = killed.body!.pipeThrough(new TextDecoderStream()).getReader()
    await StreamText.until(reader, "\"killed\"")
    await reader.cancel()
  })

  for (const token of [undefined, "a-secret-of-the-server"]) {
    const config = token === undefined ? {} : { token }
    test(`answer a wrong token alike for any space and key, without rights (${token === undefined ? "without" : "with"} a token)`, async (
      app
    ) => {
      const operator: Readonly<Record<string, string>> = token === undefined ? {} : { authorization: `Bearer ${token}` }
      await begin(app, operator)
      await app.post(`${space}/rv`, { key: "job", due_off: 500 }, operator)
      const told = new Set<string>()
      for (const [where, key] of [[space, "job"], [space, "none"], ["/v1/spaces/nowhere", "job"], [
        "/v1/spaces/No%20Name",
        "job"
      ]] as const) {
        const refused = await app.post(`${where}/rv/${key}/report`, {}, shows("00ff"))
        assert.deepStrictEqual(problem(refused), [403, "rv/token"], `${where} ${key}`)
        told.add(JSON.stringify(refused.body).replace(key, "key"))
        for (const authorization of ["Rendezvous wrong", "Rendezvous", "rendezvous  zz"]) {
          assert.deepStrictEqual(
            problem(await app.post(`${where}/rv/${key}/report`, {}, { authorization })),
            [401, "auth/missing"],
            authorization
          )
        }
      }
      assert.strictEqual(told.size, 1)
      for (const path of [`${space}/rv`, `${space}/cells/data/rv/job`, "/v1/spaces"]) {
        assert.deepStrictEqual(problem(await app.ask(path, { headers: shows("00ff") })), [401, "auth/missing"], path)
      }
      assert.deepInclude((await app.ask(`${space}/rv/job`, { headers: operator })).body as object, { state: "pending" })
    }, config)
  }

  test("are completed by signals of the operator but not of a reader without their token", async (app) => {
    const operator = { authorization: "Bearer a-secret-of-the-server" }
    const reader = { authorization: "Bearer a-secret-of-the-reader" }
    await begin(app, operator)
    await app.post(`${space}/rv`, { key: "job", due_off: 500 }, operator)
    const complete = (headers: Readonly<Record<string, string>>) =>
      app.post(`${space}/signals`, { signal: "/CEP:sig_rv/job", payload: { approved: true } }, { prefer: "wait=10", ...headers })
    const refused = await complete(reader)
    assert.deepStrictEqual(problem(refused), [403, "label/withheld"])
    assert.strictEqual((await app.post(`${space}/signals`, { signal: "/CEP:sig_sys/init" }, reader)).status, refused.status)
    assert.strictEqual((await app.post(`${space}/signals`, { signal: "/signals/any" }, reader)).status, 202)
    const state = async () => ((await app.ask(`${space}/rv/job`, { headers: operator })).body as { readonly state: string }).state
    assert.notStrictEqual(await state(), "applied")
    assert.deepInclude((await complete(operator)).body as object, { status: "handled" })
    assert.strictEqual(await state(), "applied")
  }, { token: "a-secret-of-the-server", labels: { cells: { "/data/secret/**": ["top"] }, readers: {
    guest: { token: "a-secret-of-the-reader", clearance: [] }
  } } })

  test("are claimed by a worker, whose token replaces all others", async (app) => {
    await begin(app)
    const { post } = app
    const old = ((await post(`${space}/rv`, { key: "job", due_off: 500 })).body as { readonly token: string }).token
    const claimed = await app.ask(`${space}/rv/job/token`, { method: "POST" })
    assert.strictEqual(claimed.headers.get("cache-control"), "no-store")
    const { token } = claimed.body as { readonly token: string }
    assert.deepStrictEqual(problem(await post(`${space}/rv/job/report`, {}, shows(old))), [403, "rv/token"])
    assert.strictEqual((await post(`${space}/rv/job/report`, {}, shows(token))).status, 200)
  })

  test("let a worker report without the token of the server, and do no more", async (app) => {
    const server = { authorization: "Bearer a-secret-of-the-server" }
    await begin(app, server)
    const { ask, post } = app
    const { token } = (await post(`${space}/rv`, { key: "job", due_off: 500 }, server)).body as { readonly token: string }
    for (const [path, body] of [["rv/job/kill", {}], ["rv/job/token", {}], ["rv", { key: "x" }], ["signals", { signal: "/x" }]] as const) {
      assert.deepStrictEqual(problem(await post(`${space}/${path}`, body, shows(token))), [401, "auth/missing"])
    }
    assert.deepStrictEqual(problem(await ask(`${space}/rv/job`, { headers: shows(token) })), [401, "auth/missing"])
    assert.deepStrictEqual(problem(await post(`${space}/rv/job/report`, {})), [401, "auth/missing"])
    assert.deepStrictEqual(problem(await post(`${space}/rv/job/report`, {}, shows("0".repeat(64)))), [403, "rv/token"])
    assert.strictEqual((await post(`${space}/rv/job/report`, {}, shows(token))).status, 200)
  }, { token: "a-secret-of-the-server" })

  test("refuse unknown and finished entries and malformed requests with a code, without a change", async (app) => {
    await begin(app)
    const { ask, post } = app
    const spawn = async (key: string) => ((await post(`${space}/rv`, { key, due_off: 500 })).body as { readonly token: string }).token
    const [open, done] = [await spawn("open"), await spawn("done")]
    await post(`${space}/rv/done/report`, {}, shows(done))
    const before = await ledger(app)
    const refusals: ReadonlyArray<readonly [string, unknown, Readonly<Record<string, string>>, number, string]> = [
      ["rv", null, {}, 400, "body/malformed"],
      ["rv", {}, {}, 400, "rv/invalid"],
      ["rv", { key: "a/b" }, {}, 400, "rv/invalid"],
      ["rv", { key: "x", due: -1 }, {}, 400, "rv/invalid"],
      ["rv", { key: "x", due: "soon" }, {}, 400, "rv/invalid"],
      ["rv", { key: "x", more: 1 }, {}, 400, "body/malformed"],
      ["rv/none/report", {}, {}, 404, "rv/absent"],
      ["rv/none/report", {}, shows(open), 403, "rv/token"],
      ["rv/open/report", {}, shows(done), 403, "rv/token"],
      ["rv/open/report", {}, shows("0".repeat(64)), 403, "rv/token"],
      ["rv/open/report", { telemetry: 3 }, shows(open), 400, "rv/invalid"],
      ["rv/open/report", { frames: 3 }, shows(open), 400, "body/malformed"],
      ["rv/done/report", {}, shows(done), 409, "rv/finished"],
      ["rv/done/report", {}, {}, 409, "rv/finished"],
      ["rv/done/token", {}, {}, 409, "rv/finished"],
      ["rv/none/token", {}, {}, 404, "rv/absent"],
      ["rv/none/kill", {}, {}, 404, "rv/absent"],
      ["rv/done/kill", {}, {}, 409, "rv/finished"],
      ["rv/open/kill", { wait: -1 }, {}, 400, "rv/invalid"],
      ["rv/open/kill", { wait: "1" }, {}, 400, "body/malformed"],
      ["rv/none/resched", { delta: 1 }, {}, 404, "rv/absent"],
      ["rv/open/resched", { delta: 0.5 }, {}, 400, "rv/invalid"],
      ["rv/open/resched", { delta: "soon" }, {}, 400, "rv/invalid"],
      ["rv/open/resched", { delta: "--1s" }, {}, 400, "rv/invalid"],
      ["rv/open/resched", {}, {}, 400, "rv/invalid"]
    ]
    for (const [path, body, headers, status, code] of refusals) {
      assert.deepStrictEqual(problem(await post(`${space}/${path}`, body, headers)), [status, code], `${path} ${JSON.stringify(body)}`)
    }
    assert.deepStrictEqual(problem(await ask(`${space}/rv/none`)), [404, "rv/absent"])
    assert.deepStrictEqual(problem(await ask(`${space}/rv/none`, { headers: { accept: "text/event-stream" } })), [404, "rv/absent"])
    assert.deepStrictEqual(await ledger(app), before)
    await app.put("/v1/spaces/bare", {})
    assert.deepStrictEqual(problem(await post("/v1/spaces/bare/rv", { key: "x" })), [409, "rv/ledger-missing"])
    assert.deepStrictEqual(app.accidents, [])
  })
})
