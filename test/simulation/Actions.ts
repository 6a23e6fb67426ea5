/**
 * The actions of a simulated world: those of users and operators, and accidents.
 *
 * @module
 */
import { Effect, Exit } from "effect"
import type { Space } from "systole"
import { present } from "../support/Present.ts"
import * as Random from "../support/Random.ts"
import { accidents } from "./Accidents.ts"
import * as Agent from "./Agent.ts"
import { compare } from "./Checkers.ts"
import { commands } from "./Commands.ts"
import { copies } from "./CopyActions.ts"
import * as Derived from "./Derived.ts"
import { textOf } from "./Digest.ts"
import * as Modules from "./Modules.ts"
import type { Step } from "./Plan.ts"
import { ownId, wakes } from "./Program.ts"
import type { World } from "./World.ts"

type Action = (world: World, step: Step) => Promise<void>

/** The item of a number; `undefined` if there are none. */
const at = <A>(items: ReadonlyArray<A>, number: number): A | undefined => items[number % Math.max(1, items.length)]

/** The item of a number in a list that is not empty. */
const one = <A>(items: ReadonlyArray<A>, number: number): A => present(at(items, number))

const locks = ["/data/log", "/data/log/value/0", "/data"]

type InSpace = (space: Space, step: Step, world: World) => Effect.Effect<unknown, unknown> | undefined

/** Acts in the space of the first number, if it opens. */
const inSpace = (act: InSpace): Action => async (world, step) => {
  const space = await world.space(step.numbers[0])
  const effect = space === undefined ? undefined : act(space, step, world)
  const number = effect === undefined ? 0 : world.answers.push("none")
  if (effect !== undefined) world.ask(effect, (exit) => void (world.answers[number - 1] = textOf(exit)))
  await world.quiet()
}

/** The signal of a step. */
const signalOf = ({ numbers: [, kind, lane], program }: Step, number: number) => {
  const among = kind % 2 === 0 ? Modules.durableNames : Modules.plainNames
  return {
    signal: `/signals/${one(among, kind >> 1)}/${lane % 2}`,
    target: `/data/t/${lane % 3}`,
    payload: program,
    id: ownId(number),
    ...lane % 5 === 0 ? { qos: "control" as const } : {}
  }
}

const send = async (world: World, number: number, older?: Space): Promise<void> => {
  const step = present(world.plan.steps[number])
  const space = older ?? await world.space(step.numbers[0])
  if (space === undefined) return
  world.ask(space.signal(signalOf(step, number)), (exit) => {
    if (Exit.isSuccess(exit)) world.acknowledged.push({ space: space.name, id: exit.value.id, step: number })
  })
}

/** Sends the newest signal to the space of a step again. */
const again = (world: World, { numbers: [number] }: Step, older?: Space): Promise<void> => {
  const last = world.plan.steps.findLastIndex(({ action, numbers: [to] }, i) =>
    action === "post" && i < world.step && to % world.names.length === number % world.names.length)
  return last < 0 ? Promise.resolve() : send(world, last, older)
}

/** Looks whether a fault of the bytes of each space is noticed, as a kill left these. */
export const damage = async ({ checking, files, names, wrong }: World): Promise<void> => {
  for (const name of files === undefined ? [] : names) {
    const found = await files?.damage(name, checking)
    if (found !== undefined) wrong.push(found)
  }
}

/** Finishes the upgrade of a store, and rewrites rows in so many pages of one row. */
const carryOver = (space: Space, pages: number): Effect.Effect<void, unknown> =>
  Effect.gen(function*() {
    yield* space.storage.finish
    let after: number | undefined
    for (let page = 0; page < pages; page++) {
      after = (yield* space.storage.carry({ after, limit: 1 })).next
      if (after === undefined) return
    }
  })

