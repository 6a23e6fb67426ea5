import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { Enzyme, Link } from "systole"
import { type Answer, problem, serve, type TestIngress } from "./TestIngress.ts"
import * as StreamText from "../support/StreamText.ts"

const operator = "the-operators-own-token"
const web = "the-token-of-the-page"
const hr = "the-token-of-the-office"
const config = {
  token: operator,
  spaces: { create: "on-demand" as const },
  labels: {
    cells: { "/data/pay/**": ["salary"] },
    readers: { web: { token: web, clearance: [] }, hr: { token: hr, clearance: ["salary"] } }
  }
}

const raise = Enzyme.make({
  name: "raise",
  query: "/signals/raise",
  run: (tx, { payload }) => (tx.set("/data/pay/ann", payload), Number(payload))
})
const post = Enzyme.make({ name: "post", query: "/signals/post", run: (tx, { payload }) => (tx.set("/data/notice", payload), "posted") })

/** A space with secret cells, and the requests of each of its readers. */
const test =
  (name: string, run: (app: TestIngress, as: (token: string, path: string, init?: RequestInit) => Promise<Answer>) => Promise<void>) =>
  it.live(name, () =>
    Effect.flatMap(serve({ config, enzymes: [raise, post], reserved: ["/signals/heartbeat/"] }), (app) =>
      Effect.promise(async () => {
        const as = (token: string, path: string, init: RequestInit = {}) =>
          app.ask(`/v1/spaces/shop${path}`, {
            ...init,
            headers: { authorization: `Bearer ${token}`, "content-type": "application/json", prefer: "wait=5", ...init.headers }
          })
        await as(operator, "/signals", { method: "POST", body: JSON.stringify({ signal: "/signals/raise", payload: 5 }) })
        await as(operator, "/signals", { method: "POST", body: JSON.stringify({ signal: "/signals/post", payload: "hello" }) })
        await run(app, as)
      })))

