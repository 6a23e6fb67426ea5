/**
 * Kills a server over SQLite repeatedly, and checks the effects of each signal
 * that it acknowledged.
 *
 * @module
 */
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Persistence } from "systole"
import * as SqliteFolder from "../persistence/SqliteFolder.ts"
import { type Host, root } from "../scripts/Host.ts"
import { type Server, start } from "../scripts/Server.ts"
import * as Random from "../support/Random.ts"
import * as Project from "./CountedProject.ts"
import { CountingServer } from "./CountingServer.ts"
import * as History from "./History.ts"
import { Orders } from "./Orders.ts"

/** The number of concurrent callers. */
const CALLERS = 8

/** The maximum number of acknowledgements before a kill, and of turns of this process after them. */
const MOST_ACKNOWLEDGED = 60
const MOST_TURNS = 200

/** The interval of events with a photograph. */
const PHOTOGRAPHED = 20

/** The maximum number of crashes of the server during one request. */
const MOST_ENDS = 10

/** The counters of a handled event. Each must be 1. */
const effectsOf = (n: number): ReadonlyArray<string> => [...Project.effectsOf(n), ...n % PHOTOGRAPHED === 0 ? ["photo"] : []]

/** Events that crash the process, each posted once among the others. */
const POISONS = ["loop", "exit"] as const

const space = "/v1/spaces/counted"

/** The parameters of a crash test. */
export interface Plan {
  readonly kills: number
  /** The seed of the moments of the kills, as far as the test controls them. */
  readonly seed: number
  readonly host?: Host
  /** Called after each restart. */
  readonly onRestart?: (kill: number, acknowledged: number) => void
}

/** The result of a crash test. */
export interface Tally {
  /** The number of events with status 202. */
  readonly acknowledged: number
  /** The number of acknowledged events with each effect exactly once. */
  readonly handled: number
  /** The number of acknowledged events with a missing effect. */
  readonly lost: number
  /** The number of events, acknowledged or not, with a repeated effect. */
  readonly duplicated: number
  /** The number of dead letters of events that crash the process. */
  readonly poisoned: number
  /** The number of cancelled orders. */
  readonly cancelled: number
  /** All other faults. */
  readonly faults: ReadonlyArray<string>
}

/** The callers, with the record of acknowledged and unanswered events. */
class Callers {
  readonly acknowledged = new Set<number>()
  readonly faults: Array<string> = []
  sent = 0
  private readonly photograph = readFileSync(join(root, "examples", "thumbnails", "photos", "blossom.jpg"))
  /** Events with an id but without an answer, which are sent again. */
  private unanswered: Array<number> = []
  /** Events that crash the process, without an answer so far. */
  private poisons: ReadonlyArray<string> = POISONS
  private heard: () => void = () => {}
  private readonly orders: Orders

  constructor(orders: Orders) {
    this.orders = orders
  }

  /** Posts to a server and kills it at a random moment: under load, or when an order was cancelled. */
  async postAndKill(server: Server, draw: (bound: number) => number): Promise<void> {
    const goal = this.acknowledged.size + 1 + draw(MOST_ACKNOWLEDGED)
    const enough = new Promise<void>((resolve) => {
      this.heard = () => {
        if (this.acknowledged.size >= goal) resolve()
      }
    })
    const afterCancelling = draw(2) === 0
    const isOver = (): boolean => afterCancelling && this.acknowledged.size >= goal
    const cancelling = this.orders.cancelSome(server, draw)
    const callers = [this.poison(server), ...Array.from({ length: CALLERS }, () => this.call(server, isOver))]
    // A caller that finds a fault ends early, and the round ends with it.
    await Promise.race([enough, Promise.all(callers)])
    if (afterCancelling && this.orders.areAwaited(this.acknowledged)) await Promise.race([this.orders.next(), cancelling])
    for (let turns = draw(MOST_TURNS); turns > 0; turns--) await new Promise<void>((resolve) => void setImmediate(resolve))
    await server.end("SIGKILL")
    await Promise.all([...callers, cancelling])
  }

  /** Repeats all unanswered events, and waits until the space is idle. */
  async settle(server: Server): Promise<void> {
    while (this.poisons.length > 0) await this.poison(server)
    for (let n = this.unanswered.shift(); n !== undefined; n = this.unanswered.shift()) {
      this.unanswered.unshift(n)
      await this.post(server, n)
      this.unanswered.shift()
    }
    do await this.rest(server)
    while (await this.orders.cancel(server, () => true) > 0 || await this.revive(server))
  }

  /** Waits until no signal is pending. */
  private async rest(server: Server): Promise<void> {
    const response = await fetch(`${server.url}${space}/signals`, {
      method: "POST",
      headers: { "content-type": "application/json", prefer: "wait=60" },
      // Later than all pending signals of the other events.
      body: JSON.stringify({ signal: "/signals/end", at: { beats: 150 } })
    })
    if (response.status !== 404) this.faults.push(`the last signal was answered ${response.status}: ${await response.text()}`)
  }

