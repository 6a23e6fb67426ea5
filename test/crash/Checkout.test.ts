import { assert, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Call, type Moment, Partners } from "../../examples/checkout/partners.ts"
import { root } from "../scripts/Host.ts"
import { type Server, start } from "../scripts/Server.ts"
import * as Follow from "../support/Follow.ts"
import * as Trials from "../support/Trials.ts"

const example = join(root, "examples", "checkout")
const space = "/v1/spaces/shop"

/** The cell of an order. */
interface Order {
  readonly item: string
  readonly cents: number
  readonly status: string
  readonly reason?: string
}

/** The step and the moment of a kill. */
type Kill = readonly [step: string, moment: Moment]

/** The kills at a call: before its effect, before its answer, and after its answer. A short form has one of them. */
const around = (step: string, moment: Moment): ReadonlyArray<Kill> =>
  Trials.form<ReadonlyArray<Kill>>({ short: [[step, moment]], long: [[step, "arrived"], [step, "done"], [step, "answered"]] })

const send = (url: string, method: "POST" | "PUT", body: unknown): Promise<Response> =>
  fetch(url, { method, headers: { "content-type": "application/json" }, body: JSON.stringify(body) })

/** A shop in a process of its own, with partners in this one. */
class Shop {
  readonly partners = new Partners()
  private readonly data = mkdtempSync(join(tmpdir(), "systole-checkout-"))
  private server: Server | undefined

  /** Runs a test with a new shop. */
  static use = (test: (shop: Shop) => Promise<void>) => async (): Promise<void> => {
    const shop = new Shop()
    try {
      const partners = await shop.partners.listen()
      await shop.start()
      await send(shop.at(""), "PUT", {})
      assert.strictEqual((await send(shop.at("/cells/data/partners"), "PUT", partners)).status, 200)
      await test(shop)
    } finally {
      await shop.server?.end("SIGKILL")
      await shop.partners.close()
      rmSync(shop.data, { recursive: true, force: true })
    }
  }

  /** The URL of a path of the space. */
  at(path: string): string {
    return `${this.server?.url ?? ""}${space}${path}`
  }

  /** Places an order. Returns the id of its event. */
  async place(order: string, card = "visa", cents = 500): Promise<string> {
    const signal = { signal: "/signals/order/checkout", target: `/data/orders/${order}`, payload: { item: "tea", card, cents } }
    const response = await send(this.at("/signals"), "POST", signal)
    assert.strictEqual(response.status, 202)
    return (await response.json() as { readonly id: string }).id
  }

  /** Answers the question for the confirmation of an order. Returns the status of the answer. */
  async confirm(order: string, confirmed: boolean): Promise<number> {
    const signal = { signal: "/signals/order/confirm", target: `/data/orders/${order}`, payload: { confirmed } }
    return (await send(this.at("/signals"), "POST", signal)).status
  }

  /** Kills the server, and starts it again. */
  async restart(): Promise<void> {
    await this.server?.end("SIGKILL")
    await this.start()
  }

  /** Follows an order until it has one of the statuses. */
  async until(order: string, ...statuses: ReadonlyArray<string>): Promise<Order> {
    return Follow.until<Order>(this.at(`/cells/data/orders/${order}`), (value) => statuses.includes(value?.status))
  }

  async json(path: string): Promise<unknown> {
    return (await fetch(this.at(path))).json()
  }

  async start(): Promise<void> {
    this.server = await start(example, this.data)
  }

  /** Holds the next call that comes to a moment. One that is held at its arrival is lost afterwards. */
  private hold(order: string, [step, moment]: Kill): { readonly reached: Promise<void>; readonly release: () => void } {
    const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    this.partners.at = (call, now) => {
      if (call.order !== order || call.step !== step || now !== moment) return
      this.partners.at = () => {}
      reached.resolve()
      return released.promise
    }
    const lost = (): void => released.reject(new Error("the call is lost"))
    return { reached: reached.promise, release: moment === "arrived" ? lost : released.resolve }
  }

  /**
   * Places an order, and kills the server at each of the moments, one after the other. A held call goes on, or is lost,
   * while there is no server. The next server makes it again.
   */
  async survive(order: string, card: string, kills: ReadonlyArray<Kill>): Promise<void> {
    let begin: () => Promise<unknown> = () => this.place(order, card)
    for (const kill of kills) {
      const { reached, release } = this.hold(order, kill)
      await begin()
      await reached
      await this.server?.end("SIGKILL")
      release()
      begin = () => this.start()
    }
    await this.start()
  }
}

