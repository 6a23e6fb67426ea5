/**
 * The proof after a soak: no acknowledged signal is lost or handled twice, and each space verifies and replays.
 *
 * @module
 */
import { join } from "node:path"
import type { CountingServer } from "../crash/CountingServer.ts"
import * as History from "../crash/History.ts"
import { PATIENCE, type Target } from "../attack/Targets.ts"
import { type Acknowledged, expected, type Load } from "./Load.ts"
import { DELAY } from "./SoakProject.ts"

/** The concurrent requests of the proof. */
const AT_ONCE = 16

/** The most faults of a kind that are told. */
const TOLD = 20

/** The result of a proof. */
export interface Tally {
  readonly spaces: number
  readonly receipts: number
  readonly calls: number
  readonly faults: ReadonlyArray<string>
}

const get = ({ ask }: Target, space: string): History.Get => async (path) => JSON.parse((await ask(`/v1/spaces/${space}${path}`)).text)

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

/** Waits until each space has handled its signals and ended its runs. Returns those that do not come to rest. */
export const quieted = async (target: Target, names: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const faults: Array<string> = []
  await each(names, async (name) => {
    const body = JSON.stringify({ signal: "/signals/end", at: { ms: 2 * DELAY } })
    const headers = { "content-type": "application/json", prefer: "wait=60" }
    const { status, text } = await target.ask(`/v1/spaces/${name}/signals`, { method: "POST", headers, body })
    if (status !== 200) faults.push(`the last signal of ${name} is answered ${status} ${text.slice(0, 200)}`)
    const listed = async (): Promise<ReadonlyArray<Run>> =>
      (await get(target, name)("/runs?limit=10") as { readonly runs: ReadonlyArray<Run> }).runs
    let runs = await listed()
    for (const end = performance.now() + PATIENCE; runs.some(isOpen) && performance.now() < end; runs = await listed()) {
      await new Promise((resolve) => setTimeout(resolve, DELAY))
    }
    faults.push(...runs.map((run) =>
      `a run of ${name} ${isOpen(run) ? "does not end" : "was given up"}: ${JSON.stringify(run).slice(0, 300)}`))
  })
  return faults
}

const counted = async (target: Target, name: string, acknowledged: Acknowledged): Promise<ReadonlyArray<string>> => {
  const counts = expected(acknowledged)
  const faults: Array<string> = []
  for (const [counter, most] of Object.entries(counts)) {
    const count = await get(target, name)(`/cells/data/done/${counter}`)
    if (count !== most) faults.push(`${name} counts ${JSON.stringify(count)} of ${counter}, and ${most} are acknowledged`)
  }
  const [total, sum] = [await get(target, name)("/cells/data/total?pull"), Object.values(counts).reduce((a, b) => a + b, 0)]
  if (sum > 0 && total !== sum) faults.push(`${name} derives the sum ${JSON.stringify(total)} from counters of ${sum}`)
  return faults
}

/** The faults of the receipts: each acknowledged signal has one, of a handling that succeeded. */
const receipts = async (target: Target, name: string, { ids }: Acknowledged): Promise<ReadonlyArray<string>> => {
  const faults: Array<string> = []
  for (const [id, known] of ids) {
    const { status } = await get(target, name)(`/receipts/${known}`) as { readonly status?: string }
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

/** Proves all spaces of a server that has restarted. */
export const run = async (target: Target, parties: Parties): Promise<Tally> => {
  const { load, partner } = parties
  const faults: Array<string> = called(parties).slice(0, TOLD)
  const before = partner.count
  const { spaces } = JSON.parse((await target.ask("/v1/spaces")).text) as { readonly spaces: ReadonlyArray<string> }
  await each([...load.spaces], async ([name, acknowledged]) => {
    faults.push(...await counted(target, name, acknowledged), ...(await receipts(target, name, acknowledged)).slice(0, TOLD))
  })
  await each(spaces, async (name) => {
    const read = get(target, name)
    const found = [...await History.verified(read), ...await History.replayed(read), ...History.damage(join(target.data, `${name}.sqlite`))]
    faults.push(...found.map((fault) => `${name}: ${fault}`))
  })
  if (partner.count > before) faults.push(`the restart and the replays made ${partner.count - before} calls`)
  return { spaces: spaces.length, receipts: load.acknowledged, calls: partner.count, faults }
}
