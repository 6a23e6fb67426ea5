import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme } from "systole"
import { type Answer, problem, serve, type TestIngress } from "./TestIngress.ts"

const space = "/v1/spaces/shop"
const [operator, web] = ["the-operators-own-token", "the-token-of-the-page"]

const enzymes = [
  Enzyme.make({ name: "note", query: "/signals/note", run: (tx, { payload }) => (tx.set("/data/note", payload), "noted") }),
  Enzyme.make({ name: "pay", query: "/signals/pay", run: (tx, { payload }) => (tx.set("/data/pay/ann", payload), "paid") }),
  Enzyme.make({
    name: "fix",
    query: "/signals/fix",
    run: (tx) => {
      if (tx.get("/data/mended") === undefined) throw new TypeError("not yet")
    }
  })
]

const labels = { cells: { "/data/pay/**": ["salary"] }, readers: { web: { token: web, clearance: [] } } }

interface Named extends Pick<TestIngress, "accidents"> {
  readonly as: (token: string, path: string, init?: RequestInit) => Promise<Answer>
  /** Sends a signal with the operator's token, and waits for its receipt. */
  readonly send: (signal: object) => Promise<{ readonly id: string; readonly own?: string; readonly status: string }>
  readonly ask: (path: string) => Promise<Answer>
}

const test = (name: string, run: (app: Named) => Promise<void>) =>
  it.live(name, () =>
    Effect.flatMap(serve({ config: { token: operator, spaces: { create: "on-demand" }, labels }, enzymes }), ({ accidents, ask }) =>
      Effect.promise(() => {
        const as: Named["as"] = (token, path, init = {}) =>
          ask(`${space}${path}`, {
            ...init,
            headers: { authorization: `Bearer ${token}`, "content-type": "application/json", prefer: "wait=5" }
          })
        const send: Named["send"] = async (signal) => {
          const { body } = await as(operator, "/signals", { method: "POST", body: JSON.stringify(signal) })
          return ((body as { readonly event?: object }).event ?? body) as Awaited<ReturnType<Named["send"]>>
        }
        return run({ accidents, as, send, ask: (path) => as(operator, path) })
      })))

