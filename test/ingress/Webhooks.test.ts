import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Schema from "effect/Schema"
import { createHmac } from "node:crypto"
import { Webhook as Oracle } from "standardwebhooks"
import { Enzyme, Signal, webhook } from "systole"
import * as Config from "../../src/loader/Config.ts"
import { type Answer, problem, serve, type TestIngress } from "./TestIngress.ts"

const keys = ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"] as const

const Paid = Signal.make("/signals/order/:id/paid", Schema.Struct({ sum: Schema.Finite }))

const Payment = Schema.Struct({ order: Schema.String, sum: Schema.Finite })

const paid = Enzyme.make({
  name: "paid",
  query: Paid,
  run: (tx, { params: { id }, payload }) => {
    tx.increment(`/data/paid/${id}`, payload.sum)
  }
})

const keep = Enzyme.make({
  name: "keep",
  query: "/signals/keep",
  bind: ["/data/repository"],
  run: (tx, { payload }) => tx.append("/data/kept", payload)
})

const ingress = {
  "/hooks/paid": webhook({
    secret: keys,
    body: Payment,
    signal: ({ order }) => Paid.at({ id: order }),
    payload: ({ sum }) => ({ sum })
  }),
  "/hooks/text": webhook({ secret: keys[0], signal: "/signals/keep", numbers: "text" }),
  "/hooks/round": webhook({ secret: keys[0], signal: "/signals/keep", numbers: "round" }),
  "/hooks/exact": webhook({ secret: keys[0], signal: "/signals/keep" }),
  "/hooks/stripe": webhook({ scheme: "stripe", secret: "whsec_stripe", signal: "/signals/keep", payload: (body) => body["data"] }),
  "/hooks/sum": webhook({ scheme: "stripe", secret: "whsec_stripe", body: Schema.Struct({ sum: Schema.Finite }), signal: "/signals/keep" }),
  "/hooks/github": webhook({ scheme: "github", secret: "its secret", signal: "/signals/keep", target: () => "/data/repository" }),
  "/hooks/broken": webhook({
    secret: keys[0],
    signal: "/signals/keep",
    payload: () => {
      throw new Error("a secret of the module")
    }
  })
} as const

/** A message as the SDK of Standard Webhooks signs it. */
const signed = (body: string, { at = Date.now(), id = "msg_1", key = keys[0] as string } = {}): RequestInit => ({
  method: "POST",
  body,
  headers: {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(at / 1000)),
    "webhook-signature": new Oracle(key).sign(id, new Date(at), body)
  }
})

const payment = JSON.stringify({ order: "17", sum: 5, extra: true })

/** Waits until all signals are handled, and reads a cell. */
const cell = async ({ ask, kernel }: TestIngress, path: string): Promise<Answer> => {
  const space = kernel.opened("home")
  if (space !== undefined) await Effect.runPromise(space.idle)
  return ask(`/v1/spaces/home/cells/data/${path}`, { headers: { authorization: "Bearer operator-operator" } })
}

const test = (name: string, run: (app: TestIngress) => Promise<void>) =>
  it.live(name, () => Effect.flatMap(
    serve({ enzymes: [paid, keep], config: { token: "operator-operator", spaces: { create: "on-demand" }, ingress } }),
    (app) => Effect.promise(() => run(app))
  ))

