/**
 * The checkers: the rules after every action, and those at the end.
 *
 * @module
 */
import { Effect, Exit } from "effect"
import { explain, type HandlingReceipt, type Receipt, replay, type Space, type Value, verify, why } from "systole"
import * as Random from "../support/Random.ts"
import * as Agent from "./Agent.ts"
import * as Clockwork from "./Clockwork.ts"
import * as Derived from "./Derived.ts"
import * as LedgerChecks from "./LedgerChecks.ts"
import * as Ledgers from "./Ledgers.ts"
import * as Modules from "./Modules.ts"
import { LOGS, marksOf, ownId } from "./Program.ts"
import type { World } from "./World.ts"

/** A rule that does not hold. */
export class Violation extends Error {
  readonly checker: string

  constructor(checker: string, message: string) {
    super(message)
    this.checker = checker
  }
}

type Marks = ReadonlyArray<string>

/** The findings of the checks before. */
export interface Memory {
  /** The logs as last seen, by space and place. */
  readonly logs: Map<string, Marks>
  /** The rollback and the arrival that the logs follow, by space. */
  readonly rollbacks: Map<string, string>
  /** The requests that were over. */
  readonly over: LedgerChecks.Over
}

/** The result of a look at a space; `undefined` if it cannot be looked at now. */
const look = async <A>(world: World, effect: Parameters<World["run"]>[0]): Promise<A | undefined> => {
  const exit = await world.run(effect)
  return exit !== undefined && Exit.isSuccess(exit) ? exit.value as A : undefined
}

const textsOf = (value: Value | undefined): Marks => Array.isArray(value) ? value.map(String) : Object.values(value ?? {}).map(String)

/** The logs of a space, by their places. */
const logsOf = async (world: World, space: Space): Promise<ReadonlyMap<string, Marks> | undefined> =>
  look(world, Effect.gen(function*() {
    const logs = new Map<string, Marks>()
    for (let log = 0; log < LOGS; log++) {
      for (const place of [`/data/log/value/${log}`, `/data/log/field/${log}#/marks`, `/data/log/keys/${log}`]) {
        logs.set(place, textsOf(yield* space.get(place)))
      }
      const marks: Array<string> = []
      for (const name of yield* space.list(`/data/log/names/${log}`)) marks.push(String(yield* space.get(`/data/log/names/${log}/${name}`)))
      logs.set(`/data/log/names/${log}`, marks)
    }
    return logs
  }))

/** The event of a mark. */
const eventOf = (mark: string): string => mark.slice(0, mark.indexOf("."))

type Checker = (world: World, memory: Memory, space: Space) => Promise<string | undefined>

/** No mark is lost, none is there twice, and their order stays. */
const lostUpdates: Checker = async (world, { logs, rollbacks }, space) => {
  const [rollback, arrival] = [world.rollbacks.get(space.name), world.arrivals.get(space.name)]
  // Where a flush hangs, a rollback takes its effect later.
  const back = `${rollback} ${arrival}`
  const isRolledBack = (rollbacks.get(space.name) ?? back) !== back || (rollback !== undefined && world.plan.faults.length > 0)
  rollbacks.set(space.name, back)
  for (const [place, marks] of await logsOf(world, space) ?? []) {
    const key = `${space.name} ${place}`
    const before = isRolledBack ? [] : logs.get(key) ?? []
    logs.set(key, marks)
    const lost = before.findIndex((mark, i) => marks[i] !== mark)
    if (lost >= 0) return `${key} had ${JSON.stringify(before)}, and has ${JSON.stringify(marks)}: ${before[lost]} is lost`
    const twice = marks.find((mark, i) => marks.indexOf(mark) !== i)
    if (twice === undefined || world.touched.has(eventOf(twice)) || world.rollbacks.has(space.name)) continue
    return `${key} has ${twice} twice: ${JSON.stringify(marks)}`
  }
  return undefined
}

/** An acknowledged signal has its receipt, and its caller's own id names it. */
const receipts: Checker = async (world, _, space) => {
  for (const { id, space: name, step } of world.acknowledged) {
    if (name !== space.name) continue
    for (const asked of [id, ownId(step)]) {
      const exit = await world.run(space.receipt(asked))
      if (exit === undefined || !Exit.isSuccess(exit) || exit.value?.id === id) continue
      return `${name} acknowledged ${id}, and the receipt of ${asked} is ${exit.value === undefined ? "none" : `that of ${exit.value.id}`}`
    }
  }
  return undefined
}

