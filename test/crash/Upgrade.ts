/**
 * Upgrades a store under load, and kills the server in the middle of it, again and again.
 *
 * Each event begins a durable run that waits, goes on, and sends a signal to another space. A server of the version before may take
 * the spaces back until the upgrade is finished.
 *
 * @module
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Effect } from "effect"
import { Persistence } from "systole"
import * as SqliteFolder from "../persistence/SqliteFolder.ts"
import { node } from "../scripts/Host.ts"
import { type Server, start } from "../scripts/Server.ts"
import * as Random from "../support/Random.ts"
import * as History from "./History.ts"

const config = `import { defineConfig } from "systole"
export default defineConfig({ tempo: 5, spaces: { create: "on-demand" } })
`

const enzymes = `import { Enzyme } from "systole"
export default [
  Enzyme.make({
    name: "order",
    query: "/signals/order/:n",
    durable: true,
    run: async (tx, { params: { n } }) => {
      tx.increment("/data/begun/" + n)
      await tx.sleep({ beats: 3 })
      tx.increment("/data/ended/" + n)
      tx.signal({ signal: "/signals/take/" + n, space: "ledger", payload: 1 })
    }
  }),
  Enzyme.make({ name: "take", query: "/signals/take/:n", run: (tx, { params: { n } }) => tx.increment("/data/taken/" + n) }),
  Enzyme.make({ name: "keep", query: "/signals/keep", run: (tx, { payload }) => tx.set("/data/kept", payload) })
]
`

const spaces = ["home", "ledger"] as const

/** A text whose row in the journal, with the signal and the cell, is stored in parts. */
const long = "é".repeat(450_000)

const CALLERS = 4

/** The most turns of this process between a load and a kill. */
const MOST_TURNS = 200

/** The parameters of a test. */
export interface Plan {
  readonly seed: number
  /** The format of the store before the upgrade: 11 has a long text. */
  readonly format: 10 | 11
  /** The kills before the upgrade, in its middle, and while rows are rewritten. */
  readonly kills: number
  /** The work tree of a version before, which takes the spaces back after each kill before the upgrade is finished. */
  readonly older?: string | undefined
}

/** The result of a test. */
export interface Tally {
  readonly acknowledged: number
  readonly lost: number
  readonly twice: number
  /** The formats of the files before the upgrade is finished, and at the end. */
  readonly before: ReadonlyArray<unknown>
  readonly after: ReadonlyArray<unknown>
  readonly faults: ReadonlyArray<string>
}

const json = { "content-type": "application/json" }

const formatOf = (file: string): unknown => {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    return database.prepare("SELECT format FROM meta").get()?.["format"]
  } finally {
    database.close()
  }
}

/** The callers: each event has an id, and is sent again until it is acknowledged. */
class Callers {
  readonly acknowledged = new Set<number>()
  private open: Array<number> = []
  private next = 0

  /** Posts until `isOver`, or until the server ends. */
  async run(server: Server, isOver: () => boolean): Promise<void> {
    await Promise.all(Array.from({ length: CALLERS }, async () => {
      while (!isOver()) {
        const n = this.open.shift() ?? this.next++
        const answered = await this.post(server, n)
        if (!answered) return
      }
    }))
  }

  /** Posts what was not acknowledged. */
  async settle(server: Server): Promise<void> {
    for (const n of this.open.splice(0)) if (!await this.post(server, n)) throw new Error(`event ${n} has no answer`)
  }

  private async post(server: Server, n: number): Promise<boolean> {
    const body = JSON.stringify({ signal: `/signals/order/${n}`, payload: n, id: `order-${n}` })
    const status = await fetch(`${server.url}/v1/spaces/home/signals`, { method: "POST", headers: json, body })
      .then((response) => response.status, () => 0)
    if (status === 202 || status === 200) this.acknowledged.add(n)
    else this.open.push(n)
    return status === 202 || status === 200
  }
}

/** Asks the store of a space; a server that ends meanwhile is no fault. */
const ask = (server: Server, space: string, path: string): Promise<{ readonly next?: number | null } | undefined> =>
  fetch(`${server.url}/v1/spaces/${space}/store/${path}`, { method: "POST" })
    .then((response) => response.ok ? response.json() as Promise<{ readonly next?: number | null }> : undefined, () => undefined)

const finish = async (server: Server): Promise<void> => {
  for (const space of spaces) await ask(server, space, "finish")
}

const rewrite = async (server: Server): Promise<void> => {
  for (const space of spaces) {
    let after = ""
    for (;;) {
      const page = await ask(server, space, `upgrade?limit=3${after}`)
      if (page?.next === undefined || page.next === null) break
      after = `&after=${page.next}`
    }
  }
}