  /** Sends the letters of handlings again that were under way at two kills in a row. Returns whether there was one. */
  private async revive(server: Server): Promise<boolean> {
    const killed = (await lettersOf(server)).filter(({ code, enzyme }) => code === "run/stuck" && enzyme !== "poison")
    for (const { enzyme, id } of killed) await fetch(`${server.url}${space}/dead/${id}/${enzyme}/redelivery`, { method: "POST" })
    return killed.length > 0
  }

  /** Posts one signal after another until the server ends, or until it is enough. */
  private async call(server: Server, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const n = this.unanswered.shift() ?? this.sent++
      try {
        await this.post(server, n)
      } catch (error) {
        // Every second event has an id, and can be repeated safely.
        if (n % 2 === 0) this.unanswered.push(n)
        if (!(error instanceof TypeError)) this.faults.push(String(error))
        return
      }
    }
  }

  /** Posts one event that crashes the process, a moment after its acknowledgement. */
  private async poison(server: Server): Promise<void> {
    const [how, ...left] = this.poisons
    if (how === undefined) return
    const body = JSON.stringify({ signal: `/signals/poison/${how}`, id: `poison-${how}`, at: { ms: 100 } })
    const request = { method: "POST", headers: { "content-type": "application/json" }, body }
    const response = await fetch(`${server.url}${space}/signals`, request).catch(() => undefined)
    if (response?.status === 202) this.poisons = left
  }

  private async post(server: Server, n: number): Promise<void> {
    const payload = n % PHOTOGRAPHED === 0 ? await this.keep(server, n) : {}
    const response = await fetch(`${server.url}${space}/signals`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ signal: `/signals/begin/${n}`, payload, ...n % 2 === 0 ? { id: `event-${n}` } : {} })
    })
    if (response.status !== 202) throw new Error(`event ${n} was answered ${response.status}: ${await response.text()}`)
    this.acknowledged.add(n)
    this.heard()
  }

  /** Stores a photograph with unique content. */
  private async keep(server: Server, n: number): Promise<{ readonly hash: string; readonly size: number }> {
    const body = Buffer.concat([this.photograph, Buffer.from(String(n))])
    const response = await fetch(`${server.url}${space}/blobs`, { method: "PUT", body })
    if (response.status !== 201) throw new Error(`the photograph of event ${n} was answered ${response.status}: ${await response.text()}`)
    return { hash: createHash("sha256").update(body).digest("hex"), size: body.length }
  }
}

/** Reads a path of the space as JSON. */
const reads = (server: Server): History.Get => async (path) => (await fetch(`${server.url}${space}${path}`)).json()

/** The faults of the journal and of the database file after a restart. */
const inspect = async (server: Server, file: string): Promise<ReadonlyArray<string>> =>
  [...await History.verified(reads(server)), ...History.damage(file)]

type Letter = Readonly<Record<"code" | "enzyme" | "id" | "signal", string>>

const lettersOf = async (server: Server): Promise<ReadonlyArray<Letter>> => {
  const found: Array<Letter> = []
  for (let after: string | null = ""; after !== null;) {
    const query: string = after === "" ? "" : `&after=${encodeURIComponent(after)}`
    const page = await (await fetch(`${server.url}${space}/dead?limit=100${query}`)).json() as {
      readonly letters: ReadonlyArray<Letter>
      readonly next: string | null
    }
    found.push(...page.letters)
    after = page.next
  }
  return found
}

/** The number of dead letters of events that crash the process, and the faults of the dead letters, also of cancelled orders. */
const buried = async (server: Server, orders: Orders): Promise<{ readonly poisoned: number; readonly faults: ReadonlyArray<string> }> => {
  const letters = await lettersOf(server)
  const poisoned = POISONS.map((how) => `poison run/stuck /signals/poison/${how}`)
  const [expected, possible] = [[...poisoned, ...orders.letters], [...poisoned, ...orders.possibleLetters]]
  const found = letters.map(({ code, enzyme, signal }) => `${enzyme} ${code} ${signal}`)
  return {
    poisoned: letters.filter(({ enzyme }) => enzyme === "poison").length,
    faults: [
      ...expected.filter((letter) => !found.includes(letter)).map((letter) => `no dead letter is ${letter}`),
      ...found.filter((letter) => !possible.includes(letter)).map((letter) => `a dead letter is ${letter}`)
    ]
  }
}

/** The counters below `/data/done/`, by their addresses. */
const counted = (data: string): Promise<ReadonlyMap<string, number>> =>
  Effect.runPromise(Effect.scoped(Effect.gen(function*() {
    const store = yield* Persistence.use((persistence) => persistence.open("counted", { create: false }))
    const prefix = "/data/done/"
    return new Map(store.below("/data/done", { limit: 10_000_000 }).map((key) => [key.slice(prefix.length), Number(store.read(key))]))
  })).pipe(Effect.provide(SqliteFolder.layerIn(data))))