/** No attempt begins in a space that is paused, halted or about to be. */
const early = async (world: World): Promise<void> => {
  if (world.wasSplit) return
  for (const { payload, space: name } of world.bank.early.splice(0)) {
    const space = await world.space(world.names.indexOf(name))
    const status = space && await look<{ readonly state: string }>(world, space.control.state)
    if (status?.state === "running") world.gated.delete(name)
    // A pause that failed holds nothing back.
    else if (status !== undefined) throw new Violation("pauses", `${name} is ${status.state}, and an attempt of ${payload} begins`)
  }
}

/** Looks at what the parts of the world saw in an action. It opens no space, since a look would hide that one does not wake. */
export const watch = async (world: World): Promise<void> => {
  const [wrong] = world.wrong
  if (wrong !== undefined) throw new Violation("inside", wrong)
  await early(world)
}

/** Compares a derived cell with its function over the sources. Returns the difference. */
export const compare = async (world: World, space: Space, node: number): Promise<string | undefined> => {
  if (world.versions[node] === undefined) return undefined
  const pull = Effect.map(space.pull(Derived.addressOf(node), { wait: 0 }), (value) => ({ value }))
  // The first look may begin a beat that was due, whose work comes after its answer.
  await world.run(pull)
  const pulled = await look<{ readonly value: Value }>(world, pull)
  if (pulled === undefined) return undefined
  const cells = await look<ReadonlyMap<string, Value>>(world, Effect.map(
    Effect.forEach(Derived.sources(world.versions), (address) => Effect.map(space.get(address), (value) => [address, value] as const)),
    (entries) => new Map(entries)
  ))
  if (cells === undefined) return undefined
  const made = Derived.expected((address) => cells.get(address), node, world.versions)
  if (JSON.stringify(made) === JSON.stringify(pulled.value)) return undefined
  return `${space.name}: ${Derived.addressOf(node)} is ${JSON.stringify(pulled.value)}, and its sources make ${JSON.stringify(made)}`
}

/** A derived cell equals its function over the sources. */
const derived: Checker = async (world, _, space) => {
  // A look makes what is above its node, too, so the nodes take turns at being the first.
  for (const node of Random.shuffled(world.checking, Derived.all)) {
    const found = await compare(world, space, node)
    if (found !== undefined) return found
  }
  return undefined
}

/** A stream tells each beat once, in order, and its last value is the present one. */
const streams: Checker = async (world, _, space) => {
  for (const { address, seen, space: name } of world.following) {
    if (name !== space.name) continue
    const back = seen.findIndex(({ beat }, i) => i > 0 && beat <= (seen[i - 1]?.beat ?? -1))
    if (back >= 0) return `${name}: the stream of ${address} tells beats ${seen.map(({ beat }) => beat).join(", ")}`
    const now = await look<{ readonly value: Value }>(world, Effect.map(space.get(address), (value) => ({ value })))
    const last = seen.at(-1)
    if (now === undefined || last === undefined || JSON.stringify(last.value) === JSON.stringify(now.value)) continue
    return `${name}: the stream of ${address} ends with ${JSON.stringify(last)}, and the cell has ${JSON.stringify(now.value)}`
  }
  return undefined
}

/** A reader without clearance is told no secret. */
const secrets: Checker = async (world, _, space) => {
  if (!world.plan.isLabelled) return undefined
  const reader = space.reader({ name: "nobody", atoms: [] })
  for (const address of ["/data/in/secret", "/data/log/value/2", "/data/derived/high"]) {
    const shown = await world.run(reader.get(address, { wait: 100 }))
    if (shown !== undefined && Exit.isSuccess(shown)) return `${space.name} shows ${address} to a reader without clearance`
  }
  const keys = await look<{ readonly keys: ReadonlyArray<string> }>(world, reader.below("/data", { limit: 400 }))
  const secret = keys?.keys.find((key) => /\/secret|log\/\w+\/2|high/.test(key))
  return secret === undefined ? undefined : `${space.name} lists ${secret} to a reader without clearance`
}

/** One key for each request, and no attempt begins once its run is cancelled for good. */
const requests: Checker = async (world) => {
  // An older host of a space does not hear what the newer one made durable.
  if (world.wasSplit) return undefined
  const { attempts } = world.bank
  const late = attempts.find(({ payload, space }, i) =>
    !payload.endsWith(Ledgers.ALONE) && (world.cancelled.get(`${space} ${eventOf(payload)}`) ?? Infinity) <= i)
  if (late !== undefined) return `an attempt of ${late.payload} began after the cancellation of its run was durable`
  const keys = new Map<string, string>()
  for (const [i, { key, payload, space }] of attempts.entries()) {
    // A space that was made anew counts its events from the start, and its requests have keys of their own.
    if (i < (world.renewals.get(space) ?? 0)) continue
    const request = `${space}: ${payload}`
    const known = keys.get(request)
    if (known !== undefined && known !== key && !world.touched.has(eventOf(payload))) return `${request} has the keys ${known} and ${key}`
    keys.set(request, key)
  }
  return undefined
}

