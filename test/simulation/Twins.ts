/**
 * Twins: two worlds that differ in secrets alone. A reader without clearance cannot tell one from the other, but by the times at which
 * events are over.
 *
 * @module
 */
import { Effect, Exit, Stream } from "effect"
import type { Reader, ShownReceipt, Space } from "systole"
import * as Actions from "./Actions.ts"
import * as Derived from "./Derived.ts"
import type { Plan, Step } from "./Plan.ts"
import * as Simulation from "./Simulation.ts"
import { World } from "./World.ts"

/**
 * The actions that take their object from a list, which an operator sees with the secrets in it, or that count beats or turns. These
 * are different actions in the two worlds. Those that need two hosts have no place in a world with one.
 */
const different: ReadonlySet<Actions.ActionName> = new Set<Actions.ActionName>([
  "kill", "cancel", "retry", "redeliver", "operate", "report", "rollback", "http", "follow", "steer", "postpone", "state",
  "withdraw", "split", "cut", "copy", "backup", "restore", "free"
])

/**
 * A plan whose actions are the same whatever the secrets are: without faults, on one host, and without pruning, since the size of
 * a journal is no secret.
 */
const alike = (plan: Plan, secrets: number): Plan => ({
  ...plan, secrets, isLabelled: true, hosts: 1, retention: {}, faults: [], driver: [],
  steps: plan.steps.filter(({ action }) => !different.has(action))
})

const low = [
  "/data/in/0", "/data/in/1", "/data/links/0", "/data/in/secret", "/data/log/value/2",
  ...[0, 1].flatMap((log) => ["value", "field", "keys"].map((way) => `/data/log/${way}/${log}`)),
  ...Derived.all.map(Derived.addressOf)
]
const folders = ["/data", "/data/in", "/data/log/names", "/data/log/names/0", "/data/log/names/1", "/data/derived", "/rt/dead"]

const nobody = { name: "nobody", atoms: [] }

/** The answer to a reader: the value, or the code and the message of the refusal. */
const told = async <A>(world: World, effect: Effect.Effect<A, { readonly code: string; readonly message: string }>): Promise<unknown> => {
  const exit = await world.run(Effect.result(effect))
  if (exit === undefined) return "no answer"
  if (!Exit.isSuccess(exit)) return "a crash"
  return exit.value._tag === "Success" ? exit.value.success : [exit.value.failure.code, exit.value.failure.message]
}

/** A page of a list, and the cursor of the next one; `undefined` at the end. */
type Page<Row, Cursor> = readonly [rows: ReadonlyArray<Row>, next: Cursor | undefined]

/** All rows of a list. The ends of the pages are not compared. */
const all = <Row, Cursor, E>(page: (after: Cursor | undefined) => Effect.Effect<Page<Row, Cursor>, E>) => Effect.gen(function*() {
  const found: Array<Row> = []
  for (let after: Cursor | undefined; ;) {
    const [rows, next] = yield* page(after)
    found.push(...rows)
    if (next === undefined) return found
    after = next
  }
})

const keysBelow = (reader: Reader) =>
  all((after: string | undefined) =>
    Effect.map(reader.below("/data", { after, limit: 100 }), ({ keys, next }): Page<string, string> => [keys, next]))

/** The signals and attempts of which a reader is told that they wait. */
const waitingOf = (reader: Reader) =>
  all((after: string | undefined) =>
    Effect.map(reader.waiting({ after, limit: 100 }), ({ next, waiting }): Page<Waits, string> => [waiting, next]))

type Waits = Effect.Success<ReturnType<Reader["waiting"]>>["waiting"][number]

/**
 * The receipt of an event as of the end of its attempts above the clearance. An event is pending until its last attempt is over, so a
 * secret may decide the time of its end, and nothing else.
 */
const receiptOf = (space: Space, reader: Reader, id: string) => Effect.gen(function*() {
  const receipt = yield* reader.receipt(id)
  if (receipt?.status !== "pending") return receipt
  const told = (yield* waitingOf(reader)).filter((row) => row.id === id).map(({ enzymes }) => enzymes?.join())
  const rows = yield* all((after: number | undefined) =>
    Effect.map(space.waiting({ after, limit: 100 }), ({ next, waiting }): Page<Waits, number> => [waiting, next]))
  const withheld = rows.filter((row) => row.id === id && !told.includes(row.enzymes?.join())).flatMap(({ enzymes = [] }) => enzymes)
  return withheld.length === 0 ? receipt : ended(receipt, withheld, told.length > 0)
})

