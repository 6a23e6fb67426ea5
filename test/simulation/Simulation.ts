/**
 * The simulation of a plan: its actions, the checks after each, and the end, at which all faults are over and all work ends.
 *
 * @module
 */
import { Exit } from "effect"
import * as Actions from "./Actions.ts"
import * as Checkers from "./Checkers.ts"
import * as Digest from "./Digest.ts"
import * as Leaks from "./Leaks.ts"
import * as LedgerChecks from "./LedgerChecks.ts"
import type { Plan } from "./Plan.ts"
import { wakes } from "./Program.ts"
import { World } from "./World.ts"

/** The failure of a simulation. */
export interface Failure {
  readonly seed: number
  /** The number of the action after which it showed; that of actions in all at the end. */
  readonly step: number
  readonly checker: string
  readonly message: string
}

/** The result of a simulation. */
export interface Result {
  readonly counts: ReadonlyMap<string, number>
  readonly failure: Failure | undefined
  /** The digest of a world in which no rule broke. */
  readonly digest: string | undefined
}

/** The most rounds in which all work ends once the faults are over. */
const ROUNDS = 60

/** Ends all faults and obstacles of a space. */
const heal = async (world: World, number: number): Promise<void> => {
  const space = await world.space(number)
  if (space === undefined) return
  const { control } = space
  await world.run(control.release)
  for (const remedy of [control.unlock("/data/log"), control.unlock("/data/log/value/0"), control.unlock("/data")]) {
    await world.run(remedy)
  }
  const state = await world.run(control.state)
  if (state !== undefined && Exit.isSuccess(state)) {
    if (state.value.detached !== undefined) await world.run(control.releaseDetached())
    if (state.value.state === "halted") await world.run(control.restart())
    if (state.value.state === "paused") await world.run(control.resume())
  }
  for (const wake of wakes) await world.run(space.signal(wake))
  await LedgerChecks.release(world, space)
}

/** The work that is not over. */
const open = async (world: World): Promise<ReadonlyArray<string>> => {
  const pending: Array<string> = []
  for (const number of world.names.keys()) {
    const space = await world.space(number)
    const left = space === undefined ? undefined : await Checkers.leftIn(world, space)
    if (space === undefined || left === undefined) pending.push(`${world.names[number]} is not readable`)
    else pending.push(...[...left, ...await LedgerChecks.open(world, space)].map((row) => `${space.name}: ${row}`))
  }
  return pending
}

/** Ends the faults and the obstacles, and lets time pass until all work is over. Returns what is not. */
export const rest = async (world: World): Promise<ReadonlyArray<string>> => {
  world.disk.isWell = true
  world.bank.isWell = true
  world.network.isWell = true
  world.gated.clear()
  for (const name of Array.from(world.code.absent.keys())) await world.deploy(name, 0)
  // A hung request without a deadline ends with its process.
  for (const [host] of world.hosts.entries()) {
    world.kill(host)
    await world.boot(host)
  }
  let pending: ReadonlyArray<string> = []
  for (let round = 0; round < ROUNDS; round++) {
    for (const number of world.names.keys()) await heal(world, number)
    await world.advance(round < 20 ? 2000 : 600_000)
    pending = await open(world)
    if (pending.length === 0) break
  }
  return pending
}

const finish = async (world: World, memory: Checkers.Memory): Promise<void> => {
  const pending = await rest(world)
  if (pending.length > 0) throw new Checkers.Violation("liveness", `these never end: ${pending.join(", ")}`)
  await Checkers.check(world, memory, Checkers.atTheEnd)
  for (let i = 0; i < 8; i++) await Actions.damage(world)
  await Checkers.watch(world)
  const leak = await Leaks.find(world)
  if (leak !== undefined) throw new Checkers.Violation("leaks", leak)
}

/** Starts the hosts of a world, and makes the first cells. */
export const begin = async (world: World): Promise<void> => {
  for (const [host] of world.hosts.entries()) await world.boot(host)
  for (const number of world.plan.spaces.keys()) {
    await world.furnish(number)
  }
  world.disk.isWell = false
}

/** Ends the hosts of a world. */
export const end = (world: World): void => {
  for (const [host] of world.hosts.entries()) world.kill(host)
  world.files?.end()
}

/** Simulates a plan. */
export const run = async (plan: Plan): Promise<Result> => {
  const world = new World(plan)
  const memory: Checkers.Memory = { logs: new Map(), rollbacks: new Map(), over: new Map() }
  try {
    await begin(world)
    for (const [i, step] of plan.steps.entries()) {
      world.step = i
      world.count(`action ${step.action}`)
      await Actions.act(world, step)
      await Checkers.watch(world)
      if (step.numbers[3] % 4 === 0) await Checkers.check(world, memory, Checkers.often)
      if (step.numbers[3] % 16 === 0) await Checkers.check(world, memory, Checkers.sometimes)
    }
    world.step = plan.steps.length
    await finish(world, memory)
    return { counts: world.counts, failure: undefined, digest: await Digest.of(world) }
  } catch (error) {
    const checker = error instanceof Checkers.Violation ? error.checker : "crash"
    const message = error instanceof Error ? checker === "crash" ? String(error.stack) : error.message : String(error)
    return { counts: world.counts, digest: undefined, failure: { seed: plan.seed, step: world.step, checker, message } }
  } finally {
    end(world)
  }
}