describe("A caller's own id over HTTP", () => {
  test("names the event in place of its id, and both are shown", async ({ ask, send }) => {
    const sent = await send({ signal: "/signals/note", payload: 1, id: "source/17?a" })
    assert.deepInclude(sent, { own: "source/17?a", status: "handled" })
    assert.deepStrictEqual((await ask(`/receipts/${encodeURIComponent("source/17?a")}`)).body, sent)
    assert.deepStrictEqual((await ask(`/receipts/${sent.id}`)).body, sent)
    const plain = await send({ signal: "/signals/note", payload: 2, id: "order-17" })
    const cell = (await ask("/cells/rt/receipts/order-17")).body as { readonly id: string }
    assert.strictEqual(cell.id, plain.id)
    assert.strictEqual((await send({ signal: "/signals/note", payload: 2, id: "order-17" })).id, plain.id)
    assert.deepStrictEqual(problem(await ask("/receipts/order-18")), [404, "receipt/absent"])
    const why = (await ask("/why?address=/data/note")).body as { readonly writers: ReadonlyArray<{ readonly chain: unknown }> }
    assert.deepInclude(((why.writers[0]?.chain ?? []) as ReadonlyArray<object>)[0], { id: plain.id, own: "order-17" })
    const explained = (await ask("/explain?beat=1&enzyme=note")).body as { readonly signals: ReadonlyArray<object> }
    assert.deepInclude(explained.signals[0], { id: plain.id, own: "order-17" })
  })

  test("of several events is answered with 300 and their list", async ({ accidents, ask, send }) => {
    const [one, two] = [await send({ signal: "/signals/note", id: "order-17" }), await send({ signal: "/signals/none", id: "order-17" })]
    const answer = await ask("/receipts/order-17")
    assert.deepStrictEqual(problem(answer), [300, "id/ambiguous"])
    assert.isNull(answer.headers.get("location"))
    const { detail, events } = answer.body as { readonly detail: string; readonly events: unknown }
    assert.deepStrictEqual(events, [{ id: two.id, status: "no-match", enzymes: [] }, { id: one.id, status: "handled", enzymes: ["note"] }])
    assert.include(detail, one.id)
    assert.deepStrictEqual(problem(await ask("/cells/rt/receipts/order-17")), [300, "id/ambiguous"])
    assert.strictEqual((await ask(`/receipts/${one.id}`)).status, 200)
    assert.isEmpty(accidents)
  })

  test("that looks like an id of the runtime is refused at the door", async ({ as, ask, send }) => {
    await send({ signal: "/signals/none" })
    for (const id of ["x.12.0", "12.0.3", "0123456789abcdef0123456789abcdef"]) {
      const body = JSON.stringify({ signal: "/signals/note", id })
      for (const token of [operator, web]) {
        assert.deepStrictEqual(problem(await as(token, "/signals", { method: "POST", body })), [400, "signal/invalid"])
      }
    }
    assert.deepStrictEqual(problem(await ask("/cells/data/note")), [404, "cell/absent"])
  })

  test("names a dead letter, which is shown and sent again by it", async ({ as, ask, send }) => {
    const { id } = await send({ signal: "/signals/fix", id: "order-17" })
    await send({ signal: "/signals/note", id: "order-17" })
    const { letters } = (await ask("/dead")).body as { readonly letters: ReadonlyArray<object> }
    assert.deepInclude(letters[0], { id, own: "order-17", enzyme: "fix" })
    assert.deepInclude((await ask("/dead/order-17/fix")).body, { id, own: "order-17", message: "not yet" })
    assert.deepStrictEqual(problem(await ask("/dead/order-17/note")), [404, "dead/absent"])
    await as(operator, "/cells/data/mended", { method: "PUT", body: "true" })
    const sent = await as(operator, "/dead/order-17/fix/redelivery", { method: "POST" })
    assert.strictEqual(sent.status, 202)
    assert.deepInclude(sent.body, { id, own: "order-17", receipt: `${space}/receipts/${id}` })
    const again = await as(operator, "/dead/order-17/fix/redelivery", { method: "POST" })
    assert.deepStrictEqual(problem(again), [404, "dead/absent"])
  })

  test("names for a reader only the events that it may see, and tells of no other", async ({ as, ask, send }) => {
    const open = await send({ signal: "/signals/note", id: "order-17" })
    await send({ signal: "/signals/pay", id: "order-17", label: ["salary"] })
    await send({ signal: "/signals/pay", id: "order-18", label: ["salary"] })
    assert.deepStrictEqual(problem(await ask("/receipts/order-17")), [300, "id/ambiguous"])
    const seen = await as(web, "/receipts/order-17")
    assert.deepInclude(seen.body, { id: open.id, own: "order-17", status: "handled" })
    const [hidden, absent] = [await as(web, "/receipts/order-18"), await as(web, "/receipts/order-19")]
    assert.deepStrictEqual(problem(hidden), [404, "receipt/absent"])
    assert.strictEqual(JSON.stringify(hidden.body).replace("order-18", "order-19"), JSON.stringify(absent.body))
    const body = JSON.stringify({ signal: "/signals/note", id: "order-17" })
    const mine = (await as(web, "/signals", { method: "POST", body })).body as { readonly id: string }
    const several = await as(web, "/receipts/order-17")
    assert.deepStrictEqual(problem(several), [300, "id/ambiguous"])
    const { events } = several.body as { readonly events: ReadonlyArray<{ readonly id: string }> }
    assert.deepStrictEqual(events.map(({ id }) => id), [mine.id, open.id])
  })

  test("is shown for no signal that a reader sends without one", async ({ as, send }) => {
    await send({ signal: "/signals/none" })
    const { body } = await as(web, "/signals", { method: "POST", body: JSON.stringify({ signal: "/signals/note" }) })
    assert.match((body as { readonly id: string }).id, /^[0-9a-f]{32}$/)
    assert.notProperty(body, "own")
  })
})