const actions = {
  post: async (world) => {
    await send(world, world.step)
    await world.quiet()
  },
  /** Several signals reach one beat. */
  burst: async (world, { numbers: [, count] }) => {
    const posts = world.plan.steps.map(({ action }, i) => ({ action, i })).filter(({ action, i }) => action === "post" && i < world.step)
    for (const { i } of posts.slice(-1 - count % 4)) await send(world, i)
    await world.quiet()
  },
  wake: inSpace((space, { numbers: [, n, urgent] }) => space.signal({ ...one(wakes, n), ...urgent % 2 === 0 ? { qos: "control" } : {} })),
  set: inSpace((space, { numbers: [, n, value] }, { plan }) => {
    const name = one(["0", "1", "secret"], n)
    const made = name === "secret" ? `secret-${value % 5 + plan.secrets}` : value % 5
    return space.set(`/data/in/${name}`, value % 5 === 0 ? undefined : made)
  }),
  pull: inSpace((space, { numbers: [, node] }) => space.pull(Derived.addressOf(node % Derived.all.length), { wait: 5000 })),
  /** Looks whether some nodes are what they have to be. */
  compare: async (world, { numbers: [number, node, count] }) => {
    const space = await world.space(number)
    for (let i = 0; space !== undefined && i <= count % 3; i++) {
      const found = await compare(world, space, (node + 7 * i) % Derived.all.length)
      if (found !== undefined) world.wrong.push(found)
    }
  },
  http: async (world, { numbers: [number, request] }) => {
    const space = await world.space(number)
    const door = space === undefined ? undefined : world.door(number)
    if (space === undefined || door === undefined) return
    world.ask(Effect.promise(() => door(space.name, request)))
    await world.quiet()
  },
  follow: inSpace((space, { numbers: [, n, how] }, world) => {
    const address = one([Derived.addressOf(3), "/data/in/0", "/data/log/value/0", Derived.addressOf(9)], n)
    return world.follow(space, address, how % 2 === 0 ? undefined : 0)
  }),
  look: inSpace((space, { numbers: [, n, how] }) => {
    const reader = space.reader({ name: "reader", atoms: how % 2 === 0 ? [] : ["secret"] })
    return one([
      reader.get(one([...Derived.all.map(Derived.addressOf), "/data/log/value/2"], how), { wait: 100 }),
      reader.below("/data", { limit: 5 }),
      reader.list("/data/log/names"),
      reader.waiting({ limit: 5 })
    ] as ReadonlyArray<Effect.Effect<unknown, unknown>>, n)
  }),
  advance: (world, { numbers: [, , , n] }) => world.advance(Random.pick(() => n % 7, [1, 1, 10, 50, 1000, 5000, 90_000])),
  /** A process ends, and the next one starts, in good order. */
  restart: async (world, { numbers: [host] }) => {
    const number = host % world.hosts.length
    await world.stop(number)
    await world.boot(number)
  },
  /** A process ends while it is at work. */
  kill: async (world, { numbers: [host, turns] }) => {
    const number = host % world.hosts.length
    const own = world.homes.findIndex((home) => home === number)
    const last = world.plan.steps.findLastIndex(({ action }, i) => action === "post" && i < world.step)
    if (own >= 0 && last >= 0) await send(world, last)
    await world.pass(turns % 12)
    world.kill(number)
    await damage(world)
    await world.boot(number)
  },
  /** A process ends, and the next one has other modules. In some, the format of a store rises and its rows are carried over. */
  upgrade: async (world, { numbers: [host, node, version, how] }) => {
    const number = host % world.hosts.length
    if (how % 2 === 0) await world.stop(number)
    else world.kill(number)
    // A third of the nodes at most, from any one on.
    const swapped = Derived.all.filter((each) => (each + node) % (3 + how % 9) === 0)
    for (const each of swapped) await world.swap(each, version % 4 === 0 ? undefined : version % 4)
    if (how % 3 === 0) await world.deploy(one(Modules.names, node), version % 3 === 0 ? "absent" : version % 3)
    await world.boot(number)
    if (version % 2 === 0) return
    const space = await world.space(node)
    if (space !== undefined) world.ask(carryOver(space, how % 4))
    if (how % 5 === 0) {
      await world.pass(version % 12)
      world.kill(number)
      await world.boot(number)
    }
    await world.quiet()
  },
  /** A host goes down, and another one takes its spaces. */
  move: async (world, { numbers: [host] }) => {
    const [from, to] = [host % world.hosts.length, (host + 1) % world.hosts.length]
    world.kill(from)
    world.homes.forEach((home, i) => home === from && (world.homes[i] = to))
    await world.boot(to === from ? from : to)
  },
  clock: async (world, { numbers: [host, by] }) => {
    world.skew(host % world.hosts.length, Random.pick(() => by % 6, [-1000, -60_000, 3000, 60_000, -7_200_000, 7_200_000]))
    await world.quiet()
  },
  pause: inSpace((space, _, world) => Effect.tap(space.control.pause(), () => world.gate(space.name, true))),
  resume: inSpace((space, _, world) => Effect.andThen(world.gate(space.name, false), space.control.resume())),
  shutdown: inSpace((space, _, world) => Effect.tap(space.control.shutdown(), () => world.gate(space.name, true))),
  reboot: inSpace((space, _, world) => Effect.andThen(world.gate(space.name, false), space.control.restart())),
  lock: inSpace((space, { numbers: [, n] }) => space.control.lock(one(locks, n))),
  unlock: inSpace((space, { numbers: [, n] }) => space.control.unlock(one(locks, n))),
  hold: inSpace((space) => space.control.hold),
  release: inSpace((space) => space.control.release),
  rollback: async (world, { numbers: [number, back] }) => {
    const space = await world.space(number)
    if (space === undefined) return
    await world.run(space.control.pause())
    const head = await world.run(space.head)
    if (head === undefined || !Exit.isSuccess(head)) return
    world.rollbacks.set(space.name, world.step)
    world.ask(space.control.rollback(Math.max(0, head.value - back % 30)))
    await world.quiet()
  },
  cancel: inSpace((space, { numbers: [, n, now] }, world) => Effect.gen(function*() {
    const run = at((yield* space.runs.list({ limit: 20 })).runs, n)
    if (run === undefined) return
    world.touched.add(run.event)
    yield* space.runs.cancel(run.oid, { now: now % 2 === 0 })
    if (now % 2 === 0) world.cancelled.set(`${space.name} ${run.event}`, world.bank.attempts.length)
  })),
  retry: inSpace((space, { numbers: [, n] }, world) => Effect.gen(function*() {
    const run = at((yield* space.runs.list({ limit: 20 })).runs, n)
    if (run === undefined) return
    world.touched.add(run.event)
    world.cancelled.delete(`${space.name} ${run.event}`)
    yield* space.runs.retry(run.oid)
  })),
  redeliver: inSpace((space, { numbers: [, n] }, world) => Effect.gen(function*() {
    const letter = at((yield* space.dead({ limit: 20 })).letters, n)
    if (letter === undefined) return
    world.touched.add(letter.id)
    world.cancelled.delete(`${space.name} ${letter.id}`)
    yield* space.redeliver(letter.id, letter.enzyme)
  })),
  swap: (world, { numbers: [, node, version] }) =>
    world.swap(node % Derived.all.length, version % 4 === 0 ? undefined : version % 4),
  deploy: (world, { numbers: [, n, version] }) => 
    world.deploy(one(Modules.names, n), one(["absent", "broken", 0, 1, 2], version)),
  operate: inSpace((space, { numbers: [, n] }) => Effect.gen(function*() {
    const { operations } = yield* space.ops.list({ limit: 20 })
    const row = at(operations.filter(({ oid }) => oid.startsWith("OPS:")), n)
    if (row !== undefined) yield* space.ops.close(row.oid, { status: n % 2 === 0 ? "sts:ok" : "sts:fail" })
  })),
  report: inSpace((space, { numbers: [, n, how] }) => Effect.gen(function*() {
    const row = at((yield* space.rv.list({ limit: 20 })).rendezvous, n)
    if (row !== undefined) yield* how % 4 === 0 ? space.rv.kill(row.key) : space.rv.report(row.key, { telemetry: { how } })
  })),
  steer: inSpace(commands.steer),
  postpone: inSpace(commands.postpone),
  state: inSpace(commands.state),
  withdraw: inSpace(commands.withdraw),
  upload: inSpace(commands.upload),
  save: inSpace((space, { numbers: [, n] }, { plan }) => plan.hasAgent ? Agent.save(space, n % 3) : undefined),
  ...accidents(again),
  ...copies(again)
} as const satisfies Record<string, Action>

export type ActionName = keyof typeof actions
export const kinds = Object.keys(actions) as ReadonlyArray<ActionName>

/** Does the action of a step. */
export const act = (world: World, step: Step): Promise<void> => {
  const action: Action = actions[step.action]
  return action(world, step)
}
