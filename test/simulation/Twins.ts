/**
 * Twins: two worlds that differ in secrets alone. A reader without clearance cannot tell one from the other.
 *
 * @module
 */
import { Effect, Exit, Stream } from "effect"
import type { Reader } from "systole"
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

/** All keys below a cell. The ends of the pages are not compared. */
const keysBelow = (reader: Reader) => Effect.gen(function*() {
  const keys: Array<string> = []
  for (let after: string | undefined; ;) {
    const page = yield* reader.below("/data", { after, limit: 100 })
    keys.push(...page.keys)
    if (page.next === undefined) return keys
    after = page.next
  }
})

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
    const own = world.acknowledged.filter((item) => item.space === name)
    for (const { id } of own) see(`receipt ${id}`, await told(world, reader.receipt(id)))
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