/** A receipt with these withheld handlings. */
const ended = ({ handlings, ...receipt }: ShownReceipt, withheld: ReadonlyArray<string>, isOpen: boolean): ShownReceipt => {
  const open = handlings.filter(({ outcome }) => outcome !== "withheld")
  const names = [...handlings.filter(({ outcome }) => outcome === "withheld").map(({ enzyme }) => enzyme), ...withheld].sort()
  const over = open.length === 0 ? "withheld" : open.some(({ outcome }) => outcome === "dead") ? "dead" : "handled"
  const shown = names.map((enzyme) => ({ enzyme, outcome: "withheld" as const }))
  return { ...receipt, status: isOpen ? receipt.status : over, handlings: [...open, ...shown] }
}

/**
 * The question for the newest beats, by actions. The number of beats is public, and the answers to a reader have numbers of beats in
 * ids, also in old ones, and wait by them. So spaces are compared while they have had as many beats after each action.
 */
const BEATS = "beats"

/** The newest beats of each space after the actions so far. */
type Beats = ReadonlyMap<string, Array<number | undefined>>

/** Notes the newest beat of each space. */
const note = async (world: World, beats: Beats): Promise<void> => {
  for (const [number, name] of world.plan.spaces.entries()) {
    const space = await world.space(number)
    const head = space && await world.run(space.head)
    beats.get(name)?.push(head !== undefined && Exit.isSuccess(head) ? head.value : undefined)
  }
}

/** The answers to a reader without clearance, by its questions. */
const sight = async (world: World, beats: Beats): Promise<ReadonlyMap<string, string>> => {
  await note(world, beats)
  const seen = new Map<string, string>()
  for (const [number, name] of world.plan.spaces.entries()) {
    const space = await world.space(number)
    const see = (question: string, answer: unknown): void => void seen.set(`${name} ${question}`, JSON.stringify(answer) ?? "nothing")
    if (space === undefined) {
      see("opens", false)
      continue
    }
    const reader = space.reader(nobody)
    see(BEATS, beats.get(name))
    for (const address of low) see(`get ${address}`, await told(world, reader.get(address, { wait: 0 })))
    for (const folder of folders) see(`list ${folder}`, await told(world, reader.list(folder)))
    see("below /data", await told(world, keysBelow(reader)))
    see("waiting", await told(world, waitingOf(reader)))
    const own = world.acknowledged.filter((item) => item.space === name)
    for (const { id } of own) see(`receipt ${id}`, await told(world, receiptOf(space, reader, id)))
  }
  return seen
}

/** The values that a reader's streams told, in order. */
const follow = async (world: World): Promise<Map<string, Array<unknown>>> => {
  const followed = new Map<string, Array<unknown>>()
  for (const [number, name] of world.plan.spaces.entries()) {
    const space = await world.space(number)
    if (space === undefined) continue
    for (const address of ["/data/in/0", "/data/log/value/0", "/data/derived/sum"]) {
      const values: Array<unknown> = []
      followed.set(`${name} stream ${address}`, values)
      const stream = Stream.runForEach(space.reader(nobody).watch(address), ({ value }) => Effect.sync(() => void values.push(value)))
      world.ask(Effect.ignore(stream))
      await world.quiet()
    }
  }
  return followed
}

/** The answers to a reader after actions in which time passes, and at the end. */
const history = async (plan: Plan): Promise<ReadonlyArray<ReadonlyMap<string, string>>> => {
  const world = new World(plan)
  try {
    await Simulation.begin(world)
    const followed = await follow(world)
    const sights: Array<ReadonlyMap<string, string>> = []
    const beats: Beats = new Map(plan.spaces.map((name) => [name, []]))
    const isCalm = ({ action, numbers: [, , , n] }: Step): boolean => action === "advance" && n % 3 === 0
    for (const [i, step] of plan.steps.entries()) {
      world.step = i
      await Actions.act(world, step)
      if (isCalm(step)) sights.push(await sight(world, beats))
      else await note(world, beats)
    }
    world.step = plan.steps.length
    await Simulation.rest(world)
    sights.push(await sight(world, beats), new Map([...followed].map(([key, values]) => [key, JSON.stringify(values)])))
    return sights
  } finally {
    Simulation.end(world)
  }
}

/** Returns the first difference between two worlds to a reader without clearance. */
export const difference = async (plan: Plan): Promise<string | undefined> => {
  const one = await history(alike(plan, 0))
  const other = await history(alike(plan, 1))
  for (const [look, sights] of one.entries()) {
    const twins = other[look]
    const apart = plan.spaces.filter((name) => sights.get(`${name} ${BEATS}`) !== twins?.get(`${name} ${BEATS}`))
    for (const [question, answer] of sights) {
      const twin = twins?.get(question)
      if (twin === answer || apart.some((name) => question.startsWith(`${name} `))) continue
      return `look ${look}, ${question}: ${answer.slice(0, 300)}, and with other secrets ${twin?.slice(0, 300)}`
    }
  }
  return undefined
}
