/**
 * The coverage of simulations: how often each kind of event occurred, and which kinds never met in one world.
 *
 * @module
 */
import * as Actions from "./Actions.ts"
import * as Bank from "./Bank.ts"
import * as Copies from "./Copies.ts"
import * as Clockwork from "./Clockwork.ts"
import * as Disk from "./Disk.ts"
import * as Driver from "./Driver.ts"
import * as Network from "./Network.ts"
import type { Plan } from "./Plan.ts"
import * as Program from "./Program.ts"

/** Every kind of event, by its part of the world. */
export const kinds: ReadonlyArray<string> = [
  ...Actions.kinds.map((kind) => `action ${kind}`),
  ...Program.kinds.map((kind) => `program ${kind}`),
  ...Disk.faultKinds.map((kind) => `disk ${kind}`),
  ...Driver.faultKinds.map((kind) => `driver ${kind}`),
  ...Network.faults.map((kind) => `network ${kind}`),
  ...Bank.faults.map((kind) => `bank ${kind}`),
  ...Clockwork.kinds.map((kind) => `schedule ${kind}`),
  ...Copies.kinds
]

/** The instructions in a part of a program, with those below them. */
function* instructionsIn(part: unknown): Iterable<Program.Instruction> {
  if (typeof part !== "object" || part === null) return
  if ("do" in part) yield part as Program.Instruction
  for (const below of Object.values(part)) yield* instructionsIn(below)
}

/** The kinds of events for which a plan asks. Whether each instruction is reached and each fault is met shows in its world alone. */
export const kindsOf = ({ bank, driver, faults, hasSchedule, hosts, network, steps }: Plan): ReadonlySet<string> => {
  const actions = steps.map(({ action }) => `action ${action}`)
  const instructions = steps.flatMap(({ program }) => [...instructionsIn(program)])
  const pays = instructions.some((instruction) => instruction.do === "pay" || instruction.do === "job" || instruction.do === "drop")
  const crosses = hosts > 1 && instructions.some((instruction) =>
    (instruction.do === "send" || instruction.do === "ask") && instruction.space > 0)
  return new Set([
    ...actions,
    ...instructions.map((instruction) => `program ${instruction.do}`),
    ...faults.map(({ kind }) => `disk ${kind}`),
    ...driver.map(({ kind }) => `driver ${kind}`),
    ...(pays ? bank.map((fault) => `bank ${fault}`) : []),
    ...Copies.kindsOf(new Set(steps.map(({ action }) => action))),
    ...(hasSchedule ? Clockwork.kinds.map((kind) => `schedule ${kind}`) : []),
    ...(crosses ? network.map((fault) => `network ${fault}`) : [])
  ])
}

/** A kind of event: the number of worlds with it, and the kind with which it meets in the fewest worlds. */
export interface Meeting {
  readonly kind: string
  readonly worlds: number
  readonly rarest: string
  readonly together: number
}

/** The meetings of all kinds of events in these plans. */
export const meetings = (plans: Iterable<Plan>): ReadonlyArray<Meeting> => {
  const counts = new Map(kinds.map((kind) => [kind, new Map(kinds.map((other) => [other, 0]))]))
  for (const plan of plans) {
    const there = kindsOf(plan)
    for (const kind of there) {
      const row = counts.get(kind)
      for (const other of there) row?.set(other, (row.get(other) ?? 0) + 1)
    }
  }
  return [...counts].map(([kind, row]) => {
    const worlds = row.get(kind) ?? 0
    const [rarest, together] = [...row].filter(([other]) => other !== kind).reduce((least, next) => next[1] < least[1] ? next : least)
    return { kind, worlds, rarest, together }
  })
}

/** The counts of many worlds. */
export class Coverage {
  worlds = 0
  private readonly counts = new Map<string, number>()
  private readonly pairs = new Set<string>()

  /** Adds the events of a world. */
  add(counts: ReadonlyMap<string, number>): void {
    this.worlds++
    const there = kinds.filter((kind) => counts.has(kind))
    for (const [kind, count] of counts) this.counts.set(kind, (this.counts.get(kind) ?? 0) + count)
    there.forEach((a, i) => there.slice(i + 1).forEach((b) => this.pairs.add(`${a} × ${b}`)))
  }

  /** The number of occurrences of each kind. */
  get rows(): ReadonlyArray<readonly [kind: string, count: number]> {
    return kinds.map((kind) => [kind, this.counts.get(kind) ?? 0])
  }

  /** The pairs of kinds that occurred in no world together. */
  get missing(): ReadonlyArray<string> {
    return kinds.flatMap((a, i) => kinds.slice(i + 1).map((b) => `${a} × ${b}`)).filter((pair) => !this.pairs.has(pair))
  }
}
