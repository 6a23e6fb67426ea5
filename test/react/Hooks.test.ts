import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { createElement, StrictMode } from "react"
import { renderToString } from "react-dom/server"
import { Cell, Signal } from "systole/cells"
import { connect, type RequestFailed, type SpaceClient } from "systole/client"
import { type CellState, type SignalState, SpaceProvider, useCell, useSignal, useSpace } from "systole/react"
import { Connections, turns, value } from "../client/Connections.ts"
import { ManualClock } from "../client/TestClient.ts"
import * as Dom from "./Dom.ts"

const Order = Schema.Struct({ item: Schema.String, count: Schema.Natural })
const Orders = Cell.family("/data/orders/:id", Order)
const Place = Signal.make("/signals/order/:id/place", Order)
const payload = { item: "tea", count: 2 }

let dom: Awaited<ReturnType<typeof Dom.open>>
beforeAll(async () => void (dom = await Dom.open()))
afterEach(() => dom.unmount())
afterAll(() => dom.close())

const refusal = (code: string, status: number): Response => Response.json({ code, status, detail: `${code}.` }, { status })

/** A server of streams, with the client of a space of it. */
const served = () => {
  const server = new Connections()
  const clock = new ManualClock()
  const shop = connect({ platform: { ...clock.platform, random: () => 1, fetch: server.fetch } }).space("shop")
  return { server, clock, shop }
}

/** The states that a component showed, and itself. */
const shower = () => {
  const seen: Array<CellState<typeof Order.Type>> = []
  const Show = ({ id, initial }: { readonly id: string | undefined; readonly initial?: typeof Order.Type }) => {
    const state = useCell(id === undefined ? undefined : Orders.at({ id }), { initial })
    seen.push(state)
    return `${state.status} ${state.value?.count ?? "-"};`
  }
  return { Show, seen }
}

const within = (space: SpaceClient, ...children: ReadonlyArray<ReturnType<typeof createElement>>) =>
  createElement(SpaceProvider, { space }, ...children)

/** Sends bytes, or lets time pass, and renders its effects. */
const after = (change: () => void) => dom.act(async () => {
  change()
  await turns()
})

describe("useCell", () => {
  it("shows a cell before its first value, with each value, and while its connection is lost", async () => {
    const { clock, server, shop } = served()
    const { Show, seen } = shower()
    await dom.mount(within(shop, createElement(Show, { id: "1" })))
    const connection = await server.next()
    assert.include(connection.path, "/v1/spaces/shop/cells/data/orders/1")
    assert.strictEqual(dom.text(), "loading -;")
    await after(() => connection.send(value(1, payload)))
    assert.strictEqual(dom.text(), "live 2;")
    await after(() => connection.send(value(2, { ...payload, count: 3 })))
    assert.strictEqual(dom.text(), "live 3;")
    await after(() => connection.break())
    assert.strictEqual(dom.text(), "waiting 3;")
    assert.strictEqual(seen.at(-1)?.error?.code, "server/unreachable")
    await after(() => clock.pass(250))
    const second = await server.next()
    assert.strictEqual(second.headers.get("last-event-id"), "2")
    assert.strictEqual(dom.text(), "live 3;")
    assert.isUndefined(seen.at(-1)?.error)
    await after(() => second.send("event: reset\ndata: {\"reason\":\"the reader fell behind\"}\n\n" + value(9, payload)))
    assert.deepInclude({ ...seen.at(-1) }, { status: "live", value: payload, reset: "the reader fell behind" })
    await after(() => second.send("id: 10\nevent: absent\ndata: null\n\n"))
    assert.deepInclude({ ...seen.at(-1) }, { status: "live", value: undefined, reset: undefined })
  })

  it("has one stream for all components that name a cell, until the last one is gone", async () => {
    const { server, shop } = served()
    const { Show } = shower()
    const root = await dom.mount(within(shop, createElement(Show, { id: "1", key: 1 }), createElement(Show, { id: "1", key: 2 })))
    const connection = await server.next()
    await after(() => connection.send(value(1, payload)))
    assert.strictEqual(dom.text(), "live 2;live 2;")
    // A component that comes later has the value at once, and one that goes leaves the others theirs.
    await dom.render(root, within(shop, createElement(Show, { id: "1", key: 2 }), createElement(Show, { id: "1", key: 3 })))
    assert.strictEqual(dom.text(), "live 2;live 2;")
    assert.deepStrictEqual([connection.isEnded(), server.waiting], [false, 0])
    await dom.render(root, within(shop))
    await turns()
    assert.isTrue(connection.isEnded())
  })

  it("opens one stream under StrictMode, which mounts twice", async () => {
    const { server, shop } = served()
    const { Show } = shower()
    await dom.mount(createElement(StrictMode, null, within(shop, createElement(Show, { id: "1" }))))
    const connection = await server.next()
    await after(() => connection.send(value(1, payload)))
    assert.strictEqual(dom.text(), "live 2;")
    assert.deepStrictEqual([connection.isEnded(), server.waiting], [false, 0])
  })

  it("follows another cell when its address changes, and shows no value of the one before", async () => {
    const { server, shop } = served()
    const { Show, seen } = shower()
    const root = await dom.mount(within(shop, createElement(Show, { id: undefined })))
    await turns()
    assert.deepStrictEqual([dom.text(), server.waiting], ["loading -;", 0])
    await dom.render(root, within(shop, createElement(Show, { id: "1" })))
    const first = await server.next()
    await after(() => first.send(value(1, payload)))
    const shown = seen.length
    await dom.render(root, within(shop, createElement(Show, { id: "2" })))
    assert.isTrue(seen.slice(shown).every(({ value }) => value === undefined))
    const second = await server.next()
    assert.include(second.path, "/cells/data/orders/2")
    assert.isTrue(first.isEnded())
    await after(() => second.send(value(4, { ...payload, count: 7 })))
    assert.strictEqual(dom.text(), "live 7;")
  })

  it("fails where the server refuses the cell for good, and tries again when it is asked", async () => {
    const { server, shop } = served()
    const { Show, seen } = shower()
    server.refusals.push(refusal("auth/missing", 401))
    await dom.mount(within(shop, createElement(Show, { id: "1" })))
    await after(() => {})
    assert.strictEqual(dom.text(), "failed -;")
    assert.deepInclude({ ...seen.at(-1)?.error }, { code: "auth/missing", status: 401 })
    await after(() => seen.at(-1)?.retry())
    assert.deepInclude({ ...seen.at(-1) }, { status: "loading", error: undefined })
    const connection = await server.next()
    await after(() => connection.send(value(1, payload)))
    assert.strictEqual(dom.text(), "live 2;")
    await after(() => seen.at(-1)?.retry())
    assert.strictEqual(server.waiting, 0)
  })

  it("opens no stream for a component that is gone", async () => {
    const { server, shop } = served()
    const { Show, seen } = shower()
    server.refusals.push(refusal("auth/missing", 401))
    const root = await dom.mount(within(shop, createElement(Show, { id: "1" })))
    await after(() => {})
    await dom.render(root, within(shop))
    await after(() => seen.at(-1)?.retry())
    assert.strictEqual(server.waiting, 0)
  })

  it("renders its initial value on a server without a stream, and takes over that HTML", async () => {
    const { server, shop } = served()
    const { Show, seen } = shower()
    const page = within(shop, createElement(Show, { id: "1", initial: payload }))
    const html = renderToString(page)
    assert.include(html, "loading 2;")
    await turns()
    assert.strictEqual(server.waiting, 0)
    assert.deepStrictEqual(await dom.hydrate(html, page), [])
    const connection = await server.next()
    assert.strictEqual(dom.text(), "loading 2;")
    await after(() => connection.send("id: 1\nevent: absent\ndata: null\n\n"))
    assert.deepInclude({ ...seen.at(-1) }, { status: "live", value: undefined })
  })
})

