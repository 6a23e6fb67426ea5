import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme } from "systole"
import { type Answer, enzymes, problem, serve, signal, signals, test, type TestIngress } from "./TestIngress.ts"
import { present } from "../support/Present.ts"

/** The answer to one signal of a batch. */
interface Each {
  readonly status: number
  readonly location?: string
  readonly body: { readonly id?: string; readonly beat?: number; readonly code?: string; readonly duplicate?: boolean }
}

const eachOf = ({ body, status }: Answer): ReadonlyArray<Each> => {
  assert.strictEqual(status, 207)
  return (body as { readonly answers: ReadonlyArray<Each> }).answers
}

const cell = "/v1/spaces/shop/cells/data/count"

const long = Enzyme.make({ name: "long", query: "/signals/long", run: () => "x".repeat(900_000) })

/** Signals with own ids, from the first number to before the last. */
const batch = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => ({ ...signal, id: `mine-${from + i}` }))

const lines = { "content-type": "application/x-ndjson" }

describe("Signals with payloads that are more than JSON", () => {
  const RICH = { "content-type": "application/vnd.systole.rich+json", prefer: "wait=10" }
  const form = { $rich: { json: { at: "2026-01-01T00:00:00.000Z", n: "12" }, meta: { values: { at: ["Date"], n: ["bigint"] }, v: 1 } } }
  const wrong = { $rich: { json: 1, meta: { values: ["Date"], v: 1 } } }
  const keep = Enzyme.make({
    name: "keep",
    query: "/signals/keep",
    run: (tx, { payload }) => tx.append("/data/kept", payload)
  })
  const kept = (test: (app: TestIngress) => Promise<void>) =>
    Effect.flatMap(serve({ enzymes: [keep] }), (app) => Effect.promise(() => test(app)))

  it.live("are taken alone and in batches, by a media type of their own, and are their values for an enzyme", () =>
    kept(async ({ ask, kernel, post }) => {
      const one = (payload: unknown) => ({ signal: "/signals/keep", payload })
      assert.strictEqual((await post(signals, one(form), RICH)).status, 200)
      const batch = await post(signals, [one(5), one(wrong), one(form)], RICH)
      const { answers } = batch.body as { readonly answers: ReadonlyArray<{ readonly status: number; readonly body: object }> }
      assert.deepStrictEqual(answers.map(({ status }) => status), [200, 400, 200])
      assert.deepInclude(answers[1]?.body, { code: "body/malformed" })
      const value = { at: new Date(Date.UTC(2026, 0)), n: 12n }
      const space = await Effect.runPromise(kernel.space("shop"))
      assert.deepStrictEqual(await Effect.runPromise(space.get("/data/kept")), [value, 5, value])
      assert.strictEqual((await ask("/v1/spaces/shop/cells/data/kept")).headers.get("content-type"), RICH["content-type"])
    }))

  it.live("are refused in a form that is none, and are what they are as plain JSON", () =>
    kept(async ({ kernel, post }) => {
      for (const payload of [wrong, { $rich: 1 }, { ...form, more: 1 }]) {
        assert.deepStrictEqual(problem(await post(signals, { signal: "/signals/keep", payload }, RICH)), [
          400, "body/malformed"
        ])
      }
      assert.strictEqual((await post(signals, { signal: "/signals/keep", payload: form }, { prefer: "wait=10" })).status, 200)
      const space = await Effect.runPromise(kernel.space("shop"))
      assert.deepStrictEqual(await Effect.runPromise(space.get("/data/kept")), [form])
    }))
})