describe("A webhook", () => {
  test("takes what the SDK of Standard Webhooks signs, with each key of a rotation, and needs no token", async (app) => {
    for (const [i, key] of keys.entries()) {
      const answer = await app.ask("/hooks/paid", signed(payment, { id: `msg_${i}`, key }))
      assert.strictEqual(answer.status, 202)
      assert.match(answer.headers.get("location") ?? "", /^\/v1\/spaces\/home\/receipts\/[0-9a-f]{32}$/)
    }
    const two = signed(payment, { id: "msg_2" })
    const headers = new Headers(two.headers)
    headers.set("webhook-signature", `v1a,x v1,AAAA ${headers.get("webhook-signature")}`)
    assert.strictEqual((await app.ask("/hooks/paid", { ...two, headers })).status, 202)
    assert.strictEqual((await cell(app, "paid/17")).body, 15)
    assert.deepStrictEqual(problem(await app.ask("/v1/spaces/home/cells/data/paid/17")), [401, "auth/missing"])
  })

  test("handles a message that comes again once, also with a new time", async (app) => {
    const first = await app.ask("/hooks/paid", signed(payment))
    const again = await app.ask("/hooks/paid", signed(payment, { at: Date.now() + 2000 }))
    assert.deepStrictEqual([again.status, (again.body as { duplicate: boolean }).duplicate], [202, true])
    assert.strictEqual(again.headers.get("location"), first.headers.get("location"))
    assert.strictEqual((await cell(app, "paid/17")).body, 5)
  })

  test("refuses a signature that is wrong, absent or of another body, and makes no event and no space", async (app) => {
    const good = signed(payment)
    const headers = new Headers(good.headers)
    headers.delete("webhook-signature")
    const wrong = [
      { ...good, body: payment.replace("5", "6") },
      { ...good, headers },
      { ...good, headers: { ...good.headers as object, "webhook-id": "msg_9" } },
      signed(payment, { key: "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" }),
      { method: "POST", body: payment }
    ]
    for (const init of wrong) assert.deepStrictEqual(problem(await app.ask("/hooks/paid", init)), [401, "webhook/signature"])
    assert.isNull((await app.ask("/hooks/paid", wrong[4])).headers.get("www-authenticate"))
    assert.isUndefined(app.kernel.opened("home"))
  })

  test("refuses a message that was recorded, and one from the future", async (app) => {
    for (const minutes of [-6, 6]) {
      const stale = await app.ask("/hooks/paid", signed(payment, { at: Date.now() + minutes * 60_000 }))
      assert.deepStrictEqual(problem(stale), [401, "webhook/timestamp"])
    }
    assert.strictEqual((await app.ask("/hooks/paid", signed(payment, { at: Date.now() - 4 * 60_000 }))).status, 202)
  })

  test("tells the faults of a body by its schema, and checks the payload by the type of the signal", async (app) => {
    const misfit = await app.ask("/hooks/paid", signed(JSON.stringify({ order: 17, sum: "5" })))
    assert.deepStrictEqual(problem(misfit), [422, "webhook/body"])
    for (const part of ["order is 17", "a string"]) assert.include((misfit.body as { detail: string }).detail, part)
    assert.deepStrictEqual(problem(await app.ask("/hooks/paid", signed("[]"))), [422, "webhook/body"])
    assert.deepStrictEqual(problem(await app.ask("/hooks/paid", signed("{"))), [400, "body/malformed"])
    assert.deepStrictEqual(problem(await app.ask("/hooks/paid", signed(`"${"x".repeat(1_048_576)}"`))), [413, "body/too-large"])
    const thrown = await app.ask("/hooks/broken", signed("{}"))
    assert.deepStrictEqual(problem(thrown), [422, "webhook/body"])
    assert.notInclude(JSON.stringify(thrown.body), "a secret of the module")
  })

  test("keeps the digits of large integers as texts, rounds them, or refuses them", async (app) => {
    const body = `{"id":616581622363398142,"small":[1,1.5,-0.25e-7]}`
    assert.strictEqual((await app.ask("/hooks/text", signed(body, { id: "a" }))).status, 202)
    assert.strictEqual((await app.ask("/hooks/round", signed(body, { id: "b" }))).status, 202)
    assert.deepStrictEqual(problem(await app.ask("/hooks/exact", signed(body, { id: "c" }))), [400, "body/number"])
    const small = [1, 1.5, -0.25e-7]
    assert.deepStrictEqual((await cell(app, "kept")).body, [
      { id: "616581622363398142", small }, { id: Number("616581622363398142"), small }
    ])
    assert.deepStrictEqual(problem(await app.ask("/hooks/text", signed(`{"a":1,"a":2}`))), [400, "body/key"])
  })

  test("takes the signatures of Stripe and of GitHub, over the raw body", async (app) => {
    const time = String(Math.floor(Date.now() / 1000))
    const body = `{ "id": "evt_1",  "data": 7 }`
    const v1 = createHmac("sha256", "whsec_stripe").update(`${time}.${body}`).digest("hex")
    const stripe = (signature: string) =>
      app.ask("/hooks/stripe", { method: "POST", body, headers: { "stripe-signature": signature } })
    assert.strictEqual((await stripe(`t=${time},v1=00,v1=${v1},v0=1`)).status, 202)
    assert.deepStrictEqual((await stripe(`t=${time},v1=${v1}`)).status, 202)
    assert.deepStrictEqual(problem(await stripe(`t=${Number(time) - 1},v1=${v1}`)), [401, "webhook/signature"])
    const sha256 = createHmac("sha256", "its secret").update(body).digest("hex")
    const github = await app.ask("/hooks/github", {
      method: "POST", body, headers: { "x-hub-signature-256": `sha256=${sha256}`, "x-github-delivery": "d-1" }
    })
    assert.strictEqual(github.status, 202)
    assert.deepStrictEqual((await cell(app, "kept")).body, [7, JSON.parse(body)])
    assert.deepStrictEqual(problem(await app.ask("/hooks/github", { headers: { authorization: "Bearer operator-operator" } })), [
      404, "route/absent"
    ])
  })

  test("takes an id that looks like that of an event, since its sender cannot give another", async (app) => {
    for (const id of ["0123456789abcdef0123456789abcdef", "x.12.0"]) {
      const send = () => app.ask("/hooks/paid", signed(payment, { id }))
      assert.deepStrictEqual([(await send()).status, (await send()).status], [202, 202])
    }
    assert.strictEqual((await cell(app, "paid/17")).body, 10)
  })

  test("knows a message by the id of its body, also beside a schema without it, and refuses one without an id", async (app) => {
    const time = String(Math.floor(Date.now() / 1000))
    const send = (body: string) => {
      const v1 = createHmac("sha256", "whsec_stripe").update(`${time}.${body}`).digest("hex")
      return app.ask("/hooks/sum", { method: "POST", body, headers: { "stripe-signature": `t=${time},v1=${v1}` } })
    }
    for (const id of [`"evt_1"`, `"evt_2"`, `"evt_1"`, "3"]) assert.strictEqual((await send(`{"id":${id},"sum":1}`)).status, 202)
    assert.deepStrictEqual((await cell(app, "kept")).body, [{ sum: 1 }, { sum: 1 }, { sum: 1 }])
    for (const body of [`{"sum":1}`, `{"id":null,"sum":1}`, `{"id":"","sum":1}`, `{"id":{},"sum":1}`, `{"id":0.5,"sum":1}`]) {
      const refused = await send(body)
      assert.deepStrictEqual(problem(refused), [422, "webhook/body"])
      assert.include((refused.body as { detail: string }).detail, "its id is ")
    }
    const sha256 = createHmac("sha256", "its secret").update("{}").digest("hex")
    const github = await app.ask("/hooks/github", { method: "POST", body: "{}", headers: { "x-hub-signature-256": `sha256=${sha256}` } })
    assert.deepStrictEqual(problem(github), [422, "webhook/body"])
  })

  it.effect("without a secret, or with one of another form, is refused at the start and not at a build", () =>
    Effect.gen(function*() {
      const cases = [[undefined, "not set"], ["", "not set"], ["secret", "24 bytes"], [[keys[0], undefined], "not set"]] as const
      for (const [secret, reason] of cases) {
        const definition = { ingress: { "/hooks/paid": webhook({ secret, signal: "/signals/paid" }) } }
        yield* Config.settings(definition)
        const { message } = yield* Effect.flip(Config.decode(definition))
        for (const part of ["/hooks/paid", reason]) assert.include(message, part)
      }
      for (const tolerance of [0, NaN, Infinity]) {
        const definition = { ingress: { "/hooks/paid": webhook({ secret: keys[0], signal: "/signals/paid", tolerance }) } }
        assert.include((yield* Effect.flip(Config.decode(definition))).message, `has the tolerance ${tolerance}; give 1 to 86400 seconds`)
      }
      const { message } = yield* Effect.flip(Config.decode({ ingress: { "/hooks/paid": { secret: keys[0] } } }))
      assert.include(message, "webhook(…)")
      assert.include((yield* Effect.flip(Config.decode({ ingress: { "/v1/x": ingress["/hooks/text"] } }))).message, "/v1/x")
    }))
})