describe("useSignal", () => {
  /** A component with a button that sends, and its states. */
  const sender = () => {
    const seen: Array<SignalState<typeof Order.Type, { readonly id: string }>> = []
    const Send = () => {
      const state = useSignal(Place)
      seen.push(state)
      return createElement("button", { onClick: () => state.send({ params: { id: "1" }, payload }) }, state.isSending ? "…" : "Order")
    }
    return { Send, seen }
  }

  it("sends a signal once for each click, and tells of it", async () => {
    const bodies: Array<unknown> = []
    let answer = (_: Response): void => {}
    const fetch = (_: string, { body }: RequestInit) => {
      bodies.push(JSON.parse(String(body)))
      return new Promise<Response>((resolve) => answer = resolve)
    }
    const shop = connect({ platform: { ...new ManualClock().platform, fetch, id: () => `own-${bodies.length}` } }).space("shop")
    const { Send, seen } = sender()
    await dom.mount(createElement(StrictMode, null, within(shop, createElement(Send))))
    await dom.click()
    assert.strictEqual(dom.text(), "…")
    await after(() => answer(Response.json({ id: "E1" }, { status: 202 })))
    assert.strictEqual(dom.text(), "Order")
    assert.deepStrictEqual(bodies, [{ signal: "/signals/order/1/place", payload, id: "own-0" }])
    assert.deepInclude({ ...seen.at(-1) }, { sent: { id: "E1", own: "own-0", receipt: undefined }, error: undefined })
    assert.strictEqual(new Set(seen.map(({ send }) => send)).size <= 2, true)
    await dom.click()
    await after(() => answer(refusal("signal/invalid", 422)))
    assert.deepInclude({ ...seen.at(-1) }, { sent: undefined, isSending: false })
    assert.strictEqual(seen.at(-1)?.error?.code, "signal/invalid")
  })

  it("tells of the last of several signals, whichever ends first", async () => {
    const answers: Array<(response: Response) => void> = []
    const fetch = () => new Promise<Response>((resolve) => answers.push(resolve))
    const shop = connect({ platform: { ...new ManualClock().platform, fetch } }).space("shop")
    const { Send, seen } = sender()
    await dom.mount(within(shop, createElement(Send)))
    await dom.click()
    await dom.click()
    await after(() => answers[1]?.(Response.json({ id: "E2" }, { status: 202 })))
    assert.deepStrictEqual([seen.at(-1)?.isSending, seen.at(-1)?.sent?.id], [true, "E2"])
    await after(() => answers[0]?.(refusal("signal/invalid", 422)))
    assert.deepStrictEqual([seen.at(-1)?.isSending, seen.at(-1)?.sent?.id, seen.at(-1)?.error], [false, "E2", undefined])
  })
})

describe("useSpace", () => {
  it("gives the space, and says without a provider that one is missing", () => {
    const { shop } = served()
    const Name = () => useSpace().name
    assert.strictEqual(renderToString(within(shop, createElement(Name))), "shop")
    const failure = (): unknown => {
      try {
        return renderToString(createElement(Name))
      } catch (error) {
        return (error as RequestFailed).code
      }
    }
    assert.strictEqual(failure(), "react/provider")
  })
})
