import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme } from "systole"
import { type Answer, problem, serve, signals, type TestIngress } from "./TestIngress.ts"

const keep = Enzyme.make({
  name: "keep",
  query: "/signals/com.shop.paid",
  run: (tx, { payload }) => tx.append("/data/kept", payload)
})

const source = "https://shop.example/orders"

const event = { specversion: "1.0", id: "e-1", source, type: "com.shop.paid", subject: "17", data: { sum: 5 } }

const test = (name: string, run: (app: TestIngress) => Promise<void>) =>
  it.live(name, () => Effect.flatMap(serve({ enzymes: [keep] }), (app) => Effect.promise(() => run(app))))

const send = ({ ask }: TestIngress, body: unknown, type: string): Promise<Answer> =>
  ask(signals, { method: "POST", body: JSON.stringify(body), headers: { "content-type": type, prefer: "wait=10" } })

/** The attributes of an event as headers. */
const headers = { "ce-specversion": "1.0", "ce-id": "e-1", "ce-source": event.source, "ce-type": event.type, prefer: "wait=10" }

const STRUCTURED = "application/cloudevents+json; charset=utf-8"
const BATCH = "application/cloudevents-batch+json"

const kept = async ({ ask }: TestIngress) => (await ask("/v1/spaces/shop/cells/data/kept")).body

describe("CloudEvents", () => {
  test("are taken in the structured form, once each by source and id", async (app) => {
    const first = await send(app, event, STRUCTURED)
    assert.strictEqual(first.status, 200)
    assert.deepInclude(first.body as object, { own: "https://shop.example/orders e-1", status: "handled" })
    assert.deepStrictEqual((await send(app, event, STRUCTURED)).status, 200)
    assert.strictEqual((await send(app, { ...event, source: "/other" }, STRUCTURED)).status, 200)
    assert.deepStrictEqual(await kept(app), [event, { ...event, source: "/other" }])
    assert.deepStrictEqual(problem(await send(app, { ...event, data: 6 }, STRUCTURED)), [422, "signal/id-reused"])
  })

  test("of a source with a space are not those of another source", async (app) => {
    const [one, two] = [{ ...event, source: "a b", id: "c" }, { ...event, source: "a", id: "b c" }]
    for (const each of [one, two]) assert.strictEqual((await send(app, each, STRUCTURED)).status, 200)
    assert.deepStrictEqual(await kept(app), [one, two])
  })

  test("are taken in the binary form, which is the same event as the structured one", async (app) => {
    const binary = (body: BodyInit | null, more: Readonly<Record<string, string>>) =>
      app.ask(signals, { method: "POST", body, headers: { ...headers, ...more } })
    const answer = await binary(`{"sum":5}`, { "content-type": "application/json", "ce-subject": "caf%C3%A9" })
    assert.strictEqual(answer.status, 200)
    assert.strictEqual((await binary("tea", { "ce-id": "e-2", "content-type": "text/plain" })).status, 200)
    assert.strictEqual((await binary(new Uint8Array([1, 255]), { "ce-id": "e-3", "content-type": "image/png" })).status, 200)
    assert.strictEqual((await binary(null, { "ce-id": "e-4" })).status, 200)
    const { data, subject, ...rest } = event
    assert.deepStrictEqual(await kept(app), [
      { ...rest, datacontenttype: "application/json", data, subject: "café" },
      { ...rest, id: "e-2", datacontenttype: "text/plain", data: "tea" },
      { ...rest, id: "e-3", datacontenttype: "image/png", data_base64: "Af8=" },
      { ...rest, id: "e-4" }
    ])
    assert.strictEqual(subject, "17")
  })

  test("are taken as a batch, of which a broken one is refused alone", async (app) => {
    const answer = await send(app, [event, { ...event, id: "" }, { ...event, id: "e-2" }], BATCH)
    const { answers } = answer.body as { readonly answers: ReadonlyArray<{ readonly status: number }> }
    assert.deepStrictEqual([answer.status, ...answers.map(({ status }) => status)], [207, 200, 400, 200])
    assert.deepStrictEqual(await kept(app), [event, { ...event, id: "e-2" }])
    assert.deepStrictEqual(problem(await send(app, event, BATCH)), [400, "body/malformed"])
  })

  test("of another version, without an attribute or with an id beyond the limit are refused", async (app) => {
    const wrong = [{ ...event, specversion: "0.3" }, { ...event, source: undefined }, { ...event, type: 7 }, [event], null]
    for (const body of wrong) assert.deepStrictEqual(problem(await send(app, body, STRUCTURED)), [400, "body/malformed"])
    assert.deepStrictEqual(problem(await send(app, { ...event, id: "x".repeat(600) }, STRUCTURED)), [400, "signal/invalid"])
    const init = { method: "POST", body: JSON.stringify(event), headers: { "content-type": STRUCTURED, "idempotency-key": "other" } }
    assert.deepStrictEqual(problem(await app.ask(signals, init)), [400, "signal/id-unequal"])
    assert.deepStrictEqual(problem(await app.ask("/v1/spaces/shop/cells/data/kept")), [404, "space/unknown"])
  })
})
