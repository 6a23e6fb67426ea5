/**
 * A server over SQLite that is killed again and again, and what is left of the
 * signals that it acknowledged.
 *
 * @module
 */
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Persistence } from "systole"
import * as SqliteFolder from "../persistence/SqliteFolder.ts"
import { type Host, root } from "../scripts/Host.ts"
import { type Server, start } from "../scripts/Server.ts"
import * as Dice from "../support/Dice.ts"

/** Those who post at the same time. */
const CALLERS = 8

/** A kill comes after at most so many acknowledgements, and so many turns of this process. */
const MOST_ACKNOWLEDGED = 60
const MOST_TURNS = 200

/** Each how many events one brings a photograph, and one tries again. */
const PHOTOGRAPHED = 20
const SHY = 3

/** How often the server may go down by itself while one thing is asked of it. */
const MOST_ENDS = 10

/** Most beats that a server replays at a time. */
const REPLAYED = 10_000

/** Counts each event where it is handled: at once, tried again, in three more beats, later, and with its photograph. */
const enzymes = `import { Enzyme, Retry } from "systole"

const count = (tx, event, what) => tx.increment("/data/done/" + event.params.n + "/" + what)

export default [
  Enzyme.make({
    name: "begin",
    query: "/signals/begin/:n",
    run: (tx, event) => {
      count(tx, event, "begin")
      tx.increment("/data/total")
      tx.signal({ signal: "/signals/step/" + event.params.n, payload: 3 })
      tx.signal({ signal: "/signals/late/" + event.params.n, payload: 0, at: { beats: 2 } })
      const { hash, size } = event.payload
      if (hash !== undefined) tx.signal({ signal: "/signals/photo/" + event.params.n, payload: { hash, size } })
    }
  }),
  Enzyme.make({
    name: "shy",
    query: "/signals/begin/:n",
    run: (tx, event) => event.attempt === 1 && event.params.n % ${SHY} === 0 ? new Retry({ reason: "not yet" }) : count(tx, event, "shy")
  }),
  Enzyme.make({
    name: "step",
    query: "/signals/step/:n",
    run: (tx, event) => {
      count(tx, event, "step" + event.payload)
      if (event.payload > 1) tx.signal({ signal: "/signals/step/" + event.params.n, payload: event.payload - 1 })
    }
  }),
  Enzyme.make({
    name: "poison",
    query: "/signals/poison/:how",
    limitMs: 200,
    run: (tx, event) => {
      if (event.params.how === "exit") process.exit(0)
      for (;;) continue
    }
  }),
  Enzyme.make({ name: "late", query: "/signals/late/:n", run: (tx, event) => count(tx, event, "late") }),
  Enzyme.make({
    name: "photo",
    query: "/signals/photo/:n",
    lane: "space",
    run: (tx, event) => {
      if (tx.get("/cas/" + event.payload.hash)?.length === event.payload.size) count(tx, event, "photo")
    }
  })
]
`

/** What is counted once for each event that was handled. */
const effectsOf = (n: number): ReadonlyArray<string> =>
  ["begin", "shy", "step1", "step2", "step3", "late", ...n % PHOTOGRAPHED === 0 ? ["photo"] : []]

/** Events that take the process down, each posted once among the others. */
const POISONS = ["loop", "exit"] as const

const config = `export default { tempo: 10, spaces: { create: "on-demand" }, limits: { stuckMillis: 100 } }\n`

const space = "/v1/spaces/counted"

/** What to do. */
export interface Plan {
  readonly kills: number
  /** Of the moments at which it is killed, as far as they are in our hand. */
  readonly seed: number
  readonly host?: Host
  /** Hears of each restart. */
  readonly onRestart?: (kill: number, acknowledged: number) => void
}

/** What came of it. */
export interface Tally {
  /** Events that were answered 202. */
  readonly acknowledged: number
  /** Those of them that did all that they were to do, each thing once. */
  readonly handled: number
  /** Those of them that left out something. */
  readonly lost: number
  /** Events, acknowledged or not, that did something twice. */
  readonly duplicated: number
  /** Events that took the process down and are dead letters. */
  readonly poisoned: number
  /** Whatever else was wrong. */
  readonly faults: ReadonlyArray<string>
}