describe("A batch of signals", () => {
  test("is answered in order, each signal as it is alone, with its own id, beat and receipt", async ({ ask, post }) => {
    const answers = eachOf(await post(signals, batch(0, 100)))
    assert.lengthOf(answers, 100)
    for (const [i, { body, location, status }] of answers.entries()) {
      assert.deepStrictEqual([status, body.duplicate], [202, false])
      const receipt = await ask(present(location), { headers: { prefer: "wait=10" } })
      assert.deepInclude(receipt.body as object, { own: `mine-${i}`, status: "handled" })
    }
    assert.strictEqual((await ask(cell)).body, 100)
  })

  test("waits for the ends of its signals, each with its own status", async ({ ask, post }) => {
    const given = [signal, { signal: "/signals/broken" }, { signal: "/signals/none" }, { ...signal, at: { ms: 3_600_000 } }, { signal: 7 }]
    const answers = eachOf(await post(signals, given, { prefer: "wait=1" }))
    assert.deepStrictEqual(answers.map(({ body, status }) => [status, body.code]), [
      [200, undefined], [422, "run/failed"], [404, "signal/no-match"], [202, undefined], [400, "body/malformed"]
    ])
    assert.deepStrictEqual(answers.map(({ location }) => location === undefined), [false, false, false, false, true])
    assert.strictEqual((await ask(cell)).body, 1)
  })

  test("is delivered twice with the same answers, and handled once", async ({ ask, post }) => {
    const deliver = () => post(signals, batch(0, 10), { prefer: "wait=10" })
    const [first, second] = [await deliver(), await deliver()]
    assert.deepStrictEqual(eachOf(second), eachOf(first))
    assert.strictEqual((await ask(cell)).body, 10)
  })

  test("takes two equal ids once, and refuses the second with another payload alone", async ({ ask, post }) => {
    const given = [{ ...signal, id: "a" }, { ...signal, id: "a" }, { ...signal, id: "a", payload: 2 }, { ...signal, id: "b" }]
    const answers = eachOf(await post(signals, given))
    assert.deepStrictEqual(answers.map(({ status }) => status), [202, 202, 422, 202])
    const [first, second, third] = answers.map(({ body }) => body)
    assert.deepStrictEqual([first?.id, second?.duplicate], [second?.id, true])
    assert.strictEqual(third?.code, "signal/id-reused")
    await post(signals, { ...signal, id: "c" }, { prefer: "wait=10" })
    assert.strictEqual((await ask(cell)).body, 3)
  })

  test("has up to 1,000 signals, and none of 1,001 is taken", async ({ ask, post }) => {
    assert.deepStrictEqual(problem(await post(signals, batch(0, 1001))), [413, "body/too-large"])
    assert.strictEqual((await ask(cell)).status, 404)
    assert.deepStrictEqual(problem(await post(signals, [])), [400, "body/malformed"])
    assert.lengthOf(eachOf(await post(signals, batch(0, 1000), { prefer: "wait=60" })).filter(({ status }) => status === 200), 1000)
    assert.strictEqual((await ask(cell)).body, 1000)
    const many = `${JSON.stringify(signal)}\n`.repeat(1001)
    assert.deepStrictEqual(problem(await ask(signals, { method: "POST", body: many, headers: lines })), [413, "body/too-large"])
  })

  test("may have a signal in each line, of which a broken one is refused alone", async ({ ask }) => {
    const body = `${JSON.stringify(signal)}\r\n{"signal":"/signals/co\n[]\n\n${JSON.stringify(signal)}`
    const answers = eachOf(await ask(signals, { method: "POST", body, headers: { ...lines, prefer: "wait=10" } }))
    assert.deepStrictEqual(answers.map(({ body, status }) => [status, body.code]), [
      [200, undefined], [400, "body/malformed"], [400, "body/malformed"], [400, "body/malformed"], [200, undefined]
    ])
    assert.strictEqual((await ask(cell)).body, 2)
  })

  test("is refused as a whole if its body breaks off, so that no signal of it is taken", async ({ ask, fetch }) => {
    const whole = JSON.stringify(batch(0, 10))
    const type = { "content-type": "application/json" }
    const cut = await ask(signals, { method: "POST", body: whole.slice(0, -20), headers: type })
    assert.deepStrictEqual(problem(cut), [400, "body/malformed"])
    let pulls = 0
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        if (pulls++ === 0) controller.enqueue(new TextEncoder().encode(`${JSON.stringify(signal)}\n`))
        else controller.error(new Error("the connection is gone"))
      }
    })
    const broken = await fetch(signals, { method: "POST", body, headers: lines, duplex: "half" } as RequestInit)
    assert.strictEqual(broken.status, 400)
    assert.strictEqual((await ask(cell)).status, 404)
  })

  test("has no Idempotency-Key, and makes no space if each signal is refused", async ({ ask, post }) => {
    assert.deepStrictEqual(problem(await post(signals, [signal], { "idempotency-key": "a" })), [400, "signal/id-malformed"])
    assert.deepStrictEqual(problem(await post(signals, [{}, {}])), [400, "signal/invalid"])
    assert.deepStrictEqual(problem(await ask(cell)), [404, "space/unknown"])
  })

  it.live("refuses each signal that finds no room, and keeps those that found it", () =>
    Effect.flatMap(serve({ enzymes, config: { spaces: { create: "on-demand" }, limits: { inboxSignals: 10 } } }), ({ kernel, post }) =>
      Effect.promise(async () => {
        const space = await Effect.runPromise(kernel.space("shop", { create: true }))
        await Effect.runPromise(space.control.hold)
        const answers = eachOf(await Promise.race([post(signals, batch(0, 20)), release(space)]) as Answer)
        const codes = answers.map(({ body }) => body.code)
        assert.lengthOf(codes.filter((code) => code === "inbox/full"), 10)
        assert.lengthOf(codes.filter((code) => code === undefined), 10)
      })))

  it.live("keeps 8 MiB of answers: those after them tell where their receipts are", () =>
    Effect.flatMap(serve({ enzymes: [long] }), ({ ask, post }) =>
      Effect.promise(async () => {
        const answers = eachOf(await post(signals, Array.from({ length: 12 }, () => ({ signal: "/signals/long" })), { prefer: "wait=30" }))
        assert.deepStrictEqual(answers.map(({ status }) => status), Array.from({ length: 12 }, () => 200))
        const left = answers.filter(({ body }) => body === undefined)
        assert.lengthOf(left, 12 - Math.floor(8_388_608 / 900_000))
        for (const { location } of left) assert.deepInclude((await ask(present(location))).body as object, { status: "handled" })
      })))
})

/** Lets a held space run once the requests before are in its inbox. */
const release = async (space: { readonly control: { readonly release: Effect.Effect<unknown, unknown> } }): Promise<never> => {
  await new Promise((resolve) => setImmediate(resolve))
  await Effect.runPromise(space.control.release)
  return new Promise(() => {})
}
