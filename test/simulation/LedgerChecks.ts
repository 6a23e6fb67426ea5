/**
 * The checkers of the ledgers: each end is told as often as it has to be, and nothing of an ended thing goes on.
 *
 * @module
 */
import { Effect, Exit } from "effect"
import { createHash } from "node:crypto"
import type { Space } from "systole"
import type { Attempt } from "./Bank.ts"
import * as Derived from "./Derived.ts"
import * as Ledgers from "./Ledgers.ts"
import { HANDED } from "./Running.ts"
import type { World } from "./World.ts"

/** The most names of a list that a check reads. */
const LIMIT = 200

/** The states of flows that are over. */
const OVER: ReadonlySet<string> = new Set(["done", "error", "cancelled"])

type Check = (world: World, space: Space) => Promise<string | undefined>

const look = async <A, E>(world: World, effect: Effect.Effect<A, E>): Promise<A | undefined> => {
  const exit = await world.run(effect)
  return exit !== undefined && Exit.isSuccess(exit) ? exit.value : undefined
}

/** A thing with ends to tell. */
interface Count {
  readonly name: string
  readonly event: string
  readonly times: number
  readonly told: number
}

const counts = (space: Space) => Effect.gen(function*() {
  const all: Array<Count> = []
  for (const key of yield* space.below(Ledgers.BEGUN, { limit: LIMIT })) {
    const name = key.slice(Ledgers.BEGUN.length + 1)
    const { event, times } = (yield* space.get(key)) as unknown as Omit<Count, "told" | "name">
    all.push({ name, event, times, told: Number((yield* space.get(`${Ledgers.ENDED}/${name}`)) ?? 0) })
  }
  return all
})

/** Whether commands of operators make the counts of a space meaningless. */
const isUncounted = (world: World, space: Space): boolean => world.rollbacks.has(space.name) || world.touched.size + world.arrivals.size > 0

/** The flows that go on, and the things whose ends are not told yet. */
export const open = async (world: World, space: Space): Promise<ReadonlyArray<string>> => {
  const { instances = [] } = await look(world, space.flows.list({ limit: LIMIT })) ?? {}
  const going = instances.filter(({ state }) => !OVER.has(state)).map(({ inst, state }) => `the flow ${inst} is ${state}`)
  if (isUncounted(world, space)) return going
  const all = await look(world, counts(space)) ?? []
  const untold = all.filter(({ times, told }) => told < times)
  return [...going, ...untold.map(({ name, times, told }) => `the end of ${name} is told ${told} times of ${times}`)]
}

/**
 * Lets go on what waits for an operator: paused flows, and the waits of runs whose signals a rollback, a removal or another command
 * took away.
 */
export const release = async (world: World, space: Space): Promise<void> => {
  for (const { inst, state } of (await look(world, space.flows.list({ limit: LIMIT })))?.instances ?? []) {
    if (state === "paused") await world.run(space.flows.resume(inst))
  }
  if (world.rollbacks.size + world.arrivals.size + world.touched.size === 0) return
  for (const { awaits = [] } of (await look(world, space.runs.list({ limit: LIMIT })))?.runs ?? []) {
    for (const { object } of awaits) {
      const [signal, target] = object.split(" ")
      if (signal?.startsWith("/signals/") === true && target !== undefined) await world.run(space.signal({ signal, target }))
    }
  }
}

/** No end is told too often. */
export const ends: Check = async (world, space) => {
  if (isUncounted(world, space)) return undefined
  const twice = (await look(world, counts(space)))?.find(({ times, told }) => told > times)
  return twice && `${space.name}: the end of ${twice.name} is told ${twice.told} times instead of ${twice.times}`
}

/** The end of an event that a run was told is that of its receipt, until that is pruned. An operator may begin the event again. */
export const handed: Check = async (world, space) => {
  if (isUncounted(world, space)) return undefined
  const cells = Effect.flatMap(space.below(HANDED, { limit: LIMIT }), Effect.forEach((key) => space.get(key)))
  for (const end of await look(world, cells) ?? []) {
    const { id, status } = end as { readonly id: string; readonly status: string }
    const receipt = await look(world, space.receipt(id))
    if (receipt === undefined || receipt.status === status || receipt.status === "pruned") continue
    return `${space.name}: a run was told that ${id} is ${status}, and its receipt says ${receipt.status}`
  }
  return undefined
}

/** The pieces are those that the handlers started last, and their cells equal their functions. */
export const pieces: Check = (world, space) => look(world, Effect.gen(function*() {
  const wanted: Array<string> = []
  for (let piece = 0; piece < Ledgers.PIECES; piece++) {
    const name = yield* space.get(`/data/pieces/${piece}`)
    if (typeof name !== "string") continue
    wanted.push(name)
    const { output, source } = Ledgers.pieceOf(piece)
    const made = yield* space.pull(output, { wait: 0 })
    const log = yield* space.get(source)
    const length = Array.isArray(log) ? log.length : 0
    if (made !== length) return `${space.name}: the piece ${name} made ${String(made)}, and its log has ${length} marks`
  }
  const started = (yield* space.list("/sys/pieces")).filter((name) => name.startsWith("piece~"))
  const isSame = JSON.stringify(started.toSorted()) === JSON.stringify(wanted.toSorted())
  return isSame ? undefined : `${space.name} has the pieces ${started.join()}, and its handlers started ${wanted.join()}`
}))

