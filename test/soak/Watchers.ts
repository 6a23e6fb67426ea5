/**
 * Watchers of derived cells: rounds in which clients watch a shop in workerd while signals come and its object leaves memory, and in
 * which each of them has to see the last value.
 *
 * @module
 */
import { randomUUID } from "node:crypto"
import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Dashboard, Place, Products, Receive, Stock } from "../../examples/shop/cells.ts"
import { connect, type RequestFailed, type SpaceClient, type Update } from "../../src/client/index.ts"
import * as Edge from "../runtime/Edge.ts"
import * as Command from "../scripts/Command.ts"
import { node, root } from "../scripts/Host.ts"
import { run as execute } from "../scripts/Process.ts"
import * as Random from "../support/Random.ts"

/** The time within which a watcher sees a value, in milliseconds. */
const PATIENCE = 20_000

/** The most sockets that stay open from one round to the next. */
const SOCKETS = 3

/** The rounds of one shop. */
const ROUNDS = 8

/** The result of all rounds. */
export interface Result {
  readonly rounds: number
  readonly evictions: number
  readonly restarts: number
  /** The watchers whose last value was looked at. */
  readonly watches: number
  /** The longest time until a watcher saw the last value, in milliseconds. */
  readonly longest: number
  /** The watchers that did not see the last value, with what they saw. */
  readonly faults: ReadonlyArray<string>
}

/** The options of the rounds. */
export interface Options {
  readonly rounds: number
  readonly seed: number
  readonly onRound?: (round: number, faults: number) => void
}

const wait = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

/** A value as text, with the members of objects in their order. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part !== "object" || part === null || Array.isArray(part) ? part : Object.fromEntries(Object.entries(part).sort())) ?? "absent"

/** A client that follows a cell. */
interface Watcher {
  readonly cell: string
  /** The last value that it saw, as text. */
  readonly last: () => string
  readonly end: () => void
}

/** The address of a shop at present, and the log of its round. */
interface Site {
  readonly name: string
  readonly origin: () => string
  readonly note: (text: string) => void
}

const client = ({ name, origin }: Site): SpaceClient => connect({ url: origin(), token: Edge.TOKEN }).space(name)

/** A watcher by an event stream. */
interface Streamed extends Watcher {
  readonly cursor: () => string
}

/** Begins a stream, or goes on after the last event of another one. */
const stream = (site: Site, cell: string, before?: Streamed): Streamed => {
  const over = new AbortController()
  const after = before?.cursor()
  let [last, cursor] = [before?.last() ?? "nothing", after ?? ""]
  const take = (update: Update<unknown>): void => {
    [last, cursor] = [textOf(update.value), update.cursor]
    site.note(`stream of ${cell}: ${cursor} ${update.reset ?? ""} ${last}`)
  }
  const onState = (state: string, failure?: RequestFailed): void => site.note(`stream of ${cell}: ${state} ${failure?.code ?? ""}`)
  client(site).watch(cell, { abort: over.signal, after, onState }).each(take)
    .catch((error: Error) => site.note(`stream of ${cell} ended: ${error.message}`))
  return { cell, last: () => last, cursor: () => cursor, end: () => over.abort() }
}

/** An event of a socket. */
interface SocketEvent {
  readonly data: string
  readonly event: string
  readonly id: number | string | undefined
}

/** A watcher by a WebSocket, which hibernates with its object and connects again when it is closed. */
const socket = (site: Site, cell: string): Watcher => {
  let [last, id, isOver] = ["nothing", "", false]
  let open: WebSocket | undefined
  const connects = (): void => {
    if (isOver) return
    const url = `${site.origin().replace("http", "ws")}/v1/spaces/${site.name}/cells${cell}${id === "" ? "" : `?last=${id}`}`
    const own = open = new WebSocket(url, { headers: { authorization: `Bearer ${Edge.TOKEN}` } } as never)
    own.addEventListener("message", (message) => {
      const { data, event, id: newest } = JSON.parse(String(message.data)) as SocketEvent
      if (event === "reset") return
      [last, id] = [event === "absent" ? "absent" : textOf(JSON.parse(data)), String(newest)]
      site.note(`socket of ${cell}: ${id} ${last}`)
      own.send(id)
    })
    own.addEventListener("error", () => {})
    own.addEventListener("close", ({ code }) => {
      site.note(`socket of ${cell}: closed by ${code}`)
      setTimeout(connects, 100)
    })
  }
  connects()
  return { cell, last: () => last, end: () => {
    isOver = true
    open?.close()
  } }
}

/** The stored cells of the shop. */
interface Product {
  readonly price: number
  readonly received: number
}

interface Order {
  readonly item: string
  readonly count: number
  readonly price: number
}

/** One shop: its rounds, and the log of the present one. */
class Shop {
  readonly tally = { evictions: 0, restarts: 0, watches: 0, longest: 0, faults: [] as Array<string> }
  private log: Array<string> = []
  private began = 0
  private readonly edge: Edge.Edge
  private readonly draw: Random.Random
  private readonly name = `shop-${randomUUID()}`
  private readonly sockets: Array<Watcher> = []
  private origin: string

  constructor(edge: Edge.Edge, draw: Random.Random, origin: string) {
    this.edge = edge
    this.draw = draw
    this.origin = origin
  }

  private get site(): Site {
    const { name } = this
    return { name, origin: () => this.origin, note: (text) => void this.log.push(`${Math.round(performance.now() - this.began)} ${text}`) }
  }