/** The keys of an order by step. */
const keysOf = (calls: ReadonlyArray<Call>, order: string): ReadonlyMap<string, ReadonlySet<string>> => {
  const groups = Map.groupBy(calls.filter((call) => call.order === order), ({ step }) => step)
  return new Map([...groups].map(([step, calls]) => [step, new Set(calls.map(({ key }) => key))]))
}

/** The effects of an order, in order. */
const effectsOf = ({ effects }: Partners, order: string): ReadonlyArray<string> =>
  effects.flatMap((effect) => effect.endsWith(` ${order}`) ? [effect.slice(0, -order.length - 1)] : [])

describe("The checkout example", () => {
  it("ships an order, and releases what it reserved for a declined card", Shop.use(async (shop) => {
    const { partners } = shop
    const [event] = [await shop.place("17"), await shop.place("18", "declined")]
    assert.deepStrictEqual(await shop.until("17", "shipped", "released"), { item: "tea", cents: 500, status: "shipped" })
    const released = { item: "tea", cents: 500, status: "released", reason: "http/status" }
    assert.deepStrictEqual(await shop.until("18", "shipped", "released"), released)
    assert.deepStrictEqual(effectsOf(partners, "17"), ["reserve", "charge", "ship"])
    assert.deepStrictEqual(effectsOf(partners, "18"), ["reserve", "release"])
    const steps = partners.calls.flatMap(({ order, step }) => order === "17" ? [step] : [])
    assert.deepStrictEqual(steps, ["reserve", "charge", "charge", "ship"])
    const { handlings } = await shop.json(`/receipts/${event}`) as { readonly handlings: ReadonlyArray<object> }
    assert.deepInclude(handlings[0], { enzyme: "checkout", outcome: "ok", value: "shipped" })
  }))
})

/** The price of an order that a person has to confirm. */
const EXPENSIVE = 20_000

describe("The checkout example, killed at every step", () => {
  /** Each effect was once, each step kept its key, and steps have different keys. */
  const judge = async (shop: Shop, order: string, effects: ReadonlyArray<string>): Promise<void> => {
    const { calls } = shop.partners
    assert.deepStrictEqual(effectsOf(shop.partners, order), effects)
    const keys = keysOf(calls, order)
    for (const [step, used] of keys) assert.strictEqual(used.size, 1, step)
    assert.strictEqual(new Set([...keys.values()].flatMap((used) => [...used])).size, keys.size)
    assert.includeMembers([...keys.keys()], [...effects])
    assert.notProperty(await shop.json("/journal/verification") as object, "fault")
    const before = calls.length
    assert.notProperty(await shop.json("/replay") as object, "difference")
    assert.strictEqual(calls.length, before, "a replay calls nobody")
  }

  it("ships with each effect once", Shop.use(async (shop) => {
    await shop.survive("17", "visa", [
      ...around("reserve", "arrived"), ["charge", "unavailable"], ...around("charge", "done"), ...around("ship", "answered")
    ])
    assert.strictEqual((await shop.until("17", "shipped", "released")).status, "shipped")
    await judge(shop, "17", ["reserve", "charge", "ship"])
  }))

  it("releases with each effect once", Shop.use(async (shop) => {
    await shop.survive("18", "declined", [
      ["reserve", "done"], ...around("charge", "answered"), ...around("refund", "arrived"), ...around("release", "done")
    ])
    assert.strictEqual((await shop.until("18", "shipped", "released")).status, "released")
    await judge(shop, "18", ["reserve", "release"])
  }))

  it("ships an expensive order once a person has confirmed it", Shop.use(async (shop) => {
    await shop.place("19", "visa", EXPENSIVE)
    await shop.until("19", "reserved")
    await shop.restart()
    assert.strictEqual(await shop.confirm("19", true), 202)
    await shop.restart()
    assert.strictEqual((await shop.until("19", "shipped", "released")).status, "shipped")
    await judge(shop, "19", ["reserve", "charge", "ship"])
  }))

  it("releases an expensive order that a person refuses, and charges nothing", Shop.use(async (shop) => {
    await shop.place("20", "visa", EXPENSIVE)
    await shop.until("20", "reserved")
    await shop.confirm("20", false)
    await shop.restart()
    assert.deepInclude(await shop.until("20", "shipped", "released"), { status: "released", reason: "order/unconfirmed" })
    await judge(shop, "20", ["reserve", "release"])
    assert.notInclude(shop.partners.calls.map(({ step }) => step), "charge")
  }))
})