/** The journal is whole, and a replay makes it again, from its beginning and from any beat. */
const history: Checker = async (world, _, space) => {
  const head = await look<number>(world, space.head)
  if (head === undefined || head < 0) return undefined
  const verified = await look<{ readonly fault: unknown }>(world, space.examine(verify))
  if (verified?.fault !== undefined) return `${space.name}: the journal has a fault: ${JSON.stringify(verified.fault)}`
  const isOver = world.step === world.plan.steps.length
  const begin = world.checking(head + 1)
  for (const from of isOver ? [undefined, begin] : [begin]) {
    const found = await replayed(world, space, { begin: from, head })
    if (found !== undefined) return found
  }
  return undefined
}

/** Whether the journals of a world lose their oldest beats. */
const isForgetful = ({ plan }: World): boolean => Object.keys(plan.retention).length > 0

/** The beats of a replay. */
interface Range {
  readonly begin: number | undefined
  readonly head: number
}

const replayed = async (world: World, space: Space, { begin: first, head }: Range): Promise<string | undefined> => {
  for (let from = first; ;) {
    const begin = from
    const made = await look<Awaited<ReturnType<typeof replay>>>(world, space.examine((source) => replay(source, begin, head)))
    if (made === undefined) return undefined
    if (made.difference !== undefined) return `${space.name}: the replay from ${first} differs: ${JSON.stringify(made.difference)}`
    const { impossible } = made
    // Of the oldest kept beats, some have signals that pruned ones tell of.
    if (impossible?.code === "replay/pruned" && isForgetful(world)) {
      if (impossible.beat >= head) return undefined
      from = impossible.beat + 1
      continue
    }
    if (impossible !== undefined) return `${space.name}: no replay from ${first}: ${JSON.stringify(impossible)}`
    if (made.next === undefined) return undefined
    from = made.next
  }
}

const placesWithReasons = ["value", "field", "keys"].flatMap((way) => [0, 1, 2].map((log) => `/data/log/${way}/${log}`))

/** Each value has an origin in the journal, and each handling an explanation. */
const reasons: Checker = async (world, _, space) => {
  const place = Random.pick(world.checking, [...placesWithReasons, "/data/in/0", "/data/in/1", ...Derived.all.map(Derived.addressOf)])
  const found = await look<{ readonly value: Value; readonly reason: Awaited<ReturnType<typeof why>> }>(world, Effect.gen(function*() {
    return { value: yield* space.get(place), reason: yield* space.examine((source) => why(source, place)) }
  }))
  if (found?.value !== undefined) {
    const { reason, value } = found
    if (reason === undefined && isForgetful(world)) return undefined
    if (reason === undefined) return `${space.name}: nothing wrote ${place}, which is ${JSON.stringify(value)}`
    if (reason.writers.length === 0) return `${space.name}: beat ${reason.beat} wrote ${place}, and nobody in it`
    const [shown, made] = [JSON.stringify(value), JSON.stringify(reason.value)]
    if (shown !== made) return `${space.name}: ${place} is ${shown}, and its origin in beat ${reason.beat} made ${made}`
  }
  return explained(world, space)
}

const explained = async (world: World, space: Space): Promise<string | undefined> => {
  const own = world.acknowledged.filter(({ space: name }) => name === space.name)
  if (own.length === 0) return undefined
  const { id } = Random.pick(world.checking, own)
  const receipt = await look<Receipt>(world, space.receipt(id))
  const handling = receipt?.handlings.find(({ outcome }) => outcome === "ok")
  if (handling === undefined) return undefined
  const { beat, enzyme } = handling
  const found = await look<Awaited<ReturnType<typeof explain>>>(world, space.examine((source) => explain(source, beat, enzyme)))
  const shown = found?.signals.find((signal) => signal.id.split("#", 1)[0] === id)
  if (found === undefined || shown?.verdict === "ran") return undefined
  return `${space.name}: ${enzyme} handled ${id} in beat ${beat}, and its explanation is ${JSON.stringify(shown ?? found)}`
}

