/**
 * The proof after a soak: no acknowledged signal is lost or handled twice, and each space verifies and replays.
 *
 * @module
 */
import { join } from "node:path"
import type { CountingServer } from "../crash/CountingServer.ts"
import * as History from "../crash/History.ts"
import { Late, PATIENCE, type Sent, type Target } from "../attack/Targets.ts"
import { type Acknowledged, expected, type Load } from "./Load.ts"
import { DELAY } from "./SoakProject.ts"

/** The concurrent requests of the proof. Each waits for the others, since a server has one thread. */
const AT_ONCE = 4

/** The beats of one replay. */
const REPLAYED = 2000

/** The times that a request is asked. */
const TRIES = 3

/** The most faults of a kind that are told. */
const TOLD = 20

/** The result of a proof. */
export interface Tally {
  readonly spaces: number
  readonly receipts: number
  readonly calls: number
  /** The requests that were not answered in time, and were asked again. */
  readonly late: number
  /** The longest time of a request, in milliseconds. */
  readonly longest: number
  readonly faults: ReadonlyArray<string>
}

/** The questions of a proof to a server. A late answer is a figure, and ends no proof; one that never comes is a fault. */
export class Questions {
  late = 0
  longest = 0
  readonly faults: Array<string> = []
  private readonly target: Pick<Target, "ask" | "data">

  constructor(target: Pick<Target, "ask" | "data">) {
    this.target = target
  }

  get data(): string {
    return this.target.data
  }

  /** Asks, and again if the answer is late: all requests of a proof may be repeated. */
  readonly ask: Target["ask"] = async (path, sent?: Sent) => {
    for (let tries = 1;; tries++) {
      const began = performance.now()
      try {
        return await this.target.ask(path, sent)
      } catch (error) {
        if (!(error instanceof Late)) throw error
        this.late++
        if (tries === TRIES) throw error
      } finally {
        this.longest = Math.max(this.longest, performance.now() - began)
      }
    }
  }

  /** Reads paths of a space. */
  of(space: string): History.Get {
    return async (path) => JSON.parse((await this.ask(`/v1/spaces/${space}${path}`)).text)
  }