describe("A reader over HTTP", () => {
  test("sees the cells within its clearance, and the same problem for all others", async (_, as) => {
    assert.deepInclude(await as(hr, "/cells/data/pay/ann"), { status: 200, body: 5 })
    assert.deepInclude(await as(web, "/cells/data/notice"), { status: 200, body: "hello" })
    const refused = await Promise.all(["ann", "nobody"].map((who) => as(web, `/cells/data/pay/${who}`)))
    for (const answer of refused) assert.deepStrictEqual(problem(answer), [403, "label/withheld"])
    const shapes = refused.map(({ body }) => JSON.stringify(body).replace(/ann|nobody/g, "x"))
    assert.strictEqual(shapes[0], shapes[1])
    assert.deepStrictEqual((await as(web, "/cells/data?list")).body, { names: ["notice"], next: null })
    assert.deepStrictEqual((await as(hr, "/cells/data/pay?list")).body, { names: ["ann"], next: null })
    assert.deepStrictEqual((await as(web, "/cells/data?below")).body, { cells: ["/data/notice"], next: null })
    for (const path of ["/cells/sys/index/rv/ann", "/cells/sys/index/over/fact", "/cells/sys/index/over/rv/0000000000000000-000000"]) {
      assert.deepStrictEqual(problem(await as(web, path)), [403, "label/withheld"], path)
    }
    assert.notInclude(JSON.stringify([(await as(web, "/cells/sys?list")).body, (await as(web, "/cells/sys?below")).body]), "index")
    assert.deepStrictEqual(
      [(await as(web, "/cells/sys/index?list")).body, (await as(web, "/cells/sys/index?below")).body],
      [{ names: [], next: null }, { cells: [], next: null }]
    )
    assert.deepStrictEqual(problem(await as(web, "/cells/data/nothing")), [404, "cell/absent"])
    assert.deepStrictEqual(problem(await as("no-token-of-anybody", "/cells/data/notice")), [401, "auth/missing"])
  })

  test("sends signals, and sees the visible part of their receipts", async (_, as) => {
    const open = await as(web, "/signals", { method: "POST", body: JSON.stringify({ signal: "/signals/post", payload: "again" }) })
    assert.strictEqual(open.status, 200)
    const { handlings, id } = open.body as { readonly id: string; readonly handlings: unknown }
    assert.deepStrictEqual(handlings, [{ enzyme: "post", outcome: "ok", value: "posted" }])
    assert.deepStrictEqual((await as(web, `/receipts/${id}`)).body, open.body)
    const raised = await as(web, "/signals", { method: "POST", body: JSON.stringify({ signal: "/signals/raise", payload: 6 }) })
    assert.deepInclude(raised.body, { status: "withheld", handlings: [{ enzyme: "raise", outcome: "withheld" }] })
    assert.deepInclude(await as(hr, "/cells/data/pay/ann"), { body: 6 })
    assert.deepStrictEqual(problem(await as(web, "/receipts/nobodys")), [404, "receipt/absent"])
  })

  test("sends no signal of the runtime, and none that a plugin reserves", async (_, as) => {
    for (const signal of ["/CEP:sig_agent/ended", ...["save", "approve", "wake"].map((name) => `/signals/heartbeat/${name}`)]) {
      const body = JSON.stringify({ signal, target: "/data/agent/files/heartbeat.md" })
      const answer = await as(hr, "/signals", { method: "POST", body })
      assert.deepStrictEqual(problem(answer), [403, "label/withheld"], signal)
    }
  })

  test("learns no atom from a refused label", async (_, as) => {
    const labelled = async (token: string, atom: string) =>
      (await as(token, "/signals", { method: "POST", body: JSON.stringify({ signal: "/signals/post", label: [atom] }) })).body
    const [known, unknown] = [await labelled(web, "salary"), await labelled(web, "nobody")]
    assert.strictEqual(JSON.stringify(known).replace("salary", "nobody"), JSON.stringify(unknown))
    assert.deepInclude(unknown, { status: 400, code: "signal/invalid" })
    assert.notInclude(JSON.stringify(await labelled(operator, "salry")), "salary")
    assert.deepInclude(await labelled(hr, "salary"), { status: 422, code: "label/below" })
  })

  test("is refused all routes over the whole space, and the operator sees the denials", async (_, as) => {
    for (const path of [
      "/beats", "/beats/0", "/graph", "/graph/trace", "/journal/verification", "/replay", "/why?address=/data/notice",
      "/explain?beat=0&enzyme=post", "/dead", "/ops", "/denials"
    ]) {
      assert.deepStrictEqual(problem(await as(web, path)), [403, "label/withheld"], path)
      assert.notStrictEqual((await as(operator, path)).status, 403, path)
    }
    assert.deepStrictEqual(problem(await as(hr, "/cells/data/notice", { method: "PUT", body: "1" })), [403, "label/withheld"])
    await as(web, "/cells/data/pay/ann")
    await as(web, `/blobs/${"a".repeat(64)}`)
    const { denials } =
      (await as(operator, "/denials")).body as { readonly denials: ReadonlyArray<{ readonly reader: string; readonly address: string }> }
    assert.deepStrictEqual(denials.map(({ address, reader }) => [reader, address]), [["web", "/data/pay/ann"]])
  })

  test("sees no internal cells: no module text, no rules and no operation, even through links", async ({ kernel }, as) => {
    const text = "export default 'the source'"
    const hash = createHash("sha256").update(text).digest("hex")
    await Effect.runPromise(kernel.register(Enzyme.make({ name: "late", query: "/signals/late", run: () => 1 }), { hash, text }))
    const space = await Effect.runPromise(kernel.space("shop"))
    await Effect.runPromise(space.set("/data/links/rules", Link.make("/sys/labels")))
    await Effect.runPromise(space.set("/data/links/code", Link.make(`/cas/${hash}`)))
    await as(operator, "/ops", { method: "POST", body: JSON.stringify({ verb: "load", target: "/data/notice", mode: "opm:direct" }) })
    assert.strictEqual((await as(operator, `/blobs/${hash}`)).body, text)
    const { cells } = (await as(operator, "/cells/rt?below")).body as { readonly cells: ReadonlyArray<string> }
    assert.include(cells.join(), "/rt/ops/")
    const paths =
      ["/sys/code/late", "/sys/labels", ...cells, `/cas/${hash}`, "/data/links/rules", "/data/links/code", "/net/x", "/rt/nothing"]
    for (const token of [web, hr]) {
      for (const path of [...paths.map((path) => `/cells${path}`), `/blobs/${hash}`]) {
        assert.deepStrictEqual(problem(await as(token, path)), [403, "label/withheld"], path)
      }
      for (const folder of ["/rt", "/sys"]) assert.deepStrictEqual(
        [(await as(token, `/cells${folder}?list`)).body, (await as(token, `/cells${folder}?below`)).body],
        [{ names: [], next: null }, { cells: [], next: null }]
      )
    }
  })

  test("sees no text of a replaced or removed module", async ({ kernel }, as) => {
    const space = await Effect.runPromise(kernel.space("shop"))
    const digests: Array<string> = []
    for (const text of ["export default 'one'", "export default 'two'"]) {
      const hash = createHash("sha256").update(text).digest("hex")
      const enzyme = Enzyme.make({ name: "late", query: "/signals/late", run: () => 1 })
      await Effect.runPromise(kernel.register(enzyme, { hash, text }))
      await Effect.runPromise(space.set("/data/links/code", Link.make(`/cas/${hash}`)))
      await Effect.runPromise(kernel.unregister(enzyme))
      digests.push(hash)
    }
    await Effect.runPromise(space.set("/data/other", 1))
    assert.strictEqual((await as(operator, "/cells/sys/code/late")).status, 404)
    for (const hash of digests) {
      assert.strictEqual((await as(operator, `/blobs/${hash}`)).status, 200)
      for (const path of [`/blobs/${hash}`, `/cells/cas/${hash}`, "/cells/data/links/code"]) {
        assert.deepStrictEqual(problem(await as(hr, path)), [403, "label/withheld"], path)
      }
    }
  })

  it.live("sees the internal cells that a rule grants by name", () =>
    Effect.flatMap(serve({
      config: { ...config, labels: { ...config.labels, cells: { "/**": ["salary"], "/rt/ops/**": [] } } },
      enzymes: [post]
    }), ({ ask, kernel }) =>
      Effect.promise(async () => {
        const space = await Effect.runPromise(kernel.space("shop"))
        const as = (token: string, path: string) => ask(`/v1/spaces/shop/cells${path}`, { headers: { authorization: `Bearer ${token}` } })
        const { oid } = await Effect.runPromise(space.ops.start({ verb: "load", target: "/data/notice", mode: "opm:direct" }))
        assert.strictEqual((await as(web, "/rt/ops?below")).status, 200)
        const { cells } = (await as(hr, "/rt/ops?below")).body as { readonly cells: ReadonlyArray<string> }
        assert.include(cells.join(), oid)
        for (const path of ["/sys/labels", "/sys/code/post"]) {
          assert.deepStrictEqual(problem(await as(hr, path)), [403, "label/withheld"], path)
        }
      })))

  test("follows a cell and resumes after its last cursor", async ({ fetch }, as) => {
    const follow = async (path: string, last?: string) => {
      const headers =
        { authorization: `Bearer ${web}`, accept: "text/event-stream", ...(last === undefined ? {} : { "last-event-id": last }) }
      const reader = (await fetch(`/v1/spaces/shop/cells${path}`, { headers })).body!.pipeThrough(new TextDecoderStream()).getReader()
      const text = await StreamText.until(reader, /data: .*\n\n/)
      await reader.cancel()
      return text.replaceAll(": alive\n\n", "")
    }
    const [, cursor] = /^id: ([0-9a-f]{16})\nevent: value\ndata: "hello"\n\n$/.exec(await follow("/data/notice")) ?? []
    assert.isDefined(cursor)
    await as(operator, "/signals", { method: "POST", body: JSON.stringify({ signal: "/signals/post", payload: "next" }) })
    assert.match(await follow("/data/notice", cursor), /^id: [0-9a-f]{16}\nevent: value\ndata: "next"\n\n$/)
    assert.match(await follow(`/data/notice?last=${cursor}`), /^id: [0-9a-f]{16}\nevent: value\ndata: "next"\n\n$/)
    assert.match(
      await follow("/data/notice", "7"),
      /^event: reset\ndata: .*\n\nid: [0-9a-f]{16}\nevent: value\ndata: "next"\n\n$|^event: reset\n/
    )
    for (const path of ["/data/pay/ann", "/sys/index/rv/ann", "/sys/index/over/fact"]) {
      assert.deepStrictEqual(
        problem(await as(web, `/cells${path}`, { headers: { accept: "text/event-stream" } })),
        [403, "label/withheld"],
        path
      )
    }
  })
})