/** The receipts of the acknowledged signals of a space, in their order. */
const receiptsOf = async (world: World, space: Space) => {
  const own = world.acknowledged.filter(({ space: name }) => name === space.name)
  const all: Array<{ readonly receipt: Receipt; readonly step: number }> = []
  for (const { id, step } of own) {
    const receipt = await look<Receipt>(world, space.receipt(id))
    if (receipt !== undefined) all.push({ receipt, step })
  }
  return all
}

/** Each handled signal has left all its marks. */
const complete: Checker = async (world, { logs }, space) => {
  if (world.rollbacks.has(space.name)) return undefined
  const marks = new Set([...logs].filter(([key]) => key.startsWith(`${space.name} `)).flatMap(([, list]) => list))
  for (const { receipt, step } of await receiptsOf(world, space)) {
    if (receipt.status !== "handled") continue
    const lost = marksOf(world.plan.steps[step]?.program ?? []).find((path) => !marks.has(`${receipt.id}.${path}`))
    if (lost !== undefined) return `${space.name} handled ${receipt.id}, and its mark ${lost} is nowhere`
  }
  return undefined
}

/** Signals of a strict lane are handled in the order in which they came, and never two in one beat. */
const lanes: Checker = async (world, _, space) => {
  const last = new Map<string, HandlingReceipt & { readonly id: string }>()
  const seen = new Set<string>()
  for (const { receipt: { handlings: [handling], id }, step } of await receiptsOf(world, space)) {
    if (handling === undefined || handling.outcome !== "ok" || !Modules.strictNames.includes(handling.enzyme) || seen.has(id)) continue
    seen.add(id)
    if (world.touched.has(id)) continue
    const lane = world.plan.steps[step]?.numbers[2] ?? 0
    const key = `${handling.enzyme} ${lane % 6} ${lane % 5 === 0}`
    const before = last.get(key)
    if (before !== undefined && before.beat >= handling.beat) {
      return `${space.name}: ${id} was handled in beat ${handling.beat}, and ${before.id}, which came before it, in ${before.beat}`
    }
    last.set(key, { ...handling, id })
  }
  return undefined
}

/** The open work of a space: signals, runs, requests and pending receipts. `undefined` if it cannot be read. */
export const leftIn = async (world: World, space: Space): Promise<ReadonlyArray<string> | undefined> => {
  const rows = await look<ReadonlyArray<unknown>>(world, Effect.gen(function*() {
    const { waiting } = yield* space.waiting({ limit: 10 })
    const { runs } = yield* space.runs.list({ limit: 10 })
    const { requests } = yield* space.io.list({ limit: 10, open: true })
    return [...waiting, ...runs.filter(({ state }) => state !== "dead"), ...requests]
  }))
  const receipts = await receiptsOf(world, space)
  const pending = receipts.map(({ receipt }) => receipt).filter(({ status }) => status === "pending")
  return rows && [...rows, ...pending].map((row) => JSON.stringify(row)).filter((row) => !Agent.isWake(row) && !Clockwork.isEvent(row))
}

const pieces: Checker = (world, _, space) => LedgerChecks.pieces(world, space)
const content: Checker = (world, _, space) => LedgerChecks.content(world, space)
const flows: Checker = (world, _, space) => LedgerChecks.flows(world, space)
const handed: Checker = (world, _, space) => LedgerChecks.handed(world, space)
const ends: Checker = (world, _, space) => LedgerChecks.ends(world, space)
const deliveries: Checker = (world, _, space) => LedgerChecks.deliveries(world, space)
const agent: Checker = (world, _, space) => Agent.lives(world, space)
const schedule: Checker = (world, _, space) => Clockwork.events(world, space)
const clockwork: Checker = (world, _, space) => Clockwork.lives(world, space)
const attempts: Checker = (world, { over }, space) => LedgerChecks.attempts(world, over, space)

/** The checkers that look at times, and those that cost more. */
export const often: Readonly<Record<string, Checker>> = { receipts, lostUpdates, requests, attempts, streams, schedule }
export const sometimes: Readonly<Record<string, Checker>> = { derived, pieces, content, deliveries, history, reasons, secrets }
export const atTheEnd: Readonly<Record<string, Checker>> = {
  ...often, ...sometimes, complete, lanes, ends, handed, flows, agent, clockwork
}

/** Looks with these checkers at each space. Throws a violation. */
export const check = async (world: World, memory: Memory, checkers: Readonly<Record<string, Checker>>): Promise<void> => {
  for (const [number] of world.names.entries()) {
    const space = await world.space(number)
    if (space === undefined) continue
    for (const [name, checker] of Object.entries(checkers)) {
      const found = await checker(world, memory, space)
      if (found !== undefined) throw new Violation(name, found)
    }
  }
}
