/**
 * Plans: all that a simulated world does, drawn from its seed, as data that shrinks.
 *
 * @module
 */
import type { Retention } from "systole"
import * as Random from "../support/Random.ts"
import { type ActionName, kinds as actionKinds } from "./Actions.ts"
import * as Bank from "./Bank.ts"
import * as Derived from "./Derived.ts"
import { type Fault, faultKinds } from "./Disk.ts"
import * as Driver from "./Driver.ts"
import * as Network from "./Network.ts"
import * as Program from "./Program.ts"

/** One action. What its numbers mean depends on what there is, so other actions may be omitted. */
export interface Step {
  readonly action: ActionName
  readonly numbers: readonly [place: number, first: number, second: number, third: number]
  readonly program: Program.Program
}

/** The plan of a world. */
export interface Plan {
  readonly seed: number
  readonly hosts: number
  readonly spaces: ReadonlyArray<string>
  /** Whether the limits are low, so that signals and state spill to the store. */
  readonly isSmall: boolean
  /** The most open spaces of a host; `undefined` for no limit. */
  readonly open: number | undefined
  /** The most jobs of the server of a host at a time. */
  readonly jobs: number
  /** Whether some logs and cells are secret. */
  readonly isLabelled: boolean
  /** The number of the secrets. Worlds that differ in it alone look the same below. */
  readonly secrets: number
  /** Whether its spaces have the enzymes of the agent. */
  readonly hasAgent: boolean
  /** Whether its spaces have an enzyme with a schedule. */
  readonly hasSchedule: boolean
  /** How long histories are kept; empty for the usual time. */
  readonly retention: Partial<Retention>
  /** Whether the spaces are SQLite files. */
  readonly isOnFiles: boolean
  /** The derived nodes that are absent at first. */
  readonly absent: ReadonlyArray<number>
  readonly faults: ReadonlyArray<Fault>
  /** The faults of SQLite, if the spaces are its files. */
  readonly driver: ReadonlyArray<Driver.Fault>
  /** The faults of the server and of the network. */
  readonly bank: ReadonlyArray<Bank.Fault>
  readonly network: ReadonlyArray<Network.Fault>
  readonly steps: ReadonlyArray<Step>
}

/** Retentions: the usual one, and those that keep little of the journal, and little of content without a reference. */
const retentions: ReadonlyArray<Partial<Retention>> = [
  {}, {}, {}, { journalBytes: 1 }, { journalBytes: 4000, contentMillis: 1 }, { journalMillis: 1000, contentMillis: 1000 }
]

/** A part of these, and never none: what is rare together is found where the rest is silent. */
const swarm = <A>(draw: Random.Random, all: ReadonlyArray<A>): ReadonlyArray<A> => {
  const share = 1 + draw(4)
  const chosen = all.filter(() => draw(4) < share)
  return chosen.length === 0 ? [Random.pick(draw, all)] : chosen
}

/** Draws the plan of a seed. Small worlds are frequent, and large ones rare. `only` is an action to have beside signals and time. */
export const make = (seed: number, only?: ActionName): Plan => {
  const draw = Random.make(seed * 7919 + 1)
  const spaces = ["one", "two", "three"].slice(0, 1 + draw(3))
  const kinds = new Set(swarm(draw, Program.kinds))
  const actions: ReadonlyArray<ActionName> = ["post", "post", "post", "advance", ...only === undefined ? swarm(draw, actionKinds) : [only]]
  const length = draw(10) === 0 ? 100 + draw(100) : 5 + draw(40)
  const steps = Array.from({ length }, (): Step => {
    const action = Random.pick(draw, actions)
    const number = (): number => draw(1_000_000)
    const numbers = [number(), number(), number(), number()] as const
    const isDurable = numbers[1] % 2 === 0
    return { action, numbers, program: action === "post" ? Program.draw(draw, { kinds, isDurable, spaces: spaces.length }) : [] }
  })
  const faults = draw(3) === 0
    ? Array.from({ length: 1 + draw(4) }, (): Fault => ({ flush: draw(4 * length), kind: Random.pick(draw, faultKinds) }))
    : []
  const without = draw(2) === 0 ? Derived.materializers : []
  const absent = draw(3) === 0 ? Derived.all.filter((node) => without.includes(node) || draw(3) === 0) : without
  const limits = { isSmall: draw(3) === 0, open: draw(4) === 0 ? 1 : undefined, isLabelled: draw(3) === 0, jobs: draw(2) === 0 ? 1 : 4 }
  const faulty = { bank: swarm(draw, Bank.faults), network: swarm(draw, Network.faults) }
  const retention = Random.pick(draw, retentions)
  const hasAgent = draw(8) === 0
  const isOnFiles = seed % 100 === 50
  const driver = isOnFiles
    ? Array.from({ length: draw(6) }, (): Driver.Fault => ({ transaction: draw(2 * length), kind: Random.pick(draw, Driver.faultKinds) }))
    : []
  const stored = { isOnFiles, retention, faults, driver }
  const parts = { hosts: 1 + draw(2), hasAgent, hasSchedule: draw(6) === 0 }
  return { seed, spaces, ...limits, ...parts, secrets: 0, ...stored, absent, ...faulty, steps }
}