  /** Looks for faults. A look that fails is a fault, and the next ones are made. */
  async look(what: string, find: () => Promise<ReadonlyArray<string>>): Promise<void> {
    try {
      this.faults.push(...(await find()).slice(0, TOLD))
    } catch (error) {
      this.faults.push(`${what} cannot be proved: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
}

/** Runs work on items, some at a time. */
const each = async <A>(items: ReadonlyArray<A>, run: (item: A) => Promise<void>): Promise<void> => {
  const left = items.values()
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (const item of left) await run(item)
  }))
}

/** A run that is not over, or that was given up. */
interface Run {
  readonly state: string
}

const isOpen = ({ state }: Run): boolean => state !== "dead"

/** The time that a request for the end of a signal waits for it, in seconds: less than a request may take. */
const WAITED = PATIENCE / 2000

/** The faults of a space that does not come to rest: its last signal or one of its runs does not end. */
const unquiet = async (questions: Questions, name: string, id: string): Promise<ReadonlyArray<string>> => {
  const body = JSON.stringify({ signal: "/signals/end", id, at: { ms: 2 * DELAY } })
  const headers = { "content-type": "application/json", prefer: `wait=${WAITED}` }
  const end = performance.now() + TRIES * PATIENCE
  const last = () => questions.ask(`/v1/spaces/${name}/signals`, { method: "POST", headers, body })
  let answer = await last()
  // The same id is the same signal, so each further request waits on for its end.
  while (answer.status === 202 && performance.now() < end) answer = await last()
  if (answer.status !== 200) return [`the last signal of ${name} is answered ${answer.status} ${answer.text.slice(0, 200)}`]
  const listed = async (): Promise<ReadonlyArray<Run>> =>
    (await questions.of(name)("/runs?limit=10") as { readonly runs: ReadonlyArray<Run> }).runs
  let runs = await listed()
  while (runs.some(isOpen) && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, DELAY))
    runs = await listed()
  }
  return runs.map((run) => `a run of ${name} ${isOpen(run) ? "does not end" : "was given up"}: ${JSON.stringify(run).slice(0, 300)}`)
}

/** Waits until each space has handled its signals and ended its runs. `id` is that of the last signal, new at each call. */
export const quieted = (questions: Questions, names: ReadonlyArray<string>, id: string): Promise<void> =>
  each(names, (name) => questions.look(`the rest of ${name}`, () => unquiet(questions, name, id)))

const counted = async (questions: Questions, name: string, acknowledged: Acknowledged): Promise<ReadonlyArray<string>> => {
  const counts = expected(acknowledged)
  const faults: Array<string> = []
  for (const [counter, most] of Object.entries(counts)) {
    const count = await questions.of(name)(`/cells/data/done/${counter}`)
    if (count !== most) faults.push(`${name} counts ${JSON.stringify(count)} of ${counter}, and ${most} are acknowledged`)
  }
  const [total, sum] = [await questions.of(name)("/cells/data/total?pull"), Object.values(counts).reduce((a, b) => a + b, 0)]
  if (sum > 0 && total !== sum) faults.push(`${name} derives the sum ${JSON.stringify(total)} from counters of ${sum}`)
  return faults
}

/** The faults of the receipts: each acknowledged signal has one, of a handling that succeeded. */
const receipts = async (questions: Questions, name: string, { ids }: Acknowledged): Promise<ReadonlyArray<string>> => {
  const faults: Array<string> = []
  for (const [id, known] of ids) {
    const { status } = await questions.of(name)(`/receipts/${known}`) as { readonly status?: string }
    if (status !== "handled") faults.push(`the receipt of ${id} in ${name} is ${status ?? "absent"}`)
  }
  return faults
}

/** The parties of a soak. */
export interface Parties {
  readonly load: Load
  readonly partner: CountingServer
  /** Whether the server ended under the load. Then a call may be made again, with the same key. */
  readonly isKilled: boolean
}

/** The faults of the calls: each order has called once, with a key of its own. */
const called = ({ isKilled, load: { spaces }, partner: { calls } }: Parties): ReadonlyArray<string> => {
  const orders = [...spaces.values()].flatMap(({ ids }) => [...ids.keys()].filter((id) => id.startsWith("order")))
  const keys = new Set([...calls.values()].flatMap(({ keys }) => [...keys]))
  const faults = orders.flatMap((id) => {
    const { keys: { size } = { size: 0 }, moments = [] } = calls.get(`charge/${id}`) ?? {}
    const isCalled = size === 1 && (moments.length === 1 || isKilled)
    return isCalled ? [] : [`${id} has called ${moments.length} times, with ${size} keys`]
  })
  return keys.size === calls.size ? faults : [...faults, `${calls.size} calls have ${keys.size} keys`]
}

/** The spaces of a server; if it does not tell them, those of the load. */
const spacesOf = async (questions: Questions, load: Load): Promise<ReadonlyArray<string>> => {
  let spaces: ReadonlyArray<string> = [...load.spaces.keys()]
  await questions.look("the list of spaces", async () => {
    spaces = (JSON.parse((await questions.ask("/v1/spaces")).text) as { readonly spaces: ReadonlyArray<string> }).spaces
    return []
  })
  return spaces
}

/** Proves all spaces of a server that has restarted. */
export const run = async (questions: Questions, parties: Parties): Promise<Tally> => {
  const { load, partner } = parties
  const before = partner.count
  const spaces = await spacesOf(questions, load)
  await questions.look("the calls", async () => called(parties))
  await each([...load.spaces], async ([name, acknowledged]) => {
    await questions.look(`the counters of ${name}`, () => counted(questions, name, acknowledged))
    await questions.look(`the receipts of ${name}`, () => receipts(questions, name, acknowledged))
  })
  const replayed = (read: History.Get) => History.replayed(read, REPLAYED)
  const damage = (name: string) => async () => History.damage(join(questions.data, `${name}.sqlite`))
  await each(spaces, async (name) => {
    const named = (find: () => Promise<ReadonlyArray<string>>) => async () => (await find()).map((fault) => `${name}: ${fault}`)
    await questions.look(`the journal of ${name}`, named(() => History.verified(questions.of(name))))
    await questions.look(`the replay of ${name}`, named(() => replayed(questions.of(name))))
    await questions.look(`the file of ${name}`, named(damage(name)))
  })
  const { faults, late, longest } = questions
  if (partner.count > before) faults.push(`the restart and the replays made ${partner.count - before} calls`)
  return { spaces: spaces.length, receipts: load.acknowledged, calls: partner.count, late, longest, faults }
}