/** The callers, and what they know. */
class Crash {
  readonly acknowledged = new Set<number>()
  readonly faults: Array<string> = []
  sent = 0
  private readonly photograph = readFileSync(join(root, "examples", "thumbnails", "photos", "blossom.jpg"))
  /** Events with an id whose answer did not come: they are sent again. */
  private unanswered: Array<number> = []
  /** Events that take the process down, and were not answered yet. */
  private poisons: ReadonlyArray<string> = POISONS
  private heard: () => void = () => {}

  /** Posts to a server that is killed at some moment. */
  async surviving(server: Server, roll: (bound: number) => number): Promise<void> {
    const goal = this.acknowledged.size + 1 + roll(MOST_ACKNOWLEDGED)
    const enough = new Promise<void>((resolve) => {
      this.heard = () => {
        if (this.acknowledged.size >= goal) resolve()
      }
    })
    const callers = [this.poison(server), ...Array.from({ length: CALLERS }, () => this.call(server))]
    // A caller that found something wrong ends, and so must this.
    await Promise.race([enough, Promise.all(callers)])
    for (let turns = roll(MOST_TURNS); turns > 0; turns--) await new Promise<void>((resolve) => void setImmediate(resolve))
    await server.end("SIGKILL")
    await Promise.all(callers)
  }

  /** Sends again what was never answered, and waits until all is over. */
  async settle(server: Server): Promise<void> {
    while (this.poisons.length > 0) await this.poison(server)
    for (let n = this.unanswered.shift(); n !== undefined; n = this.unanswered.shift()) {
      this.unanswered.unshift(n)
      await this.post(server, n)
      this.unanswered.shift()
    }
    const response = await fetch(`${server.url}${space}/signals`, {
      method: "POST",
      headers: { "content-type": "application/json", prefer: "wait=60" },
      // Later than whatever is still to come of any other.
      body: JSON.stringify({ signal: "/signals/end", at: { beats: 50 } })
    })
    if (response.status !== 200) this.faults.push(`the last signal was answered ${response.status}: ${await response.text()}`)
  }

  /** Posts one signal after another until the server is gone. */
  private async call(server: Server): Promise<void> {
    for (;;) {
      const n = this.unanswered.shift() ?? this.sent++
      try {
        await this.post(server, n)
      } catch (error) {
        // Every other event has an id, and so can be sent again without harm.
        if (n % 2 === 0) this.unanswered.push(n)
        if (!(error instanceof TypeError)) this.faults.push(String(error))
        return
      }
    }
  }