/** Waits until no run waits and no signal is on its way. */
const rest = async (server: Server): Promise<void> => {
  for (const space of spaces) {
    const body = JSON.stringify({ signal: "/signals/end", at: { beats: 60 } })
    await fetch(`${server.url}/v1/spaces/${space}/signals`, { method: "POST", headers: { ...json, prefer: "wait=60" }, body })
  }
}

/** The counters below a cell of a space, by their names. */
const countsBelow = (data: string, space: string, folder: string): Promise<ReadonlyMap<string, number>> =>
  Effect.runPromise(Effect.scoped(Effect.gen(function*() {
    const store = yield* Persistence.use((persistence) => persistence.open(space, { create: false }))
    const prefix = `/data/${folder}/`
    return new Map(store.below(`/data/${folder}`, { limit: 1_000_000 }).map((key) => [key.slice(prefix.length), Number(store.read(key))]))
  })).pipe(Effect.provide(SqliteFolder.layerIn(data))))

const judge = async (data: string, { acknowledged }: Callers): Promise<Pick<Tally, "lost" | "twice">> => {
  const counts = [
    await countsBelow(data, "home", "begun"), await countsBelow(data, "home", "ended"), await countsBelow(data, "ledger", "taken")
  ]
  let [lost, twice] = [0, 0]
  for (const n of acknowledged) {
    const found = counts.map((map) => map.get(String(n)) ?? 0)
    if (found.includes(0)) lost++
    if (found.some((count) => count > 1)) twice++
  }
  return { lost, twice }
}

/** Runs a test in a folder of its own. */
export const run = async ({ format, kills, older, seed }: Plan): Promise<Tally> => {
  const project = mkdtempSync(join(tmpdir(), "systole-upgrade-"))
  const data = join(project, ".data")
  const files = spaces.map((space) => join(data, `${space}.sqlite`))
  const draw = Random.make(seed)
  const callers = new Callers()
  const faults: Array<string> = []
  mkdirSync(join(project, "enzymes"))
  writeFileSync(join(project, "systole.config.ts"), config)
  writeFileSync(join(project, "enzymes", "orders.ts"), enzymes)
  const line = older === undefined ? undefined
    : [node(), "--import", join(older, "test/scripts/source.mjs"), join(older, "src/main/systole.ts"), "start", "--port", "0"]
  const serve = (isOlder = false): Promise<Server> => start(project, data, isOlder && line !== undefined ? { line } : {})
  /** Serves under load, does a part of the upgrade meanwhile, and kills the server at a drawn moment. */
  const round = async (part: (server: Server) => Promise<void>, isOlder = false): Promise<void> => {
    const server = await serve(isOlder)
    if (!isOlder) faults.push(...await History.verified(async (path) => (await fetch(`${server.url}/v1/spaces/home${path}`)).json()))
    const goal = callers.acknowledged.size + 5 + draw(30)
    const load = callers.run(server, () => callers.acknowledged.size >= goal)
    await load
    const working = part(server)
    for (let turns = draw(MOST_TURNS); turns > 0; turns--) await new Promise<void>((resolve) => void setImmediate(resolve))
    await server.end("SIGKILL")
    await working
  }
  const nothing = async (): Promise<void> => {}
  try {
    const first = await serve(older !== undefined)
    const kept = JSON.stringify({ signal: "/signals/keep", payload: format === 11 ? long : "short" })
    for (const space of spaces) {
      await fetch(`${first.url}/v1/spaces/${space}/signals`, { method: "POST", headers: { ...json, prefer: "wait=60" }, body: kept })
    }
    await first.end("SIGKILL")
    for (let kill = 0; kill < kills; kill++) {
      await round(nothing)
      if (older !== undefined) await round(nothing, true)
    }
    const before = files.map(formatOf)
    for (let kill = 0; kill < kills; kill++) await round(finish)
    for (let kill = 0; kill < kills; kill++) await round(rewrite)
    const last = await serve()
    await finish(last)
    await callers.settle(last)
    await rest(last)
    await rewrite(last)
    await rest(last)
    for (const space of spaces) {
      const reads: History.Get = async (path) => (await fetch(`${last.url}/v1/spaces/${space}${path}`)).json()
      faults.push(...await History.verified(reads), ...await History.replayed(reads))
    }
    await last.end("SIGTERM")
    const tally = await judge(data, callers)
    return { acknowledged: callers.acknowledged.size, ...tally, before, after: files.map(formatOf), faults }
  } finally {
    rmSync(project, { recursive: true, force: true, maxRetries: 5 })
  }
}