  private readonly signal = async (): Promise<void> => {
    const { draw, site } = this
    const target = Products.at({ item: `item-${draw(3)}` })
    if (draw(2) === 0) await client(site).signal(Receive, { target, payload: { price: draw(9), count: 1 + draw(9) }, wait: "60s" })
    else await client(site).signal(Place, { target, payload: { count: 1 }, wait: "60s" })
    site.note("a signal was handled")
  }

  /** The object leaves memory, or the process ends. No request is under way, since the platform keeps an object for it. */
  private async leave(): Promise<void> {
    const { edge, name, site, tally } = this
    if (this.draw(20) === 0) {
      tally.restarts++
      await edge.restart()
      this.origin = (await edge.miniflare.ready).origin
      return site.note("restarted")
    }
    tally.evictions++
    await edge.miniflare.unsafeEvictDurableObject("", "Space", { name, webSockets: "hibernate" })
    site.note("evicted")
  }

  /** Signals and watches begin in an order that is drawn, some of them at once. */
  async round(): Promise<void> {
    this.log = []
    this.began = performance.now()
    const { draw, site, sockets, tally } = this
    await client(site).signal(Receive, { target: Products.at({ item: "tea" }), payload: { price: 1, count: 1 }, wait: "60s" })
    if (draw(3) > 0) await this.leave()
    const streams: Array<Streamed> = []
    const under: Array<Promise<void>> = []
    for (let left = 1 + draw(6); left > 0; left--) {
      const cell = String(draw(2) === 0 ? Dashboard : Stock)
      const kind = draw(8)
      if (kind < 3) streams.push(stream(site, cell))
      else if (kind === 3 && sockets.length < SOCKETS) sockets.push(socket(site, cell))
      else if (kind === 4 && streams.length > 0) {
        const i = draw(streams.length)
        streams[i]?.end()
        streams[i] = stream(site, streams[i]?.cell ?? cell, streams[i])
      } else if (kind === 5) await wait(draw(30))
      else under.push(this.signal())
    }
    await Promise.all(under)
    site.note("all signals are handled")
    tally.watches += streams.length + sockets.length
    const wanted = { [String(Dashboard)]: await this.expected(String(Dashboard)), [String(Stock)]: await this.expected(String(Stock)) }
    await Promise.all([...streams, ...sockets].map((watcher) => this.settled(watcher, wanted[watcher.cell]!)))
    for (const watcher of streams) watcher.end()
    if (draw(4) === 0) sockets.shift()?.end()
  }

  /** Waits until a watcher has a value. A stream that goes on after the last change sees nothing. */
  private async settled({ cell, last }: Watcher, wanted: string): Promise<void> {
    const since = performance.now()
    while (last() !== wanted && performance.now() - since < PATIENCE) await wait(5)
    this.tally.longest = Math.max(this.tally.longest, performance.now() - since)
    if (last() !== wanted) this.tally.faults.push(`${this.name}: ${cell} is ${wanted}, and ${last()} was seen\n${this.log.join("\n")}`)
  }

  /** The value of a derived cell, from the stored ones: a pull would derive it for the watchers, too. */
  private async expected(cell: string): Promise<string> {
    const all = async <A>(below: string): Promise<ReadonlyArray<readonly [name: string, value: A]>> => {
      const page = await this.edge.json(`/v1/spaces/${this.name}/cells/data/${below}?below&values&limit=500`)
      const { cells, values } = page as { readonly cells: ReadonlyArray<string>; readonly values: ReadonlyArray<A> }
      return cells.map((key, i) => [key.slice(key.lastIndexOf("/") + 1), values[i] as A])
    }
    const products = await all<Product>("products")
    const orders = (await all<Order>("orders")).map(([, order]) => order)
    const left: Record<string, number> = {}
    for (const [item, { received }] of products) left[item] = received
    for (const { count, item } of orders) left[item] = (left[item] ?? 0) - count
    if (cell === String(Stock)) return textOf(left)
    return textOf({
      orders: orders.length,
      takings: orders.reduce((sum, { count, price }) => sum + count * price, 0),
      items: products.map(([item, { price }]) => ({ item, price, left: left[item] ?? 0 }))
    })
  }

  end(): void {
    for (const each of this.sockets) each.end()
  }
}

/** Builds the shop for Workers, and runs the rounds, each shop with some of them. */
export const run = async ({ onRound = () => {}, rounds, seed }: Options): Promise<Result> => {
  await Command.ensure()
  const folder = mkdtempSync(join(tmpdir(), "systole-watchers-"))
  try {
    cpSync(join(root, "examples", "shop"), folder, { recursive: true, filter: (file) => !/[\\/]\.(?:data|systole)$/.test(file) })
    const { code, output } = await execute([node(), Command.file, "build", "--target", "workers", "--out", "workers"], { cwd: folder })
    if (code !== 0) throw new Error(output)
    const draw = Random.make(seed)
    const shops: Array<Shop> = []
    const faults = () => shops.flatMap(({ tally }) => tally.faults)
    await Edge.running({ folder: join(folder, "workers") }, async (edge) => {
      for (let round = 0; round < rounds; round++) {
        if (round % ROUNDS === 0) {
          shops.at(-1)?.end()
          shops.push(new Shop(edge, draw, (await edge.miniflare.ready).origin))
        }
        await shops.at(-1)!.round()
        onRound(round + 1, faults().length)
      }
      shops.at(-1)?.end()
    }, { folder: join(folder, "stored") })
    const sum = (name: "evictions" | "restarts" | "watches"): number => shops.reduce((total, { tally }) => total + tally[name], 0)
    const longest = Math.max(...shops.map(({ tally }) => tally.longest))
    return { rounds, faults: faults(), evictions: sum("evictions"), restarts: sum("restarts"), watches: sum("watches"), longest }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