  /** Posts one event that takes the process down, a little later than it is answered. */
  private async poison(server: Server): Promise<void> {
    const [how, ...left] = this.poisons
    if (how === undefined) return
    const body = JSON.stringify({ signal: `/signals/poison/${how}`, id: `poison-${how}`, at: { ms: 100 } })
    const response = await fetch(`${server.url}${space}/signals`, { method: "POST", headers: { "content-type": "application/json" }, body }).catch(() => undefined)
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

  /** Stores a photograph that nobody stored before. */
  private async keep(server: Server, n: number): Promise<{ readonly hash: string; readonly size: number }> {
    const body = Buffer.concat([this.photograph, Buffer.from(String(n))])
    const response = await fetch(`${server.url}${space}/blobs`, { method: "PUT", body })
    if (response.status !== 201) throw new Error(`the photograph of event ${n} was answered ${response.status}: ${await response.text()}`)
    return { hash: createHash("sha256").update(body).digest("hex"), size: body.length }
  }
}

/** What is wrong with the journal and the file, when the server runs again. */
const inspect = async (server: Server, file: string): Promise<ReadonlyArray<string>> => {
  const { fault } = await (await fetch(`${server.url}${space}/journal/verification`)).json() as { readonly fault?: unknown }
  const database = new DatabaseSync(file, { readOnly: true })
  const rows = database.prepare("PRAGMA integrity_check").all().map((row) => String(row["integrity_check"]))
  database.close()
  return [...fault === undefined ? [] : [`the journal does not hold: ${JSON.stringify(fault)}`], ...rows.filter((row) => row !== "ok")]
}

/** Where the replay of all that happened differs. */
const replayed = async (server: Server): Promise<ReadonlyArray<string>> => {
  for (let from = 0; ; from += REPLAYED) {
    const response = await fetch(`${server.url}${space}/replay?from=${from}&to=${from + REPLAYED - 1}`)
    const { difference, to } = await response.json() as { readonly difference?: unknown; readonly to?: number }
    if (difference !== undefined || to === undefined) return [`the replay from ${from} was answered ${response.status} with ${JSON.stringify(difference)}`]
    if (to < from + REPLAYED - 1) return []
  }
}

/** The events that took the process down, and what else is among the dead letters. */
const buried = async (server: Server): Promise<{ readonly poisoned: number; readonly faults: ReadonlyArray<string> }> => {
  const { letters } = await (await fetch(`${server.url}${space}/dead`)).json() as { readonly letters: ReadonlyArray<{ readonly enzyme: string; readonly code: string; readonly signal: string }> }
  const expected = POISONS.map((how) => `poison run/stuck /signals/poison/${how}`)
  const found = letters.map(({ code, enzyme, signal }) => `${enzyme} ${code} ${signal}`)
  return {
    poisoned: found.length,
    faults: [
      ...expected.filter((letter) => !found.includes(letter)).map((letter) => `no dead letter is ${letter}`),
      ...found.filter((letter) => !expected.includes(letter)).map((letter) => `a dead letter is ${letter}`)
    ]
  }
}

/** How often each thing was counted, by its address below `/data/done/`. */
const counted = (data: string): Promise<ReadonlyMap<string, number>> =>
  Effect.runPromise(Effect.scoped(Effect.gen(function*() {
    const store = yield* Persistence.use((persistence) => persistence.open("counted", { create: false }))
    const prefix = "/data/done/"
    return new Map(store.below("/data/done", { limit: 10_000_000 }).map((key) => [key.slice(prefix.length), Number(store.read(key))]))
  })).pipe(Effect.provide(SqliteFolder.layerIn(data))))

const judge = ({ acknowledged, faults, sent }: Crash, { counts, poisoned }: { readonly counts: ReadonlyMap<string, number>; readonly poisoned: number }): Tally => {
  let [handled, lost, duplicated] = [0, 0, 0]
  for (let n = 0; n < sent; n++) {
    const times = effectsOf(n).map((effect) => counts.get(`${n}/${effect}`) ?? 0)
    if (times.some((count) => count > 1)) duplicated++
    if (acknowledged.has(n)) {
      if (times.includes(0)) lost++
      else if (!times.some((count) => count > 1)) handled++
    } else if (new Set(times).size > 1) faults.push(`event ${n} was not acknowledged, and half of it was done: ${times.join()}`)
  }
  return { acknowledged: acknowledged.size, handled, lost, duplicated, poisoned, faults }
}

/** Kills a server that many times while it is posted to, and looks what is left. */
export const run = async ({ host = "node", kills, onRestart, seed }: Plan): Promise<Tally> => {
  const project = mkdtempSync(join(tmpdir(), "systole-crash-"))
  const data = join(project, ".data")
  const roll = Dice.make(seed)
  const crash = new Crash()
  try {
    mkdirSync(join(project, "enzymes"))
    writeFileSync(join(project, "enzymes", "count.ts"), enzymes)
    writeFileSync(join(project, "systole.config.ts"), config)
    let server = await start(project, data, { host })
    /** What is poisoned may take the server down meanwhile: then another one is asked. */
    const asking = async <A>(ask: () => Promise<A>): Promise<A> => {
      for (let ends = 0; ; ends++) {
        try {
          return await ask()
        } catch (error) {
          if (!(error instanceof TypeError) || ends === MOST_ENDS) throw error
          await server.end("SIGKILL")
          server = await start(project, data, { host })
        }
      }
    }
    for (let kill = 1; kill <= kills && crash.faults.length === 0; kill++) {
      await crash.surviving(server, roll)
      server = await start(project, data, { host })
      crash.faults.push(...await asking(() => inspect(server, join(data, "counted.sqlite"))))
      onRestart?.(kill, crash.acknowledged.size)
    }
    await asking(() => crash.settle(server))
    crash.faults.push(...await asking(() => replayed(server)))
    const { faults, poisoned } = await asking(() => buried(server))
    crash.faults.push(...faults)
    await server.end("SIGTERM")
    return judge(crash, { counts: await counted(data), poisoned })
  } finally {
    rmSync(project, { recursive: true, force: true })
  }
}
