import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { createHash } from "node:crypto"
import { SpaceStopped } from "../../src/kernel/model/SpaceError.ts"
import { MAX_BLOB_BYTES } from "../../src/ingress/route/Blobs.ts"
import { MAX_STREAMS } from "../../src/ingress/wire/StreamQuota.ts"
import { enzymes, problem, serve, signal, signals, test } from "./TestIngress.ts"
import * as StreamText from "../support/StreamText.ts"

/** Reads events of a stream until `until` returns true, and returns their ids and data. */
const follow = async (response: Response, until: (seen: ReadonlyArray<readonly [number, string]>) => void | Promise<void>) => {
  assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
  const seen: Array<readonly [number, string]> = []
  const frames = Stream.fromReadableStream({ evaluate: () => response.body!, onError: () => new Error("broke off") }).pipe(
    Stream.decodeText,
    Stream.splitLines,
    Stream.filter((line) => /^(?:id|data): /.test(line)),
    Stream.grouped(2)
  )
  await Effect.runPromise(Stream.runForEach(frames, ([id = "", data = ""]) => Effect.promise(async () => {
    seen.push([Number(id.slice(4)), data.slice(6)])
    await until(seen)
  })))
  return seen
}

describe("App", () => {
  describe("cells", () => {
    const cells = "/v1/spaces/shop/cells"

    test("sets, reads and deletes a cell and a path inside it", async ({ ask, put }) => {
      assert.deepStrictEqual((await put(`${cells}/data/a`, { b: [1, { c: 2 }] })).body, { beat: 0 })
      assert.deepStrictEqual((await ask(`${cells}/data/a`)).body, { b: [1, { c: 2 }] })
      assert.deepStrictEqual((await ask(`${cells}/data/a?path=/b/1/c`)).body, 2)
      await put(`${cells}/data/a?path=/b/1/c`, "three")
      assert.deepStrictEqual((await ask(`${cells}/data/a`)).body, { b: [1, { c: "three" }] })
      assert.strictEqual((await ask(`${cells}/data/a`, { method: "DELETE" })).status, 200)
      assert.deepStrictEqual(problem(await ask(`${cells}/data/a`)), [404, "cell/absent"])
    })

    test("decodes the path once and separates scopes", async ({ ask, put }) => {
      await put(`${cells}/data/${encodeURIComponent("größe")}`, 1)
      await put(`${cells}/data/a?scope=user:42`, "mine")
      assert.strictEqual((await ask(`${cells}/data/gr%C3%B6%C3%9Fe`)).body, 1)
      assert.strictEqual((await ask(`${cells}/data/a?scope=user:42`)).body, "mine")
      assert.deepStrictEqual(problem(await ask(`${cells}/data/a`)), [404, "cell/absent"])
      for (const path of [
        "/data/a%2541", "/data/a%2Fb", "/data/%ff", "/data/a%23/b", "/data//a", "/data/a?scope=root", "/data/a?scope=user:1%23/y",
        "/data/a?scope=user:1%3Fx"
      ]) {
        assert.deepStrictEqual(problem(await ask(`${cells}${path}`)), [400, "address/invalid"], path)
      }
      assert.deepStrictEqual(problem(await ask(`${cells}/data/a?pth=/b`)), [400, "query/invalid"])
    })

    test("lists the names directly below a cell, and all cells below it page by page", async ({ ask, put }) => {
      for (const id of ["a", "b", "b/c"]) await put(`${cells}/data/${id}`, 1)
      assert.deepStrictEqual((await ask(`${cells}/data?list`)).body, { names: ["a", "b"], next: null })
      assert.deepStrictEqual(
        (await ask(`${cells}/?below`)).body,
        { cells: ["/data/a", "/data/b", "/data/b/c", "/sys/code/broken", "/sys/code/count"], next: null }
      )
      assert.deepStrictEqual((await ask(`${cells}/data?below&limit=2`)).body, { cells: ["/data/a", "/data/b"], next: "/data/b" })
      assert.deepStrictEqual((await ask(`${cells}/data?below&limit=2&after=/data/b`)).body, { cells: ["/data/b/c"], next: null })
      assert.deepStrictEqual(problem(await ask(`${cells}/data?below&limit=many`)), [400, "query/invalid"])
    })

    test("sends values that JSON cannot represent in the rich form, and accepts them", async ({ ask, kernel, put }) => {
      const space = await Effect.runPromise(kernel.space("shop", { create: true }))
      const value = { when: new Date(0), tags: new Set(["a"]), big: 1n }
      await Effect.runPromise(space.set("/data/rich", value))
      const { body, headers } = await ask(`${cells}/data/rich`)
      const type = "application/vnd.systole.rich+json"
      assert.strictEqual(headers.get("content-type"), type)
      assert.property(body, "$rich")
      await put(`${cells}/data/copy`, body, { "content-type": type })
      assert.deepStrictEqual(await Effect.runPromise(space.get("/data/copy")), value)
      await put(`${cells}/data/plain`, body)
      assert.deepStrictEqual(await Effect.runPromise(space.get("/data/plain")), body)
      assert.deepStrictEqual(
        problem(await put(`${cells}/data/x`, { $rich: { json: "no url", meta: { values: ["URL"] } } }, { "content-type": type })),
        [400, "body/malformed"]
      )
    })

    test("refuses rich annotations that would crash the process", async ({ put }) => {
      const type = "application/vnd.systole.rich+json"
      const bombs: ReadonlyArray<object> = [
        { json: { length: 4e9 }, meta: { values: [["typed-array", "Uint8Array"]], v: 1 } },
        { json: "9".repeat(900_000), meta: { values: ["bigint"], v: 1 } },
        { json: [[], []], meta: { referentialEqualities: { 0: ["1"] }, v: 1 } }
      ]
      for (const $rich of bombs) {
        assert.deepStrictEqual(problem(await put(`${cells}/data/x`, { $rich }, { "content-type": type })), [400, "body/malformed"])
      }
    })

    test("streams a receipt as a cell", async ({ fetch, post }) => {
      await post(signals, signal)
      const response = await fetch(`${cells}/rt/receipts/x.0.0`, { headers: { accept: "text/event-stream" } })
      assert.strictEqual(response.status, 200)
      await response.body?.cancel()
    })

    test("refuses the runtime's own cells", async ({ put }) => {
      assert.deepStrictEqual(problem(await put(`${cells}/rt/receipts/x`, 1)), [403, "cell/refused"])
    })

    test("streams the values of a cell with their beats until the server closes", async ({ close, fetch, put }) => {
      await put(`${cells}/data/a`, 1)
      const response = await fetch(`${cells}/data/a`, { headers: { accept: "text/event-stream" } })
      const seen = await follow(response, async ({ length }) => {
        if (length === 1) await put(`${cells}/data/a`, { b: 2 })
        else close()
      })
      assert.deepStrictEqual(seen, [[0, "1"], [1, `{"b":2}`]])
    })
  })

  describe("resumed streams of cells", () => {
    const cells = "/v1/spaces/shop/cells"
    const accept = { accept: "text/event-stream" }

    test("continue after the last received event without a gap", async ({ close, fetch, put }) => {
      for (const value of [1, 2, 3]) await put(`${cells}/data/a`, value)
      const response = await fetch(`${cells}/data/a`, { headers: { ...accept, "last-event-id": "0" } })
      const seen = await follow(response, async ({ length }) => {
        if (length === 2) await put(`${cells}/data/a`, 4)
        if (length === 3) close()
      })
      assert.deepStrictEqual(seen, [[1, "2"], [2, "3"], [3, "4"]])
    })

    test("send a reset and the current value if values may be missing", async ({ fetch, put }) => {
      await put(`${cells}/data/a`, 1)
      const response = await fetch(`${cells}/data/a`, { headers: { ...accept, "last-event-id": "9" } })
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
      const text = await StreamText.until(reader, "event: value")
      await reader.cancel()
      assert.include(
        text.replaceAll(": alive\n\n", ""),
        `event: reset\ndata: {"reason":"beat 9 is not in this space, whose newest is 0"}\n\nid: 0\nevent: value\ndata: 1\n`
      )
    })

    test("refuse an invalid beat number", async ({ ask, put }) => {
      await put(`${cells}/data/a`, 1)
      for (const last of ["x", "-2", "1e3"]) {
        assert.deepStrictEqual(
          problem(await ask(`${cells}/data/a`, { headers: { ...accept, "last-event-id": last } })),
          [400, "query/invalid"],
          last
        )
        assert.deepStrictEqual(problem(await ask(`${cells}/data/a?last=${last}`, { headers: accept })), [400, "query/invalid"], last)
      }
    })
  })

  describe("beats", () => {
    test("lists beats newest first, and shows the ledgers of one beat", async ({ ask, post }) => {
      for (let i = 0; i < 3; i++) await post(signals, { ...signal, payload: i }, { prefer: "wait=5" })
      const { beats, head, next } =
        (await ask("/v1/spaces/shop/beats?limit=2")).body as { beats: ReadonlyArray<{ beat: number }>; head: number; next: number }
      assert.deepStrictEqual([head, beats.map(({ beat }) => beat), next], [2, [2, 1], 1])
      const rest = (await ask(`/v1/spaces/shop/beats?before=${next}`)).body as typeof beats & { beats: typeof beats; next: unknown }
      assert.deepStrictEqual([rest.beats.map(({ beat }) => beat), rest.next], [[0], null])
      const { body } = await ask("/v1/spaces/shop/beats/0")
      assert.hasAllKeys(body, ["beat", "inbox", "agenda", "stage", "meta"])
      assert.include(JSON.stringify(body), "enzyme=count")
    })

    test("opens no stream for a HEAD request", async ({ fetch, put }) => {
      await put("/v1/spaces/shop/cells/data/a", 1)
      const accept = { accept: "text/event-stream" }
      for (const path of ["cells/data/a", "beats"]) {
        for (let i = 0; i <= MAX_STREAMS; i++) {
          const { headers, status } = await fetch(`/v1/spaces/shop/${path}`, { method: "HEAD", headers: accept })
          assert.strictEqual(status, 200)
          assert.include(headers.get("content-type"), "application/json")
        }
      }
      const response = await fetch("/v1/spaces/shop/beats", { headers: accept })
      assert.strictEqual(response.status, 200)
      await response.body!.cancel()
    })

    test("streams the ledgers of each beat from the requested beat", async ({ close, fetch, post }) => {
      for (let i = 0; i < 3; i++) await post(signals, { ...signal, payload: i }, { prefer: "wait=5" })
      const response = await fetch("/v1/spaces/shop/beats?from=1", { headers: { accept: "text/event-stream" } })
      const seen = await follow(response, async ({ length }) => {
        if (length === 2) await post(signals, { ...signal, payload: 3 })
        if (length === 3) close()
      })
      assert.deepStrictEqual(seen.map(([beat]) => beat), [1, 2, 3])
      for (const [beat, data] of seen) assert.deepInclude(JSON.parse(data), { beat })
      assert.include(seen[0]![1], "enzyme=count")
    })

    test("resumes after the last received beat", async ({ close, fetch, post }) => {
      for (let i = 0; i < 3; i++) await post(signals, { ...signal, payload: i }, { prefer: "wait=5" })
      const response = await fetch("/v1/spaces/shop/beats?from=0", { headers: { accept: "text/event-stream", "last-event-id": "1" } })
      const seen = await follow(response, () => close())
      assert.deepStrictEqual(seen.map(([beat]) => beat), [2])
    })

    test("reads a beat for a slow client only after it took the previous one", async ({ close, fetch, kernel, put }) => {
      await put("/v1/spaces/shop/cells/data/a", 0)
      const space = await Effect.runPromise(kernel.space("shop"))
      const asked: Array<number> = []
      const { journal } = space
      Object.assign(space, { journal: (beat: number) => (asked.push(beat), journal.call(space, beat)) })
      const response = await fetch("/v1/spaces/shop/beats?from=0", { headers: { accept: "text/event-stream" } })
      for (let i = 1; i <= 200; i++) await Effect.runPromise(Effect.andThen(Effect.forkChild(space.set("/data/a", i)), space.idle))
      assert.isBelow(asked.length, 20)
      const head = await Effect.runPromise(space.head)
      const seen = await follow(response, (seen) => seen.length > head ? close() : undefined)
      assert.deepStrictEqual(seen.map(([beat]) => beat), Array.from({ length: head + 1 }, (_, beat) => beat))
    })

    test("answers 404 for a beat that did not run", async ({ ask, post }) => {
      await post(signals, signal)
      assert.deepStrictEqual(problem(await ask("/v1/spaces/shop/beats/99")), [404, "beat/absent"])
      assert.deepStrictEqual(problem(await ask("/v1/spaces/shop/beats/-1")), [400, "query/invalid"])
    })
  })

  describe("spaces and enzymes", () => {
    test("creates and lists spaces", async ({ ask }) => {
      assert.deepInclude(await ask("/v1/spaces/shop", { method: "PUT" }), { status: 201, body: { space: "shop", created: true } })
      assert.deepInclude(await ask("/v1/spaces/shop", { method: "PUT" }), { status: 200, body: { space: "shop", created: false } })
      assert.deepStrictEqual((await ask("/v1/spaces")).body, { spaces: ["shop"], next: null })
    })

    test("lists spaces in pages", async ({ ask }) => {
      for (const name of ["c", "a", "b"]) await ask(`/v1/spaces/${name}`, { method: "PUT" })
      assert.deepStrictEqual((await ask("/v1/spaces?limit=2")).body, { spaces: ["a", "b"], next: "b" })
      assert.deepStrictEqual((await ask("/v1/spaces?limit=2&after=b")).body, { spaces: ["c"], next: null })
      assert.deepStrictEqual(problem(await ask("/v1/spaces?limit=x")), [400, "query/invalid"])
    })

    test("deletes a space, whose number of beats begins anew", async ({ ask, post, put }) => {
      await put("/v1/spaces/shop/cells/data/a", 1)
      assert.deepInclude(await ask("/v1/spaces/shop", { method: "DELETE" }), { status: 200, body: { space: "shop", removed: true } })
      assert.deepStrictEqual(problem(await ask("/v1/spaces/shop", { method: "DELETE" })), [404, "space/unknown"])
      assert.deepStrictEqual(problem(await ask("/v1/spaces/shop/cells/data/a")), [404, "space/unknown"])
      assert.deepStrictEqual((await put("/v1/spaces/shop/cells/data/b", 1)).body, { beat: 0 })
      assert.strictEqual((await post(signals, signal)).status, 202)
    })

    test("creates no space for a refused request", async ({ ask, post, put }) => {
      const long = { "content-length": String(MAX_BLOB_BYTES + 1) }
      const refused = [
        await post(signals, {}),
        await post(signals, { target: "no slash" }),
        await post(signals, { signal: "no slash" }),
        await post(signals, { ...signal, id: "x".repeat(513) }),
        await put("/v1/spaces/shop/cells/data//a", 1),
        await put("/v1/spaces/shop/cells/rt/a", 1),
        await put("/v1/spaces/shop/cells/data/a", 1, { "content-type": "text/plain" }),
        await ask("/v1/spaces/shop/blobs", { method: "PUT", body: "x", headers: long })
      ]
      assert.deepStrictEqual(refused.map(({ status }) => status), [400, 400, 400, 400, 400, 403, 415, 413])
      assert.deepStrictEqual((await ask("/v1/spaces")).body, { spaces: [], next: null })
    })

    test("creates no space for a read", async ({ ask }) => {
      for (const path of ["cells/data/a", "beats", "beats/0", "receipts/x", `blobs/${"0".repeat(64)}`]) {
        assert.deepStrictEqual(problem(await ask(`/v1/spaces/shop/${path}`)), [404, "space/unknown"], path)
      }
    })

    test("describes the registered enzymes", async ({ ask }) => {
      const { enzymes } = (await ask("/v1/enzymes")).body as { enzymes: ReadonlyArray<Record<string, unknown>> }
      assert.deepStrictEqual(enzymes.map(({ hash, name, query }) => [name, query, hash]).sort(), [
        ["broken", "/signals/broken", "f".repeat(64)],
        ["count", "/signals/count", "f".repeat(64)]
      ])
    })

    test("answers 404 for an unknown path, and the liveness probe", async ({ ask }) => {
      for (const path of ["/v1/nothing", "/v1/enzymes/", "/v1/spaces/", "/livez/"]) {
        assert.deepStrictEqual(problem(await ask(path)), [404, "route/absent"], path)
      }
      assert.deepStrictEqual(problem(await ask("/v1/spaces", { method: "DELETE" })), [405, "route/method"])
      assert.strictEqual((await ask("/v1/spaces/shop", { method: "PATCH" })).headers.get("allow"), "PUT, DELETE")
      assert.strictEqual((await ask("/livez")).status, 200)
      assert.strictEqual((await ask("/readyz")).status, 200)
    })

    it.live("creates spaces only explicitly if the configuration says so", () =>
      Effect.flatMap(serve({ enzymes, config: { spaces: { create: "explicit" } } }), ({ ask, post }) =>
        Effect.promise(async () => {
          assert.deepStrictEqual(problem(await post(signals, signal)), [404, "space/unknown"])
          await ask("/v1/spaces/shop", { method: "PUT" })
          assert.strictEqual((await post(signals, signal)).status, 202)
        })))
  })

  describe("pages", () => {
    it.live("renders a page from cells whose values cannot inject a script", () =>
      Effect.flatMap(
        serve({
          config: {
            spaces: { create: "on-demand" },
            pages: {
              "/shelf": async ({ get }) => `<p>${String(await get("shop", "/data/a"))} ${String(await get("absent", "/data/a"))}</p>`
            }
          }
        }),
        ({ ask, put }) =>
          Effect.promise(async () => {
            await put("/v1/spaces/shop/cells/data/a", 7)
            const { body, headers, status } = await ask("/shelf")
            assert.deepStrictEqual([status, body], [200, "<p>7 undefined</p>"])
            assert.strictEqual(headers.get("content-type"), "text/html; charset=utf-8")
            assert.include(headers.get("content-security-policy"), "default-src 'none'")
            assert.deepStrictEqual((await ask("/v1/spaces")).body, { spaces: ["shop"], next: null })
          })
      ))
  })

  it.live("allows the script of a page and no other script", () =>
    Effect.flatMap(
      serve({
        config: { pages: { "/live": () => ({ html: "<p onclick='evil()'></p><script>evil()</script>", script: "watch('größe')" }) } }
      }),
      ({ ask }) =>
        Effect.promise(async () => {
          const { body, headers } = await ask("/live")
          assert.include(body as string, "<script type=\"module\">watch('größe')</script>")
          const digest = createHash("sha256").update("watch('größe')").digest("base64")
          const policy = headers.get("content-security-policy")!.split("; ")
          assert.includeMembers(policy, ["default-src 'none'", `script-src 'sha256-${digest}'`, "connect-src 'self'"])
        })
    ))

  describe("authentication", () => {
    it.live("requires the configured token for every path except livez and readyz", () =>
      Effect.flatMap(serve({ config: { token: "a-token-of-some-length" } }), ({ ask }) =>
        Effect.promise(async () => {
          assert.deepStrictEqual(problem(await ask("/v1/spaces")), [401, "auth/missing"])
          for (const path of ["/livez", "/readyz"]) assert.strictEqual((await ask(path)).status, 200)
          assert.strictEqual((await ask("/v1/spaces", { headers: { authorization: "Bearer a-token-of-some-length" } })).status, 200)
        })))

    test("refuses a request that names another host", async ({ ask }) => {
      assert.deepStrictEqual(problem(await ask("/v1/spaces", { headers: { host: "evil.example" } })), [403, "host/refused"])
    })
  })

  describe("failures of the runtime", () => {
    it.live("is live but not ready while a space is stopped, and shows the details to the operator only", () =>
      Effect.gen(function*() {
        const stop = { space: "shop", store: "/srv/shop.sqlite", code: "store/damaged", reason: "it is torn" }
        const token = "operator-operator"
        const { ask } = yield* serve({ config: { token }, kernel: (kernel) => ({ ...kernel, stops: Effect.succeed([stop]) }) })
        const [live, open, operator] = yield* Effect.promise(
          () => Promise.all([ask("/livez"), ask("/readyz"), ask("/readyz", { headers: { authorization: `Bearer ${token}` } })])
        )
        assert.strictEqual(live.status, 200)
        assert.deepStrictEqual([open.status, open.body], [503, { status: "stopped", count: 1 }])
        assert.deepStrictEqual([operator.status, operator.body], [503, { status: "stopped", count: 1, stopped: [stop] }])
      }))

    it.live("answers 429 when the inbox is full", () =>
      Effect.flatMap(serve({ enzymes, config: { spaces: { create: "on-demand" }, limits: { inboxSignals: 1 } } }), ({ post }) =>
        Effect.promise(async () => {
          const answers = await Promise.all([1, 2, 3].map((payload) => post(signals, { ...signal, payload })))
          const refused = answers.filter(({ status }) => status !== 202)
          assert.isAtLeast(refused.length, 1)
          for (const answer of refused) {
            assert.deepStrictEqual(problem(answer), [429, "inbox/full"])
            assert.strictEqual(answer.headers.get("retry-after"), "1")
          }
        })))

    it.live("answers 503 for a stopped space and 500 for a defect without details, and logs each once", () =>
      Effect.gen(function*() {
        const trouble = new SpaceStopped({ space: "shop", reason: "SQLite said no" })
        const failing = (error: unknown) => serve({
          kernel: (kernel) => ({ ...kernel, ready: error instanceof SpaceStopped ? Effect.fail(error as never) : Effect.die(error) })
        })
        const stopped = yield* failing(trouble)
        const answer = yield* Effect.promise(() => stopped.ask("/readyz"))
        assert.deepStrictEqual(problem(answer), [503, "space/stopped"])
        assert.strictEqual(answer.headers.get("retry-after"), "1")
        assert.notInclude(JSON.stringify(answer.body), "SQLite")
        yield* Effect.promise(() => stopped.ask("/readyz"))
        assert.deepStrictEqual(stopped.accidents, [trouble])
        const accident = new TypeError("secret")
        const dying = yield* failing(accident)
        const silent = yield* Effect.promise(() => dying.ask("/readyz"))
        assert.deepStrictEqual(problem(silent), [500, "internal"])
        assert.notInclude(JSON.stringify(silent.body), "secret")
        assert.deepStrictEqual(dying.accidents, [accident])
      }))
  })
})