/** Content that a cell names is whole. */
export const content: Check = (world, space) => look(world, Effect.gen(function*() {
  for (const slot of yield* space.list("/data/kept")) {
    const address = String(yield* space.get(`/data/kept/${slot}`))
    const bytes = yield* space.blob(address.slice("/cas/".length))
    const hash = bytes && createHash("sha256").update(bytes).digest("hex")
    if (address !== `/cas/${hash}`) return `${space.name}: the content ${address} of slot ${slot} is ${hash ?? "absent"}`
  }
  return undefined
}))

/** An effect on a node without a gate was told the value that its cell has, if it was told any and no process ended since. */
export const deliveries: Check = async (world, space) => {
  // A flush that fails takes deliveries with it.
  if (world.plan.faults.length > 0 || await look(world, space.get(Derived.SELF)) !== space.name) return undefined
  for (const node of Derived.all.slice(0, Derived.PROMPT)) {
    const last = world.deliveries.last(space.name, node)
    const pull = Effect.map(space.pull(Derived.addressOf(node), { wait: 0 }), (value) => ({ value: value ?? null }))
    const now = last && await look(world, pull)
    if (last === undefined || now === undefined) continue
    const [told, made] = [JSON.stringify(last.value), JSON.stringify(now.value)]
    if (told !== made) return `${space.name}: the effect on ${Derived.nameOf(node)} was told ${told}, and its cell has ${made}`
  }
  return undefined
}

/** The requests that a look found over, with the number of their attempts. */
export type Over = Map<string, number>

/** No attempt of a request begins once its end is durable. */
export const attempts = async (world: World, over: Over, space: Space): Promise<string | undefined> => {
  // An older host does not hear of an end; a rollback and a retry take ends back.
  if (world.wasSplit || world.rollbacks.has(space.name)) return undefined
  const renewal = world.renewals.get(space.name) ?? 0
  const attempts = world.bank.attempts.slice(renewal).filter(({ space: name }) => name === space.name)
  const isOwn = ({ payload }: Attempt): boolean => !world.touched.has(payload.slice(0, payload.indexOf(".")))
  const began = (rid: string): number => attempts.filter((attempt) => attempt.rid === rid && isOwn(attempt)).length
  for (const [key, count] of over) {
    const [name, begin, rid = ""] = key.split(" ")
    if (name !== space.name || Number(begin) !== renewal || began(rid) <= count) continue
    return `${space.name}: an attempt of request ${rid} began after its end`
  }
  const page = await look(world, space.io.list({ limit: 100 }))
  for (const { rid, state } of page?.requests ?? []) {
    if (state === "complete" || state === "fail" || state === "cnl") over.set(`${space.name} ${renewal} ${rid}`, began(rid))
    else over.delete(`${space.name} ${renewal} ${rid}`)
  }
  return undefined
}


type InstanceRow = NonNullable<Effect.Success<ReturnType<Space["flows"]["get"]>>>

/** The ends of a flow that its input and its steps allow. */
const isPlausible = ({ history, input, note, state }: InstanceRow, isSteered: boolean): boolean => {
  const last = history.at(-1)?.step
  const isRefused = last === "good" && (input as unknown as { readonly number: number }).number % 3 === 0
  if (state === "done") return last === "late" || (last === "good" && !isRefused)
  return state === "error" ? note !== undefined || isRefused : state === "cancelled" && isSteered
}

/** Flows end as their steps say, and leave no rendezvous. */
export const flows: Check = async (world, space) => {
  const instances = await look(world, Effect.flatMap(space.flows.list({ limit: LIMIT }), ({ instances: rows }) =>
    Effect.forEach(rows, ({ inst }) => space.flows.get(inst)))) ?? []
  const isSteered = world.rollbacks.size > 0 || world.plan.steps.some(({ action }) => action === "steer")
  const odd = instances.find((row) => row !== undefined && !isPlausible(row, isSteered))
  if (odd !== undefined) return `${space.name}: the flow ${odd.inst} is ${odd.state} (${odd.note}) after ${JSON.stringify(odd.history)}`
  const ended = new Set(instances.map((row) => row?.inst))
  const { rendezvous = [] } = await look(world, space.rv.list({ limit: LIMIT })) ?? {}
  const left = rendezvous.find(({ inst_id = "", state }) => ended.has(inst_id) && (state === "pending" || state === "ready"))
  return left && `${space.name}: the rendezvous ${left.key} is ${left.state}, and its flow ${left.inst_id} is over`
}