/**
 * The growth of a space after which it is inspected again. An inspection reads all of it, so one after each kill would make the time of a
 * test quadratic. A fault stays until the next one, and the last comes after all kills.
 */
const GROWTH = 1.2

/** The opcodes of calls that must not be repeated. */
const ONCE = ["pay", "paid"]

/**
 * The faults of the calls: all calls of a path have one key, each event that was handled made each of its repeatable calls,
 * and none made one of the others twice.
 */
const called = ({ calls }: CountingServer, { acknowledged }: Callers): ReadonlyArray<string> => {
  const faults: Array<string> = []
  const paths = new Map<string, string>()
  for (const [path, { keys, moments }] of calls) {
    if (keys.size > 1) faults.push(`${path} has the keys ${[...keys].join()}`)
    for (const key of keys) {
      const other = paths.get(key) ?? path
      paths.set(key, other)
      if (other !== path) faults.push(`${path} has the key of ${other}`)
    }
    const times = moments.length
    if (times > 1 && ONCE.some((once) => path.startsWith(`${once}/`))) faults.push(`${path} was called ${times} times`)
  }
  for (const n of acknowledged) {
    for (const effect of ["charge", "charged"]) {
      if (effectsOf(n).includes(effect) && !calls.has(`${effect}/${n}`)) faults.push(`${effect}/${n} was never called`)
    }
  }
  return faults
}

/** The requests without a result. */
const unfinished = async (server: Server): Promise<ReadonlyArray<string>> => {
  const { requests } = await (await fetch(`${server.url}${space}/io?open=true`)).json() as { readonly requests: ReadonlyArray<object> }
  return requests.map((request) => `a request has no result: ${JSON.stringify(request)}`)
}

const judge = (
  { acknowledged, faults, sent }: Callers,
  { cancelled, counts, poisoned }: Pick<Tally, "cancelled" | "poisoned"> & { readonly counts: ReadonlyMap<string, number> }
): Tally => {
  let [handled, lost, duplicated] = [0, 0, 0]
  for (let n = 0; n < sent; n++) {
    const times = effectsOf(n).map((effect) => counts.get(`${n}/${effect}`) ?? 0)
    if (times.some((count) => count > 1)) duplicated++
    if (acknowledged.has(n)) {
      if (times.includes(0)) lost++
      else if (!times.some((count) => count > 1)) handled++
    } else if (new Set(times).size > 1) faults.push(`event ${n} was not acknowledged, and half of it was done: ${times.join()}`)
  }
  return { acknowledged: acknowledged.size, handled, lost, duplicated, poisoned, cancelled, faults }
}

/** Kills a server the given number of times under load, and checks all effects. */
export const run = async ({ host = "node", kills, onRestart, seed }: Plan): Promise<Tally> => {
  const project = mkdtempSync(join(tmpdir(), "systole-crash-"))
  const data = join(project, ".data")
  const draw = Random.make(seed)
  const partner = new CountingServer(Random.make(seed + 1))
  const orders = new Orders(partner, space)
  const callers = new Callers(orders)
  try {
    Project.write(project, await partner.listen())
    const begin = async (): Promise<Server> => {
      const begun = await start(project, data, { host })
      partner.life++
      return begun
    }
    let server = await begin()
    /** Repeats a request on a new server if an event crashes the present one. */
    const asking = async <A>(ask: () => Promise<A>): Promise<A> => {
      for (let ends = 0; ; ends++) {
        try {
          return await ask()
        } catch (error) {
          if (!(error instanceof TypeError) || ends === MOST_ENDS) throw error
          await server.end("SIGKILL")
          server = await begin()
        }
      }
    }
    const inspected = async () => callers.faults.push(...await asking(() => inspect(server, join(data, "counted.sqlite"))))
    for (let [kill, due] = [1, 0]; kill <= kills && callers.faults.length === 0; kill++) {
      await callers.postAndKill(server, draw)
      server = await begin()
      const { size } = callers.acknowledged
      if (size >= due) {
        await inspected()
        due = size * GROWTH
      }
      onRestart?.(kill, size)
    }
    await asking(() => callers.settle(server))
    await inspected()
    callers.faults.push(...await asking(() => unfinished(server)))
    const calls = partner.count
    callers.faults.push(...await asking(() => History.replayed(reads(server))))
    if (partner.count > calls) callers.faults.push(`the replay made ${partner.count - calls} calls`)
    const { faults, poisoned } = await asking(() => buried(server, orders))
    callers.faults.push(...faults)
    await server.end("SIGTERM")
    callers.faults.push(...called(partner, callers), ...orders.faults)
    return judge(callers, { counts: await counted(data), poisoned, cancelled: orders.cancelled })
  } finally {
    partner.close()
    rmSync(project, { recursive: true, force: true })
  }
}
